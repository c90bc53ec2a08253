#pragma once
// What oneTBB orders, told to ThreadSanitizer, which does not see into it: files that inline parts of oneTBB are not
// instrumented (and define CALQUE_THREAD_SANITIZER); what they call is.
#ifdef CALQUE_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace calque::runtime {

/// Everything before `publish` comes before what follows a later `observe` of the same place.
inline void publish([[maybe_unused]] char& place) {
#ifdef CALQUE_THREAD_SANITIZER
  __tsan_release(&place);
#endif
}
inline void observe([[maybe_unused]] char& place) {
#ifdef CALQUE_THREAD_SANITIZER
  __tsan_acquire(&place);
#endif
}

}  // namespace calque::runtime
