// qr, and least squares of full rank by it.
#include "frontend/linalg/systems.h"

namespace calque::detail::ops::linalg {

std::vector<Handle> qr(const Operand& a, Location at) {
  const Site s{"linalg::qr", at};
  return emit_all<prim::Qr>(s, {matrices_of(a, s)});
}

Handle least_squares(const Operand& a, const Operand& b, Location at) {
  const Site s{"linalg::lstsq", at};
  const System system = system_of(a, b, s, false);
  const Shape of = shape(system.a);
  if (of[of.size() - 1] > of[of.size() - 2]) {
    // adjoint(a) = q r: the x of least norm with a x = b is q inverse(adjoint(r)) b.
    const std::vector<Handle> f = emit_all<prim::Qr>(s, {adjoint(system.a, s)});
    const Handle y = triangular_solve(conjugated(f[1], s), system.b, false, true, false, s);
    return system.result(product(f[0], y, s), s);
  }
  const std::vector<Handle> f = emit_all<prim::Qr>(s, {system.a});
  return system.result(triangular_solve(f[1], product(adjoint(f[0], s), system.b, s), false, false, false, s), s);
}

}  // namespace calque::detail::ops::linalg
