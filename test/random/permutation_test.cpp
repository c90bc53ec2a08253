// random::permutation and random::choice: what they draw is there, how often, and what must be refused.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using I = Array<int32_t>;

std::vector<int32_t> list(const I& x) {
  std::vector<int32_t> out;
  for (int64_t i = 0; i < x.size(); ++i) out.push_back(static_cast<const int32_t*>(x.any().data())[i]);
  return out;
}

TEST(Permutation, HasEveryNumberOnce) {
  for (const int64_t n : {0, 1, 2, 17, 5000}) {
    std::vector<int32_t> all = list(random::permutation(random::key(3), n));
    EXPECT_EQ(std::ranges::is_sorted(all), n <= 2) << n;
    std::ranges::sort(all);
    for (int32_t i = 0; i < n; ++i) EXPECT_EQ(all[static_cast<size_t>(i)], i);
    EXPECT_EQ(std::ssize(all), n);
  }
}

TEST(Permutation, MovesWholeSlices) {
  const D x = {{1, 2, 3}, {10, 20, 30}};
  const D rows = random::permutation(random::key(1), x), columns = random::permutation(random::key(1), x, -1);
  EXPECT_TRUE(array_equal(sort(rows, 0), x));
  EXPECT_TRUE(array_equal(sort(columns, 1), x));
  EXPECT_TRUE(array_equal(take(columns, I(0), 0) * 10.0, take(columns, I(1), 0)));
}

/// All 24 orders of 4 elements, by the chi-squared statistic with 23 degrees of freedom.
TEST(Permutation, OrdersAreEquallyLikely) {
  constexpr int kDraws = 4800;
  const auto draw = jit(vmap([](const Tracer<int32_t>& i) {
    const I weights = {1, 4, 16, 64};
    return sum(random::permutation(random::fold_in(random::key(9), i), 4) * weights);
  }));
  std::vector<int32_t> codes = list(draw(jit([] { return iota(kDraws); })()));
  std::ranges::sort(codes);
  double chi = 0;
  int orders = 0;
  for (size_t i = 0; i < codes.size(); ++orders) {
    const auto count = static_cast<size_t>(std::ranges::count(codes, codes[i]));
    chi += std::pow(static_cast<double>(count) - kDraws / 24.0, 2) / (kDraws / 24.0);
    i += count;
  }
  EXPECT_EQ(orders, 24);
  EXPECT_LT(chi, 60);
}

TEST(Choice, DrawsWithoutReplacementDifferentElements) {
  const D p = {0.1, 0, 0.4, 0.3, 0.2};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int32_t> all = list(random::choice(random::key(seed), 5, {4}, {.replace = false}));
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    all = list(random::choice(random::key(seed), 5, {2, 2}, {.replace = false, .p = p}));
    EXPECT_EQ(std::ranges::count(all, 1), 0);
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  }
}

TEST(Choice, FollowsProbabilities) {
  const D p = {1, 0, 2, 5};
  const std::vector<int32_t> all = list(random::choice(random::key(5), I{7, 8, 9, 10}, {8000}, {.p = p}));
  EXPECT_NEAR(static_cast<double>(std::ranges::count(all, 7)), 1000, 120);
  EXPECT_EQ(std::ranges::count(all, 8), 0);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(all, 9)), 2000, 160);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(all, 10)), 5000, 180);
}

TEST(Choice, TakesSlices) {
  const D x = {{1, 2}, {10, 20}, {100, 200}};
  EXPECT_EQ(random::choice(random::key(1), x, {4, 5}).shape(), (Shape{4, 5, 2}));
  EXPECT_EQ(random::choice(random::key(1), x, {4}, {.axis = 1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(random::choice(random::key(1), x, {}).shape(), Shape{2});
  EXPECT_EQ(random::choice(random::key(1), x, {0}).shape(), (Shape{0, 2}));
}

TEST(Choice, RefusesWhatCannotBeDrawn) {
  const D x = {1, 2, 3};
  const random::Key key = random::key(1);
  EXPECT_THROW((void)random::choice(key, x, {4}, {.replace = false}), ShapeError);
  EXPECT_THROW((void)random::choice(key, D::zeros({0}), {1}), ShapeError);
  EXPECT_THROW((void)random::choice(key, x, {4}, {.p = D{1, 2}}), ShapeError);
  EXPECT_THROW((void)random::choice(key, x, {4}, {.axis = 1}), ShapeError);
  EXPECT_THROW((void)random::choice(key, D(1.0), {1}), ShapeError);
  EXPECT_THROW((void)random::choice(key, 0, {1}), ShapeError);
  EXPECT_THROW((void)random::permutation(key, -1), ShapeError);
  EXPECT_THROW((void)random::permutation(key, x, 1), ShapeError);
}

}  // namespace
}  // namespace calque::test
