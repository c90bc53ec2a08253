// The public functions that sort: values, edges, what must be refused.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using testing::HasSubstr;

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

template <class X, class Y>
bool same(const X& x, const Y& y) {
  return x.shape() == y.shape() && array_equal(x, y, true);
}

template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Sorting, SortsAlongAnAxis) {
  const D x = {{3, 1, 2}, {0, 5, 4}};
  EXPECT_TRUE(same(sort(x), D{{1, 2, 3}, {0, 4, 5}}));
  EXPECT_TRUE(same(sort(x, 0), D{{0, 1, 2}, {3, 5, 4}}));
  EXPECT_TRUE(same(sort(x, -1, descending), D{{3, 2, 1}, {5, 4, 0}}));
  EXPECT_TRUE(same(argsort(x, 0), I{{1, 0, 0}, {0, 1, 1}}));
  EXPECT_TRUE(same(argsort(D{1, 1, 0, 1}, 0, true), I{0, 1, 3, 2}));
  EXPECT_EQ(sort(D::zeros({2, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(sort(D::zeros({0, 3}), 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(argsort(D::zeros({0, 3})).shape(), (Shape{0, 3}));
}

TEST(Sorting, ByKeys) {
  const I first = {1, 0, 1, 0};
  const D second = {2, 3, 1, 3}, value = {10, 20, 30, 40};
  const auto [a, b, v] = sort_by(std::tuple{first, second, value}, {.keys = 2});
  EXPECT_TRUE(same(a, I{0, 0, 1, 1}));
  EXPECT_TRUE(same(b, D{3, 3, 1, 2}));
  EXPECT_TRUE(same(v, D{20, 40, 30, 10}));
  EXPECT_TRUE(same(lexsort(std::tuple{second, first}), I{1, 3, 2, 0}));
  EXPECT_TRUE(same(lexsort(std::vector{value, second}), I{2, 0, 1, 3}));
  using C = std::complex<float>;
  const Array<C> c = {C(1, 2), C(3, 4), C(5, 6), C(7, 8)};
  EXPECT_TRUE(same(std::get<1>(sort_by(std::tuple{second, c})), take(c, I{2, 0, 1, 3}, 0)));
}

TEST(Sorting, TopKAndPartition) {
  const auto [values, indices] = top_k(D{2, kNan, 7, 7, -1}, 3);
  EXPECT_TRUE(same(values, D{kNan, 7, 7}));
  EXPECT_TRUE(same(indices, I{1, 2, 3}));
  EXPECT_EQ(std::get<0>(top_k(D::zeros({3, 2}), 0)).shape(), (Shape{3, 0}));
  EXPECT_TRUE(same(partition(I{3, 1, 2}, 1), I{1, 2, 3}));
  EXPECT_TRUE(same(argpartition(I{3, 1, 2}, -1), I{1, 2, 0}));
}

TEST(Sorting, Searches) {
  const D sorted = {1, 2, 2, 3, kInf, kNan};
  const D x = {0, 2, 2.5, kInf, kNan, -0.0};
  EXPECT_TRUE(same(searchsorted(sorted, x), I{0, 1, 3, 4, 5, 0}));
  EXPECT_TRUE(same(searchsorted(sorted, x, side::right), I{0, 3, 3, 5, 6, 0}));
  EXPECT_TRUE(same(searchsorted(D{-0.0, 0.0}, D{0.0, -0.0}), I{0, 0}));
  EXPECT_TRUE(same(searchsorted(D::zeros({0}), x), I::zeros({6})));
  EXPECT_TRUE(same(searchsorted(I{1, 3, 5}, 4), I(2)));
  for (const int n : {1, 2, 3, 4, 7, 8, 9}) {
    std::vector<double> all, between;
    std::vector<int32_t> expected;
    for (int i = 0; i < n; ++i) all.push_back(i);
    for (int i = -1; i <= n; ++i) {
      between.push_back(i + 0.5);
      expected.push_back(std::min(i + 1, n));
    }
    EXPECT_TRUE(
        same(searchsorted(D::from(all, Shape{n}), D::from(between, Shape{n + 2})), I::from(expected, Shape{n + 2})))
        << n;
  }
  EXPECT_TRUE(same(digitize(D{0.2, 6.4, 3, 1.6, 2.5}, D{0, 1, 2.5, 4, 10}), I{1, 4, 3, 2, 3}));
  EXPECT_TRUE(same(digitize(D{0.2, 6.4, 3, 1.6, 2.5}, D{0, 1, 2.5, 4, 10}, true), I{1, 4, 3, 2, 2}));
  EXPECT_TRUE(same(digitize(D{0.2, 2.5, 20}, D{10, 2.5, 0}), I{2, 1, 0}));
  // NaN is greater than all numbers: last in ascending order, first in descending order.
  EXPECT_TRUE(same(digitize(D{0, 2, NAN}, D{1, 2, NAN}), I{0, 2, 3}));
  EXPECT_TRUE(same(digitize(D{0, 1, 2.5, NAN}, D{NAN, 2, 1}), I{3, 2, 1, 0}));
}

TEST(Sorting, MediansAndQuantiles) {
  const D x = {{4, 1, 3, 2}, {8, 5, kNan, 7}};
  EXPECT_TRUE(same(median(x, 1), D{2.5, kNan}));
  EXPECT_TRUE(same(nanmedian(x, 1), D{2.5, 7}));
  EXPECT_TRUE(same(median(x, 0, keepdims), D{{6, 3, kNan, 4.5}}));
  EXPECT_TRUE(same(nanmedian(x), D(4.0)));
  EXPECT_TRUE(same(nanmedian(D{kNan, kNan}), D(kNan)));
  EXPECT_TRUE(same(median(D{kInf, kInf}), D(kInf)));
  EXPECT_TRUE(same(median(I{1, 2}), F(1.5F)));
  EXPECT_TRUE(same(quantile(D{1, 2, 3, 4}, D{0, 0.25, 0.5, 1}), D{1, 1.75, 2.5, 4}));
  EXPECT_TRUE(same(percentile(D{1, 2, 3, 4}, 25), D(1.75)));
  EXPECT_TRUE(same(nanquantile(x, 0.5, 1), D{2.5, 7}));
  EXPECT_TRUE(same(nanpercentile(x, D{0, 100}, 1), D{{1, 5}, {4, 8}}));
  EXPECT_TRUE(same(quantile(D{1, 2}, D{-0.1, 1.1, kNan}), D{kNan, kNan, kNan}));
  EXPECT_TRUE(same(quantile(D{kInf, kInf, 1}, 0.75), D(kInf)));
  EXPECT_TRUE(same(quantile(D{-kInf, 1}, 0.0), D(-kInf)));
  const auto by = [](quantile_method m, double q) { return quantile(D{0, 1, 2, 3}, q, {}, {.method = m}); };
  EXPECT_TRUE(same(by(quantile_method::lower, 0.5), D(1.0)));
  EXPECT_TRUE(same(by(quantile_method::higher, 0.5), D(2.0)));
  EXPECT_TRUE(same(by(quantile_method::midpoint, 0.4), D(1.5)));
  EXPECT_TRUE(same(by(quantile_method::nearest, 0.5), D(2.0)));
  EXPECT_TRUE(same(quantile(D{0, 1}, 0.5, {}, {.method = quantile_method::nearest}), D(0.0)));
  EXPECT_EQ(quantile(D::ones({2, 3, 4}), D::ones({5}), {0, 2}, {.keepdims = keepdims}).shape(), (Shape{5, 1, 3, 1}));
}

TEST(Sorting, Sets) {
  EXPECT_TRUE(same(unique(I{{3, 1}, {3, 2}}, {.size = 5, .fill_value = -1}), I{1, 2, 3, -1, -1}));
  EXPECT_TRUE(same(unique(I{3, 1, 3}, {.size = 4}), I{1, 3, 1, 1}));
  EXPECT_TRUE(same(unique(D{kNan, 1, kNan}, {.size = 3, .fill_value = 0}), D{1, kNan, 0}));
  EXPECT_TRUE(same(unique(I::zeros({0}), {.size = 2}), I{0, 0}));
  EXPECT_TRUE(same(unique(I{1, 2}, {.size = 0}), I::zeros({0})));
  const auto [values, first, inverse, counts] = unique_all(I{{5, 2}, {5, 9}}, {.size = 4, .fill_value = 0});
  EXPECT_TRUE(same(values, I{2, 5, 9, 0}));
  EXPECT_TRUE(same(first, I{1, 0, 3, 0}));
  EXPECT_TRUE(same(inverse, I{{1, 0}, {1, 2}}));
  EXPECT_TRUE(same(counts, I{1, 2, 1, 0}));
  EXPECT_TRUE(same(union1d(I{3, 1}, I{2, 3}, {.size = 4, .fill_value = 7}), I{1, 2, 3, 7}));
  EXPECT_TRUE(same(intersect1d(I{3, 1, 3}, I{2, 3}, {.size = 2, .fill_value = 7}), I{3, 7}));
  EXPECT_TRUE(same(setdiff1d(I{3, 1, 1}, I{2, 3}, {.size = 2, .fill_value = 7}), I{1, 7}));
  EXPECT_TRUE(same(setxor1d(I{3, 1, 1}, I{2, 3}, {.size = 3, .fill_value = 7}), I{1, 2, 7}));
  EXPECT_TRUE(same(setdiff1d(D{kNan, 1}, D{kNan}, {.size = 1}), D{1}));
  EXPECT_TRUE(same(setdiff1d(I{4}, I::zeros({0}), {.size = 1}), I{4}));
  std::vector<int32_t> many;
  for (int32_t i = 0; i < 100; ++i) many.push_back(3 * (i * 37 % 100));
  const I list = I::from(many, Shape{100});
  EXPECT_TRUE(same(isin(I{0, 1, 297, 300, -3}, list), Array<bool>{true, false, true, false, false}));
  EXPECT_TRUE(same(isin(D{kNan}, cast<double>(list), {.invert = true}), Array<bool>{true}));
}

TEST(Sorting, Histograms) {
  EXPECT_TRUE(same(bincount(I{0, 2, 2, 9, -1}, {.length = 4}), I{1, 0, 2, 0}));
  EXPECT_TRUE(same(bincount(I{0, 2, 2}, D{1, 2, 3}, {.length = 3}), D{1, 0, 5}));
  const D x = {0, 0.1, 0.5, 0.99, 1, 1.1, -0.1, kNan};
  const auto [counts, edges] = histogram(x, {.bins = 2, .range = {{0.0, 1.0}}});
  EXPECT_TRUE(same(counts, I{2, 3}));
  EXPECT_TRUE(same(edges, D{0, 0.5, 1}));
  EXPECT_TRUE(same(histogram(x, D{0, 0.1, 1}), I{1, 4}));
  const auto [all, own] = histogram(D{1, 2, 3, 5}, {.bins = 2});
  EXPECT_TRUE(same(all, I{2, 2}));
  EXPECT_TRUE(same(own, D{1, 3, 5}));
  EXPECT_TRUE(same(histogram_bin_edges(D{2, 2}, {.bins = 1}), D{1.5, 2.5}));
  const auto [sums, same_edges] = histogram(D{1, 2, 3, 5}, {.bins = 2}, D{0.5, 0.25, 1, 2});
  EXPECT_TRUE(same(sums, D{0.75, 3}));
  // Elements on edges that are not exact belong to the bin that begins there.
  std::vector<float> tenths;
  for (int i = 0; i < 10; ++i) tenths.push_back(static_cast<float>(i) / 10);
  const F on_edges = std::get<1>(histogram(F::from(tenths, Shape{10}), {.bins = 10, .range = {{0.0, 1.0}}}));
  EXPECT_TRUE(
      same(std::get<0>(histogram(on_edges, {.bins = 10, .range = {{0.0, 1.0}}})), I{1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
  const auto [grid, ex, ey] =
      histogram2d(D{0, 1, 1, 5}, D{0, 3, 3, 1}, {.bins = 2, .range = {{0.0, 2.0}}}, {.bins = 3, .range = {{0.0, 3.0}}});
  EXPECT_TRUE(same(grid, I{{1, 0, 0}, {0, 0, 2}}));
  EXPECT_EQ(ex.shape(), Shape{3});
  EXPECT_EQ(ey.shape(), Shape{4});
}

TEST(Sorting, ErrorsNameTheFunctionAndTheLine) {
  const D x = D::zeros({3, 4});
  const Array<std::complex<double>> c = {std::complex<double>(1, 2)};
  EXPECT_THAT(message<ShapeError>([&] { (void)sort(x, 2); }), HasSubstr("sort: "));
  EXPECT_THAT(message<ShapeError>([&] { (void)sort(x, 2); }), HasSubstr("functions_test.cpp:"));
  EXPECT_THROW((void)sort(D(1.0)), ShapeError);
  EXPECT_THAT(message<DTypeError>([&] { (void)argsort(c); }), HasSubstr("argsort: needs ordered numbers, got c128[1]"));
  EXPECT_THAT(message<ShapeError>([&] { (void)top_k(x, 5); }), HasSubstr("top_k: k is 5, which is not in [0, 4]"));
  EXPECT_THROW((void)top_k(x, -1), ShapeError);
  EXPECT_THROW((void)top_k(D(1.0), 0), ShapeError);
  EXPECT_THAT(message<ShapeError>([&] { (void)partition(x, 4); }), HasSubstr("partition: there is no element 4"));
  EXPECT_THAT(message<ShapeError>([&] { (void)sort_by(std::tuple{x, D::zeros({4})}); }),
              HasSubstr("sort_by: needs arrays of one shape, got f64[3,4] and f64[4]"));
  EXPECT_THROW((void)sort_by(std::tuple{x, x}, {.keys = 3}), ShapeError);
  EXPECT_THROW((void)lexsort(std::vector<D>{}), ShapeError);
  EXPECT_THROW((void)searchsorted(x, x), ShapeError);
  EXPECT_THROW((void)digitize(c, D{1}), DTypeError);
  EXPECT_THAT(message<ShapeError>([&] { (void)median(D::zeros({0})); }), HasSubstr("median: no elements"));
  EXPECT_THROW((void)quantile(x, c), DTypeError);
  EXPECT_THROW((void)unique(x, {.size = -1}), ShapeError);
  EXPECT_THROW((void)setdiff1d(x, c, {.size = 1}), DTypeError);
  EXPECT_THROW((void)bincount(x, {.length = 3}), ShapeError);
  EXPECT_THROW((void)bincount(D{1}, {.length = 3}), DTypeError);
  EXPECT_THROW((void)bincount(I{1}, D{1, 2}, {.length = 3}), ShapeError);
  EXPECT_THROW((void)bincount(I{1}, {.length = -3}), ShapeError);
  EXPECT_THROW((void)histogram(x, {.bins = 0}), ShapeError);
  EXPECT_THROW((void)histogram(x, {.bins = 3, .range = {{1.0, 1.0}}}), ShapeError);
  EXPECT_THROW((void)histogram(x, D{1}), ShapeError);
  EXPECT_THROW((void)histogram(c), DTypeError);
  EXPECT_THROW((void)histogram2d(D{1}, D{1, 2}), ShapeError);
}

}  // namespace
}  // namespace calque::test
