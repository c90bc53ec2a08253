// Partial derivatives that are infinite or NaN reach no result in which their tangent or cotangent is zero.
#include <cmath>

#include "jit/numerics/derivative_numbers.h"

namespace calque::test {
namespace {

using D = Array<double>;

template <class T>
class Infinities : public testing::Test {};
TYPED_TEST_SUITE(Infinities, Floats);

const auto power = [](auto b) { return pow(b[0], b[1]); };

TYPED_TEST(Infinities, OfAPowerByItsExponentDoNotReachThatByItsBase) {
  const auto negative = array<TypeParam>({-3, 2});
  expect_numbers(jacfwd(power)(negative), {-6, kNan});
  expect_numbers(jacrev(power)(negative), {-6, kNan});
  expect_numbers(hessian(power)(negative), {2, kNan, kNan, kNan});
  expect_numbers(jacrev(jacfwd(power))(negative), {2, kNan, kNan, kNan});
  const auto zero = array<TypeParam>({0, 0.5});
  expect_numbers(jacfwd(power)(zero), {kInf, 0});
  expect_numbers(jacrev(power)(zero), {kInf, 0});
}

TYPED_TEST(Infinities, OfAPowerDoNotReachItsNeighbors) {
  const auto by_exponent = [](auto t, auto y) { return pow(y, t); };
  const auto one = scalar<TypeParam>(1.0);
  const auto bases = array<TypeParam>({1, 2, kNan, -1});
  const double second = 2 * std::log(2.0) * std::log(2.0);
  const std::vector<double> want = {0, second, kNan, kNan};
  expect_numbers(jacfwd(jacrev(by_exponent))(one, bases), want);
  expect_numbers(jacfwd(jacfwd(by_exponent))(one, bases), want);
  expect_numbers(jacrev(jacrev(by_exponent))(one, bases), want);
  expect_numbers(jacrev(jacfwd(by_exponent))(one, bases), want);
  // Each element by its own exponent: a diagonal matrix.
  const auto elementwise = [](auto y, auto t) { return pow(y, t); };
  const auto exponents = array<TypeParam>({2, 2});
  expect_numbers(jacfwd(elementwise, argnums<1>)(array<TypeParam>({-1, 1}), exponents), {kNan, 0, 0, 0});
  expect_numbers(jacrev(elementwise, argnums<1>)(array<TypeParam>({-1, 1}), exponents), {kNan, 0, 0, 0});
}

TYPED_TEST(Infinities, OfAnAngleAtTheOriginDoNotReachItsNeighbors) {
  const auto angle = [](auto y, auto x) { return atan2(y, x); };
  const auto y = array<TypeParam>({0, 1}), x = array<TypeParam>({0, 1});
  expect_numbers(jacfwd(angle)(y, x), {kNan, 0, 0, 0.5});
  expect_numbers(jacrev(angle)(y, x), {kNan, 0, 0, 0.5});
  expect_numbers(jacfwd(angle, argnums<1>)(y, x), {kNan, 0, 0, -0.5});
}

TYPED_TEST(Infinities, OfRemaindersAndHypotenusesDoNotReachTheirNeighbors) {
  const auto by_zero = array<TypeParam>({1, 0});
  expect_numbers(jacfwd([](auto b) { return fmod(b[0], b[1]); })(by_zero), {1, kNan});
  expect_numbers(jacrev([](auto b) { return fmod(b[0], b[1]); })(by_zero), {1, kNan});
  const auto root = [](auto b) { return hypot(b[0], b[1]); };
  // In range where the hypotenuse is not, and where the squares vanish.
  for (const double size : {0.9 * static_cast<double>(std::numeric_limits<TypeParam>::max()),
                            4 * static_cast<double>(std::numeric_limits<TypeParam>::min())}) {
    const auto x = array<TypeParam>({size, -size});
    expect_numbers(jacfwd(root)(x), {std::sqrt(0.5), -std::sqrt(0.5)});
    expect_numbers(jacrev(root)(x), {std::sqrt(0.5), -std::sqrt(0.5)});
  }
  expect_numbers(jacrev(root)(array<TypeParam>({0, 0})), {0, 0});
}

TEST(InfinitePartials, OfBatchesAreThoseOfEachExample) {
  const D points = {{-3, 2}, {0, 0.5}, {2, 3}, {0, 0}};
  const D forward = vmap(jacfwd(power))(points), reverse = vmap(jacrev(power))(points);
  for (int i = 0; i < 4; ++i) {
    const D point = points[i];
    expect_numbers(forward[i], numbers(jacfwd(power)(point)));
    expect_numbers(reverse[i], numbers(jacrev(power)(point)));
  }
}

}  // namespace
}  // namespace calque::test
