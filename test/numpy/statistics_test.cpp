// Differences, statistics, reductions under masks and without NaN: values, types, empty arrays and scalars, errors.
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

bool close(const D& a, const D& b) { return allclose(a, b, 1e-13, 1e-13, true); }

TEST(Differences, OfNeighbours) {
  EXPECT_TRUE(array_equal(diff(I{1, 4, 9, 16}), I{3, 5, 7}));
  EXPECT_TRUE(array_equal(diff(I{1, 4, 9, 16}, 2), I{2, 2}));
  EXPECT_EQ(diff(I{1, 4}, 5).shape(), Shape{0});
  EXPECT_EQ(diff(I::zeros({0, 2}), 1, 0).shape(), (Shape{0, 2}));
  EXPECT_TRUE(array_equal(diff(B{true, true, false}), B{false, true}));
  EXPECT_TRUE(array_equal(diff(Array<uint8_t>{3, 1}), Array<uint8_t>{254}));
  EXPECT_THROW(diff(I{1, 2}, -1), ShapeError);
  EXPECT_THROW(diff(I(1)), ShapeError);
  EXPECT_TRUE(array_equal(ediff1d(I{{1, 2}, {4, 7}}), I{1, 2, 3}));
  EXPECT_EQ(ediff1d(I(3)).shape(), Shape{0});
  EXPECT_THROW(ediff1d(B{true}), DTypeError);
  EXPECT_TRUE(close(gradient(D{1, 4, 9, 16}), D{3, 4, 6, 7}));
  EXPECT_TRUE(close(gradient(D{1, 4}, 0.5), D{6, 6}));
  static_assert(std::same_as<decltype(gradient(I{1, 2})), F>);
  EXPECT_TRUE(close(gradient(D{0, 1, 9, 16}, D{0, 1, 3, 4}), D{1, 2, 6, 7}));
  EXPECT_THROW(gradient(D{1}), ShapeError);
  EXPECT_THROW(gradient(D{1, 2}, D{1, 2, 3}), ShapeError);
}

TEST(Differences, Integrals) {
  EXPECT_TRUE(close(trapezoid(D{1, 2, 4}), D(4.5)));
  EXPECT_TRUE(close(trapezoid(D{1, 2, 4}, D{0, 1, 3}), D(7.5)));
  EXPECT_TRUE(close(trapezoid(D{{1, 2}, {3, 4}}, D{{0, 1}, {0, 2}}), D{1.5, 7}));
  EXPECT_TRUE(close(trapezoid(D{1}), D(0.0)));
  EXPECT_TRUE(close(trapezoid(D::zeros({0, 2}), 1, 0), D{0, 0}));
  EXPECT_THROW(trapezoid(D{1, 2}, D{1, 2, 3}), ShapeError);
}

