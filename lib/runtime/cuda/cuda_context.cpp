// The primary context is shared with all other users of the GPU in the process; the streams are private. A context
// takes seconds and hundreds of MiB, and cannot be created on a device that another process uses exclusively, so it is
// created only for work.
#include "runtime/cuda/cuda_context.h"

#include "ir/log.h"
#include "runtime/cuda/ptx_support.h"
#include "runtime/device/device_api.h"

namespace calque::runtime {

CudaContext::CudaContext(std::shared_ptr<const cuda::Driver> driver, int number)
    : driver_(std::move(driver)), number_(number) {
  check(driver_->device_get(&device_, number), "the device cannot be reached");
  processors_ = attribute(cuda::kMultiprocessors);
  shared_bytes_ = attribute(cuda::kSharedMemoryOfBlock);
  uses_host_page_tables_ = attribute(cuda::kUsesHostPageTables) != 0;
  const int major = attribute(cuda::kComputeCapabilityMajor), minor = attribute(cuda::kComputeCapabilityMinor);
  capability_ = 10 * major + minor;
  arch_ = ptx_arch(major, minor, driver_->version);
  char text[256] = {};
  check(driver_->device_name(text, sizeof text, device_), "the device cannot be asked");
  name_ = text;
  check(driver_->device_memory(&memory_, device_), "the device cannot be asked");
  unsigned char uuid[16] = {};
  check(driver_->device_uuid(uuid, device_), "the device cannot be asked");
  uuid_.assign(uuid, uuid + sizeof uuid);
  if (arch_.empty()) {
    throw DeviceError(prefix() + name_ + " has compute capability " + std::to_string(major) + "." +
                      std::to_string(minor) + ", 8.0 or later is needed");
  }
}

CudaContext::~CudaContext() {
  if (context_ == nullptr || cuda::is_forked()) return;
  if (const Idle idle(*this); idle) {
    driver_->stream_destroy(fetches_);
    driver_->stream_destroy(stream_);
  }
  driver_->context_release(device_);
}

int CudaContext::attribute(int which) {
  int value = 0;
  check(driver_->device_attribute(&value, which, device_), "the device cannot be asked");
  return value;
}

void CudaContext::open() {
  if (cuda::is_forked()) {
    throw DeviceFailure(
        prefix() +
        "GPUs were opened before this process was forked, and cannot be used in it; fork before a GPU is "
        "first asked for, or start the child by exec");
  }
  std::lock_guard lock(mutex_);
  if (!loss_.empty()) {
    throw DeviceFailure(prefix() +
                        "the device was lost earlier, and its arrays with it; start the program again to use it (" +
                        loss_ + ")");
  }
  if (context_ != nullptr) return;
  cuda::Context made = nullptr;
  if (const cuda::Status status = driver_->context_retain(&made, device_); status != cuda::kSuccess)
    throw DeviceFailure(prefix() + "there is no context: " + driver_->describe(status));
  context_ = made;
  try {
    make_streams();
  } catch (...) {
    context_ = nullptr;
    driver_->context_release(device_);
    throw;
  }
  usable_.store(true, std::memory_order_release);
  library_log().debug("{}{} has a context", prefix(), name_);
}

void CudaContext::make_streams() {
  const auto require_success = [&](cuda::Status status, const char* what) {
    if (status != cuda::kSuccess) throw DeviceFailure(prefix() + what + ": " + driver_->describe(status));
  };
  require_success(driver_->context_push(context_), "the context cannot be made current");
  int capture_mode = cuda::kCaptureRelaxed;
  driver_->exchange_capture_mode(&capture_mode);
  const auto leave = [&] {
    driver_->exchange_capture_mode(&capture_mode);
    cuda::Context before = nullptr;
    driver_->context_pop(&before);
  };
  try {
    require_success(driver_->stream_create(&stream_, cuda::kStreamNonBlocking), "there is no stream");
    if (const cuda::Status status = driver_->stream_create(&fetches_, cuda::kStreamNonBlocking);
        status != cuda::kSuccess) {
      driver_->stream_destroy(stream_);
      require_success(status, "there is no stream");
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

bool CudaContext::was_used() {
  std::lock_guard lock(mutex_);
  return context_ != nullptr;
}

void CudaContext::synchronize() {
  if (!was_used()) return;
  const Current current(*this);
  const uint64_t launched = launches_.count();
  check(driver_->stream_synchronize(stream_), "waiting for it");
  launches_.ended(launched);
}

// The driver copies pageable memory to a staging buffer before it returns. Pointers into such memory have no
// attributes.
bool CudaContext::is_staged(const void* from, size_t bytes) const {
  if (uses_host_page_tables_) return false;
  const auto is_ordinary = [&](uintptr_t address) {
    unsigned type = 0;
    return driver_->pointer_attribute(&type, cuda::kMemoryType, address) == cuda::kInvalidValue;
  };
  const auto first = reinterpret_cast<uintptr_t>(from);
  return is_ordinary(first) && is_ordinary(first + bytes - 1);
}

void CudaContext::fail(cuda::Status status, std::string_view what) {
  std::string text = prefix() + std::string(what) + ": " + driver_->describe(status) + launches_.text();
  if (cuda::loses_context(status)) {
    std::lock_guard lock(mutex_);
    if (loss_.empty()) loss_ = text;
    usable_.store(false, std::memory_order_release);
    text +=
        "; the device is lost to this process, and its arrays with it: start the program again, with "
        "CUDA_LAUNCH_BLOCKING=1 in the environment for the very kernel";
  }
  throw DeviceFailure(text);
}

CudaContext::Idle::Idle(CudaContext& context) noexcept {
  if (!context.usable()) return;
  const cuda::Driver& driver = context.driver();
  if (driver.context_push(context.context_) != cuda::kSuccess) return;
  driver.exchange_capture_mode(&capture_mode_);
  driver_ = &driver;
  cuda::Status status = driver.stream_synchronize(context.stream_);
  if (status == cuda::kSuccess) return;
  // This cannot throw; the next use of the device reports the failure.
  try {
    context.fail(status, "waiting for it");
  } catch (const std::exception& e) {
    if (status != cuda::kDeinitialized) library_log().error("{}", e.what());
  }
  driver.exchange_capture_mode(&capture_mode_);
  cuda::Context before = nullptr;
  driver.context_pop(&before);
  driver_ = nullptr;
}

CudaContext::Idle::~Idle() {
  if (driver_ == nullptr) return;
  driver_->exchange_capture_mode(&capture_mode_);
  cuda::Context before = nullptr;
  driver_->context_pop(&before);
}

}  // namespace calque::runtime
