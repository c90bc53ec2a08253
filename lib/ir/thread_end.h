#pragma once
// Per-thread objects that outlive all thread_local objects. A `thread_local` object with a destructor is destroyed in
// reverse order of first use, and functions may be compiled and called after that: by destructors of the user's
// thread-local objects, and on the main thread by destructors of static objects and by atexit handlers.
#include <utility>

namespace calque {

/// Calls clean(object) on the calling thread after all its thread-local objects are destroyed; never for the thread
/// that ends the program. May be called from `clean`.
void at_thread_end(void (*clean)(void*) noexcept, void* object);

/// The calling thread's object of this type and tag, created on first use.
template <class T, class Tag = T>
T& thread_object() {
  static constinit thread_local T* object = nullptr;
  if (object == nullptr) {
    T** const slot = &object;
    object = new T();
    at_thread_end([](void* s) noexcept { delete std::exchange(*static_cast<T**>(s), nullptr); }, slot);
  }
  return *object;
}

}  // namespace calque
