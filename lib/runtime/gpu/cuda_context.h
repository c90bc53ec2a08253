#pragma once
// One GPU's context and stream, and how its driver's failures become errors: what modules, graphs and memory need.
#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "runtime/gpu/cuda_driver.h"

namespace calque::runtime {

class CudaContext {
 public:
  /// Throws DeviceError when the device cannot be used.
  CudaContext(std::shared_ptr<const cuda::Driver> driver, int number);
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  ~CudaContext();

  const cuda::Driver& driver() const { return *driver_; }
  cuda::Stream stream() const { return stream_; }
  cuda::Context context() const { return context_; }
  const std::string& arch() const { return arch_; }
  const std::string& name() const { return name_; }
  int processors() const { return processors_; }
  size_t memory() const { return memory_; }
  int shared_bytes_of_block() const { return shared_bytes_; }

  /// Throws DeviceFailure, `gpu:0: what: CUDA_ERROR_..., text`, when the status is one.
  void check(cuda::Status status, std::string_view what) const {
    if (status != cuda::kSuccess) [[unlikely]]
      fail(status, what);
  }
  [[noreturn]] void fail(cuda::Status status, std::string_view what) const;
  /// Remembers what was launched, since a kernel's failure shows later. `label` lives as long as the program.
  void launched(const char* label) {
    recent_[next_.fetch_add(1, std::memory_order_relaxed) % recent_.size()].store(label, std::memory_order_relaxed);
  }
  /// Waits for everything that was asked for.
  void synchronize();

  /// Makes the context the calling thread's until the end of the scope. What was current before is so again.
  class Current {
   public:
    explicit Current(const CudaContext& context) : driver_(context.driver()) {
      context.check(driver_.context_push(context.context_), "the context cannot be made current");
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current() {
      cuda::Context before = nullptr;
      driver_.context_pop(&before);
    }

   private:
    const cuda::Driver& driver_;
  };

 private:
  int attribute(int which) const;

  const std::shared_ptr<const cuda::Driver> driver_;
  const int number_;
  int device_ = 0, processors_ = 1, shared_bytes_ = 0;
  size_t memory_ = 0;
  std::string arch_, name_;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
  std::array<std::atomic<const char*>, 4> recent_{};
  std::atomic<size_t> next_{0};
};

}  // namespace calque::runtime
