// The library is asked for every entry point at once, so that nothing is missing later.
#include "runtime/gpu/cuda_driver.h"

#include <dlfcn.h>

#include "calque/ir/errors.h"

namespace calque::runtime::cuda {

std::string Driver::describe(Status status) const {
  const char *name = nullptr, *text = nullptr;
  if (error_name == nullptr || error_name(status, &name) != kSuccess || name == nullptr) {
    return "error " + std::to_string(status);
  }
  std::string all = name;
  if (error_text(status, &text) == kSuccess && text != nullptr) all += std::string(", ") + text;
  return all;
}

std::shared_ptr<const Driver> open_driver(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw DeviceError("CUDA's driver cannot be opened: " + std::string(reason ? reason : library));
  }
  auto driver = std::make_shared<Driver>();
#define CALQUE_X(member, symbol, parameters)                                                                         \
  driver->member = reinterpret_cast<Status(*) parameters>(dlsym(handle, #symbol));                                   \
  if (driver->member == nullptr) {                                                                                   \
    throw DeviceError("CUDA's driver " + library + " has no " #symbol "; a driver of CUDA 11.4 or later is needed"); \
  }
  CALQUE_CUDA_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
  driver->load_simulated =
      reinterpret_cast<decltype(driver->load_simulated)>(dlsym(handle, "calqueModuleLoadSimulated"));
  if (const Status status = driver->init(0); status != kSuccess) {
    throw DeviceError("CUDA's driver does not start: " + driver->describe(status));
  }
  return driver;
}

}  // namespace calque::runtime::cuda
