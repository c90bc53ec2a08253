// The options of functions with NumPy's names, beside those that have tests of their own; exact sizes of arrays.
#include <limits>

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

TEST(Options, MasksAndOperandsOfBothKinds) {
  const D x = {1, 2, 4};
  const B m = {true, false, true};
  // An array under a mask that is a tracer, and the reverse.
  const auto sums = jit([&](auto mask) {
    static_assert(TracerLike<decltype(sum(x, {.where = mask}))>);
    return std::tuple{sum(x, {.where = mask}),    prod(x, {.where = mask}),    mean(x, {.where = mask}),
                      amax(x, {.where = mask}),   amin(x, {.where = mask}),    any(x, {.where = mask}),
                      all(x, {.where = mask}),    var(x, {.where = mask}),     stddev(x, {.where = mask}),
                      nansum(x, {.where = mask}), nanprod(x, {.where = mask}), nanmean(x, {.where = mask})};
  })(m);
  const auto reversed = jit([&](auto v) {
    return std::tuple{sum(v, {.where = m}),    prod(v, {.where = m}),    mean(v, {.where = m}),
                      amax(v, {.where = m}),   amin(v, {.where = m}),    any(v, {.where = m}),
                      all(v, {.where = m}),    var(v, {.where = m}),     stddev(v, {.where = m}),
                      nansum(v, {.where = m}), nanprod(v, {.where = m}), nanmean(v, {.where = m})};
  })(x);
  const std::tuple expected{5.0, 4.0, 2.5, 4.0, 1.0, true, true, 2.25, 1.5, 5.0, 4.0, 2.5};
  const auto check = [&]<size_t... K>(const auto& got, std::index_sequence<K...>) {
    const auto one = [](const auto& a, const auto& b, size_t k) { EXPECT_EQ(a.item(), b) << k; };
    (one(std::get<K>(got), std::get<K>(expected), K), ...);
  };
  check(sums, std::make_index_sequence<12>());
  check(reversed, std::make_index_sequence<12>());
  EXPECT_TRUE(array_equal(jit([&](auto v) { return sum(x, {.where = v > 1.0, .axes = 0}); })(x), D(6.0)));
  EXPECT_TRUE(array_equal(
      jit(vmap([&](auto mask) { return sum(x, {.where = mask}); }))(B{{true, true, false}, {false, false, true}}),
      D{3, 4}));
}

TEST(Options, ReductionsFromAnElement) {
  const D x = {{3, 1}, {2, 8}};
  const B m = {{true, true}, {false, false}};
  EXPECT_TRUE(array_equal(amax(x, {.where = m, .axes = 1, .initial = 2}), D{3, 2}));
  EXPECT_TRUE(array_equal(amin(x, {.where = m, .axes = 1, .initial = 2}), D{1, 2}));
  EXPECT_TRUE(array_equal(max(x, {.where = m, .axes = 0}), D{3, 1}));
  EXPECT_TRUE(array_equal(min(x, {.where = m, .axes = 0, .keepdims = keepdims}), D{{3, 1}}));
  EXPECT_TRUE(array_equal(sum(x, {.where = m, .initial = 10}), D(14.0)));
  EXPECT_TRUE(array_equal(prod(x, {.where = m, .initial = 10}), D(30.0)));
  EXPECT_TRUE(array_equal(amax(D::zeros({0, 2}), {.where = B(true), .axes = 0, .initial = -1}), D{-1, -1}));
  EXPECT_TRUE(array_equal(amin(I::zeros({2, 0}), {.where = B(true), .axes = 1, .initial = 7, .keepdims = keepdims}),
                          I{{7}, {7}}));
  EXPECT_THROW((void)amax(D::zeros({0}), {.where = B(true)}), ShapeError);
  EXPECT_TRUE(std::isnan(amax(D{1, kNaN}, {.where = B(true), .initial = 5}).item()));
  EXPECT_TRUE(array_equal(grad([&](auto v) { return amax(v, {.where = m, .initial = 2.5}); })(x), D{{1, 0}, {0, 0}}));
  EXPECT_TRUE(array_equal(grad([&](auto v) { return amax(v, {.where = m, .initial = 9}); })(x), D{{0, 0}, {0, 0}}));
  EXPECT_TRUE(array_equal(sum(B{true, true}, {.where = B(true), .initial = 3}), I(5)));
}

