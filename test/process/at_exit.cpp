// Functions are compiled and called while the program ends: in destructors of static and thread-local objects and in
// atexit handlers, each created before and after the first use of the library. The number of runs is checked last.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include <unistd.h>

#include "calque/calque.h"

namespace cq = calque;

namespace {

int ran = 0, expected = 3;

[[noreturn]] void fail(const char* where) {
  std::fprintf(stderr, "at_exit: wrong result in %s\n", where);
  _exit(1);
}

/// Compiles a distinct function: the number is static, so it is part of the code.
void run(const char* where, int number) {
  const cq::Array<float> x = cq::Array<float>::ones({50, 60});
  const float k = static_cast<float>(number) + 0.375f;
  const auto f = cq::jit([k](auto a) {
    const auto y = cq::fori_loop(0, 3, [k](auto, auto s) { return s * k; }, a);
    return sum(y, {1}) + lgamma(sum(exp(a)) * 0.001f) * 0.0f + sum(cq::grad([](auto v) { return sum(v * v); })(a));
  });
  const float wanted = 60 * k * k * k + 6000;
  if (!allclose(f(x), cq::Array<float>::full({50}, wanted))) fail(where);
  if (!allclose(f(x.to(cq::gpu_sim())), cq::Array<float>::full({50}, wanted))) fail(where);
  if (sum(x * k + x).item() != 3000 * (k + 1)) fail(where);
  // Long enough for several threads, and for several modules.
  const auto large = cq::Array<float>::full({1 << 20}, 2.0f);
  if (sum(cq::jit([k](auto v) { return exp2(v) * k; })(large)).item() != (1 << 22) * k) fail(where);
  ++ran;
}

/// A program of which quickly made code runs first elsewhere is optimized at once: the thread that optimizes later has
/// stopped by now.
void run_optimized() {
  const cq::Array<double> x = cq::Array<double>::full({3}, 1.5);
  const auto f = cq::jit([](auto a) {
    auto y = a;
    for (int i = 0; i < 200; ++i) y = y * 0.625 + a;
    return y;
  });
  if (!allclose(f(x), cq::Array<double>::full({3}, 4.0))) fail("the last handler of atexit");
  std::ostringstream text;
  text << f.explain(x);
  if (text.str().find("automatic; optimized at once") == std::string::npos || f.cache_info().awaiting_optimization != 0)
    fail("the last handler of atexit: not optimized");
  cq::wait_for_compilation();
  ++ran;
}

struct Static {
  int number;
  ~Static() { run("a static object's destructor", number); }
};
struct ThreadLocal {
  int number;
  ~ThreadLocal() { run("a thread-local object's destructor", number); }
};
struct Last {
  ~Last() {
    if (ran == expected) return;
    std::fprintf(stderr, "at_exit: %d of %d ran\n", ran, expected);
    _exit(1);
  }
};

const Last last;        // destroyed after everything below
const Static first{1};  // constructed before the first use of the library
thread_local ThreadLocal of_thread{2};

}  // namespace

int main(int argc, char**) {
  std::atexit([] { run("a handler of atexit", 3); });
  (void)of_thread.number;  // constructed before the library's objects of this thread
  if (argc > 1) return 0;  // the library is used for the first time while the program ends
  expected = 11;
  run("main", 4);
  static const Static later{5};
  std::atexit([] { run("a later handler of atexit", 6); });
  std::thread([] {
    (void)of_thread.number;
    run("a thread", 7);
  }).join();
  std::thread([] {
    run("a thread", 8);
    static thread_local ThreadLocal after{9};
    (void)after.number;
  }).join();
  std::atexit(run_optimized);
  return 0;
}
