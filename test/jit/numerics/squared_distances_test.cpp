// Curvatures of distances, which are infinite at zero, do not reach those of their squares.

#include "jit/numerics/derivative_numbers.h"

namespace calque::test {
namespace {

using D = Array<double>;

template <class T>
class Distances : public testing::Test {};
TYPED_TEST_SUITE(Distances, Floats);

TYPED_TEST(Distances, OfCurvaturesOfDistancesDoNotReachThatOfTheirSquares) {
  const auto squared = [](auto x) { return 0.5 * square(norm(x)); };
  const auto by_power = [](auto x) { return 0.5 * pow(norm(x), 2.0); };
  const auto by_product = [](auto x) {
    const auto n = norm(x);
    return 0.5 * (n * n);
  };
  for (const std::vector<double>& point : {std::vector<double>{0, 0}, std::vector<double>{3, 4}}) {
    const auto x = array<TypeParam>(point);
    expect_numbers(squared(x), {(point[0] * point[0] + point[1] * point[1]) / 2});
    expect_numbers(grad(squared)(x), point);
    expect_numbers(hessian(squared)(x), {1, 0, 0, 1});
    expect_numbers(hessian(by_power)(x), {1, 0, 0, 1});
    expect_numbers(hessian(by_product)(x), {1, 0, 0, 1});
    expect_numbers(jacrev(jacrev(squared))(x), {1, 0, 0, 1});
    expect_numbers(hessian([](auto v) { return 0.5 * square(hypot(v[0], v[1])); })(x), {1, 0, 0, 1});
  }
  expect_numbers(grad([](auto x) { return norm(x); })(array<TypeParam>({0, 0})), {0, 0});
}

TEST(SquaresOfDistances, WithFactorsOrOfTwoCalls) {
  const auto expect_curvature = [](const auto& f, double curvature) {
    expect_numbers(hessian(f)(D{0, 0}), {curvature, 0, 0, curvature});
    expect_numbers(jit(f)(D{3, 4}), numbers(f(D{3, 4})));
  };
  expect_curvature([](auto x) { return 0.5 * norm(x) * norm(x); }, 1);
  expect_curvature([](auto x) { return norm(x) * norm(x); }, 2);
  expect_curvature([](auto x) { return square(0.5 * norm(x)); }, 0.5);
  expect_curvature([](auto x) { return (norm(x) / 2.0) * (norm(x) * 4.0); }, 4);
  expect_curvature([](auto x) { return exp(-0.5 * norm(x) * norm(x)); }, -1);
  expect_curvature([](auto x) { return (-hypot(x[0], x[1])) * -1.0; }, 0);
  const auto rows = [](auto x) { return sum(norm(x, {0}) * norm(x, {1})); };  // other sums: a plain product
  EXPECT_EQ(rows(D{{3, 0}, {4, 0}}).item(), 15);
}

TEST(SquaresOfDistances, AreSumsOfSquares) {
  const auto rows = [](auto x) { return sum(square(norm(x, {1}, keepdims))); };
  const D x = {{0, 0}, {1, 2}};
  expect_numbers(grad(rows)(x), {0, 0, 2, 4});
  expect_numbers(vmap(hessian([](auto v) { return square(norm(v)); }))(x), {2, 0, 0, 2, 2, 0, 0, 2});
}

}  // namespace
}  // namespace calque::test