TEST(Options, NaNUnderMasks) {
  const D x = {{1, kNaN, 3}, {kNaN, kNaN, 5}};
  const B m = {true, true, false};
  EXPECT_TRUE(close(nansum(x, {.where = m, .axes = 1}), D{1, 0}));
  EXPECT_TRUE(close(nanprod(x, {.where = m, .axes = 1}), D{1, 1}));
  EXPECT_TRUE(close(nanmean(x, {.where = m, .axes = 1}), D{1, kNaN}));
  EXPECT_TRUE(close(grad([&](auto v) { return nanmean(v, {.where = B{true, true, true}}); })(x),
                    D{{1.0 / 3, 0, 1.0 / 3}, {0, 0, 1.0 / 3}}));
  EXPECT_TRUE(array_equal(nansum(I{1, 2}, {.where = B{false, true}}), I(2)));
}

TEST(Options, PositionsInAllElements) {
  const D x = {{1, 5, 2}, {0, 9, 9}};
  EXPECT_TRUE(array_equal(argmax(x), I(4)));
  EXPECT_TRUE(array_equal(argmin(x), I(3)));
  EXPECT_TRUE(array_equal(argmax(D{1, kNaN, 3}), I(1)));
  EXPECT_TRUE(array_equal(argmin(D(2.0)), I(0)));
  EXPECT_TRUE(array_equal(nanargmax(D{{1, kNaN}, {3, 2}}), I(2)));
  EXPECT_TRUE(array_equal(nanargmin(D{{kNaN, kNaN}}), I(-1)));
  EXPECT_TRUE(array_equal(nancumsum(D{{1, kNaN}, {3, 2}}), D{1, 1, 4, 6}));
  EXPECT_TRUE(array_equal(nancumprod(D{{1, kNaN}, {3, 2}}), D{1, 1, 3, 6}));
  EXPECT_TRUE(array_equal(argmax(x, -1, keepdims), I{{1}, {1}}));
  EXPECT_TRUE(array_equal(argmin(x, 0, keepdims), I{{1, 0, 0}}));
  EXPECT_TRUE(array_equal(jit([](auto v) { return argmax(v); })(x), I(4)));
  EXPECT_THROW((void)argmax(D::zeros({0})), ShapeError);
  EXPECT_THROW((void)argmax(x, 2, keepdims), ShapeError);
}

