// Gradients by the parameters of the distributions made of gamma, by the derivative of an expectation: the mean over
// draws of the derivative of a function of a draw is the derivative of the function's mean.
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

constexpr int64_t kDraws = 200'000;

TEST(GammaGradients, HaveTheRightMeans) {
  const random::Key key = random::key(11);
  const auto of = [&](auto draw) { return grad([draw](auto p) { return mean(draw(p)); }); };
  const auto gamma = of([&](auto a) { return random::gamma<double>(key, a, {kDraws}); });
  EXPECT_NEAR(gamma(0.3).item(), 1, 0.02);
  EXPECT_NEAR(gamma(7.0).item(), 1, 0.005);
  const auto logs = of([&](auto a) { return random::loggamma<double>(key, a, {kDraws}); });
  EXPECT_NEAR(logs(2.0).item(), 0.6449340668482264, 0.005);  // trigamma(2)
  const auto squares = of([&](auto df) { return square(random::chisquare<double>(key, df, {kDraws})); });
  EXPECT_NEAR(squares(3.0).item(), 2 * 3 + 2, 0.1);  // E x^2 = df^2 + 2 df
  const auto t = of([&](auto df) { return square(random::t<double>(key, df, {kDraws})); });
  EXPECT_NEAR(t(12.0).item(), -2.0 / 100, 0.001);  // E x^2 = df / (df - 2)
  const auto beta = [&](auto a, auto b) { return mean(random::beta<double>(key, a, b, {kDraws})); };
  const auto [da, db] = grad(beta, argnums<0, 1>)(0.5, 1.5);  // E x = a / (a + b)
  EXPECT_NEAR(da.item(), 1.5 / 4, 0.003);
  EXPECT_NEAR(db.item(), -0.5 / 4, 0.003);
  const auto classes = [&](auto alpha) { return mean(random::dirichlet<double>(key, alpha, {kDraws}).at(all, 1)); };
  const std::vector<double> d =
      to<std::vector<double>>(grad(classes)(Array<double>{0.5, 2, 1.5}));  // E x_1 = alpha_1 / sum
  EXPECT_NEAR(d[0], -2.0 / 16, 0.002);
  EXPECT_NEAR(d[1], 2.0 / 16, 0.002);
  EXPECT_NEAR(d[2], -2.0 / 16, 0.002);
}

TEST(GammaGradients, AreBatched) {
  const auto slope = [](auto key, auto a) {
    return grad([key](auto b) { return sum(random::gamma<double>(key, b, {3})); })(a);
  };
  const auto keys = stack({random::key(1).data, random::key(2).data}, 0);
  const Array<double> a{0.3, 5};
  const auto batch = vmap(slope)(random::Key{keys}, a);
  for (int64_t i = 0; i < 2; ++i) {
    const double want = slope(random::Key{Array<uint32_t>(keys[i])}, Array<double>(a[i])).item();
    EXPECT_NEAR(Array<double>(batch[i]).item() / want, 1, 1e-12);
  }
}

}  // namespace
}  // namespace calque::test
