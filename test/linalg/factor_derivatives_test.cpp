// First and second derivatives of linalg::lu, qr and lstsq.
#include "linalg/derivatives.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

TEST(FactorDerivatives, DerivativesOfFactors) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 3}, {5, 3}, {3, 5}, {9, 9}, {12, 7}, {7, 12}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    check_derivatives(
        [](auto a) {
          const auto [p, l, u] = la::lu(a);
          return sum(sin(l)) + sum(u * u * 0.1);
        },
        m, n);
    check_derivatives(
        [](auto a) {
          const auto [q, r] = la::qr(a);
          return sum(sin(q * 2.0)) + sum(r * r * r * 0.1);
        },
        m, n);
    const D b = cos(sample_matrix(m, 2));
    check_derivatives([&](auto a) { return sum(sin(std::get<0>(la::lstsq(a, b)))); }, m, n);
  }
}

}  // namespace
}  // namespace calque::test