TEST(Options, CovariancesWithWeights) {
  const D x = {{1, 2, 4}, {2, 0, 1}};
  const I f = {2, 1, 3};
  const D a = {0.5, 2, 1};
  // How often an observation counts is as good as repeating it.
  const D repeated = {{1, 1, 2, 4, 4, 4}, {2, 2, 0, 1, 1, 1}};
  EXPECT_TRUE(close(cov(x, {.fweights = f}), cov(repeated)));
  EXPECT_TRUE(close(cov(x, {.bias = true, .fweights = f}), cov(repeated, {.bias = true})));
  EXPECT_TRUE(close(corrcoef(x, {.fweights = f}), corrcoef(repeated)));
  EXPECT_TRUE(close(cov(D{1, 2, 4}, D{2, 0, 1}, {.fweights = f}), cov(repeated)));
  EXPECT_TRUE(close(cov(transpose(x), {.rowvar = false, .fweights = f}), cov(repeated)));
  // numpy.cov([1, 2, 4], aweights=[0.5, 2, 1]): mean 17/7, weighted squares of 3.5 * 1.102..., divisor 3.5 - 5.25/3.5.
  const double mean = (0.5 * 1 + 2 * 2 + 1 * 4) / 3.5;
  const double squares = 0.5 * (1 - mean) * (1 - mean) + 2 * (2 - mean) * (2 - mean) + (4 - mean) * (4 - mean);
  EXPECT_TRUE(close(cov(D{1, 2, 4}, {.aweights = a}), D(squares / (3.5 - 5.25 / 3.5))));
  EXPECT_TRUE(close(cov(D{1, 2, 4}, {.ddof = 0, .aweights = a}), D(squares / 3.5)));
  // Both: weights 1, 2, 3 of which the relative ones are a.
  const D both = a * f;
  const D same = cov(x, {.ddof = 0, .aweights = both});
  EXPECT_TRUE(close(cov(x, {.ddof = 0, .fweights = f, .aweights = a}), same));
  EXPECT_TRUE(close(cov(x, {.fweights = f, .aweights = a}), same * (6.0 / (6.0 - (1 * 0.5 + 2 * 2 + 3 * 1) / 6.0))));
  // Scaled relative weights are the same.
  EXPECT_TRUE(close(cov(x, {.aweights = a * 3}), cov(x, {.aweights = a})));
  const D in_trace = jit([](auto v, auto w, auto k) { return cov(v, {.fweights = k, .aweights = w}); })(x, a, f);
  EXPECT_TRUE(close(in_trace, cov(x, {.fweights = f, .aweights = a})));
  EXPECT_THROW((void)cov(x, {.fweights = a}), DTypeError);
  EXPECT_THROW((void)cov(x, {.fweights = I{1, 2}}), ShapeError);
  EXPECT_THROW((void)cov(x, {.aweights = D{{1, 2, 3}}}), ShapeError);
  EXPECT_THROW((void)cov(x, {.aweights = Array<std::complex<double>>{1, 2, 3}}), DTypeError);
  using C = std::complex<double>;
  const Array<C> z = {{C(1, 1), C(0, 2), C(3, 0)}, {C(0, 1), C(1, 0), C(2, 2)}};
  const Array<C> twice = concatenate({z, z}, 1);
  EXPECT_TRUE(allclose(cov(z, {.ddof = 0, .fweights = I{2, 2, 2}}), cov(twice, {.ddof = 0}), 1e-13, 1e-13));
}

TEST(Options, AveragesWithTheirWeights) {
  const D x = {{1, 2}, {3, 4}};
  const auto [mean, weight] = average(x, D{3, 1}, {1}, returned);
  EXPECT_TRUE(close(mean, D{1.25, 3.25}));
  EXPECT_TRUE(close(weight, D{4, 4}));
  EXPECT_TRUE(close(average(x, 0), D{2, 3}));
  EXPECT_TRUE(close(average(x), D(2.5)));
  static_assert(std::same_as<decltype(average(I{1})), F>);
}

TEST(Options, DifferencesWithEnds) {
  const I x = {{1, 4, 9}, {2, 2, 5}};
  EXPECT_TRUE(array_equal(diff(x, 1, -1, 0), I{{1, 3, 5}, {2, 0, 3}}));
  EXPECT_TRUE(array_equal(diff(x, 1, 0, I{{0, 0, 0}}), I{{1, 4, 9}, {1, -2, -4}}));
  EXPECT_TRUE(array_equal(diff(x, 1, 1, none, I{{10, 12}, {5, 6}}), I{{3, 5, 1, 2}, {0, 3, 0, 1}}));
  EXPECT_TRUE(array_equal(diff(I{1, 4}, 2, -1, 0, 10), I{2, 3}));
  EXPECT_TRUE(array_equal(diff(I{1, 4}, 1, 0, 0.5), D{0.5, 3}));
  static_assert(std::same_as<decltype(diff(I{1}, 1, 0, D{1})), D>);
  EXPECT_TRUE(array_equal(diff(D::zeros({0}), 1, 0, 1, 4), D{3}));
  EXPECT_TRUE(array_equal(jit([](auto v) { return diff(D{1, 4}, 1, -1, v); })(0.0), D{1, 3}));
  EXPECT_THROW((void)diff(x, 1, 1, I{{1, 2, 3}}), ShapeError);
  EXPECT_THROW((void)diff(x, 1, 1, I{1, 2}), ShapeError);
  EXPECT_TRUE(array_equal(ediff1d(I{1, 2, 4}, I{8, 9}), I{1, 2, 8, 9}));
  EXPECT_TRUE(array_equal(ediff1d(I{1, 2, 4}, none, -1), I{-1, 1, 2}));
  EXPECT_TRUE(array_equal(ediff1d(I{1, 2, 4}, 7, I{5, 6}), I{5, 6, 1, 2, 7}));
  EXPECT_THROW((void)ediff1d(I{1, 2}, D{0.5}), DTypeError);
}

