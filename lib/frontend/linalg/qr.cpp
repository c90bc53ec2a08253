// qr and least squares by it.
#include "frontend/linalg/systems.h"

namespace calque::detail::ops::linalg {

std::vector<Handle> qr(const Operand& a, Location at) {
  const Site s{"linalg::qr", at};
  return emit_all<prim::Qr>(s, {matrices_of(a, s)});
}

std::vector<Handle> lstsq(const Operand& a, const Operand& b, Location at) {
  const Site s{"linalg::lstsq", at};
  const System system = system_of(a, b, s, false);
  const Shape of = shape(system.a);
  const bool is_wide = of[of.size() - 1] > of[of.size() - 2];
  Handle x;
  if (is_wide) {
    // adjoint(a) = q r: the x of least norm with a x = b is q inverse(adjoint(r)) b.
    const std::vector<Handle> f = emit_all<prim::Qr>(s, {adjoint(system.a, s)});
    const Handle y = triangular_solve(conjugated(f[1], s), system.b, false, true, false, s);
    x = product(f[0], y, s);
  } else {
    const std::vector<Handle> f = emit_all<prim::Qr>(s, {system.a});
    x = triangular_solve(f[1], product(adjoint(f[0], s), system.b, s), false, false, false, s);
  }
  const Handle left = emit<prim::Sub>(s, {system.b, product(system.a, x, s)});
  const Handle squares = emit<prim::Mul>(s, {left, conjugated(left, s)});
  const Handle reals = is_complex(dtype(left)) ? emit<prim::Real>(s, {squares}) : squares;
  const Shape sides = shape(reals);
  const Handle sums = emit<prim::ReduceSum>(s, {reals}, {{"axes", Ints{sides.rank() - 2}}});
  const Handle residuals = system.result(reshape(sums, sides.with(sides.size() - 2, 1), s), s);
  if (system.is_vector) return {system.result(x, s), residuals};
  const Shape rows = shape(residuals);
  return {system.result(x, s), reshape(residuals, rows.without(rows.size() - 2), s)};
}

}  // namespace calque::detail::ops::linalg
