// Derivatives where a partial derivative or an intermediate value is infinite or NaN: it reaches no result in which its
// tangent or cotangent is zero.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using D = Array<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The numbers of an array of any float type, of which there may be one in a tuple.
template <class T>
std::vector<double> numbers(const Array<T>& a) {
  std::vector<double> v;
  for (const T x : a.host()) v.push_back(static_cast<double>(x));
  return v;
}
template <class T>
std::vector<double> numbers(const std::tuple<Array<T>>& a) {
  return numbers(std::get<0>(a));
}

template <class A>
struct ElementOf;
template <class T>
struct ElementOf<Array<T>> {
  using type = T;
};
template <class T>
struct ElementOf<std::tuple<Array<T>>> {
  using type = T;
};
template <class A>
using element_t = typename ElementOf<A>::type;

/// Equal within `epsilons`; NaN where NaN is wanted.
template <class A>
void expect_numbers(const A& got, const std::vector<double>& want, double epsilons = 16) {
  using T = element_t<A>;
  const std::vector<double> is = numbers(got);
  ASSERT_EQ(is.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]) || std::isinf(want[i])) {
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(is[i]) : is[i] == want[i]) << i << ": " << is[i];
    } else {
      const double allowed = epsilons * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(want[i]);
      EXPECT_TRUE(std::abs(is[i] - want[i]) <= allowed) << i << ": " << is[i] << ", want " << want[i];
    }
  }
}

template <class T>
Array<T> array(const std::vector<double>& x) {
  std::vector<T> all;
  for (const double v : x) all.push_back(static_cast<T>(v));
  return Array<T>::from(all, {static_cast<int64_t>(all.size())});
}

template <class T>
Array<T> scalar(double x) {
  return Array<T>::full({}, static_cast<T>(x));
}

template <class T>
class Infinities : public testing::Test {};
using Floats = testing::Types<double, float, float16, bfloat16>;
TYPED_TEST_SUITE(Infinities, Floats);

// ---- partial derivatives

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

TEST(InfinitePartials, OfBatchesAreThoseOfEachExample) {
  const D points = {{-3, 2}, {0, 0.5}, {2, 3}, {0, 0}};
  const D forward = vmap(jacfwd(power))(points), reverse = vmap(jacrev(power))(points);
  for (int i = 0; i < 4; ++i) {
    const D point = points[i];
    expect_numbers(forward[i], numbers(jacfwd(power)(point)));
    expect_numbers(reverse[i], numbers(jacrev(power)(point)));
  }
}

// ---- logsumexp

const auto lse = [](auto x) { return logsumexp(x); };

TYPED_TEST(Infinities, OfALogarithmOfASumShareItsDerivative) {
  const auto check = [](const std::vector<double>& point, double value, const std::vector<double>& gradient) {
    const auto x = array<TypeParam>(point);
    expect_numbers(lse(x), {value});
    expect_numbers(grad(lse)(x), gradient);
    expect_numbers(jacfwd(lse)(x), gradient);
  };
  check({kInf, 0}, kInf, {1, 0});
  check({kInf, -kInf, kInf}, kInf, {0.5, 0, 0.5});
  check({-kInf, -kInf, -kInf, -kInf}, -kInf, {0.25, 0.25, 0.25, 0.25});
  check({-kInf, 0}, 0, {0, 1});
  check({0, 0}, std::log(2.0), {0.5, 0.5});
  const auto [a, b] = grad([](auto x, auto y) { return logaddexp(x, y); }, argnums<0, 1>)(scalar<TypeParam>(kInf),
                                                                                          scalar<TypeParam>(0.0));
  expect_numbers(a, {1});
  expect_numbers(b, {0});
  expect_numbers(hessian(lse)(array<TypeParam>({kInf, 0})), {0, 0, 0, 0});
  expect_numbers(hessian(lse)(array<TypeParam>({0, 0})), {0.25, -0.25, -0.25, 0.25});
  expect_numbers(lse(array<TypeParam>({kNan, kInf})), {kNan});
}

TEST(Logsumexp, AlongAxesWithInfinities) {
  const D x = {{0, -kInf, kInf}, {0, -kInf, 1}};
  expect_numbers(logsumexp(x, {0}), {std::log(2.0), -kInf, kInf});
  expect_numbers(logsumexp(x, {1}), {kInf, std::log(1 + std::exp(1.0))});
  EXPECT_EQ(logsumexp(x, {0}, keepdims).shape(), (Shape{1, 3}));
  const auto total = [](auto v) { return sum(logsumexp(v, {0}) * D{1, 0, 2}); };
  expect_numbers(grad(total)(x), {0.5, 0, 2, 0.5, 0, 0});
  const D rows = vmap(grad(lse))(x);
  expect_numbers(rows[0], numbers(grad(lse)(x[0])));
  expect_numbers(rows[1], numbers(grad(lse)(x[1])));
}

/// The logarithm of the probability of at least two successes in four trials, by a left-to-right hidden Markov model.
TEST(Logsumexp, OfALeftToRightChain) {
  const auto chain = [](auto p) {
    const auto q = log(1.0 - exp(p));
    const auto never = full<double>({}, -kInf);
    const auto steps =
        stack({stack({p, q, never}, 0), stack({never, p, q}, 0), stack({never, never, zeros<double>({})}, 0)}, 0);
    return fori_loop(
        0, 4, [steps](auto, auto a) { return logsumexp(a.at(all, newaxis) + steps, {0}); },
        Tracer<double>(D{0, -kInf, -kInf}))[2];
  };
  const double p = 0.6, none = std::pow(p, 4), one = 4 * std::pow(p, 3) * (1 - p);
  const double value = std::log(1 - none - one), slope = -12 * p * p * p * (1 - p) / (1 - none - one);
  expect_numbers(jit(chain)(std::log(p)), {value});
  expect_numbers(grad(chain)(std::log(p)), {slope});
  expect_numbers(jvp(chain, std::tuple{std::log(p)}, std::tuple{1.0}).second, {slope});
}

// ---- squares of distances

TYPED_TEST(Infinities, OfCurvaturesOfDistancesDoNotReachThatOfTheirSquares) {
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

TEST(SquaresOfDistances, AreSumsOfSquares) {
  const auto rows = [](auto x) { return sum(square(norm(x, {1}, keepdims))); };
  const D x = {{0, 0}, {1, 2}};
  expect_numbers(grad(rows)(x), {0, 0, 2, 4});
  expect_numbers(vmap(hessian([](auto v) { return square(norm(v)); }))(x), {2, 0, 0, 2, 2, 0, 0, 2});
}

}  // namespace
}  // namespace calque
