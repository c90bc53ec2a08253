// residuals_and_jacobians: against differences, types and shapes, transformations.
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "differences.h"
#include "functors.h"

namespace calque::test {
namespace {

using D = Array<double>;

const D kCamera = {0.1, -0.2, 0.3, 0.4, 0.1, -5, 500, 0.01, -0.002};
const D kPoint = {0.3, -0.7, 0.2};

TEST(Jacobians, AgainstDifferences) {
  check_jacobians(functor<1>(Curve(2, 3)), std::tuple{D{0.5}, D{0.25}});
  check_jacobians(functor<4>(Powell()), std::tuple{D{3}, D{-1}, D{0.5}, D{1}});
  check_jacobians(functor<2>(Listed()), std::tuple{D{1, 2, 4}, D{5, 6}});
  check_jacobians(functor<3>(Mapped()), std::tuple{D{1, 2, 3}, D{0, -1, 2}});
  check_jacobians(functor<2>(Projection{1, 2}), std::tuple{kCamera, kPoint}, 1e-8);
  check_jacobians(functor<2>(Projection{1, 2}), std::tuple{kCamera.set(range(0, 3), 0), kPoint}, 1e-8);
}

TEST(Jacobians, HaveAColumnForNumbersAndAreOfTheBlocksType) {
  const auto [r, j] = residuals_and_jacobians(functor<1>(Curve(2, 3)))(0.5, 0.25f);
  EXPECT_EQ(std::get<0>(j).shape(), (Shape{1, 1}));
  EXPECT_EQ(std::get<0>(j).dtype(), DType::f64);
  EXPECT_EQ(std::get<1>(j).dtype(), DType::f32);
  EXPECT_NEAR(std::get<0>(j).item(), -2 * std::exp(1.25), 1e-14);
  EXPECT_NEAR(std::get<1>(j).item(), -std::exp(1.25), 1e-6);
}

TEST(Jacobians, OfOtherFunctions) {
  const auto [r, j] = residuals_and_jacobians([](auto a, auto s) { return a * s; })(D{{1, 2}, {3, 4}}, 2.0);
  EXPECT_TRUE(array_equal(r, D{2, 4, 6, 8}));
  EXPECT_TRUE(array_equal(std::get<0>(j), D::eye(4) * 2.0));
  EXPECT_TRUE(array_equal(std::get<1>(j), D{{1}, {2}, {3}, {4}}));
}

TEST(Jacobians, AreTransformedAndNested) {
  const auto cost = [](auto x) { return 0.5 * sum(square(functor<2>(Listed())(x, D{5, 6}))); };
  const auto [r, j] = residuals_and_jacobians(functor<2>(Listed()))(D{1, 2, 4}, D{5, 6});
  EXPECT_TRUE(allclose(grad(cost)(D{1, 2, 4}), matmul(r, std::get<0>(j)), 1e-14));
  const D step = jit([](auto x) {
    const auto [r, j] = residuals_and_jacobians(functor<3>(Mapped()))(x, D{0, 1, 0});
    return x - linalg::solve(std::get<0>(j), r);
  })(D{1, 2, 3});
  EXPECT_TRUE(allclose(step, D{0, 0, 0}, 1e-14, 1e-14));
}

}  // namespace
}  // namespace calque::test
