#include "runtime/cuda/cubin.h"

#include "ir/log.h"

namespace calque::runtime {

std::string cubin_of(const cuda::Driver& driver, const std::string& ptx) {
  cuda::Link link = nullptr;
  cuda::Status status = driver.link_create(0, nullptr, nullptr, &link);
  std::string cubin;
  if (status == cuda::kSuccess) {
    void* code = nullptr;  // the link's
    size_t bytes = 0;
    // The text with its final zero.
    status = driver.link_add(link, cuda::kPtxInput, const_cast<char*>(ptx.c_str()), ptx.size() + 1, "calque", 0,
                             nullptr, nullptr);
    if (status == cuda::kSuccess) status = driver.link_complete(link, &code, &bytes);
    if (status == cuda::kSuccess) cubin.assign(static_cast<const char*>(code), bytes);
    driver.link_destroy(link);
  }
  if (status != cuda::kSuccess) library_log().info("the driver makes no cubin: {}", driver.describe(status));
  return cubin;
}

}  // namespace calque::runtime
