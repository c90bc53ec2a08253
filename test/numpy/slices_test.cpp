// Distinct slices, sets of arrays, bins of several dimensions, positions: the values are those of JAX 0.10.
#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool close(const D& a, const D& b) { return allclose(a, b, 1e-12, 1e-13, true); }

TEST(Distinct, Slices) {
  const I x = {{1, 2, 1}, {0, 1, 0}};
  const auto [values, first, inverse, counts] = unique_all(x, 1);
  EXPECT_TRUE(array_equal(values, I{{1, 2}, {0, 1}}));
  EXPECT_TRUE(array_equal(first, I{0, 1}));
  EXPECT_TRUE(array_equal(inverse, I{0, 1, 0}));
  EXPECT_TRUE(array_equal(counts, I{2, 1}));
  EXPECT_TRUE(array_equal(unique(x, {.size = 3, .fill_value = 9, .axis = 1}), I{{1, 2, 9}, {0, 1, 9}}));
  EXPECT_TRUE(array_equal(unique(x, {.size = 3, .axis = 1}), I{{1, 2, 1}, {0, 1, 0}}));
  EXPECT_TRUE(array_equal(unique(x, {.size = 1, .axis = 1}), I{{1}, {0}}));
  EXPECT_TRUE(array_equal(unique(D{{kNaN, 1}, {kNaN, 1}, {0, 1}}, 0), D{{0, 1}, {kNaN, 1}}, true));
  EXPECT_TRUE(array_equal(unique(D{{kNaN, 1}, {kNaN, 1}}, {.size = 2, .axis = 0, .equal_nan = false}),
                          D{{kNaN, 1}, {kNaN, 1}}, true));
  EXPECT_TRUE(array_equal(unique(D{kNaN, 1, kNaN}, {.size = 3, .equal_nan = false}), D{1, kNaN, kNaN}, true));
  EXPECT_TRUE(array_equal(unique(I{3, 1, 3}, 0), I{1, 3}));
  EXPECT_EQ(unique(I::zeros({0, 2}), 0).shape(), (Shape{0, 2}));
  EXPECT_EQ(unique(I::zeros({3, 0}), 0).shape(), (Shape{1, 0}));
  EXPECT_THROW((void)unique(x, 2), ShapeError);
  EXPECT_THROW((void)unique(I(3), {.size = 1, .axis = 0}), ShapeError);
  EXPECT_TRUE(array_equal(jit([](auto v) { return unique(v, {.size = 2, .axis = 1}); })(x), I{{1, 2}, {0, 1}}));
}

TEST(Distinct, WideSlicesAreSortedByAllColumns) {
  // Rows of 2 symbols in 9 columns against a sort of C++.
  std::vector<std::vector<int32_t>> rows;
  std::vector<int32_t> flat;
  for (int r = 0; r < 40; ++r) {
    rows.emplace_back();
    for (int c = 0; c < 9; ++c) rows.back().push_back((r * r + r * c) % 7 / 4);
    flat.insert(flat.end(), rows.back().begin(), rows.back().end());
  }
  const I x = I::from(flat, {-1, 9});
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const I got = unique(x, 0);
  ASSERT_EQ(got.shape(), (Shape{std::ssize(rows), 9}));
  for (int64_t r = 0; r < std::ssize(rows); ++r)
    EXPECT_TRUE(array_equal(got[r], I::from(rows[static_cast<size_t>(r)])));
  const auto [values, first, inverse, counts] = unique_all(x, 0);
  EXPECT_TRUE(array_equal(take(values, inverse, 0), x));
  EXPECT_TRUE(array_equal(take(x, first, 0), values));
  EXPECT_EQ(sum(counts).item(), 40);
}

