// CALQUE_DISABLE_JIT=1: the outermost lambda runs with values.
#include <sstream>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "runtime/process/environment.h"

namespace calque {
namespace {

using F = Array<float>;

class DisableJit : public testing::Test {
 protected:
  void SetUp() override { runtime::mutable_environment().disable_jit = true; }
  void TearDown() override { runtime::mutable_environment().disable_jit = false; }
};

TEST_F(DisableJit, BranchOnDataTakesTheRightSide) {
  const auto f = jit([](auto x) {
    if (x > 0.0f) return x * 2.0f;
    return -x;
  });
  EXPECT_EQ(f(3.0f).item(), 6);
  EXPECT_EQ(f(-3.0f).item(), 3);
}

TEST_F(DisableJit, TracersPrintTheirValues) {
  std::ostringstream out;
  jit([&](auto x) {
    out << x + 1.0f;
    return x;
  })(F{1, 2});
  EXPECT_NE(out.str().find("[2. 3.]"), std::string::npos) << out.str();
}

TEST_F(DisableJit, LambdaRunsEveryTime) {
  int runs = 0;
  const auto f = jit([&](auto x) {
    ++runs;
    return x;
  });
  f(1.0f);
  f(1.0f);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.cache_info().entries, 0u);
}

TEST_F(DisableJit, LoopBodiesRunPerIteration) {
  int iterations = 0;
  const auto f = jit([&](auto x) {
    return fori_loop(
        0, 4,
        [&](auto, auto s) {
          ++iterations;
          return s + x;
        },
        x);
  });
  EXPECT_EQ(f(2.0f).item(), 10);
  EXPECT_EQ(iterations, 4);
}

TEST_F(DisableJit, TreesAndInnerFunctionsWork) {
  const auto inner = jit([](const auto& p) { return std::pair{p.second, p.first}; });
  const auto f = jit([&](const auto& p) { return inner(p); });
  const auto [a, b] = f(std::pair{F{1}, F{2, 3}});
  EXPECT_TRUE(array_equal(a, F{2, 3}));
  EXPECT_TRUE(array_equal(b, F{1}));
}

TEST_F(DisableJit, ArraysComputeAtOnce) { EXPECT_TRUE(array_equal(F{1, 2} * 3.0f, F{3, 6})); }

TEST_F(DisableJit, ResultsDoNotReferToTheMemoryOfTheCaller) {
  std::vector<float> buffer = {1, 2};
  const F x = F::wrap(buffer.data(), {2}, [](float*) {});
  const auto [same, reshaped] = jit([](auto v) { return std::pair{v, reshape(v, {2, 1})}; })(x);
  buffer = {3, 4};
  EXPECT_EQ(same(0), 1);
  EXPECT_EQ(reshaped(1, 0), 2);
}

}  // namespace
}  // namespace calque
