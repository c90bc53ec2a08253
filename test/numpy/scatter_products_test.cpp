// The derivatives of products at indices: repeated indices, zeros among the factors, rows, indices out of bounds,
// batches, 16-bit floats.
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using I = Array<int32_t>;

constexpr double kInf = std::numeric_limits<double>::infinity();

bool close(const D& a, const D& b) { return allclose(a, b, 1e-12, 1e-12); }

/// The sum of weighted elements of x times the factors at indices.
auto weighted_product(const I& i) {
  return [i](auto x, auto v) {
    const auto y = x.mul(i, v);
    return sum(y * (iota<int32_t>(y.shape()[0]) + 1.0));
  };
}

/// Central differences of f(x, v) in v.
template <class F>
D differences(const F& f, const D& x, const D& v) {
  std::vector<double> slopes;
  const auto run = jit(f);
  for (int64_t k = 0; k < v.shape()[0]; ++k) {
    const double h = 1e-5;
    slopes.push_back((run(x, v.add(k, h)).item() - run(x, v.add(k, -h)).item()) / (2 * h));
  }
  return D::from(slopes);
}

TEST(ScatterProducts, DerivativesOfRepeatedIndices) {
  const I i = {2, 0, 2, 2, 1, 0};
  const auto f = weighted_product(i);
  const D x = {2, 3, 5, 7}, v = {2, 3, -1, 4, 0.5, 6};
  const auto [dx, dv] = jit(grad(f, argnums<0, 1>))(x, v);
  EXPECT_TRUE(close(dx, D{18, 1, -24, 4}));
  EXPECT_TRUE(close(dv, D{3 * 5 * -4, 2 * 6, 3 * 5 * 8, 3 * 5 * -2, 2 * 3, 2 * 3}));
  EXPECT_TRUE(allclose(dv, differences(f, x, v), 1e-6, 1e-6));
  const auto [y, dy] = jit([&](auto a, auto b) { return jvp(f, std::tuple{a, b}, std::tuple{a, b}); })(x, v);
  EXPECT_TRUE(close(dy, sum(dx * x) + sum(dv * v)));
}

TEST(ScatterProducts, DerivativesAtZeros) {
  const I i = {0, 0, 0, 1, 1};
  const auto f = weighted_product(i);
  // One zero among the factors of the first element, two among those of the second; a third element is zero itself.
  const D x = {2, 3, 0}, v = {0, 5, 7, 0, 0};
  const auto [dx, dv] = jit(grad(f, argnums<0, 1>))(x, v);
  EXPECT_TRUE(array_equal(dx, D{0, 0, 3}));
  EXPECT_TRUE(array_equal(dv, D{70, 0, 0, 0, 0}));
  // d^2 / dv[j] dv[k] is the product of the factors that are left.
  const D second = jit(hessian([&](auto b) { return f(x, b); }))(v);
  D expected = D::zeros({5, 5});
  for (const auto& [j, k, h] : std::vector<std::tuple<int, int, double>>{{0, 1, 14}, {0, 2, 10}, {3, 4, 6}}) {
    expected = expected.set(j, k, h).set(k, j, h);
  }
  EXPECT_TRUE(array_equal(second, expected));
  const auto [zero_x] = jit(grad(f, argnums<1>))(D{0, 1, 1}, D{2, 3, 4, 5, 6});
  EXPECT_TRUE(array_equal(zero_x, D{0, 0, 0, 12, 10}));
}

TEST(ScatterProducts, DerivativesOfThirdOrder) {
  const I i = {1, 1, 1, 0};
  const auto f = [&](auto s) { return sum(D{2, 3}.mul(i, stack({s, s * s, sin(s), s}, 0))); };
  // 3 s^3 sin(s) + 2 s
  const auto third = jit(grad(grad(grad(f))));
  for (const double s : {0.0, 0.7, -1.3}) {
    const double exact =
        3 * (6 * std::sin(s) + 18 * s * std::cos(s) - 9 * s * s * std::sin(s) - s * s * s * std::cos(s));
    EXPECT_NEAR(third(s).item(), exact, 1e-12);
  }
}

TEST(ScatterProducts, IndicesOutOfBoundsHaveNoDerivative) {
  const auto f = weighted_product(I{0, 9, 0, -1});
  const auto [dx, dv] = jit(grad(f, argnums<0, 1>))(D{2, 3}, D{4, kInf, 5, 6});
  EXPECT_TRUE(array_equal(dx, D{20, 12}));
  EXPECT_TRUE(array_equal(dv, D{10, 0, 8, 6}));
  // An infinity is a factor of its own element alone.
  const auto [of_others] = jit(grad(weighted_product(I{0, 1, 0, 1}), argnums<1>))(D{2, 3}, D{4, kInf, 5, kInf});
  EXPECT_TRUE(array_equal(of_others, D{10, kInf, 8, kInf}));
}