TEST(Options, GradientsOfSecondOrderAtEdges) {
  // Exact for parabolas.
  EXPECT_TRUE(close(gradient(D{0, 1, 4, 9, 16}, 1, -1, 2), D{0, 2, 4, 6, 8}));
  EXPECT_TRUE(close(gradient(D{0, 1, 4}, 0.5, -1, 2), D{0, 4, 8}));
  EXPECT_TRUE(close(gradient(D{0, 1, 9, 16}, D{0, 1, 3, 4}, -1, 2), D{0, 2, 6, 8}));
  EXPECT_THROW((void)gradient(D{1, 2}, 1, -1, 2), ShapeError);
  EXPECT_THROW((void)gradient(D{1, 2}, 1, -1, 3), ShapeError);
}

TEST(Options, OneBound) {
  EXPECT_TRUE(array_equal(clip(I{-5, 3, 12}, 0, none), I{0, 3, 12}));
  EXPECT_TRUE(array_equal(clip(I{-5, 3, 12}, none, 10), I{-5, 3, 10}));
  EXPECT_TRUE(array_equal(clip(D{-kInf, kInf, kNaN}, 0, none), D{0, kInf, kNaN}, true));
  EXPECT_TRUE(array_equal(clip(Array<uint8_t>{1, 255}, none, 9), Array<uint8_t>{1, 9}));
  EXPECT_TRUE(array_equal(clip(D{{1, 2}, {3, 4}}, D{2, 3}, none), D{{2, 3}, {3, 4}}));
  EXPECT_TRUE(array_equal(grad([](auto v) { return sum(clip(v, none, 2.0)); })(D{1, 3}), D{1, 0}));
  EXPECT_THROW((void)clip(B{true}, false, none), DTypeError);
}

TEST(Options, ElementsOfTheFlattenedArray) {
  EXPECT_TRUE(array_equal(take(D{{10, 20}, {30, 40}}, I{{3, 0}, {-1, 9}}), D{{40, 10}, {40, kNaN}}, true));
  EXPECT_TRUE(array_equal(take(D(5.0), I{0}), D{5}));
}

