#pragma once
// fork() copies the calling thread alone. What other threads hold at that moment, locks and the guards of objects that
// are being constructed, is held for ever in the child. Therefore a thread that holds anything of the library announces
// it, and fork() waits until no other thread does; meanwhile threads that want to begin wait for the fork. Announcing
// costs an atomic addition and is no part of a warm call. User code must not run while a thread has announced.
#include <atomic>
#include <mutex>

namespace calque {

/// No other thread forks during its lifetime. Nests.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

/// The same for a thread that does a part of the work of one with a NoFork, which waits for it: does not wait for a
/// fork that waits for that one.
class NoForkOfCaller {
 public:
  NoForkOfCaller();
  ~NoForkOfCaller();
  NoForkOfCaller(const NoForkOfCaller&) = delete;
  NoForkOfCaller& operator=(const NoForkOfCaller&) = delete;
};

/// Other threads may fork during its lifetime, on a thread that has a NoFork but holds nothing now.
class ForksAllowed {
 public:
  ForksAllowed();
  ~ForksAllowed();
  ForksAllowed(const ForksAllowed&) = delete;
  ForksAllowed& operator=(const ForksAllowed&) = delete;

 private:
  int depth_;
};

/// A mutex that no child of a fork finds locked by a thread that it does not have.
class ForkMutex {
 public:
  constexpr ForkMutex() = default;
  void lock();
  void unlock();

 private:
  std::mutex mutex_;
};

/// What happens at a fork; any may be null. `before` runs on the forking thread before it waits for the others,
/// `in_parent` and `in_child` run after the fork, when threads may begin again. Later hooks run first, after the fork
/// last.
struct ForkHooks {
  void (*before)() = nullptr;
  void (*in_parent)() = nullptr;
  void (*in_child)() = nullptr;
  const ForkHooks* next = nullptr;
};
/// The hooks live as long as the program.
void at_fork(ForkHooks& hooks);

/// The object that `make()` allocates, made by the first call and never destroyed, since calls may still run while the
/// program ends. `Make` is the type of a lambda, which identifies the object.
template <class Make>
auto& process_wide(const Make& make) {
  using T = decltype(make());
  static constinit std::atomic<T> made{nullptr};
  T object = made.load(std::memory_order_acquire);
  if (object == nullptr) [[unlikely]] {
    const NoFork whole;
    static constinit std::mutex mutex;
    const std::lock_guard lock(mutex);
    object = made.load(std::memory_order_relaxed);
    if (object == nullptr) made.store(object = make(), std::memory_order_release);
  }
  return *object;
}

}  // namespace calque
