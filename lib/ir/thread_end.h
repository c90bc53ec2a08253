#pragma once
// Objects of a thread that serve it to its very end. What is `thread_local` and has a destructor is destroyed in the
// reverse order of its first use: functions may well be compiled and called after that, by destructors of thread-local
// objects of the user's, and on the main thread by those of static ones and by what atexit runs.
#include <utility>

namespace calque {

/// Calls clean(object) on the calling thread once all its thread-local objects are destroyed. For the thread that ends
/// the program: never. May be called from `clean`.
void at_thread_end(void (*clean)(void*) noexcept, void* object);

/// The calling thread's object of its type and tag, made when it is first asked for.
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
