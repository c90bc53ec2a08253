#include "ir/fork.h"

#include <chrono>
#include <thread>

#include <pthread.h>

namespace calque {
namespace {

constinit std::atomic<int> announced{0};  ///< threads with a NoFork
constinit std::atomic<bool> forking{false};
constinit std::mutex forks;  ///< of one thread at a time
constinit std::atomic<const ForkHooks*> all_hooks{nullptr};
constinit thread_local int depth = 0;

void pause_shortly() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

// Either this thread sees that a fork has begun, or the forking thread sees that this one has announced.
void announce() {
  while (true) {
    announced.fetch_add(1, std::memory_order_seq_cst);
    if (!forking.load(std::memory_order_seq_cst)) return;
    announced.fetch_sub(1, std::memory_order_release);
    while (forking.load(std::memory_order_relaxed)) pause_shortly();
  }
}

void withdraw() { announced.fetch_sub(1, std::memory_order_release); }

int own() { return depth > 0 ? 1 : 0; }

void before_fork() {
  for (const ForkHooks* h = all_hooks.load(std::memory_order_acquire); h != nullptr; h = h->next)
    if (h->before != nullptr) h->before();
  forks.lock();
  forking.store(true, std::memory_order_seq_cst);
  while (announced.load(std::memory_order_seq_cst) != own()) pause_shortly();
}

/// After the fork the hooks run in the order in which they were added.
void run_after(const ForkHooks* first, void (*ForkHooks::*hook)()) {
  if (first == nullptr) return;
  run_after(first->next, hook);
  if (first->*hook != nullptr) (first->*hook)();
}

void in_parent() {
  forking.store(false, std::memory_order_seq_cst);
  forks.unlock();
  run_after(all_hooks.load(std::memory_order_acquire), &ForkHooks::in_parent);
}

void in_child() {
  announced.store(own(), std::memory_order_relaxed);
  forking.store(false, std::memory_order_seq_cst);
  forks.unlock();
  run_after(all_hooks.load(std::memory_order_acquire), &ForkHooks::in_child);
}

/// When the library is loaded, so that no thread forks meanwhile.
[[maybe_unused]] const int registered = pthread_atfork(before_fork, in_parent, in_child);

}  // namespace

NoFork::NoFork() {
  if (depth++ == 0) announce();
}
NoFork::~NoFork() {
  if (--depth == 0) withdraw();
}

NoForkOfCaller::NoForkOfCaller() {
  if (depth++ == 0) announced.fetch_add(1, std::memory_order_relaxed);
}
NoForkOfCaller::~NoForkOfCaller() {
  if (--depth == 0) withdraw();
}

ForksAllowed::ForksAllowed() : depth_(depth) {
  if (depth_ == 0) return;
  depth = 0;
  withdraw();
}
ForksAllowed::~ForksAllowed() {
  if (depth_ == 0) return;
  announce();
  depth = depth_;
}

// The depth is that of all locks and scopes of the thread, so these need not end in the reverse order.
void ForkMutex::lock() {
  if (depth++ == 0) announce();
  mutex_.lock();
}
void ForkMutex::unlock() {
  mutex_.unlock();
  if (--depth == 0) withdraw();
}

void at_fork(ForkHooks& hooks) {
  hooks.next = all_hooks.load(std::memory_order_relaxed);
  while (!all_hooks.compare_exchange_weak(hooks.next, &hooks, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace calque
