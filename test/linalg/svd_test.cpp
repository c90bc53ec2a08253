// svd: a = u diag(s) vh up to rounding, the columns of u and rows of vh are orthonormal with fixed phases, s descends,
// on matrices of every kind, shape, dtype and way to run.
#include "linalg/spectra.h"

namespace calque::test {
namespace {

template <class T>
void check_svd(Way way, const Batch<T>& a) {
  const int64_t rows = a.rows, columns = a.columns;
  SCOPED_TRACE(to_string(a.type()) + (way == Way::compiled ? " compiled" : ""));
  const auto results = spectrum_of<primitives::Svd>(way, a, true);
  const auto alone = spectrum_of<primitives::Svd>(way, a, false);
  ASSERT_EQ(results.size(), 3U);
  ASSERT_EQ(alone.size(), 1U);
  const auto u = batch_from<T>(results[0]), v = adjoint(batch_from<T>(results[2]));
  const auto s = elements<Real<T>>(results[1]), values = elements<Real<T>>(alone[0]);
  const int64_t k = std::min(rows, columns);
  const double unit = 16 * static_cast<double>(std::max<int64_t>({rows, columns, 1})) * kEpsilon<Real<T>>;
  for (int64_t m = 0; m < a.count; ++m) {
    const long double size = frobenius(a, m);
    EXPECT_LE(residual(a, u, s, v, m), unit * size) << m;
    EXPECT_LE(orthogonality_error(u, m), unit) << m;
    EXPECT_LE(orthogonality_error(v, m), unit) << m;
    for (int64_t i = 0; i < k; ++i) {
      const auto at = static_cast<size_t>(m * k + i);
      EXPECT_TRUE(has_phase(v, m, i)) << m << " " << i;
      EXPECT_TRUE(i == 0 ? s[at] >= 0 : s[at - 1] >= s[at] && s[at] >= 0) << m << " " << i;
      EXPECT_LE(std::abs(static_cast<long double>(s[at]) - static_cast<long double>(values[at])), unit * size) << m;
    }
  }
}

template <class T>
void check_svd(Way way, int64_t rows, int64_t columns) {
  check_svd(way, spectral_matrices<T>(rows, columns));
}

template <class T>
void check_shapes() {
  for (int64_t n = 0; n <= 40; n += n < 10 ? 1 : 5) {
    check_svd<T>(Way::compiled, n, n);
    if (n <= 15) check_svd<T>(Way::reference, n, n);
  }
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 5}, {5, 1}, {3, 7}, {8, 2}, {0, 3}, {3, 0}, {20, 40}, {40, 20}, {17, 16}}) {
    check_svd<T>(Way::compiled, rows, columns);
    if (rows < 20) check_svd<T>(Way::reference, rows, columns);
  }
}
TEST(Svd, OfFloatsLeavesRoundingErrors) { check_shapes<float>(); }
TEST(Svd, OfDoublesLeavesRoundingErrors) { check_shapes<double>(); }
TEST(Svd, OfComplexFloatsLeavesRoundingErrors) { check_shapes<std::complex<float>>(); }
TEST(Svd, OfComplexDoublesLeavesRoundingErrors) { check_shapes<std::complex<double>>(); }
TEST(Svd, OfLargeMatricesLeavesRoundingErrors) {
  check_svd<double>(Way::compiled, 130, 100);
  check_svd<std::complex<double>>(Way::compiled, 70, 90);
}

