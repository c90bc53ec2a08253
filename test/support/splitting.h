#pragma once
// Overrides the distribution of work over threads for a scope.
#include "kernel/schedule/threads.h"
#include "runtime/process/environment.h"

namespace calque::test {

/// Within the scope compiled kernels are split into the smallest possible chunks, or not at all.
class Splitting {
 public:
  explicit Splitting(bool split) : saved_(kernel::thread_options()) {
    kernel::thread_options() = split ? kernel::ThreadOptions{0, 0} : kernel::ThreadOptions{1e300, 20};
  }
  Splitting(const Splitting&) = delete;
  Splitting& operator=(const Splitting&) = delete;
  ~Splitting() { kernel::thread_options() = saved_; }

 private:
  kernel::ThreadOptions saved_;
};

class Threads {
 public:
  explicit Threads(int n) : saved_(runtime::environment().num_threads) {
    runtime::mutable_environment().num_threads = n;
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { runtime::mutable_environment().num_threads = saved_; }

 private:
  int saved_;
};

}  // namespace calque::test
