// Vectors of normal distributions and orthogonal matrices: what they satisfy, shapes, derivatives, errors.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;

const random::Key key = random::key(7);
const D& covariance() {
  static const D c = {{2, 0.6, -0.4}, {0.6, 1, 0.3}, {-0.4, 0.3, 0.5}};
  return c;
}

TEST(MultivariateNormal, HasItsMeanAndCovariance) {
  const D mean_of = {1, -2, 3};
  const auto draw = jit([](auto k, auto m, auto c) { return random::multivariate_normal(k, m, c, Shape{100'000}); });
  const D x = draw(key, mean_of, covariance());
  EXPECT_EQ(x.shape(), (Shape{100'000, 3}));
  EXPECT_TRUE(allclose(mean(x, {0}), mean_of, 0, 0.02));
  const D centred = x - mean_of;
  EXPECT_TRUE(allclose(matmul(transpose(centred), centred) / 1e5, covariance(), 0, 0.03));
  EXPECT_TRUE(allclose(random::multivariate_normal(key, mean_of, covariance(), Shape{100'000}), x, 1e-12, 1e-12));
}

TEST(MultivariateNormal, IsTheFactorTimesNormalNumbers) {
  const D z = random::normal<double>(key, {5, 3}), l = linalg::cholesky(covariance());
  const D want = matmul(z, transpose(l)) + D{1, 2, 3};
  EXPECT_TRUE(allclose(random::multivariate_normal(key, D{1, 2, 3}, covariance(), Shape{5}), want, 1e-14, 1e-14));
  // A covariance for each draw.
  const D many = stack({covariance(), covariance() * 4.0}, 0), two = random::multivariate_normal(key, D{0, 0, 0}, many);
  const D y = random::normal<double>(key, {2, 3});
  EXPECT_EQ(two.shape(), (Shape{2, 3}));
  EXPECT_TRUE(allclose(D(two.at(1)), 2.0 * matmul(l, D(y.at(1))), 1e-14, 1e-14));
  EXPECT_EQ(random::multivariate_normal(key, D::zeros({4, 1, 3}), many).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(random::multivariate_normal(key, D{0, 0, 0}, covariance()).shape(), Shape{3});
  EXPECT_EQ(random::multivariate_normal(key, D::zeros({0}), D::zeros({0, 0}), Shape{4}).shape(), (Shape{4, 0}));
  static_assert(std::same_as<decltype(random::multivariate_normal(key, Array<int32_t>{}, F{})), F>);
}

TEST(MultivariateNormal, HasTheDerivativesOfItsFormula) {
  const auto f = [](auto m, auto c) { return sum(sin(random::multivariate_normal(key, m, c, Shape{4}))); };
  const D m = {0.1, 0.2, 0.3};
  const auto [by_mean, by_cov] = grad(f, argnums<0, 1>)(m, covariance());
  const double h = 1e-6;
  for (int64_t i = 0; i < 3; ++i) {
    const double by =
        (f(D(m.set(i, m(i) + h)), covariance()).item() - f(D(m.set(i, m(i) - h)), covariance()).item()) / (2 * h);
    EXPECT_NEAR(by_mean(i), by, 1e-8);
    const D c = covariance();
    const double up = f(m, D(c.set(i, 0, c(i, 0) + h))).item(), down = f(m, D(c.set(i, 0, c(i, 0) - h))).item();
    EXPECT_NEAR(by_cov(i, 0), (up - down) / (2 * h), 1e-8);
  }
}

TEST(MultivariateNormal, WithoutAFactorIsNaN) {
  const D x = random::multivariate_normal(key, D{0, 0}, D{{1, 2}, {2, 1}});
  EXPECT_TRUE(all(isnan(x)).item());
}

TEST(MultivariateNormal, BadOperandsAreRefusedInWords) {
  const auto message = [](const auto& f) -> std::string {
    try {
      static_cast<void>(f());
    } catch (const Error& e) {
      return std::string(e.what()).substr(0, std::string(e.what()).find(" ("));
    }
    return "no error";
  };
  EXPECT_EQ(
      message([] { return random::multivariate_normal(key, D{1, 2}, covariance()); }),
      "random::multivariate_normal: mean [..., n] and covariance [..., n, n] do not fit, got f64[2] and f64[3,3]");
  EXPECT_EQ(message([] { return random::multivariate_normal(key, D::zeros({4, 3}), covariance(), Shape{5}); }),
            "random::multivariate_normal: mean and covariance do not broadcast to the shape [5], got f64[4,3] and "
            "f64[3,3]");
  EXPECT_EQ(message([] { return random::multivariate_normal(key, D{1, 2}, D{1, 2}); }),
            "random::multivariate_normal: needs square matrices [..., n, n], got f64[2]");
  EXPECT_EQ(message([] { return random::orthogonal<float16>(key, 2); }),
            "random::orthogonal: needs f32, f64 or complex elements, got f16[]");
  EXPECT_EQ(message([] { return random::orthogonal<double>(key, -1); }),
            "random::orthogonal: the number of rows must not be negative, got -1");
}

TEST(Orthogonal, MatricesAreOrthogonal) {
  const auto draw = jit([](auto k) { return random::orthogonal<double>(k, 4, {1000}); });
  const D q = draw(key);
  EXPECT_EQ(q.shape(), (Shape{1000, 4, 4}));
  EXPECT_TRUE(allclose(matmul(q, transpose(q, {0, 2, 1})), D::eye(4), 0, 1e-14));
  // Haar's measure: elements have mean 0 and variance 1 / n, and half of the determinants are 1.
  EXPECT_TRUE(allclose(mean(q, {0}), D::zeros({4, 4}), 0, 0.08));
  EXPECT_TRUE(allclose(mean(q * q, {0}), D::full({4, 4}, 0.25), 0, 0.05));
  EXPECT_NEAR(mean(linalg::det(q)).item(), 0, 0.12);
  EXPECT_EQ(random::orthogonal<float>(key, 0).shape(), (Shape{0, 0}));
  EXPECT_EQ(random::orthogonal<float>(key, 20).shape(), (Shape{20, 20}));
}

}  // namespace
}  // namespace calque::test
