// Processes that fork and end while code is optimized in the background: children compute and compile, and every
// process ends by itself and soon.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

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
      // With destructors and handlers of atexit. (What the background thread of the parent had allocated is a leak
      // here.)
      if (!cq::test::kAddressSanitizer) std::exit(0);
      _exit(0);
    }
    if (!array_equal(f(x), wanted)) fail("the parent computes something else after fork");
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a child failed with status " + std::to_string(status));
  }
  cq::wait_for_compilation();
}

}  // namespace

int main() {
  setenv("CALQUE_NUM_THREADS", "2", 1);  // with one thread nothing runs in the background
  children();
  // The process ends while this is compiled.
  cq::jit(chain(0.7))(D::full({3}, 1.5));
  return 0;
}
