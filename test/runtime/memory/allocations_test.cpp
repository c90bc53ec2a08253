// A warm call does not allocate from the heap: results reuse blocks that earlier results released. Guarded buffers
// (CALQUE_GUARD=1) are never cached, so this is tested without them.
#include <cstdlib>
#include <new>

#include <calque/calque.h>
#include <gtest/gtest.h>

#include "support/guarded.h"
#include "support/sanitizers.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local long allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace calque::test {
namespace {

class Allocations : public testing::Test {
  void SetUp() override {
    if (guarded()) GTEST_SKIP() << "guarded buffers are allocated anew";
  }
};

/// The number of allocations of this thread in a warm call.
template <class F>
long in_a_warm_call(const F& call) {
  for (int i = 0; i < 20; ++i) call();
  const long before = allocations;
  call();
  return allocations - before;
}

TEST_F(Allocations, AreCounted) {
  EXPECT_EQ(in_a_warm_call([] { std::vector<int>(10); }), 1);
}

TEST_F(Allocations, NoneForArrays) {
  auto f = jit([](auto x, auto y) { return x * y + x; });
  const auto x = Array<float>::ones({16});
  EXPECT_EQ(in_a_warm_call([&] { auto z = f(x, x); }), 0);
}

TEST_F(Allocations, NoneForSeveralResultsAndWorkspace) {
  auto f = jit([](auto x, auto w) {
    auto h = tanh(matmul(x, w));
    return std::tuple{matmul(h, h), sum(h), cumsum(h, 0)};
  });
  const auto x = Array<double>::ones({40, 40});
  EXPECT_EQ(in_a_warm_call([&] { auto z = f(x, x); }), 0);
}

TEST_F(Allocations, NoneForLoops) {
  auto f = jit([](auto x) { return fori_loop(0, 10, [](auto, auto v) { return sin(v) + 0.5f * sum(v); }, x); });
  const auto x = Array<float>::ones({33});
  EXPECT_EQ(in_a_warm_call([&] { auto z = f(x); }), 0);
}

TEST_F(Allocations, NoneForScalars) {
  const auto f = compile<double(double, double)>([](auto a, auto b) { return a * b + sin(a); });
  double sum = 0;
  EXPECT_EQ(in_a_warm_call([&] { sum += f(sum, 2.0); }), 0);
}

}  // namespace
}  // namespace calque::test

#endif