TEST(Sets, OfArraysWithoutSizes) {
  const I x = {3, 1, 0, 3}, y = {0, 2, 3};
  EXPECT_TRUE(array_equal(union1d(x, y), I{0, 1, 2, 3}));
  EXPECT_TRUE(array_equal(intersect1d(x, y), I{0, 3}));
  EXPECT_TRUE(array_equal(setdiff1d(x, y), I{1}));
  EXPECT_TRUE(array_equal(setxor1d(x, y), I{1, 2}));
  EXPECT_TRUE(array_equal(intersect1d(I{0}, I{0}), I{0}));
  EXPECT_EQ(intersect1d(I{1}, I{2}).shape(), Shape{0});
  EXPECT_EQ(setdiff1d(I::zeros({0}), y).shape(), Shape{0});
  EXPECT_EQ(union1d(I::zeros({0}), I::zeros({0})).shape(), Shape{0});
  EXPECT_TRUE(array_equal(setdiff1d(D{1, kNaN}, D{kNaN}), D{1}));
  static_assert(std::same_as<decltype(union1d(I{1}, D{2})), D>);
  const auto [common, in_x, in_y] = intersect1d_all(I{5, 1, 3}, I{3, 2, 5}, {.size = 4});
  EXPECT_TRUE(array_equal(common, I{3, 5, 3, 3}));
  EXPECT_TRUE(array_equal(in_x, I{2, 0, 3, 3}));
  EXPECT_TRUE(array_equal(in_y, I{0, 2, 3, 3}));
  EXPECT_TRUE(array_equal(std::get<1>(intersect1d_all(I{5}, I::zeros({0}), {.size = 1})), I{1}));
  EXPECT_THROW((void)intersect1d_all(x, y, {.size = -1}), ShapeError);
  EXPECT_TRUE(array_equal(trim_zeros(I{0, 1, 0, 2, 0}), I{1, 0, 2}));
  EXPECT_TRUE(array_equal(trim_zeros(I{0, 1, 0, 2, 0}, trim::front), I{1, 0, 2, 0}));
  EXPECT_TRUE(array_equal(trim_zeros(I{0, 1, 0, 2, 0}, trim::back), I{0, 1, 0, 2}));
  EXPECT_EQ(trim_zeros(I{0, 0}).shape(), Shape{0});
  EXPECT_THROW((void)trim_zeros(I{{0}}), ShapeError);
}

TEST(Bins, WeightsAndDensities) {
  const D x = {0.1, 0.4, 0.5, 2, 1.7}, w = {1, 2, 0.5, 4, 3}, edges = {0, 0.45, 1, 2};
  EXPECT_TRUE(close(std::get<0>(histogram(x, {.bins = 4, .range = {{0, 2}}}, w, density)),
                    D{0.5714285714285714, 0.09523809523809523, 0, 1.3333333333333333}));
  EXPECT_TRUE(close(histogram(x, edges, w), D{3, 0.5, 7}));
  EXPECT_TRUE(close(histogram(x, edges, density), D{0.888888888888889, 0.36363636363636365, 0.4}));
  EXPECT_TRUE(close(histogram(x, edges, w, density), D{0.6349206349206348, 0.08658008658008658, 0.6666666666666666}));
  static_assert(std::same_as<decltype(histogram(I{1}, I{0, 1}, density)), F>);
  EXPECT_THROW((void)histogram(x, edges, D{1}), ShapeError);
  EXPECT_TRUE(close(grad([&](auto v) { return histogram(x, edges, v)[2]; })(w), D{0, 0, 0, 1, 1}));
  EXPECT_TRUE(array_equal(bincount(I{0, 2, 2}, {.minlength = 5}), I{1, 0, 2, 0, 0}));
  EXPECT_TRUE(array_equal(bincount(I{0, 2, 2}, {.minlength = 1}), I{1, 0, 2}));
  EXPECT_TRUE(array_equal(bincount(I{0, 2, 2}, D{0.5, 1, 2}), D{0.5, 0, 3}));
}

