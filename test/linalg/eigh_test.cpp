// eigh: a = v diag(w) adjoint(v) up to rounding, v is unitary with fixed phases, w ascends, on matrices of every kind,
// size, dtype and way to run.
#include "linalg/spectra.h"

namespace calque::test {
namespace {

template <class T>
void check_eigh(Way way, int64_t n) {
  const Batch<T> a = hermitian(spectral_matrices<T>(n, n));
  // The upper triangle is not read.
  Batch<T> lower = a;
  for (int64_t m = 0; m < a.count; ++m)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) lower.at(m, i, j) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  SCOPED_TRACE(to_string(a.type()) + (way == Way::compiled ? " compiled" : ""));
  const auto results = spectrum_of<primitives::Eigh>(way, lower, true);
  const auto alone = spectrum_of<primitives::Eigh>(way, lower, false);
  ASSERT_EQ(results.size(), 2U);
  ASSERT_EQ(alone.size(), 1U);
  const auto w = elements<Real<T>>(results[0]), values = elements<Real<T>>(alone[0]);
  const auto v = batch_from<T>(results[1]);
  const double unit = 16 * static_cast<double>(std::max<int64_t>(n, 1)) * kEpsilon<Real<T>>;
  for (int64_t m = 0; m < a.count; ++m) {
    const long double size = frobenius(a, m);
    EXPECT_LE(residual(a, v, w, v, m), unit * size) << m;
    EXPECT_LE(orthogonality_error(v, m), unit) << m;
    for (int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<size_t>(m * n + k);
      EXPECT_TRUE(has_phase(v, m, k)) << m << " " << k;
      EXPECT_TRUE(k == 0 || w[at - 1] <= w[at]) << m << " " << k;
      EXPECT_LE(std::abs(static_cast<long double>(w[at]) - static_cast<long double>(values[at])), unit * size) << m;
    }
  }
}

template <class T>
void check_sizes() {
  for (int64_t n = 0; n <= 40; n += n < 10 ? 1 : 5) {
    check_eigh<T>(Way::compiled, n);
    if (n <= 15) check_eigh<T>(Way::reference, n);
  }
}
TEST(Eigh, OfFloatsLeavesRoundingErrors) { check_sizes<float>(); }
TEST(Eigh, OfDoublesLeavesRoundingErrors) { check_sizes<double>(); }
TEST(Eigh, OfComplexFloatsLeavesRoundingErrors) { check_sizes<std::complex<float>>(); }
TEST(Eigh, OfComplexDoublesLeavesRoundingErrors) { check_sizes<std::complex<double>>(); }
TEST(Eigh, OfLargeMatricesLeavesRoundingErrors) { check_eigh<double>(Way::compiled, 130); }

/// The compiled path and the reference agree where values are apart.
template <class T>
void check_agreement(int64_t n) {
  Batch<T> a = spectral_matrices<T>(n, n);
  a.count = 1;
  a.elements.resize(static_cast<size_t>(n * n));
  a = hermitian(a);
  for (int64_t i = 0; i < n; ++i) a.at(0, i, i) = T(Real<T>(3 * i));
  const auto got = spectrum_of<primitives::Eigh>(Way::compiled, a, true);
  const auto want = spectrum_of<primitives::Eigh>(Way::reference, a, true);
  const double tolerance = 100 * static_cast<double>(n * n) * kEpsilon<Real<T>>;
  EXPECT_EQ(difference(got[0], want[0], 0, tolerance), "");
  EXPECT_EQ(difference(got[1], want[1], 0, tolerance), "");
}
TEST(Eigh, IsThatOfTheReference) {
  for (const int64_t n : {1, 2, 3, 8, 17}) {
    check_agreement<float>(n);
    check_agreement<double>(n);
    check_agreement<std::complex<float>>(n);
    check_agreement<std::complex<double>>(n);
  }
}

/// Components of equal magnitude: the first is positive, whatever rounding says.
TEST(Eigh, ChoosesTheFirstOfEqualComponents) {
  const Batch<double> a{2, 2, 2, {2, 1, 1, 2, 1.1, -0.3, -0.3, 1.1}};
  const double r = std::sqrt(0.5);
  for (const Way way : {Way::reference, Way::compiled}) {
    const auto v = batch_from<double>(spectrum_of<primitives::Eigh>(way, a, true)[1]);
    const double want[2][4] = {{r, r, -r, r}, {r, r, r, -r}};
    for (int64_t m = 0; m < 2; ++m)
      for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(v.at(m, i / 2, i % 2), want[m][i], 1e-15);
  }
}

/// NaN, at once, of those matrices alone.
template <class T>
void check_planted(int64_t n, Real<T> planted) {
  Batch<T> a = hermitian(spectral_matrices<T>(n, n));
  a.at(1, n - 1, 0) = T(planted);
  for (const Way way : {Way::reference, Way::compiled}) {
    const auto results = spectrum_of<primitives::Eigh>(way, a, true);
    const auto w = elements<Real<T>>(results[0]);
    const auto v = batch_from<T>(results[1]);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_TRUE(std::isnan(w[static_cast<size_t>(n + i)]));
      for (int64_t j = 0; j < n; ++j) EXPECT_TRUE(is_nan(v.at(1, i, j)));
      for (const int64_t m : {0, 2}) {
        EXPECT_TRUE(std::isfinite(w[static_cast<size_t>(m * n + i)]));
        EXPECT_FALSE(is_nan(v.at(m, i, 0)));
      }
    }
  }
}
TEST(Eigh, OfInfinitiesAndNaNIsNaN) {
  for (const int64_t n : {1, 3, 20}) {
    check_planted<double>(n, std::numeric_limits<double>::infinity());
    check_planted<double>(n, std::numeric_limits<double>::quiet_NaN());
    check_planted<std::complex<float>>(n, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace
}  // namespace calque::test
