#pragma once
// One GPU's context and streams, and the translation of its driver's failures to errors: shared by modules, graphs and
// memory. Queries of the device need no context, which is created by the first work.
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/cuda/cuda_driver.h"
#include "runtime/device/launch_record.h"

namespace calque::runtime {

class CudaContext {
 public:
  /// Queries the device. Throws DeviceError when it cannot be used.
  CudaContext(std::shared_ptr<const cuda::Driver> driver, int number);
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  ~CudaContext();

  const cuda::Driver& driver() const { return *driver_; }
  const std::string& arch() const { return arch_; }
  const std::string& name() const { return name_; }
  /// The compute capability: 90 is 9.0.
  int capability() const { return capability_; }
  int processors() const { return processors_; }
  size_t memory() const { return memory_; }
  int shared_bytes_of_block() const { return shared_bytes_; }
  /// The 16 bytes that identify the GPU, also of a part of it (MIG).
  const std::string& uuid() const { return uuid_; }

  // ---- after it was made current
  cuda::Context context() const { return context_; }
  /// The stream to which all work is submitted, in order.
  cuda::Stream stream() const { return stream_; }
  /// For copies to the host that wait for no other work. Neither is the NULL stream, which captures of others forbid.
  cuda::Stream fetches() const { return fetches_; }

  /// Throws DeviceFailure, `gpu:0: what: CUDA_ERROR_..., text`, when the status is one. After a failure that leaves the
  /// context useless the device is lost: every later use throws, with this failure in its message.
  void check(cuda::Status status, std::string_view what) {
    if (status != cuda::kSuccess) [[unlikely]]
      fail(status, what);
  }
  [[noreturn]] void fail(cuda::Status status, std::string_view what);
  /// Launches, for messages.
  LaunchRecord& launches() { return launches_; }
  /// Waits for all submitted work. Without a context there is none, and none is created.
  void synchronize();
  /// Whether the host may modify `from` while a submitted copy from it is pending: not if the device reads the memory
  /// directly. The context is current.
  bool is_staged(const void* from, size_t bytes) const;

  /// Makes the context current to the calling thread until the end of the scope, and creates it on first use. The
  /// previous context is then restored. Captures of other libraries neither forbid any call meanwhile nor are
  /// invalidated. Throws DeviceFailure if the context cannot be created, if the device was lost, and in a forked
  /// process.
  class Current {
   public:
    explicit Current(CudaContext& context) : driver_(context.driver()) {
      context.require();
      context.check(driver_.context_push(context.context_), "the context cannot be made current");
      driver_.exchange_capture_mode(&capture_mode_);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current() {
      driver_.exchange_capture_mode(&capture_mode_);
      cuda::Context before = nullptr;
      driver_.context_pop(&before);
    }

   private:
    const cuda::Driver& driver_;
    int capture_mode_ = cuda::kCaptureRelaxed;
  };

  /// The same for releasing resources, without exceptions: the context is current and all work is done. False if
  /// nothing can be released, since there is no context, the device was lost, or the driver has shut down.
  class Idle {
   public:
    explicit Idle(CudaContext& context) noexcept;
    Idle(const Idle&) = delete;
    Idle& operator=(const Idle&) = delete;
    ~Idle();
    explicit operator bool() const { return driver_ != nullptr; }

   private:
    const cuda::Driver* driver_ = nullptr;
    int capture_mode_ = cuda::kCaptureRelaxed;
  };

 private:
  int attribute(int which);
  bool usable() const { return usable_.load(std::memory_order_acquire) && !cuda::is_forked(); }
  void require() {
    if (!usable()) [[unlikely]]
      open();
  }
  void open();
  bool was_used();
  void make_streams();
  std::string prefix() const { return "gpu:" + std::to_string(number_) + ": "; }

  const std::shared_ptr<const cuda::Driver> driver_;
  const int number_;
  int device_ = 0, capability_ = 0, processors_ = 1, shared_bytes_ = 0;
  size_t memory_ = 0;
  bool uses_host_page_tables_ = false;
  std::string arch_, name_, uuid_;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr, fetches_ = nullptr;
  std::mutex mutex_;
  std::atomic<bool> usable_{false};  ///< the context was created, and not lost
  std::string loss_;                 ///< the failure that lost the device
  LaunchRecord launches_;
};

}  // namespace calque::runtime
