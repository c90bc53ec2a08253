// The primary context is shared with whatever else in the process uses the GPU; the stream is the library's own.
#include "runtime/gpu/cuda_context.h"

#include "runtime/gpu/device_api.h"

namespace calque::runtime {
namespace {

/// The newest architecture that device code is made for and the device runs, or nothing.
std::string arch_of(int major, int minor) {
  if (major < 8) return {};
  if (major == 8) return minor >= 9 ? "sm_89" : minor >= 6 ? "sm_86" : "sm_80";
  return major == 9 ? "sm_90a" : "sm_90";  // what is made for sm_90a alone runs nowhere else
}

}  // namespace

CudaContext::CudaContext(std::shared_ptr<const cuda::Driver> driver, int number)
    : driver_(std::move(driver)), number_(number) {
  check(driver_->device_get(&device_, number), "the device cannot be reached");
  processors_ = attribute(cuda::kMultiprocessors);
  shared_bytes_ = attribute(cuda::kSharedMemoryOfBlock);
  const int major = attribute(cuda::kComputeCapabilityMajor), minor = attribute(cuda::kComputeCapabilityMinor);
  arch_ = arch_of(major, minor);
  char text[256] = {};
  check(driver_->device_name(text, sizeof text, device_), "the device cannot be asked");
  name_ = text;
  check(driver_->device_memory(&memory_, device_), "the device cannot be asked");
  if (arch_.empty()) {
    throw DeviceError("gpu:" + std::to_string(number) + ": " + name_ + " has compute capability " +
                      std::to_string(major) + "." + std::to_string(minor) + ", 8.0 or later is needed");
  }
  check(driver_->context_retain(&context_, device_), "there is no context");
  try {
    const Current current(*this);
    check(driver_->stream_create(&stream_, cuda::kStreamNonBlocking), "there is no stream");
  } catch (...) {
    driver_->context_release(device_);
    throw;
  }
}

CudaContext::~CudaContext() {
  if (driver_->context_push(context_) == cuda::kSuccess) {
    driver_->stream_synchronize(stream_);
    driver_->stream_destroy(stream_);
    cuda::Context before = nullptr;
    driver_->context_pop(&before);
  }
  driver_->context_release(device_);
}

int CudaContext::attribute(int which) const {
  int value = 0;
  check(driver_->device_attribute(&value, which, device_), "the device cannot be asked");
  return value;
}

void CudaContext::synchronize() {
  const Current current(*this);
  check(driver_->stream_synchronize(stream_), "waiting for it");
  for (auto& label : recent_) label.store(nullptr, std::memory_order_relaxed);
}

void CudaContext::fail(cuda::Status status, std::string_view what) const {
  std::string text = "gpu:" + std::to_string(number_) + ": " + std::string(what) + ": " + driver_->describe(status);
  const char* separator = "; launched before: ";
  const size_t next = next_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < recent_.size(); ++i) {
    const char* label = recent_[(next + i) % recent_.size()].load(std::memory_order_relaxed);
    if (label == nullptr) continue;
    text += separator + std::string(label);
    separator = ", ";
  }
  throw DeviceFailure(text);
}

}  // namespace calque::runtime
