// qr: a = q r up to rounding, q's columns are orthonormal, r is upper triangular with LAPACK's signs, on matrices of
// every kind, size and way to run.
#include <gtest/gtest.h>

#include "linalg/factors.h"

namespace calque::test {
namespace {

/// |a - q r| <= 16 n eps |column of a|, |transposed(q) q - I| <= 16 n eps; empty if it holds for all of the batch.
template <class T>
std::string residual_error(const Batch<T>& a, const std::vector<AnyArray>& factors) {
  const auto q = batch_from<T>(factors[0]), r = batch_from<T>(factors[1]);
  const int64_t steps = std::min(a.rows, a.columns);
  const double unit = 16 * static_cast<double>(std::max(a.rows, a.columns)) * kEpsilon<T>;
  for (int64_t m = 0; m < a.count; ++m) {
    const auto where = [&](const char* what, int64_t i, int64_t j) {
      return "matrix " + std::to_string(m) + ": " + what + " " + std::to_string(i) + ", " + std::to_string(j);
    };
    for (int64_t j = 0; j < a.columns; ++j) {
      long double size = 0;
      for (int64_t i = 0; i < a.rows; ++i) size = std::hypot(size, static_cast<long double>(a.at(m, i, j)));
      for (int64_t i = 0; i < a.rows; ++i) {
        long double sum = a.at(m, i, j);
        for (int64_t k = 0; k < steps; ++k)
          sum -= static_cast<long double>(q.at(m, i, k)) * static_cast<long double>(r.at(m, k, j));
        if (!(std::abs(sum) <= unit * size)) return where("residual", i, j);
      }
      for (int64_t i = j + 1; i < steps; ++i)
        if (r.at(m, i, j) != 0) return where("r", i, j);
    }
    for (int64_t i = 0; i < steps; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        long double sum = i == j ? -1 : 0;
        for (int64_t k = 0; k < a.rows; ++k)
          sum += static_cast<long double>(q.at(m, k, i)) * static_cast<long double>(q.at(m, k, j));
        if (!(std::abs(sum) <= unit)) return where("product of columns", i, j);
      }
  }
  return "";
}

template <class T>
void check_residuals(Way way, int64_t rows, int64_t columns) {
  const Batch<T> a = general_matrices<T>(rows, columns);
  EXPECT_EQ(residual_error(a, factors_of<primitives::Qr>(way, a)), "")
      << to_string(a.type()) << (way == Way::compiled ? " compiled" : "");
}

TEST(Qr, LeavesRoundingErrors) {
  for (int64_t n = 0; n <= 70; ++n) {
    for (const Way way : {Way::reference, Way::compiled}) {
      if (way == Way::reference && n > 20) continue;
      check_residuals<float>(way, n, n);
      check_residuals<double>(way, n, n);
    }
  }
}

TEST(Qr, OfLargeMatricesLeavesRoundingErrors) {
  for (const int64_t n : {129, 200}) {
    check_residuals<float>(Way::compiled, n, n);
    check_residuals<double>(Way::compiled, n, n);
  }
}

TEST(Qr, OfRectangularMatricesLeavesRoundingErrors) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 5},
                                      {5, 1},
                                      {3, 7},
                                      {8, 2},
                                      {8, 5},
                                      {5, 8},
                                      {9, 4},
                                      {4, 9},
                                      {0, 3},
                                      {3, 0},
                                      {20, 70},
                                      {70, 20},
                                      {130, 40},
                                      {40, 170}}) {
    for (const Way way : {Way::reference, Way::compiled}) {
      check_residuals<float>(way, rows, columns);
      check_residuals<double>(way, rows, columns);
    }
  }
}

/// Numbers whose squares leave the range of the type.
TEST(Qr, OfExtremeNumbersLeavesRoundingErrors) {
  for (const double scale : {1e300, 1e-300, 1e-310}) {
    for (const int64_t n : {1, 3, 5, 12, 40}) {
      Rng rng(static_cast<uint64_t>(n));
      Batch<double> a{n, n};
      add_general(a, General::integers, scale, rng);
      add_general(a, General::random, scale, rng);
      if (scale < 1e-300) {  // subnormal numbers have fewer digits: the bounds hold for numbers on their grid
        for (double& x : a.elements) x = std::round(x / 1e-312) * 1e-312;
      }
      const auto factors = factors_of<primitives::Qr>(Way::compiled, a);
      const auto want = factors_of<primitives::Qr>(Way::reference, a);
      const double tolerance = 1e-13 * scale * static_cast<double>(n) + 1e-322;
      EXPECT_EQ(difference(factors[1], want[1], 0, tolerance), "") << scale << " " << n;
    }
  }
}

/// The signs are those of LAPACK, and a column with nothing below its diagonal stays.
TEST(Qr, HasTheSignsOfReflections) {
  const Batch<double> a{2, 2, 4, {3, 1, 4, 2, -3, 1, 4, 2, 2, 1, 0, -5, 0, 1, 0, 2}};
  for (const Way way : {Way::reference, Way::compiled}) {
    const auto factors = factors_of<primitives::Qr>(way, a);
    const auto q = batch_from<double>(factors[0]), r = batch_from<double>(factors[1]);
    EXPECT_NEAR(r.at(0, 0, 0), -5, 1e-14);
    EXPECT_NEAR(q.at(0, 0, 0), -0.6, 1e-15);
    EXPECT_NEAR(r.at(1, 0, 0), 5, 1e-14);
    EXPECT_EQ(r.at(2, 0, 0), 2);
    EXPECT_EQ(r.at(2, 1, 1), -5);
    EXPECT_EQ(q.at(2, 0, 0), 1);
    EXPECT_EQ(r.at(3, 0, 0), 0);
    EXPECT_EQ(r.at(3, 1, 1), 2);
  }
}

/// It ends, and what cannot be a number is none.
TEST(Qr, OfInfinitiesAndNaNEnds) {
  using L = std::numeric_limits<double>;
  for (const int64_t n : {1, 4, 5, 6, 40, 70}) {
    for (const double planted : {L::infinity(), -L::infinity(), L::quiet_NaN()}) {
      Rng rng(static_cast<uint64_t>(n));
      Batch<double> a{n, n};
      for (int64_t m = 0; m < 3; ++m) add_general(a, General::random, 1, rng);
      a.at(1, n - 1, 0) = planted;
      for (const Way way : {Way::reference, Way::compiled}) {
        const auto factors = factors_of<primitives::Qr>(way, a);
        const auto r = batch_from<double>(factors[1]);
        EXPECT_FALSE(std::isfinite(r.at(1, n - 1, n - 1))) << n;
        for (const int64_t m : {0, 2}) EXPECT_TRUE(std::isfinite(r.at(m, n - 1, n - 1))) << n;
      }
    }
  }
}

}  // namespace
}  // namespace calque::test
