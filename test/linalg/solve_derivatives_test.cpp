// First and second derivatives of linalg::solve, inv and lu_solve.
#include "linalg/derivatives.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

TEST(SolveDerivatives, DerivativesOfSolveAndInverse) {
  for (const int64_t n : {1, 2, 3, 5, 8, 9, 13}) {
    SCOPED_TRACE(n);
    const D b = cos(sample_matrix(n, 2));
    check_derivatives([&](auto a) { return sum(sin(la::solve(a, b))); }, n, n);
    check_derivatives([](auto a) { return sum(sin(la::inv(a))); }, n, n);
    check_derivatives([](auto a) { return sum(la::solve(a, a * 2.0 + transpose(a)) * a); }, n, n);
    check_derivatives(
        [&](auto a) {
          const auto [packed, perm] = la::lu_factor(a);
          return sum(sin(la::lu_solve(packed, perm, b)));
        },
        n, n);
  }
}

}  // namespace
}  // namespace calque::test
