// eig: a v = v diag(w) up to rounding, vectors of norm 1 with fixed phases, on matrices of every kind, size, dtype and
// way to run.
#include "linalg/spectra.h"

namespace calque::test {
namespace {

template <class T>
using Complex = std::complex<Real<T>>;

template <class T>
Batch<T> one_matrix(int64_t n) {
  return {n, n, 1, std::vector<T>(static_cast<size_t>(n * n))};
}
template <class T>
void append(Batch<T>& to, const Batch<T>& more) {
  to.count += more.count;
  to.elements.insert(to.elements.end(), more.elements.begin(), more.elements.end());
}

/// Those of all kinds, and ones with values that are equal, in pairs, or have fewer vectors than rows.
template <class T>
Batch<T> eig_matrices(int64_t n) {
  Batch<T> all = spectral_matrices<T>(n, n);
  Batch<T> companion = one_matrix<T>(n), block = companion, cycle = companion, triangle = companion, skew = companion;
  for (int64_t i = 0; i < n; ++i) {
    companion.at(0, 0, i) = T(Real<T>(i % 2 == 0 ? 1.5 : -2) / Real<T>(i + 1));
    if (i > 0) companion.at(0, i, i - 1) = T(1);
    // One value with one vector.
    block.at(0, i, i) = T(Real<T>(0.5));
    if (i > 0) block.at(0, i - 1, i) = T(1);
    cycle.at(0, i, (i + 1) % n) = T(1);
    for (int64_t j = i; j < n; ++j) {
      triangle.at(0, i, j) = T(Real<T>(1 + (3 * i + 5 * j) % 7));
      skew.at(0, i, j) = T(Real<T>((3 * i + 5 * j) % 7 - 3));
      skew.at(0, j, i) = -skew.at(0, i, j);
    }
  }
  for (const Batch<T>& more : {companion, block, cycle, triangle, skew}) append(all, more);
  return all;
}

/// The greatest |a v - v diag(w)|.
template <class T>
long double eig_residual(const Batch<T>& a, const std::vector<Complex<T>>& w, const Batch<Complex<T>>& v, int64_t m) {
  long double most = 0;
  const int64_t n = a.rows;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k) {
      std::complex<long double> sum = -wide(v.at(m, i, k)) * wide(w[static_cast<size_t>(m * n + k)]);
      for (int64_t c = 0; c < n; ++c) sum += std::complex<long double>(wide(a.at(m, i, c))) * wide(v.at(m, c, k));
      most = std::isnan(std::abs(sum)) ? std::numeric_limits<long double>::infinity()
                                       : std::max<long double>(most, std::abs(sum));
    }
  return most;
}

template <class T>
void check_eig(Way way, int64_t n) {
  const Batch<T> a = eig_matrices<T>(n);
  SCOPED_TRACE(to_string(a.type()) + (way == Way::compiled ? " compiled" : ""));
  const auto results = spectrum_of<primitives::Eig>(way, a, true);
  ASSERT_EQ(results.size(), 2U);
  ASSERT_EQ(spectrum_of<primitives::Eig>(way, a, false).size(), 1U);
  const auto w = elements<Complex<T>>(results[0]);
  const auto v = batch_from<Complex<T>>(results[1]);
  const double unit = 64 * static_cast<double>(std::max<int64_t>(n, 1)) * kEpsilon<Real<T>>;
  for (int64_t m = 0; m < a.count; ++m) {
    const long double size = frobenius(a, m);
    EXPECT_LE(eig_residual(a, w, v, m), unit * size) << m;
    std::complex<long double> trace = 0;
    for (int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<size_t>(m * n + k);
      trace += wide(w[at]) - std::complex<long double>(wide(a.at(m, k, k)));
      EXPECT_TRUE(has_phase(v, m, k)) << m << " " << k;
      long double norm = 0;
      for (int64_t i = 0; i < n; ++i) norm = std::hypot(norm, std::abs(wide(v.at(m, i, k))));
      EXPECT_NEAR(static_cast<double>(norm), 1, unit) << m << " " << k;
      if constexpr (!is_complex_element<T>) {  // real, or the first of a pair
        const int64_t other = w[at].imag() > 0 ? k + 1 : w[at].imag() < 0 ? k - 1 : k;
        ASSERT_LT(other, n);
        ASSERT_GE(other, 0);
        EXPECT_EQ(w[static_cast<size_t>(m * n + other)], std::conj(w[at])) << m << " " << k;
        for (int64_t i = 0; i < n; ++i) {
          EXPECT_EQ(v.at(m, i, other), std::conj(v.at(m, i, k))) << m << " " << k;
        }
      }
    }
    EXPECT_LE(std::abs(trace), unit * size) << m;
  }
}

template <class T>
void check_sizes() {
  for (int64_t n = 0; n <= 30; n += n < 10 ? 1 : 5) {
    check_eig<T>(Way::compiled, n);
    if (n <= 15) check_eig<T>(Way::reference, n);
  }
}
TEST(Eig, OfFloatsLeavesRoundingErrors) { check_sizes<float>(); }
TEST(Eig, OfDoublesLeavesRoundingErrors) { check_sizes<double>(); }
TEST(Eig, OfComplexFloatsLeavesRoundingErrors) { check_sizes<std::complex<float>>(); }
TEST(Eig, OfComplexDoublesLeavesRoundingErrors) { check_sizes<std::complex<double>>(); }
TEST(Eig, OfLargeMatricesLeavesRoundingErrors) {
  check_eig<double>(Way::compiled, 90);
  check_eig<std::complex<double>>(Way::compiled, 60);
}

/// Matrices whose values are apart and well conditioned.
template <class T>
Batch<T> apart(int64_t n) {
  Batch<T> a = one_matrix<T>(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const double x = std::sin(static_cast<double>(7 * i * i + 3 * j + 1));
      if constexpr (is_complex_element<T>) {
        a.at(0, i, j) = T(static_cast<Real<T>>(x), static_cast<Real<T>>(std::cos(5 * x)));
      } else {
        a.at(0, i, j) = static_cast<T>(x);
      }
      if (i == j) a.at(0, i, i) += T(static_cast<Real<T>>(3 * (i / 2)));
    }
  for (int64_t i = 0; i + 1 < n; i += 2) {  // pairs
    a.at(0, i, i + 1) += T(2);
    a.at(0, i + 1, i) -= T(2);
  }
  return a;
}

/// The same values and vectors, in any order.
template <class T>
void check_agreement(int64_t n) {
  const Batch<T> a = apart<T>(n);
  const auto got = spectrum_of<primitives::Eig>(Way::compiled, a, true);
  const auto alone = elements<Complex<T>>(spectrum_of<primitives::Eig>(Way::compiled, a, false)[0]);
  const auto want = spectrum_of<primitives::Eig>(Way::reference, a, true);
  const auto w = elements<Complex<T>>(got[0]), w0 = elements<Complex<T>>(want[0]);
  const auto v = batch_from<Complex<T>>(got[1]), v0 = batch_from<Complex<T>>(want[1]);
  const double tolerance = 100 * static_cast<double>(n * n) * kEpsilon<Real<T>>;
  SCOPED_TRACE(to_string(a.type()));
  std::vector<bool> used(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    size_t at = 0;
    for (size_t i = 0; i < used.size(); ++i)
      if (std::abs(w[static_cast<size_t>(k)] - w0[i]) < std::abs(w[static_cast<size_t>(k)] - w0[at])) at = i;
    EXPECT_FALSE(used[at]) << k;
    used[at] = true;
    EXPECT_LE(std::abs(w[static_cast<size_t>(k)] - w0[at]), tolerance) << k;
    EXPECT_LE(std::abs(w[static_cast<size_t>(k)] - alone[static_cast<size_t>(k)]), tolerance) << k;
    for (int64_t i = 0; i < n; ++i)
      EXPECT_LE(std::abs(v.at(0, i, k) - v0.at(0, i, static_cast<int64_t>(at))), tolerance) << i << " " << k;
  }
}
TEST(Eig, IsThatOfTheReference) {
  for (const int64_t n : {1, 2, 3, 8, 17}) {
    check_agreement<float>(n);
    check_agreement<double>(n);
    check_agreement<std::complex<float>>(n);
    check_agreement<std::complex<double>>(n);
  }
}

/// Small values of matrices whose rows differ in scale have few wrong digits.
TEST(Eig, IsBalanced) {
  const Batch<double> a{3, 3, 1, {1, 1e9, 1e18, 2e-9, 3, 5e9, 1e-18, 7e-9, 2}};
  const Batch<double> balanced{3, 3, 1, {1, 1, 1, 2, 3, 5, 1, 7, 2}};
  const auto sorted = [](std::vector<std::complex<double>> w) {
    std::ranges::sort(w, {}, [](const auto& z) { return z.real(); });
    return w;
  };
  const auto w = sorted(elements<std::complex<double>>(spectrum_of<primitives::Eig>(Way::compiled, a, true)[0]));
  const auto w0 =
      sorted(elements<std::complex<double>>(spectrum_of<primitives::Eig>(Way::reference, balanced, true)[0]));
  for (size_t i = 0; i < 3; ++i) EXPECT_LE(std::abs(w[i] - w0[i]), 1e-13) << i;
}

/// NaN, at once, of those matrices alone.
template <class T>
void check_planted(int64_t n, Real<T> planted) {
  Batch<T> a = spectral_matrices<T>(n, n);
  a.at(1, 0, n - 1) = T(planted);
  for (const Way way : {Way::reference, Way::compiled}) {
    const auto results = spectrum_of<primitives::Eig>(way, a, true);
    const auto w = elements<Complex<T>>(results[0]);
    const auto v = batch_from<Complex<T>>(results[1]);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_TRUE(std::isnan(w[static_cast<size_t>(n + i)].real()));
      EXPECT_TRUE(std::isnan(w[static_cast<size_t>(n + i)].imag()));
      for (int64_t j = 0; j < n; ++j) EXPECT_TRUE(std::isnan(v.at(1, i, j).real()) && std::isnan(v.at(1, i, j).imag()));
      for (const int64_t m : {0, 2}) {
        EXPECT_FALSE(is_nan(w[static_cast<size_t>(m * n + i)]));
        EXPECT_FALSE(is_nan(v.at(m, i, 0)));
      }
    }
  }
}
TEST(Eig, OfInfinitiesAndNaNIsNaN) {
  for (const int64_t n : {1, 3, 20}) {
    check_planted<double>(n, std::numeric_limits<double>::infinity());
    check_planted<float>(n, std::numeric_limits<float>::quiet_NaN());
    check_planted<std::complex<float>>(n, -std::numeric_limits<float>::infinity());
    check_planted<std::complex<double>>(n, std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace
}  // namespace calque::test