TEST(ScatterProducts, RowsAndWindows) {
  const D x = {{1, 2}, {3, 4}, {5, 6}}, v = {{2, 0}, {3, 5}, {0, 7}};
  const auto rows = [](auto a, auto b) { return sum(a.mul(I{1, 0, 1}, b) * D{{1, 2}, {3, 4}, {5, 6}}); };
  const auto [dx, dv] = jit(grad(rows, argnums<0, 1>))(x, v);
  EXPECT_TRUE(array_equal(dx, D{{3, 10}, {0, 0}, {5, 6}}));
  EXPECT_TRUE(array_equal(dv, D{{0, 16 * 7}, {1, 4}, {18, 0}}));
  // One window: no other factors.
  const D one = jit(grad([](auto b) { return sum(D{{1, 2}, {3, 4}}.mul(1, b)); }))(D{0, 5});
  EXPECT_TRUE(array_equal(one, D{3, 4}));
  EXPECT_TRUE(
      array_equal(grad([](auto b) { return sum(D{1, 2}.mul(I::zeros({0}), b)); })(D::zeros({0})), D::zeros({0})));
  // Segments are the same product.
  EXPECT_TRUE(
      array_equal(grad([](auto b) { return segment_prod(b, I{0, 0, 1, 0}, 2).at(0); })(D{2, 0, 9, 4}), D{0, 8, 0, 0}));
}

TEST(ScatterProducts, Batches) {
  const D x = {{1, 2, 3}, {4, 5, 6}}, v = {{2, 0, 3, 0}, {1, 2, 0, 4}};
  const I i = {{0, 0, 1, 2}, {2, 2, 2, 0}};
  const auto slope = [](auto a, auto j, auto b) {
    return grad([](auto p, auto k, auto q) { return sum(p.mul(k, q)); }, argnums<0, 2>)(a, j, b);
  };
  const auto [dx, dv] = jit(vmap(slope))(x, i, v);
  const D at_same =
      jit(vmap([](auto b) { return grad([](auto q) { return sum(D{1, 2, 3}.mul(I{0, 0, 1, 2}, q)); })(b); }))(v);
  for (int k = 0; k < 2; ++k) {
    const auto [one_x, one_v] = jit(slope)(x[k], i[k], v[k]);
    EXPECT_TRUE(array_equal(dx[k], one_x));
    EXPECT_TRUE(array_equal(dv[k], one_v));
  }
  EXPECT_TRUE(array_equal(at_same, D{{0, 2, 2, 3}, {2, 1, 2, 3}}));
  // Differentiated after batching, too.
  const D outside =
      jit(grad([&](auto b) { return sum(vmap([](auto p, auto k, auto q) { return p.mul(k, q); })(x, i, b)); }))(v);
  EXPECT_TRUE(array_equal(outside, dv));
}

TEST(ScatterProducts, SixteenBitFloatsRoundOnce) {
  using H = Array<bfloat16>;
  const auto f = [](auto b) { return sum(H{bfloat16(3.0f)}.mul(I{0, 0, 0, 0}, b)); };
  const auto b = [](float x) { return bfloat16(x); };
  const H g = jit(grad(f))(H{b(1.0078125f), b(1.0234375f), b(1.0390625f), b(1.0546875f)});
  const double all = 1.0078125 * 1.0234375 * 1.0390625 * 1.0546875 * 3;
  for (const auto& [k, v] :
       std::vector<std::pair<int, double>>{{0, 1.0078125}, {1, 1.0234375}, {2, 1.0390625}, {3, 1.0546875}}) {
    EXPECT_EQ(static_cast<float>(g(k)), static_cast<float>(bfloat16(static_cast<float>(all / v))));
  }
}

TEST(ScatterProducts, ComplexFactors) {
  using C = std::complex<double>;
  const Array<C> v = {C(1, 2), C(0, 1), C(3, -1)};
  const auto f = [](auto b) { return Array<C>{C(2, 0)}.mul(I{0, 0, 0}, b).at(0); };
  const auto [y, dy] = jit([&](auto b) { return jvp(f, args(b), std::tuple{b}); })(v);
  EXPECT_NEAR(std::abs(y.item() * 3.0 - dy.item()), 0, 1e-12);
}

}  // namespace
}  // namespace calque::test