TEST(Differences, InterpolationIsExactAtPoints) {
  const D xp = {1, 2, 4}, fp = {0.1, 0.7, 0.3};
  EXPECT_TRUE(array_equal(interp(xp, xp, fp), fp));
  EXPECT_TRUE(close(interp(D{0, 1.5, 3, 9}, xp, fp), D{0.1, 0.4, 0.5, 0.3}));
  EXPECT_TRUE(close(interp(D{0, 9}, xp, fp, {.left = -1, .right = kNaN}), D{-1, kNaN}));
  EXPECT_TRUE(close(interp(D{kNaN, -kInf, kInf}, xp, fp), D{kNaN, 0.1, 0.3}));
  EXPECT_TRUE(close(interp(D{0, 1, 2}, D{1}, D{5}), D{5, 5, 5}));
  EXPECT_TRUE(close(interp(1.5, xp, fp), D(0.4)));
  EXPECT_EQ(interp(D::zeros({0}), xp, fp).shape(), Shape{0});
  // Points that coincide are a step.
  EXPECT_TRUE(close(interp(D{0.5, 1.5}, D{0, 1, 1, 2}, D{0, 0, 1, 1}), D{0, 1}));
  const D many = jit([] { return arange<double>(1001) * 0.5; })(), values = many * many;
  EXPECT_TRUE(close(interp(D{0.25, 499.75, 250.1}, many, values),
                    D{0.125, (499.5 * 499.5 + 500 * 500) / 2, 0.8 * 250 * 250 + 0.2 * 250.5 * 250.5}));
  EXPECT_THROW(interp(D{1}, D::zeros({0}), D::zeros({0})), ShapeError);
  EXPECT_THROW(interp(D{1}, xp, D{1, 2}), ShapeError);
  EXPECT_THROW(interp(D{1}, D{{1}}, D{{1}}), ShapeError);
  // numpy.interp([-180, -170, 185, 365], [190, -190, 350, -350], [5, 10, 3, 4], period=360)
  EXPECT_TRUE(close(interp(D{-180, -170, 185, 365, kNaN}, D{190, -190, 350, -350}, D{5, 10, 3, 4}, {.period = 360}),
                    D{7.5, 5, 6.25, 3.75, kNaN}));
  EXPECT_TRUE(close(interp(D{0.5, 7}, D{1}, D{3}, {.period = -2}), D{3, 3}));
  const auto periodic = [&](auto v) { return sum(interp(v, D{3, 0, 1}, D{3, 6, 4}, {.period = 4})); };
  EXPECT_TRUE(close(grad(periodic)(D{0.5, 2, 3.5, 8.25}), D{-2, -0.5, 3, -2}));
  EXPECT_THROW(interp(D{1}, xp, fp, {.period = 0}), ShapeError);
  EXPECT_THROW(interp(D{1}, D::zeros({0}), D::zeros({0}), {.period = 1}), ShapeError);
}

TEST(Differences, PhasesAreUnwrapped) {
  const double p = 2 * std::numbers::pi;
  EXPECT_TRUE(close(unwrap(D{0, 3, 6 - p, 9 - p, 12 - 2 * p}), D{0, 3, 6, 9, 12}));
  EXPECT_TRUE(close(unwrap(D{0, 3, 1, 2}, {.period = 4}), D{0, -1, -3, -2}));
  EXPECT_TRUE(close(unwrap(D{0, 3, 0}, {.discont = 5, .period = 4}), D{0, 3, 0}));
  EXPECT_TRUE(close(unwrap(D{1}), D{1}));
  EXPECT_THROW(unwrap(D(1.0)), ShapeError);
}

TEST(Differences, CumulativeFunctions) {
  EXPECT_TRUE(array_equal(cumsum(I{1, 2, 3}), I{1, 3, 6}));
  EXPECT_TRUE(array_equal(cumsum(I{{1, 2}, {3, 4}}), I{1, 3, 6, 10}));
  EXPECT_TRUE(array_equal(cumsum(I{1, 2, 3}, {.reverse = true}), I{6, 5, 3}));
  EXPECT_TRUE(array_equal(cumprod(I{{1, 2}, {3, 4}}, {.axis = 0, .reverse = true}), I{{3, 8}, {3, 4}}));
  EXPECT_TRUE(array_equal(cummax(I{2, 1, 3}), I{2, 2, 3}));
  EXPECT_TRUE(array_equal(cummin(D{2, kNaN, 1}, {.reverse = true}), D{kNaN, kNaN, 1}, true));
  EXPECT_TRUE(array_equal(cumsum(B{true, true}), I{1, 2}));
  EXPECT_TRUE(array_equal(cumsum(I(5)), I{5}));
  EXPECT_THROW(cumsum(I{1}, {.axis = 1}), ShapeError);
  const D x = {0, 800, -800, 801, -kInf};
  EXPECT_TRUE(
      close(cumlogsumexp(x, 0), D{0, 800, 800, 801 + std::log1p(std::exp(-1)), 801 + std::log1p(std::exp(-1))}));
  EXPECT_TRUE(close(cumlogsumexp(D{-kInf, -kInf, kInf}, 0), D{-kInf, -kInf, kInf}));
  EXPECT_EQ(cumlogsumexp(D::zeros({0, 2}), 0).shape(), (Shape{0, 2}));
}