/// Of many equal singular values, most of them 0: constants, equal rows, equal columns, patterns, identities, shifts.
template <class T>
Batch<T> degenerate_matrices(int64_t rows, int64_t columns) {
  const auto kinds = {
      +[](int64_t, int64_t) { return 1; },
      +[](int64_t, int64_t k) { return static_cast<int>(k % 7) - 3; },
      +[](int64_t i, int64_t) { return static_cast<int>(i % 5) - 2; },
      +[](int64_t i, int64_t k) { return static_cast<int>((i + k) % 2); },
      +[](int64_t i, int64_t k) { return static_cast<int>(i * k % 3); },
      +[](int64_t i, int64_t k) { return static_cast<int>((i / 2 + k / 2) % 2); },
      +[](int64_t i, int64_t k) { return i == k ? 3 : 0; },
      +[](int64_t i, int64_t k) { return i + 1 == k ? 1 : 0; },
      +[](int64_t i, int64_t k) { return i == k       ? static_cast<int>(i % 3)
                                         : i + 1 == k ? 1
                                                      : 0; },
  };
  Batch<T> a{rows, columns, static_cast<int64_t>(kinds.size()), {}};
  for (const auto& kind : kinds)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < columns; ++k) a.elements.push_back(T(static_cast<Real<T>>(kind(i, k))));
  return a;
}
TEST(Svd, OfEqualValuesHasOrthonormalVectors) {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{16, 18}, {20, 60}, {40, 60}, {60, 40}, {40, 40}, {100, 100}}) {
    check_svd(Way::compiled, degenerate_matrices<double>(rows, columns));
    check_svd(Way::compiled, degenerate_matrices<float>(rows, columns));
    if (rows + columns <= 80) check_svd(Way::compiled, degenerate_matrices<std::complex<double>>(rows, columns));
  }
}

/// The compiled path and the reference agree where values are apart.
template <class T>
void check_agreement(int64_t rows, int64_t columns) {
  Batch<T> a = spectral_matrices<T>(rows, columns);
  a.count = 1;
  a.elements.resize(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < std::min(rows, columns); ++i) a.at(0, i, i) += T(Real<T>(4 * i + 4));
  const auto got = spectrum_of<primitives::Svd>(Way::compiled, a, true);
  const auto want = spectrum_of<primitives::Svd>(Way::reference, a, true);
  const double tolerance = 100 * static_cast<double>(rows * columns) * kEpsilon<Real<T>>;
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(difference(got[i], want[i], 0, tolerance), "") << rows << " " << columns;
}
TEST(Svd, IsThatOfTheReference) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {3, 3}, {8, 5}, {5, 8}, {17, 17}}) {
    check_agreement<float>(rows, columns);
    check_agreement<double>(rows, columns);
    check_agreement<std::complex<float>>(rows, columns);
    check_agreement<std::complex<double>>(rows, columns);
  }
}

TEST(Svd, OfZerosHasOrthonormalVectors) {
  for (const Way way : {Way::reference, Way::compiled}) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{3, 3}, {20, 4}, {4, 20}}) {
      const Batch<double> a{rows, columns, 1, std::vector<double>(static_cast<size_t>(rows * columns))};
      const auto results = spectrum_of<primitives::Svd>(way, a, true);
      for (const double s : elements<double>(results[1])) EXPECT_EQ(s, 0);
      EXPECT_LE(orthogonality_error(batch_from<double>(results[0]), 0), 1e-15);
      EXPECT_LE(orthogonality_error(adjoint(batch_from<double>(results[2])), 0), 1e-15);
    }
  }
}

/// NaN, at once, of those matrices alone.
template <class T>
void check_planted(int64_t rows, int64_t columns, Real<T> planted) {
  Batch<T> a = spectral_matrices<T>(rows, columns);
  a.at(1, rows - 1, 0) = T(planted);
  const auto k = static_cast<size_t>(std::min(rows, columns));
  for (const Way way : {Way::reference, Way::compiled}) {
    const auto results = spectrum_of<primitives::Svd>(way, a, true);
    const auto s = elements<Real<T>>(results[1]);
    const auto u = batch_from<T>(results[0]), vh = batch_from<T>(results[2]);
    for (size_t i = 0; i < k; ++i) {
      EXPECT_TRUE(std::isnan(s[k + i]));
      EXPECT_TRUE(std::isfinite(s[i]) && std::isfinite(s[2 * k + i]));
    }
    EXPECT_TRUE(is_nan(u.at(1, 0, 0)) && is_nan(vh.at(1, 0, 0)));
    EXPECT_FALSE(is_nan(u.at(2, 0, 0)) || is_nan(vh.at(2, 0, 0)));
  }
}
TEST(Svd, OfInfinitiesAndNaNIsNaN) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {3, 2}, {20, 30}}) {
    check_planted<double>(rows, columns, std::numeric_limits<double>::infinity());
    check_planted<double>(rows, columns, std::numeric_limits<double>::quiet_NaN());
    check_planted<std::complex<float>>(rows, columns, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace
}  // namespace calque::test