TEST(Options, LinesWithoutTheirEnd) {
  EXPECT_TRUE(close(D::linspace(0, 1, 4, false), D{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(D::linspace(0, 1, 0, false).shape(), Shape{0});
  EXPECT_TRUE(array_equal(D::linspace(2, 3, 1, false), D{2}));
  EXPECT_TRUE(array_equal(jit([] { return linspace<double>(0, 1, 7, false); })(), D::linspace(0, 1, 7, false)));
  EXPECT_TRUE(array_equal(jit([] { return linspace<double>(2, 3, 1, false); })(), D{2}));
  EXPECT_EQ(jit([] { return linspace<double>(2, 3, 0, false); })().shape(), Shape{0});
  EXPECT_THROW((void)D::linspace(0, 1, -1, false), ShapeError);
  EXPECT_THROW(jit([] { return linspace<double>(2, 3, -1, false); })(), ShapeError);
}

TEST(Options, SortsAndQuantiles) {
  EXPECT_TRUE(array_equal(sort(I{3, 1, 2}, descending), I{3, 2, 1}));
  EXPECT_TRUE(array_equal(argsort(I{{3, 1, 2}}, descending), I{{0, 2, 1}}));
  EXPECT_TRUE(close(quantile(D{1, 2, 3, 4}, {0, 0.5, 1}), D{1, 2.5, 4}));
  EXPECT_TRUE(close(percentile(D{{1, 2}, {3, 4}}, {0, 100}, 0), D{{1, 2}, {3, 4}}));
  EXPECT_TRUE(close(nanquantile(D{1, kNaN, 3}, {0.5}), D{2}));
  EXPECT_TRUE(close(
      jit([](auto v) { return quantile(v, {0.25, 0.75}, -1, {.method = quantile_method::lower}); })(D{1, 2, 3, 4}),
      D{1, 3}));
}

TEST(Options, Histograms) {
  const auto [counts, edges] = histogram(D{1, 2, 2, 5}, 2);
  EXPECT_TRUE(array_equal(counts, I{3, 1}));
  EXPECT_TRUE(close(edges, D{1, 3, 5}));
  const D x = {0.1, 0.4, 0.5, 2, 7};
  const auto [density_of_x, bounds] = histogram(x, {.bins = 4, .range = {{0.0, 2.0}}}, density);
  EXPECT_TRUE(close(density_of_x, D{1, 0.5, 0, 0.5}));
  EXPECT_TRUE(close(bounds, D{0, 0.5, 1, 1.5, 2}));
  static_assert(std::same_as<decltype(histogram(I{1}, {}, density)), std::tuple<F, F>>);
  EXPECT_THROW((void)histogram(x, 0), ShapeError);
}

TEST(Options, ExactSizesOfArrays) {
  EXPECT_TRUE(array_equal(unique(I{{3, 1}, {3, 2}}), I{1, 2, 3}));
  EXPECT_TRUE(array_equal(unique(D{kNaN, 1, kNaN}), D{1, kNaN}, true));
  EXPECT_TRUE(array_equal(unique(B{true, true}), B{true}));
  EXPECT_EQ(unique(I::zeros({0})).shape(), Shape{0});
  const auto [values, first, inverse, counts] = unique_all(I{3, 1, 3, 2});
  EXPECT_TRUE(array_equal(values, I{1, 2, 3}));
  EXPECT_TRUE(array_equal(first, I{1, 3, 0}));
  EXPECT_TRUE(array_equal(inverse, I{2, 0, 2, 1}));
  EXPECT_TRUE(array_equal(counts, I{1, 1, 2}));
  EXPECT_TRUE(array_equal(flatnonzero(D{{0, 2}, {kNaN, 0}}), I{1, 2}));
  EXPECT_EQ(flatnonzero(D::zeros({3})).shape(), Shape{0});
  const std::vector<I> at = nonzero(D{{0, 2}, {3, 0}});
  ASSERT_EQ(at.size(), 2u);
  EXPECT_TRUE(array_equal(at[0], I{0, 1}));
  EXPECT_TRUE(array_equal(at[1], I{1, 0}));
  EXPECT_TRUE(array_equal(argwhere(D{{0, 2}, {3, 0}}), I{{0, 1}, {1, 0}}));
  EXPECT_EQ(argwhere(D::zeros({2, 2})).shape(), (Shape{0, 2}));
  const D x = {{3, -1}, {2, -5}};
  EXPECT_TRUE(array_equal(extract(x > 0, x), D{3, 2}));
  EXPECT_TRUE(array_equal(extract(B{{true}, {false}}, x), D{3, -1}));
  EXPECT_TRUE(array_equal(bincount(I{0, 2, 2, -1}), I{1, 0, 2}));
  EXPECT_EQ(bincount(I::zeros({0})).shape(), Shape{0});
  EXPECT_THROW((void)argwhere(D(1.0)), ShapeError);
  EXPECT_THROW((void)bincount(I{{1}}), ShapeError);
  // Inside a trace they are constants.
  EXPECT_TRUE(array_equal(jit([](auto v) { return v * unique(I{2, 2, 5}); })(I{1, 2}), I{2, 10}));
}

}  // namespace
}  // namespace calque::test