// Long vectors are combined in pairs, others one element after another.
TEST(Statistics, CumlogsumexpOfAnyExtent) {
  const auto near = [](const D& a, const D& b) { return allclose(a, b, 1e-12, 1e-12); };
  for (const int64_t n : {1, 2, 3, 1000, 16384, 16385}) {
    const D x = sin(D::arange(static_cast<double>(n)) * 0.7) * 30.0;
    const D want = log(cumsum(exp(x)));
    EXPECT_TRUE(near(cumlogsumexp(x, 0), want)) << n;
    EXPECT_TRUE(near(cumlogsumexp(flip(x), 0, true), flip(want))) << n;
    const D rows = stack(std::vector{x, x + 1.0, x - 2.0});
    EXPECT_TRUE(near(cumlogsumexp(rows, 1), stack(std::vector{want, want + 1.0, want - 2.0})));
    EXPECT_TRUE(array_equal(cumlogsumexp(transpose(rows), 0), transpose(cumlogsumexp(rows, 1)))) << n;
  }
}

TEST(Statistics, CumlogsumexpWithInfinitiesHasDerivatives) {
  const auto last = jit(grad([](auto x) { return cumlogsumexp(x, 0).at(-1); }));
  EXPECT_TRUE(array_equal(last(D{-kInf, 2, 2}), D{0, 0.5, 0.5}));
  EXPECT_TRUE(array_equal(last(D{-kInf, -kInf}), D{0.5, 0.5}));
  EXPECT_TRUE(array_equal(last(D{1, kInf, 2}), D{0, 1, 0}));
  EXPECT_TRUE(array_equal(last(D{-1000, 3, -kInf}), D{0, 1, 0}));
}

TEST(Statistics, ExtremaOfOneArgument) {
  const D x = {{3, 1}, {2, 5}};
  EXPECT_TRUE(array_equal(max(x), D(5.0)));
  EXPECT_TRUE(array_equal(min(x), D(1.0)));
  EXPECT_TRUE(array_equal(max(x, Axes(0)), D{3, 5}));
  EXPECT_TRUE(array_equal(max(x, {0}), D{3, 5}));
  EXPECT_TRUE(array_equal(min(x, {-1}, keepdims), amin(x, -1, keepdims)));
  EXPECT_TRUE(array_equal(min(x, Axes(-1), keepdims), D{{1}, {2}}));
  EXPECT_TRUE(array_equal(max(x, 4), D{{4, 4}, {4, 5}}));
  EXPECT_TRUE(array_equal(jit([](auto v) { return max(v) - min(v); })(x), D(4.0)));
  EXPECT_TRUE(std::isnan(max(D{1, kNaN}).item()));
  EXPECT_THROW(max(D::zeros({0})), ShapeError);
}

