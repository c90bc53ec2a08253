#pragma once
// Marks in the order of a GPU's work, as events of its driver.
#include <mutex>
#include <vector>

#include "runtime/cuda/cuda_context.h"
#include "runtime/device/device_api.h"

namespace calque::runtime {

/// A pool of unused events. Creating one costs more than recording it.
class CudaEvents {
 public:
  explicit CudaEvents(CudaContext& context) : context_(context) {}
  CudaEvents(const CudaEvents&) = delete;
  CudaEvents& operator=(const CudaEvents&) = delete;
  ~CudaEvents() { clear(); }
  void clear() noexcept;
  /// The context is current.
  cuda::Event take();
  void give(cuda::Event event);

 private:
  CudaContext& context_;
  std::mutex mutex_;
  std::vector<cuda::Event> free_;
};

class CudaMark final : public Mark {
 public:
  /// After all submitted work. The context is current.
  CudaMark(CudaContext& context, CudaEvents& events);
  CudaMark(const CudaMark&) = delete;
  CudaMark& operator=(const CudaMark&) = delete;
  ~CudaMark() override { events_.give(event_); }
  /// The context is current.
  void wait() const;

 private:
  CudaContext& context_;
  CudaEvents& events_;
  const cuda::Event event_;
  const uint64_t launched_;  ///< launches before it
};

}  // namespace calque::runtime
