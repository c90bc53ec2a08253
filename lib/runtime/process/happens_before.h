#pragma once
// Tells ThreadSanitizer the happens-before relations that oneTBB establishes. Files that inline parts of oneTBB are not
// instrumented (and define CALQUE_THREAD_SANITIZER); the functions that they call are.
#ifdef CALQUE_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace calque::runtime {

/// Everything before `publish` happens before everything after a later `observe` of the same address.
inline void publish([[maybe_unused]] char& address) {
#ifdef CALQUE_THREAD_SANITIZER
  __tsan_release(&address);
#endif
}
inline void observe([[maybe_unused]] char& address) {
#ifdef CALQUE_THREAD_SANITIZER
  __tsan_acquire(&address);
#endif
}

}  // namespace calque::runtime