TEST(Statistics, UnderMasks) {
  const D x = {{1, kNaN, 3}, {4, 5, 6}};
  const B m = {{true, false, true}, {false, true, true}};
  EXPECT_TRUE(close(sum(x, {.where = m}), D(15.0)));
  EXPECT_TRUE(close(mean(x, {.where = m, .axes = 1}), D{2, 5.5}));
  EXPECT_TRUE(close(mean(x, {.where = m, .axes = 0, .keepdims = keepdims}), D{{1, 5, 4.5}}));
  EXPECT_TRUE(close(prod(x, {.where = m, .axes = 1}), D{3, 30}));
  EXPECT_TRUE(close(amax(x, {.where = m, .axes = 1}), D{3, 6}));
  EXPECT_TRUE(close(amin(x, {.where = B{false, true, true}, .axes = 1}), D{kNaN, 5}));
  EXPECT_TRUE(close(amax(x, {.where = B(false)}), D(-kInf)));
  EXPECT_TRUE(array_equal(amin(I{1, 2}, {.where = B(false)}), I(INT32_MAX)));
  EXPECT_TRUE(std::isnan(mean(x, {.where = B(false)}).item()));
  EXPECT_TRUE(close(var(x, {.where = m, .axes = 1}), D{1, 0.25}));
  EXPECT_TRUE(close(var(x, {.where = m, .axes = 1, .ddof = 1}), D{2, 0.5}));
  EXPECT_TRUE(close(stddev(x, {.where = m, .axes = 1}), D{1, 0.5}));
  EXPECT_TRUE(close(var(D{1, 2, 4}, {}, {.ddof = 1}), D(7.0 / 3)));
  EXPECT_TRUE(
      close(stddev(D{{1, 3}, {1, 5}}, 1, {.ddof = 1, .keepdims = keepdims}), D{{std::sqrt(2)}, {std::sqrt(8)}}));
  EXPECT_TRUE(std::isnan(var(D{1}, {}, {.ddof = 1}).item()));
  EXPECT_TRUE(array_equal(any(I{0, 1}, {.where = B{true, false}}), B(false)));
  EXPECT_TRUE(array_equal(all(I{0, 1}, {.where = B{false, true}}), B(true)));
  const auto f = jit([](auto v) { return mean(v, {.where = v > 1.0}); });
  EXPECT_TRUE(close(f(D{1, 2, 4}), D(3.0)));
  EXPECT_TRUE(close(grad(f)(D{1, 2, 4}), D{0, 0.5, 0.5}));
  EXPECT_THROW(sum(x, {.where = B{true, false}}), ShapeError);
  EXPECT_THROW(sum(x, {.where = m, .axes = 2}), ShapeError);
}

TEST(Statistics, AveragesAndCovariances) {
  EXPECT_TRUE(array_equal(ptp(I{{1, 5}, {4, 2}}, 1), I{4, 2}));
  EXPECT_THROW(ptp(B{true}), DTypeError);
  EXPECT_THROW(ptp(D::zeros({0})), ShapeError);
  EXPECT_TRUE(array_equal(count_nonzero(D{{0, kNaN}, {-0.0, 2}}, 0), I{0, 2}));
  EXPECT_TRUE(array_equal(count_nonzero(D::zeros({0})), I(0)));
  EXPECT_TRUE(close(average(D{{1, 2}, {3, 4}}, D{3, 1}, 1), D{1.25, 3.25}));
  EXPECT_TRUE(close(average(D{{1, 2}, {3, 4}}, D{{1, 0}, {0, 1}}), D(2.5)));
  EXPECT_TRUE(std::isnan(average(D{1, 2}, D{0, 0}).item()));
  EXPECT_THROW(average(D{{1, 2}, {3, 4}}, D{1, 2, 3}, 1), ShapeError);
  const D x = {{1, 2, 4}, {2, 0, 1}};
  EXPECT_TRUE(close(cov(x), D{{7.0 / 3, -0.5}, {-0.5, 1}}));
  EXPECT_TRUE(close(cov(x, {.bias = true}), cov(x) * (2.0 / 3)));
  EXPECT_TRUE(close(cov(transpose(x), {.rowvar = false, .ddof = 0}), cov(x) * (2.0 / 3)));
  EXPECT_TRUE(close(cov(D{1, 2, 4}), D(7.0 / 3)));
  EXPECT_EQ(cov(D{{1, 2, 4}}, {.rowvar = false}).shape(), (Shape{3, 3}));
  EXPECT_TRUE(close(cov(D{{1}, {2}, {4}}, {.rowvar = false}), D(7.0 / 3)));
  EXPECT_TRUE(close(cov(D{1, 2, 4}, D{2, 0, 1}), cov(x)));
  EXPECT_TRUE(close(corrcoef(x), D{{1, -0.5 / std::sqrt(7.0 / 3)}, {-0.5 / std::sqrt(7.0 / 3), 1}}));
  EXPECT_TRUE(close(corrcoef(D{1, 2}), D(1.0)));
  static_assert(std::same_as<decltype(cov(I{1})), F>);
  using C = std::complex<double>;
  const Array<C> z = {{C(1, 1), C(0, 2), C(3, 0)}, {C(0, 1), C(1, 0), C(2, 2)}};
  const Array<C> cz = cov(z);
  EXPECT_TRUE(allclose(cz, conj(transpose(cz)), 1e-14, 1e-14));
  EXPECT_THROW(cov(D::zeros({2, 2, 2})), ShapeError);
  EXPECT_THROW(cov(D{1, 2}, D{1, 2, 3}), ShapeError);
}