TEST(Bins, OfSeveralDimensions) {
  const D x = {0.1, 0.9, 0.5, 0.7}, y = {2, 1, 3, 1}, w = {1, 2, 3, 4};
  const auto [sums, edges_x, edges_y] = histogram2d(x, y, {.bins = 2}, {.bins = 3}, w);
  EXPECT_TRUE(close(sums, D{{0, 1, 0}, {6, 0, 3}}));
  EXPECT_TRUE(close(edges_x, D{0.1, 0.5, 0.9}));
  EXPECT_TRUE(close(edges_y, D{1, 5.0 / 3, 7.0 / 3, 3}));
  EXPECT_TRUE(
      close(std::get<0>(histogram2d(x, y, {.bins = 2}, {.bins = 3}, density)), D{{0, 0.9375, 0}, {1.875, 0, 0.9375}}));
  EXPECT_TRUE(array_equal(histogram2d(x, y, D{0, 0.6, 1}, D{1, 2.5, 3}), I{{1, 1}, {2, 0}}));
  const D points = {{0, 0, 1}, {1, 2, 3}, {0.5, 2, 0}, {1, 1, 1}};
  const auto [counts, edges] = histogramdd(points, {{.bins = 2}});
  EXPECT_TRUE(array_equal(counts, I{{{1, 0}, {0, 0}}, {{0, 0}, {2, 1}}}));
  ASSERT_EQ(edges.size(), 3u);
  EXPECT_TRUE(close(edges[2], D{0, 1.5, 3}));
  EXPECT_TRUE(close(std::get<0>(histogramdd(points, {{.bins = 2}}, w, density)),
                    D{{{0.13333333333333333, 0}, {0, 0}}, {{0, 0}, {0.9333333333333333, 0.26666666666666666}}}));
  const std::vector<HistogramOptions> each{
      {.bins = 1, .range = {{0, 1}}}, {.bins = 2, .range = {{0, 2}}}, {.bins = 3, .range = {{0, 6}}}};
  EXPECT_TRUE(array_equal(std::get<0>(histogramdd(points, each)), I{{{1, 0, 0}, {2, 1, 0}}}));
  // Points outside of one dimension are in no bin.
  EXPECT_TRUE(array_equal(
      std::get<0>(histogramdd(D{{-1, 0}, {0, 9}, {0, 1}, {kNaN, 1}}, {{.bins = 1, .range = {{0, 2}}}})), I{{1}}));
  EXPECT_EQ(sum(std::get<0>(histogramdd(D::zeros({0, 2})))).item(), 0);
  EXPECT_TRUE(array_equal(jit([](auto v) { return std::get<0>(histogramdd(v, {{.bins = 2}})); })(points), counts));
  EXPECT_THROW((void)histogramdd(D{1, 2}), ShapeError);
  EXPECT_THROW((void)histogramdd(points, {{.bins = 2}, {.bins = 2}}), ShapeError);
  EXPECT_THROW((void)histogramdd(points, {{.bins = 2000}}), ShapeError);
}

TEST(Positions, SortersAxesAndMethods) {
  EXPECT_TRUE(array_equal(searchsorted(D{3, 1, 2}, D{2.5, 1}, side::left, I{1, 2, 0}), I{2, 0}));
  const D table = {5, 1, 4, 2}, x = {0, 1.5, 4, 9};
  EXPECT_TRUE(
      array_equal(searchsorted(table, x, side::right, argsort(table)), searchsorted(sort(table), x, side::right)));
  EXPECT_THROW((void)searchsorted(table, x, side::left, D{0, 1, 2, 3}), DTypeError);
  const auto [best, where_best] = top_k(D{{3, 1}, {4, 2}, {5, 0}}, 2, 0);
  EXPECT_TRUE(array_equal(best, D{{5, 2}, {4, 1}}));
  EXPECT_TRUE(array_equal(where_best, I{{2, 1}, {1, 0}}));
  EXPECT_THROW((void)top_k(D{1, 2}, 1, 1), ShapeError);
  const QuantileOptions inverted{.method = quantile_method::inverted_cdf};
  EXPECT_TRUE(array_equal(quantile(D{4, 1, 3, 2}, D{0, 0.25, 0.3, 0.5, 0.76, 1}, {}, inverted), D{1, 1, 2, 2, 4, 4}));
  EXPECT_TRUE(array_equal(nanquantile(D{4, kNaN, 3, 2}, D{0.3, 0.5, 1}, {}, inverted), D{2, 3, 4}));
}

}  // namespace
}  // namespace calque::test
