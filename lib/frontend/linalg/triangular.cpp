// cholesky, triangular_solve and cho_solve: NumPy's rules for shapes, then the primitives, whose batch dimensions are
// equal.
#include <numeric>

#include "frontend/ops/common.h"

namespace calque::detail::ops::linalg {
namespace {

DType matrix_dtype(DType promoted, const Type& got, const Site& s) {
  const DType d = to_inexact(promoted);
  if (wide(d) != d) reject(got, "f32, f64 or complex elements", s);
  return d;
}

void check_square(const Type& a, const Site& s) {
  const int rank = a.shape.rank();
  if (rank < 2 || a.shape[static_cast<size_t>(rank - 1)] != a.shape[static_cast<size_t>(rank - 2)]) {
    s.shape_error("needs square matrices [..., n, n], got " + to_string(a));
  }
}

Handle conjugated(Handle x, const Site& s) { return is_complex(dtype(x)) ? emit<prim::Conj>(s, {x}) : x; }

Handle adjoint(Handle a, const Site& s) {
  Ints perm(shape(a).size());
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
  return conjugated(transpose(a, perm, s), s);
}

/// Matrices and right-hand sides [..., n, k] of one dtype and of equal batch dimensions.
struct System {
  Handle a, b;
  bool is_vector = false;  ///< b was one: k is 1

  /// x [..., n, k] in the form of b.
  Handle result(Handle x, const Site& s) const {
    if (!is_vector) return x;
    const Shape matrices = shape(x);
    return reshape(x, matrices.without(matrices.size() - 1), s);
  }
};

System system_of(const Operand& a, const Operand& b, const Site& s) {
  const Handle matrices = value(a, s), sides = value(b, s);
  const Type ta = type(matrices), tb = type(sides);
  check_square(ta, s);
  const size_t rank = ta.shape.size();
  const int64_t n = ta.shape[rank - 1];
  if (tb.shape.rank() == 0) s.shape_error("needs right-hand sides [n] or [..., n, k], got " + to_string(tb));
  System out;
  out.is_vector = tb.shape.rank() == 1;
  if (tb.shape[out.is_vector ? 0 : tb.shape.size() - 2] != n) {
    s.shape_error("matrices and right-hand sides differ in their number of rows, got " + to_string(ta) + " and " +
                  to_string(tb));
  }
  const DType promoted = promoted_dtype(a, b, s);
  const DType d = matrix_dtype(promoted, promoted == ta.dtype ? ta : tb, s);
  out.a = convert(matrices, d, s);
  out.b = convert(sides, d, s);
  if (out.is_vector) out.b = reshape(out.b, Shape{n, 1}, s);
  const Shape columns = shape(out.b);
  bool broadcasts = true;
  const Shape batch = broadcast_shapes(Shape(Ints(ta.shape.begin(), ta.shape.end() - 2)),
                                       Shape(Ints(columns.begin(), columns.end() - 2)), broadcasts);
  if (!broadcasts) {
    s.shape_error("batch dimensions do not broadcast, got " + to_string(ta) + " and " + to_string(tb));
  }
  const auto with_batch = [&](Handle x, int64_t rows, int64_t width) {
    Ints dims(batch.begin(), batch.end());
    dims.push_back(rows);
    dims.push_back(width);
    return broadcast(x, Shape(dims), s);
  };
  out.a = with_batch(out.a, n, n);
  out.b = with_batch(out.b, n, columns[columns.size() - 1]);
  return out;
}

Handle solve(Handle a, Handle b, bool lower, bool transpose, bool unit_diagonal, const Site& s) {
  return emit<prim::TriangularSolve>(s, {a, b},
                                     {{"lower", lower}, {"transpose", transpose}, {"unit_diagonal", unit_diagonal}});
}

}  // namespace

Handle cholesky(const Operand& a, Location at) {
  const Site s{"linalg::cholesky", at};
  const Handle matrices = value(a, s);
  const Type t = type(matrices);
  check_square(t, s);
  const Handle x = convert(matrices, matrix_dtype(t.dtype, t, s), s);
  // Halves are added, since a sum may overflow.
  const Handle half = emit<prim::Mul>(s, {x, splat(0.5, type(x), s)});
  return emit<prim::Cholesky>(s, {emit<prim::Add>(s, {half, adjoint(half, s)})});
}

Handle triangular_solve(const Operand& a, const Operand& b, bool lower, bool transpose, bool unit_diagonal,
                        Location at) {
  const Site s{"linalg::triangular_solve", at};
  const System system = system_of(a, b, s);
  return system.result(solve(system.a, system.b, lower, transpose, unit_diagonal, s), s);
}

Handle cho_solve(const Operand& l, const Operand& b, Location at) {
  const Site s{"linalg::cho_solve", at};
  const System system = system_of(l, b, s);
  const Handle y = solve(system.a, system.b, true, false, false, s);
  // adjoint(l) x = y is transposed(l) conj(x) = conj(y).
  return system.result(conjugated(solve(system.a, conjugated(y, s), true, true, false, s), s), s);
}

}  // namespace calque::detail::ops::linalg
