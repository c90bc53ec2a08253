// Processes that fork and end while other threads trace, compile, call and optimize: children compute and compile, and
// every process ends by itself and soon.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calque/calque.h"

#include "support/sanitizers.h"

namespace cq = calque;

namespace {

using D = cq::Array<double>;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "fork: %s\n", what.c_str());
  _exit(1);
}

/// A long chain: takes some 0.5 s to optimize. `factor` makes the code a new one.
auto chain(double factor) {
  return [factor](auto x) {
    auto y = x, z = x;
    for (int i = 0; i < 4000; ++i) {
      y = y * factor + z;
      z = z - y * 0.25;
    }
    return y + z;
  };
}

/// In a child: calls the function of the parent, compiles others, waits for the optimized code.
template <class F>
void compute(const F& f, const D& x, const D& wanted, int number) {
  if (!array_equal(f(x), wanted)) fail("the child computes something else");
  const auto g = cq::jit([number](auto v) { return exp(v) * double(number); });
  if (!allclose(g(x), exp(x) * double(number))) fail("the child compiles wrongly");
  if (number % 2 == 0) {
    cq::wait_for_compilation();
    if (f.cache_info().awaiting_optimization != 0) fail("the child does not optimize what was pending");
    if (!array_equal(f(x), wanted)) fail("the child's optimized code computes something else");
  }
}

void children() {
  const D x = D::full({3}, 1.5);
  for (int i = 0; i < 6; ++i) {
    const auto f = cq::jit(chain(0.125 + i / 16.0));
    const D wanted = f(x);
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(60 * i));  // somewhere in the compilation
    const pid_t child = fork();
    if (child < 0) fail("fork failed");
    if (child == 0) {
      compute(f, x, wanted, i);
      std::exit(0);  // with destructors and handlers of atexit
    }
    if (!array_equal(f(x), wanted)) fail("the parent computes something else after fork");
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a child failed with status " + std::to_string(status));
  }
  cq::wait_for_compilation();
}

/// Whatever the other threads are doing at the moment, a child can do it too.
class Others {
 public:
  Others() {
    const auto add = [this](auto work) {
      threads_.emplace_back([this, work] {
        for (int i = 0; !ended_; ++i) work(i);
      });
    };
    add([this](int) {  // a new thread has to be made known to the tables
      std::thread([this] { call(); }).join();
    });
    add([](int i) { compile(i); });
    add([this](int) { compile_with_others(); });
    add([this](int) { large(); });
    add([](int i) {  // tables of functions, results of transformations, text
      const auto f = cq::jit([i](auto v) { return sum(sin(v) * double(i % 7)); });
      if (f.trace(D{1, 2}).outputs().size() != 1) fail("a wrong trace");
      f.clear_cache();
      cq::grad(f)(D{1, 2});
    });
  }
  ~Others() {
    ended_ = true;
    for (std::thread& t : threads_) t.join();
  }

  /// What the threads do, on the only thread of a child.
  void all(int i) {
    call();
    compile(1'000'000 + i);
    compile_with_others();
    large();
    const auto [y, pullback] = cq::vjp([](auto v) { return sum(v * v); }, D{1, 2});
    if (std::get<0>(pullback(1.0))(1) != 4) fail("a wrong derivative");
  }

 private:
  void call() {
    if (warm_(D{1, 2, 3})(2) != 6) fail("a warm call computes something else");
  }
  static void compile(int i) {
    const auto f = cq::jit([i](auto v) { return v * double(i) + 1.0; });
    if (f(D{1, 2})(1) != 2.0 * i + 1) fail("new code computes something else");
  }
  /// Several threads, and the child, come to the same graph at once.
  void compile_with_others() {
    const int i = next_++ / 4;
    const auto f = cq::jit([i](auto v) { return exp(v * 0.0) + double(i) * 0.5; });
    if (f(D{1, 2})(1) != 1 + 0.5 * i) fail("shared code computes something else");
  }
  void large() {  // on several threads, in memory of the pool
    if (large_(cq::Array<float>::ones({300'000}))(299'999) != 3) fail("a large array is computed wrongly");
  }

  const std::function<D(const D&)> warm_ = cq::jit([](auto v) { return v * 2.0; });
  const std::function<cq::Array<float>(const cq::Array<float>&)> large_ = cq::jit([](auto v) { return v * 3.0f; });
  std::atomic<bool> ended_{false};
  std::atomic<int> next_{0};
  std::vector<std::thread> threads_;
};

void forks_among_threads(int forks) {
  Others others;
  for (int i = 0; i < forks; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(137 * (i % 23)));
    const pid_t child = fork();
    if (child < 0) fail("fork failed");
    if (child == 0) {
      alarm(60);
      others.all(i);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) fail("a child hangs, fork " + std::to_string(i));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a child failed with status " + std::to_string(status));
  }
}

/// In each, whatever is made on first use is being made while it forks.
void forks_of_new_processes() {
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child < 0) fail("fork failed");
    if (child == 0) {
      forks_among_threads(8);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a process failed with status " + std::to_string(status));
  }
}

}  // namespace

int main() {
  // AddressSanitizer does not hold all of its locks over a fork (that of its quarantine, for one): a child of a process
  // in which another thread had one waits for ever.
  if (cq::test::kAddressSanitizer) {
    std::puts("fork: skipped, AddressSanitizer has locks that a fork does not hold");
    return 0;
  }
  setenv("CALQUE_NUM_THREADS", "2", 1);  // with one thread nothing runs in the background
  forks_of_new_processes();
  children();
  // The process ends while this is compiled.
  cq::jit(chain(0.7))(D::full({3}, 1.5));
  return 0;
}
