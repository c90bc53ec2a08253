// First and second derivatives of linalg::expm and matrix_power.
#include "linalg/derivatives.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

bool close(const D& x, const D& y, double tolerance = 1e-12) { return allclose(x, y, tolerance, tolerance); }

TEST(PowerDerivatives, DerivativesOfPowersAndExponentials) {
  for (const double scale : {0.05, 0.6}) {
    check_derivatives([&](auto a) { return sum(sin(la::expm(a * scale)) * 0.1); }, 3, 3);
    check_derivatives([&](auto a) { return sum(sin(la::matrix_power(a * scale, 3)) * 0.1); }, 3, 3);
    check_derivatives([&](auto a) { return sum(la::matrix_power(a * scale, -2) * 0.1); }, 3, 3);
  }
  const auto f = [](auto a) { return sum(la::expm(a)); };
  const D many = stack({sample_matrix(3, 3) * 0.01, sample_matrix(3, 3) * 0.5}, 0);
  const D batched = jit(vmap(grad(f)))(many);
  for (int64_t i = 0; i < 2; ++i) {
    const D own = grad(f)(D(many.at(i)));
    EXPECT_TRUE(close(batched.at(i) / own, D::ones({3, 3}), 1e-11));
  }
}

}  // namespace
}  // namespace calque::test
