// First and second derivatives of linalg::eigh, svd and what follows from them.
#include <algorithm>
#include <complex>
#include <vector>

#include "linalg/derivatives.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

/// A complex matrix of a real one.
template <class X>
auto complex_of(const X& a) {
  return as_complex(a, sin(a * 3) * 2);
}
/// Real numbers that depend on every part of z.
template <class Z>
auto parts(const Z& z) {
  return sum(sin(real(z))) + sum(cos(imag(z) * 2));
}

TEST(SpectralDerivatives, OfEigenvaluesAndVectors) {
  for (const int64_t n : {1, 2, 3, 6}) {
    SCOPED_TRACE(n);
    check_derivatives([](auto a) { return sum(sin(la::eigvalsh(a))); }, n, n);
    check_derivatives(
        [](auto a) {
          const auto [w, v] = la::eigh(a);
          return sum(sin(w)) + sum(sin(v * 2.0));
        },
        n, n);
  }
}

TEST(SpectralDerivatives, OfComplexEigenvaluesAndVectors) {
  for (const int64_t n : {1, 2, 4}) {
    SCOPED_TRACE(n);
    check_derivatives(
        [](auto a) {
          const auto [w, v] = la::eigh(complex_of(a));
          return sum(sin(w)) + parts(v);
        },
        n, n);
  }
}

/// Of real and complex matrices; of vectors functions that depend on their phases and do not.
TEST(SpectralDerivatives, OfGeneralEigenvaluesAndVectors) {
  for (const int64_t n : {1, 2, 4}) {
    SCOPED_TRACE(n);
    const auto check = [n](const auto& matrix_of) {
      check_derivatives([&](auto a) { return parts(la::eigvals(matrix_of(a)) * 0.3); }, n, n);
      check_derivatives(
          [&](auto a) {
            const auto [w, v] = la::eig(matrix_of(a));
            return sum(sin(abs(v) * 2.0)) + sum(cos(real(w * 0.3)));
          },
          n, n);
      check_derivatives([&](auto a) { return parts(std::get<1>(la::eig(matrix_of(a)))); }, n, n);
    };
    check([](auto a) { return a; });
    check([](auto a) { return complex_of(a); });
  }
}

/// Of floats as of doubles: a sum over all values and vectors, as their order may differ.
TEST(SpectralDerivatives, OfGeneralEigenvaluesInFloats) {
  for (const int64_t n : {1, 2, 5, 12}) {
    SCOPED_TRACE(n);
    const auto check = [n](const auto& matrix_of) {
      const auto f = [&](auto a) {
        const auto [w, v] = la::eig(matrix_of(a));
        return sum(sin(abs(v) * 2)) + parts(w) + parts(la::eigvals(matrix_of(a)));
      };
      const Array<float> narrow = cast<float>(sample_matrix(n, n));
      const D want = jit(grad(f))(cast<double>(narrow)), got = cast<double>(jit(grad(f))(narrow));
      EXPECT_LT(max(abs(got - want)).item(), 1e-4 * (1 + max(abs(want)).item()));
    };
    check([](auto a) { return a; });
    check([](auto a) { return complex_of(a); });
  }
}

TEST(SpectralDerivatives, OfSingularValuesAndVectors) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 3}, {5, 3}, {3, 5}, {1, 4}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    check_derivatives([](auto a) { return sum(sin(la::svdvals(a))); }, m, n);
    // Singular values that are apart.
    std::vector<double> diagonal(static_cast<size_t>(m * n));
    for (int64_t i = 0; i < std::min(m, n); ++i) diagonal[static_cast<size_t>(i * n + i)] = 4 * static_cast<double>(i);
    const D apart = D::from(diagonal, {m, n});
    check_derivatives(
        [&](auto a) {
          const auto [u, s, vh] = la::svd(a + apart);
          return sum(sin(u * 2.0)) + sum(s * s * 0.1) + sum(cos(vh * 3.0));
        },
        m, n);
  }
}

TEST(SpectralDerivatives, OfComplexSingularValuesAndVectors) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 3}, {4, 2}, {2, 4}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    check_derivatives(
        [](auto a) {
          const auto [u, s, vh] = la::svd(complex_of(a));
          return parts(u) + sum(s * s * 0.1) + parts(vh);
        },
        m, n);
  }
}

TEST(SpectralDerivatives, OfPseudoInversesNormsAndConditions) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{3, 3}, {5, 3}, {3, 5}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    const D b = cos(sample_matrix(m, 2));
    check_derivatives([](auto a) { return sum(sin(la::pinv(a) * 2.0)); }, m, n);
    check_derivatives([](auto a) { return parts(la::pinv(complex_of(a)) * 2.0); }, m, n);
    check_derivatives([&](auto a) { return sum(sin(std::get<0>(la::lstsq(a, b)))); }, m, n);
    check_derivatives([&](auto a) { return sum(std::get<1>(la::lstsq(a, b))) * 0.1; }, m, n);
    check_derivatives(
        [](auto a) {
          return la::norm(a, la::ord::nuc) + la::norm(a, la::ord::two) * 2.0 + la::norm(a, la::ord::minus_two) * 3.0 +
                 la::cond(a) * 0.1;
        },
        m, n);
  }
}

/// Derivatives at constant rank: of a rank-deficient matrix, along matrices that keep the rank.
TEST(SpectralDerivatives, OfPseudoInversesOfLessThanFullRank) {
  const D x = sample_matrix(4, 2), y = sample_matrix(2, 3);
  const auto f = [&](auto t) { return sum(sin(la::pinv(matmul(x * t + 1.0, y + t), 1e-8))); };
  const D t(0.3);
  const double h = 1e-4;
  const double want = (f(t + h).item() - f(t - h).item()) / (2 * h);
  EXPECT_NEAR(grad(f)(t).item(), want, 1e-6 * (1 + std::abs(want)));
}

/// Values alone have derivatives where they are equal; vectors have none there.
TEST(SpectralDerivatives, OfEqualValues) {
  const D one = D::eye(3);
  const auto squares = [](auto a) { return sum(square(la::eigvalsh(a))); };
  EXPECT_TRUE(allclose(grad(squares)(one), one * 2.0, 1e-14, 1e-14));
  const auto general = [](auto a) { return sum(square(real(la::eigvals(a)))); };
  EXPECT_TRUE(allclose(grad(general)(one), one * 2.0, 1e-14, 1e-14));
  const auto any_vectors = [](auto a) { return sum(real(std::get<1>(la::eig(a)))); };
  EXPECT_TRUE(any(isnan(grad(any_vectors)(one))).item());
  const auto values = [](auto a) { return sum(square(la::svdvals(a))); };
  EXPECT_TRUE(allclose(grad(values)(one), one * 2.0, 1e-14, 1e-14));
  const auto inverse = [](auto a) { return sum(la::pinv(a) * a); };
  EXPECT_TRUE(all(isfinite(grad(inverse)(one))).item());
  const auto vectors = [](auto a) { return sum(std::get<1>(la::eigh(a))); };
  EXPECT_TRUE(any(isnan(grad(vectors)(one))).item());
  const auto left = [](auto a) { return sum(std::get<0>(la::svd(a))); };
  EXPECT_TRUE(any(isnan(grad(left)(one))).item());
}

}  // namespace
}  // namespace calque::test