TEST(NaN, ReductionsIgnoreIt) {
  const D x = {{1, kNaN, 3}, {kNaN, kNaN, kNaN}};
  EXPECT_TRUE(close(nansum(x, 1), D{4, 0}));
  EXPECT_TRUE(close(nanprod(x, 1), D{3, 1}));
  EXPECT_TRUE(close(nanmean(x, 1), D{2, kNaN}));
  EXPECT_TRUE(close(nanmax(x, 1), D{3, kNaN}));
  EXPECT_TRUE(close(nanmin(x, {}, keepdims), D{{1}}));
  EXPECT_TRUE(close(nanmax(D{-kInf, kNaN}), D(-kInf)));
  EXPECT_TRUE(close(nanvar(x, {.axes = 1}), D{1, kNaN}));
  EXPECT_TRUE(close(nanstd(x, {.axes = 1, .ddof = 1}), D{std::sqrt(2), kNaN}));
  EXPECT_TRUE(array_equal(nanargmax(x, 1), I{2, -1}));
  EXPECT_TRUE(array_equal(nanargmin(D{{kNaN, kInf, kInf}, {2, kNaN, 1}}, 1), I{1, 2}));
  EXPECT_TRUE(array_equal(nanargmax(D{kNaN, -kInf}, 0), I(1)));
  EXPECT_TRUE(close(nancumsum(x, 1), D{{1, 1, 4}, {0, 0, 0}}));
  EXPECT_TRUE(close(nancumprod(x, 1), D{{1, 1, 3}, {1, 1, 1}}));
  EXPECT_TRUE(array_equal(nansum(I{1, 2}), I(3)));
  EXPECT_TRUE(array_equal(nanmax(I{1, 2}), I(2)));
  EXPECT_TRUE(close(grad([](auto v) { return nanmean(v) + nanvar(v); })(D{1, kNaN, 3}), D{-0.5, 0, 1.5}));
  EXPECT_THROW(nanmax(D::zeros({0})), ShapeError);
  EXPECT_THROW(nanargmax(D::zeros({0}), 0), ShapeError);
}

TEST(NaN, IsReplaced) {
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_TRUE(array_equal(nan_to_num(D{kNaN, kInf, -kInf, 1}), D{0, kMax, -kMax, 1}));
  EXPECT_TRUE(array_equal(nan_to_num(D{kNaN, kInf, -kInf}, {.nan = 2, .posinf = 3, .neginf = 4}), D{2, 3, 4}));
  const auto largest = nan_to_num(Array<bfloat16>{bfloat16(std::numeric_limits<float>::infinity())});
  EXPECT_TRUE(isfinite(largest).at(0).item());
  EXPECT_FALSE(isfinite(largest * bfloat16(1.01f)).at(0).item());
  EXPECT_EQ(cast<float>(nan_to_num(Array<float16>{float16(std::numeric_limits<float>::infinity())})).at(0).item(),
            65504);
  EXPECT_TRUE(array_equal(nan_to_num(I{1}), I{1}));
}

}  // namespace
}  // namespace calque::test
