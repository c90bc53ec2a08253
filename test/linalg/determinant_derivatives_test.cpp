// First and second derivatives of linalg::det and slogdet, and gradients where the inverse does not exist.
#include "linalg/derivatives.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

bool close(const D& x, const D& y, double tolerance = 1e-12) { return allclose(x, y, tolerance, tolerance); }

TEST(DeterminantDerivatives, DerivativesOfDeterminants) {
  for (const int64_t n : {1, 2, 3, 4, 6, 9}) {
    SCOPED_TRACE(n);
    check_derivatives([](auto a) { return la::det(a * 0.3); }, n, n);
    check_derivatives([](auto a) { return std::get<1>(la::slogdet(a)) * 2.0; }, n, n);
  }
}

/// The cofactors exist where the inverse does not.
TEST(DeterminantDerivatives, GradientsOfSingularDeterminants) {
  const auto gradient = jit(grad([](auto a) { return la::det(a); }));
  // Rank 3: the gradient is that of the cofactors, by 3 x 3 determinants.
  for (const int64_t zeroed : {0, 1, 3}) {
    D a = sample_matrix(4, 4);
    for (int64_t i = 0; i < 4; ++i) a = a.set(i, zeroed, 0.0);
    const D got = gradient(a);
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        std::vector<double> minor;
        for (int64_t k = 0; k < 4; ++k)
          for (int64_t l = 0; l < 4; ++l)
            if (k != i && l != j) minor.push_back(a(k, l));
        const double cofactor = ((i + j) % 2 == 0 ? 1 : -1) * la::det(D::from(minor, {3, 3})).item();
        EXPECT_NEAR(got(i, j), cofactor, 1e-10) << zeroed << ": " << i << " " << j;
      }
    }
  }
  for (const int64_t n : {1, 2, 3}) EXPECT_TRUE(close(gradient(D::zeros({n, n})), n == 1 ? D{{1}} : D::zeros({n, n})));
}

}  // namespace
}  // namespace calque::test
