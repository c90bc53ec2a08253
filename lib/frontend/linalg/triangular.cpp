// cholesky, triangular_solve and cho_solve.
#include "frontend/linalg/systems.h"

namespace calque::detail::ops::linalg {

Handle cholesky(const Operand& a, Location at) {
  const Site s{"linalg::cholesky", at};
  return emit<prim::Cholesky>(s, {hermitian(square_matrices_of(a, s), s)});
}

Handle triangular_solve(const Operand& a, const Operand& b, bool lower, bool transpose, bool unit_diagonal,
                        Location at) {
  const Site s{"linalg::triangular_solve", at};
  const System system = system_of(a, b, s);
  return system.result(triangular_solve(system.a, system.b, lower, transpose, unit_diagonal, s), s);
}

Handle cho_solve(const Operand& l, const Operand& b, Location at) {
  const Site s{"linalg::cho_solve", at};
  const System system = system_of(l, b, s);
  const Handle y = triangular_solve(system.a, system.b, true, false, false, s);
  // adjoint(l) x = y is transposed(l) conj(x) = conj(y).
  return system.result(conjugated(triangular_solve(system.a, conjugated(y, s), true, true, false, s), s), s);
}

}  // namespace calque::detail::ops::linalg
