#include "runtime/cuda/cuda_events.h"

namespace calque::runtime {

void CudaEvents::clear() noexcept {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return;
  if (const CudaContext::Idle idle(context_); idle) {
    for (const cuda::Event event : free_) context_.driver().event_destroy(event);
  }
  free_.clear();
}

cuda::Event CudaEvents::take() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const cuda::Event event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  cuda::Event event = nullptr;
  context_.check(context_.driver().event_create(&event, cuda::kEventDisableTiming), "there is no event");
  return event;
}

void CudaEvents::give(cuda::Event event) {
  std::lock_guard lock(mutex_);
  free_.push_back(event);
}

CudaMark::CudaMark(CudaContext& context, CudaEvents& events)
    : context_(context), events_(events), event_(events.take()), launched_(context.launches().count()) {
  const cuda::Status status = context.driver().event_record(event_, context.stream());
  if (status == cuda::kSuccess) return;
  events.give(event_);
  context.fail(status, "an event cannot be recorded");
}

void CudaMark::wait() const {
  context_.check(context_.driver().event_synchronize(event_), "waiting for a result");
  context_.launches().ended(launched_);
}

}  // namespace calque::runtime
