// Derivatives of logsumexp where terms or the result are infinite.
#include <cmath>

#include "jit/numerics/derivative_numbers.h"

namespace calque::test {
namespace {

using D = Array<double>;

template <class T>
class LogsumexpInfinities : public testing::Test {};
TYPED_TEST_SUITE(LogsumexpInfinities, Floats);

const auto lse = [](auto x) { return logsumexp(x); };

TYPED_TEST(LogsumexpInfinities, OfALogarithmOfASumShareItsDerivative) {
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

}  // namespace
}  // namespace calque::test
