// diag, tril, triu, vander, toeplitz, block_diag and kron under grad and vmap.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;

bool close(const D& x, const D& y, double tolerance = 1e-13) { return allclose(x, y, tolerance, tolerance); }

/// The derivative of a scalar function of an array by differences.
template <class Function>
D differences(const Function& f, const D& x) {
  const D flat = reshape(x, {-1});
  D result = D::zeros(flat.shape());
  for (int64_t i = 0; i < flat.size(); ++i) {
    const double h = 1e-5, at = flat.at(i).item();
    const auto with = [&](double value) { return reshape(flat.set(i, value), x.shape()); };
    result = result.set(i, (f(with(at + h)).item() - f(with(at - h)).item()) / (2 * h));
  }
  return reshape(result, x.shape());
}

/// A scalar that depends on each element of a matrix differently.
template <class X>
auto mixed(const X& y) {
  const int64_t m = y.shape()[0], n = y.shape()[1];
  D weights = D::zeros({m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) weights = weights.set(i, j, std::sin(static_cast<double>(3 * i + 7 * j + 1)));
  return sum(weights * y * y);
}

/// Checks the derivative at x.
template <class Function>
void expect_gradient(const Function& make, const D& x) {
  const auto f = [&](auto v) { return mixed(make(v)); };
  const auto run = jit(f);
  EXPECT_TRUE(close(grad(f)(x), differences(run, x), 1e-8)) << grad(f)(x);
  EXPECT_TRUE(close(jit(grad(f))(x), grad(f)(x)));
}

/// Checks the second derivative at x along x.
template <class Function>
void expect_second_derivative(const Function& make, const D& x) {
  const auto slope = [&](auto v) { return sum(grad([&](auto u) { return mixed(make(u)); })(v) * x); };
  EXPECT_TRUE(close(jit(grad(slope))(x), differences(jit(slope), x), 1e-7));
}

TEST(MatricesTransforms, GradientsEqualDifferences) {
  const D v = {0.5, -1.25, 2}, m = {{1, -0.5, 2}, {0.25, 3, -1}};
  for (int64_t k : {0, 1, -2}) {
    expect_gradient([=](auto x) { return diag(x, k); }, v);
    expect_gradient([=](auto x) { return tril(x, k); }, m);
    expect_gradient([=](auto x) { return triu(x, k); }, m);
  }
  expect_gradient([&](auto x) { return toeplitz(x, x * 2.0); }, v);
  expect_gradient([&](auto x) { return toeplitz(D{1, 2}, x); }, v);
  expect_gradient([&](auto x) { return block_diag(m, x * 2.0, x); }, v);
  expect_gradient([&](auto x) { return kron(x, m); }, m);
  expect_gradient([&](auto x) { return kron(m, x); }, v);
  expect_second_derivative([](auto x) { return kron(tril(diag(x, -1)), toeplitz(x)); }, v);
}

TEST(MatricesTransforms, GradientsOfPowersAreExactAtZero) {
  const auto powers = [](auto x) { return vander(x, 4); };
  expect_gradient(powers, D{0.5, -1.25, 2});
  expect_second_derivative(powers, D{0.5, -1.25, 2});
  const auto second = [](auto x) { return sum(vander(x, 4, true) * D{5, 1, 3, 7}); };
  EXPECT_TRUE(array_equal(grad(second)(D{0, 1}), D{1, 1 + 6 + 21}));
  // Powers that are not asked for do not overflow into the derivative.
  EXPECT_TRUE(array_equal(grad([](auto x) { return sum(vander(x, 3)); })(D{1e150}), D{2e150 + 1}));
}

TEST(MatricesTransforms, ElementsBesideATriangleHaveNoInfluence) {
  const double nan = std::nan("");
  const D x = {{1, nan}, {2, 3}};
  EXPECT_TRUE(array_equal(grad([](auto m) { return sum(tril(m) * tril(m)); })(x), D{{2, 0}, {4, 6}}));
  EXPECT_TRUE(array_equal(grad([&](auto v) { return sum(diag(v) * D{{2, nan}, {nan, 3}}); })(D{1, 1}), D{2, 3}, true));
}

TEST(MatricesTransforms, BatchesEqualLoops) {
  const D v = {{0.5, -1.25}, {2, 1}, {3, -2}}, m = {{1, 2, 3}, {4, 5, 6}};
  const auto check = [&](const auto& f) {
    const D rows = vmap(f)(v);
    const D columns = vmap(f, {.in_axes = {1}})(v);
    for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(close(rows.at(i), f(D(v.at(i)))));
    for (int64_t i = 0; i < 2; ++i) EXPECT_TRUE(close(columns.at(i), f(D(v.at(all, i)))));
  };
  for (int64_t k : {1, -1}) check([=](auto x) { return diag(x, k); });
  check([](auto x) { return vander(x, 3); });
  check([](auto x) { return toeplitz(x, x * 2.0); });
  check([&](auto x) { return block_diag(x, m); });
  check([&](auto x) { return kron(m, x); });
  check([&](auto x) { return kron(x, m); });
  const D batch = stack({m, m * 2.0}, 0);
  const auto lower = [](auto x) { return tril(x, -1); };
  for (int64_t i = 0; i < 2; ++i) EXPECT_TRUE(close(D(vmap(lower)(batch).at(i)), lower(D(batch.at(i)))));
}

}  // namespace
}  // namespace calque::test
