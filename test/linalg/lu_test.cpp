// lu: its factors leave residuals of rounding alone, its order of rows is that of partial pivoting, on matrices of
// every kind, size and way to run.
#include <gtest/gtest.h>

#include "linalg/factors.h"

namespace calque::test {
namespace {

/// |a[perm] - l u| <= 16 n eps |l| |u|, and |l| <= 1; empty if it holds for all of the batch.
template <class T>
std::string residual_error(const Batch<T>& a, const std::vector<AnyArray>& factors) {
  const auto packed = batch_from<T>(factors[0]);
  const auto order = elements<int32_t>(factors[1]);
  const int64_t steps = std::min(a.rows, a.columns);
  for (int64_t m = 0; m < a.count; ++m) {
    const std::string where = "matrix " + std::to_string(m) + ": ";
    std::vector<int32_t> rows(order.begin() + m * a.rows, order.begin() + (m + 1) * a.rows), sorted = rows;
    std::ranges::sort(sorted);
    for (int64_t i = 0; i < a.rows; ++i)
      if (sorted[static_cast<size_t>(i)] != i) return where + "the order is none";
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < a.columns; ++j) {
        if (j < std::min(i, steps) && !(std::abs(packed.at(m, i, j)) <= 1)) return where + "l is too large";
        long double sum = a.at(m, rows[static_cast<size_t>(i)], j), size = 0;
        for (int64_t k = 0; k <= std::min({i, j, steps - 1}); ++k) {
          const long double term = (k == i ? 1.0L : static_cast<long double>(packed.at(m, i, k))) *
                                   static_cast<long double>(packed.at(m, k, j));
          sum -= term;
          size += std::abs(term);
        }
        const double bound = 16 * static_cast<double>(steps) * kEpsilon<T> * static_cast<double>(size);
        if (!(std::abs(static_cast<double>(sum)) <= bound + std::numeric_limits<T>::denorm_min() * 16))
          return where + "element " + std::to_string(i) + ", " + std::to_string(j);
      }
    }
  }
  return "";
}

template <class T>
void check_residuals(Way way, int64_t rows, int64_t columns) {
  const Batch<T> a = general_matrices<T>(rows, columns);
  EXPECT_EQ(residual_error(a, factors_of<primitives::Lu>(way, a)), "")
      << to_string(a.type()) << (way == Way::compiled ? " compiled" : "");
}

TEST(Lu, LeavesRoundingErrors) {
  for (int64_t n = 0; n <= 70; ++n) {
    for (const Way way : {Way::reference, Way::compiled}) {
      if (way == Way::reference && n > 24) continue;
      check_residuals<float>(way, n, n);
      check_residuals<double>(way, n, n);
    }
  }
}

TEST(Lu, OfLargeMatricesLeavesRoundingErrors) {
  for (const int64_t n : {129, 200}) {
    check_residuals<float>(Way::compiled, n, n);
    check_residuals<double>(Way::compiled, n, n);
  }
}

TEST(Lu, OfRectangularMatricesLeavesRoundingErrors) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 5},
                                      {5, 1},
                                      {3, 7},
                                      {8, 2},
                                      {9, 4},
                                      {4, 9},
                                      {0, 3},
                                      {3, 0},
                                      {20, 70},
                                      {70, 20},
                                      {130, 65},
                                      {65, 130}}) {
    for (const Way way : {Way::reference, Way::compiled}) {
      check_residuals<float>(way, rows, columns);
      check_residuals<double>(way, rows, columns);
    }
  }
}

/// Equal numbers, zeros and NaN leave no choice: the order of rows is the same everywhere.
TEST(Lu, ChoosesTheFirstOfTheGreatest) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const Batch<double> a{3, 3, 5, {1, 2, 3, -1, 5, 6, 1, 8, 9, 0, 0, 1, 0, 0,    2, 0, 3, 0, 0, 0, 0, 0, 0,
                                  0, 0, 0, 0,  4, 1, 2, 4, 1, 2, 4, 1, 2, kNaN, 1, 1, 1, 2, 3, 2, 5, 5}};
  for (const Way way : {Way::reference, Way::compiled}) {
    const auto factors = factors_of<primitives::Lu>(way, a);
    const auto order = elements<int32_t>(factors[1]);
    EXPECT_EQ(order, (std::vector<int32_t>{0, 1, 2, 0, 2, 1, 0, 1, 2, 0, 1, 2, 2, 1, 0}));
    const auto packed = batch_from<double>(factors[0]);
    EXPECT_EQ(std::vector(packed.elements.begin() + 18, packed.elements.begin() + 27), std::vector<double>(9, 0));
    EXPECT_EQ(std::vector(packed.elements.begin() + 27, packed.elements.begin() + 36),
              (std::vector<double>{4, 1, 2, 1, 0, 0, 1, 0, 0}));
    for (int64_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(packed.at(4, 2, j)));
  }
}

TEST(Lu, DividesBySubnormalPivots) {
  const double tiny = 4e-310;
  const Batch<double> a{2, 2, 1, {tiny / 2, 1, tiny, 1}};
  for (const Way way : {Way::reference, Way::compiled})
    EXPECT_EQ(batch_from<double>(factors_of<primitives::Lu>(way, a)[0]).elements,
              (std::vector<double>{tiny, 1, 0.5, 0.5}));
}

/// Infinities and NaN lead to those of the reference, and to the same order of rows.
template <class T>
void check_corners(int64_t n, Rng& rng) {
  using L = std::numeric_limits<T>;
  const T corners[] = {L::infinity(), -L::infinity(), L::quiet_NaN(), T(0), L::max()};
  Batch<T> a{n, n};
  for (int m = 0; m < 40; ++m) {
    add_general(a, General::random, 1, rng);
    for (int planted = 0; planted < 2; ++planted)
      a.at(m, rng.between(0, n - 1), rng.between(0, n - 1)) = rng.pick(corners);
  }
  const auto want = factors_of<primitives::Lu>(Way::reference, a), got = factors_of<primitives::Lu>(Way::compiled, a);
  const auto is = batch_from<T>(got[0]), should_be = batch_from<T>(want[0]);
  for (int64_t m = 0; m < a.count; ++m) {
    bool ended = false;  // after a step that overflows in T, but not in the reference, all may differ
    for (int64_t i = 0; i < n && !ended; ++i)
      for (int64_t j = 0; j < n && !ended; ++j) {
        const T x = should_be.at(m, i, j);
        ended = std::isinf(x) || std::abs(x) > L::max() / 100;
        if (!std::isnan(x)) continue;
        EXPECT_FALSE(std::isfinite(is.at(m, i, j))) << n << " rows, matrix " << m;
      }
  }
  auto order = elements<int32_t>(got[1]);
  for (int64_t m = 0; m < a.count; ++m) {
    std::sort(order.begin() + m * n, order.begin() + (m + 1) * n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(order[static_cast<size_t>(m * n + i)], i);
  }
}

TEST(Lu, OfInfinitiesAndNaNEnds) {
  Rng rng(5);
  for (const int64_t n : {1, 2, 5, 8, 9, 33, 70}) {
    check_corners<float>(n, rng);
    check_corners<double>(n, rng);
  }
}

}  // namespace
}  // namespace calque::test
