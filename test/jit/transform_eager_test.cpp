// CALQUE_DISABLE_JIT=1: functions under derivatives run with values.
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "runtime/process/environment.h"

namespace calque {
namespace {

using D = Array<double>;

class EagerTransforms : public testing::Test {
 protected:
  void SetUp() override { runtime::mutable_environment().disable_jit = true; }
  void TearDown() override { runtime::mutable_environment().disable_jit = false; }
};

const auto branching = [](auto x) {
  if (x > 0.0) return x * x;
  return -x;
};

TEST_F(EagerTransforms, GradientsBranchOnValues) {
  EXPECT_EQ(grad(branching)(3.0).item(), 6);
  EXPECT_EQ(grad(branching)(-3.0).item(), -1);
  EXPECT_EQ(grad(grad(branching))(3.0).item(), 2);
  const auto [y, g] = value_and_grad(branching)(3.0);
  EXPECT_EQ(y.item() + g.item(), 15);
}

TEST_F(EagerTransforms, LinearMapsBranchOnValues) {
  EXPECT_EQ(jvp(branching, std::tuple{3.0}, std::tuple{2.0}).second.item(), 12);
  const auto [y, pullback] = vjp(branching, -3.0);
  EXPECT_EQ(y.item(), 3);
  EXPECT_EQ(std::get<0>(pullback(5.0)).item(), -5);
  const auto [z, linear] = linearize(branching, 3.0);
  EXPECT_EQ(linear(1.0).item(), 6);
  EXPECT_EQ(linear(2.0).item(), 12);
}

TEST_F(EagerTransforms, JacobiansBranchOnValues) {
  const auto f = [](auto x) {
    if (x[0] > 0.0) return x * x;
    return -x;
  };
  EXPECT_TRUE(array_equal(jacfwd(f)(D{1, 2}), D{{2, 0}, {0, 4}}));
  EXPECT_TRUE(array_equal(jacrev(f)(D{-1, 2}), D{{-1, 0}, {0, -1}}));
}

TEST_F(EagerTransforms, CapturesHaveValues) {
  const auto f = jit([](auto x) {
    return grad([x](auto y) {
      if (x > 0.0 && y > 0.0) return x * y * y;
      return y;
    })(x);
  });
  EXPECT_EQ(f(3.0).item(), 18);
  EXPECT_EQ(f(-3.0).item(), 1);
}

TEST_F(EagerTransforms, LoopsRunPerIteration) {
  int iterations = 0;
  const auto f = [&](auto x) {
    return fori_loop(
        0, 3,
        [&](auto, auto s) {
          ++iterations;
          return s * x;
        },
        x);
  };
  EXPECT_EQ(grad(f)(2.0).item(), 4 * 8);
  EXPECT_EQ(iterations, 3);
}

TEST_F(EagerTransforms, VmapStaysSymbolic) {
  const auto f = [](auto x) { return where(x > 0.0, x * x, -x); };
  EXPECT_TRUE(array_equal(vmap(f)(D{3, -3}), D{9, 3}));
  EXPECT_TRUE(array_equal(vmap(grad(f))(D{3, -3}), D{6, -1}));
  EXPECT_TRUE(array_equal(grad([f](auto x) { return sum(vmap(f)(x)); })(D{3, -3}), D{6, -1}));
  EXPECT_THROW(vmap(branching)(D{3, -3}), ConcretizationError);
}

TEST_F(EagerTransforms, RulesHold) {
  const auto f = custom_jvp(branching, [](auto p, auto t) {
    const auto [x] = p;
    const auto [dx] = t;
    return std::pair{x * x, 100.0 * dx};
  });
  EXPECT_EQ(f(-3.0).item(), 3);
  EXPECT_EQ(grad(f)(3.0).item(), 100);
  const auto g = custom_vjp(
      branching,
      [](auto x) {
        if (x > 0.0) return std::pair{x * x, x};
        return std::pair{-x, x};
      },
      [](auto x, auto ybar) { return std::tuple{10.0 * x * ybar}; });
  EXPECT_EQ(grad(g)(3.0).item(), 30);
  EXPECT_EQ(grad(checkpoint(branching))(-3.0).item(), -1);
}

}  // namespace
}  // namespace calque
