#include "frontend/linalg/systems.h"

#include <numeric>

namespace calque::detail::ops::linalg {

DType matrix_dtype(DType promoted, const Type& got, const Site& s) {
  const DType d = to_inexact(promoted);
  if (wide(d) != d) reject(got, "f32, f64 or complex elements", s);
  return d;
}

void check_matrix(const Type& a, const Site& s) {
  if (a.shape.rank() < 2) s.shape_error("needs matrices [..., m, n], got " + to_string(a));
}

void check_square(const Type& a, const Site& s) {
  const int rank = a.shape.rank();
  if (rank < 2 || a.shape[static_cast<size_t>(rank - 1)] != a.shape[static_cast<size_t>(rank - 2)]) {
    s.shape_error("needs square matrices [..., n, n], got " + to_string(a));
  }
}

Handle matrices_of(const Operand& a, const Site& s) {
  const Handle x = value(a, s);
  const Type t = type(x);
  check_matrix(t, s);
  return convert(x, matrix_dtype(t.dtype, t, s), s);
}

Handle square_matrices_of(const Operand& a, const Site& s) {
  const Handle x = value(a, s);
  const Type t = type(x);
  check_square(t, s);
  return convert(x, matrix_dtype(t.dtype, t, s), s);
}

Handle conjugated(Handle x, const Site& s) { return is_complex(dtype(x)) ? emit<prim::Conj>(s, {x}) : x; }

Handle transposed(Handle a, const Site& s) {
  Ints perm(shape(a).size());
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
  return transpose(a, perm, s);
}

Handle adjoint(Handle a, const Site& s) { return conjugated(transposed(a, s), s); }

Handle product(Handle a, Handle b, const Site& s) {
  Ints batch(shape(a).size() - 2);
  std::iota(batch.begin(), batch.end(), int64_t{0});
  const auto row = static_cast<int64_t>(batch.size());
  return emit<prim::DotGeneral>(
      s, {a, b},
      {{"lhs_batch", batch}, {"lhs_contract", Ints{row + 1}}, {"rhs_batch", batch}, {"rhs_contract", Ints{row}}});
}

Handle add(Handle a, Handle b, const Site& s) { return emit<prim::Add>(s, {a, b}); }

Handle scaled(Handle a, double factor, const Site& s) { return emit<prim::Mul>(s, {a, splat(factor, type(a), s)}); }

Handle hermitian(Handle a, const Site& s) {
  const Handle half = scaled(a, 0.5, s);
  return add(half, adjoint(half, s), s);
}

Handle identity(const Type& type, const Site& s) {
  const int rank = type.shape.rank();
  const auto positions = [&](int axis) {
    return detail::emit(prim::get<prim::Iota>(), std::initializer_list<Handle>{},
                        {{"axis", static_cast<int64_t>(axis)},
                         {"dtype", DType::i64},
                         {"shape", Ints(type.shape.begin(), type.shape.end())}},
                        s.at);
  };
  return convert(emit<prim::Eq>(s, {positions(rank - 2), positions(rank - 1)}), type.dtype, s);
}

Handle triangular_solve(Handle a, Handle b, bool lower, bool transpose, bool unit_diagonal, const Site& s) {
  return emit<prim::TriangularSolve>(s, {a, b},
                                     {{"lower", lower}, {"transpose", transpose}, {"unit_diagonal", unit_diagonal}});
}

Handle System::result(Handle x, const Site& s) const {
  if (is_vector) {
    const Shape matrices = shape(x);
    return reshape(x, matrices.without(matrices.size() - 1), s);
  }
  if (folded.rank() == 0) return x;
  // [n, batch * k] -> [n, batch..., k] -> [batch..., n, k].
  const Handle apart = reshape(x, folded.with_inserted(0, shape(x)[0]), s);
  Ints perm;
  for (int64_t d = 1; d < folded.rank(); ++d) perm.push_back(d);
  perm.insert(perm.end(), {0, folded.rank()});
  return transpose(apart, perm, s);
}

System system_of(const Operand& a, const Operand& b, const Site& s, bool is_square) {
  const Handle matrices = value(a, s), sides = value(b, s);
  const Type ta = type(matrices), tb = type(sides);
  is_square ? check_square(ta, s) : check_matrix(ta, s);
  const size_t rank = ta.shape.size();
  const int64_t rows = ta.shape[rank - 2], columns = ta.shape[rank - 1];
  if (tb.shape.rank() == 0) s.shape_error("needs right-hand sides [n] or [..., n, k], got " + to_string(tb));
  System out;
  out.is_vector = tb.shape.rank() == 1;
  if (tb.shape[out.is_vector ? 0 : tb.shape.size() - 2] != rows) {
    s.shape_error("matrices and right-hand sides differ in their number of rows, got " + to_string(ta) + " and " +
                  to_string(tb));
  }
  const DType promoted = promoted_dtype(a, b, s);
  const DType d = matrix_dtype(promoted, promoted == ta.dtype ? ta : tb, s);
  out.a = convert(matrices, d, s);
  out.b = convert(sides, d, s);
  if (out.is_vector) out.b = reshape(out.b, Shape{rows, 1}, s);
  const Shape side = shape(out.b);
  if (rank == 2 && side.rank() > 2) {
    // [batch..., n, k] -> [n, batch..., k] -> [n, batch * k].
    Ints perm = {side.rank() - 2}, dims;
    for (int64_t d = 0; d < side.rank(); ++d) {
      if (d == side.rank() - 2) continue;
      perm.push_back(d);
      dims.push_back(side[static_cast<size_t>(d)]);
    }
    out.folded = Shape(dims);
    out.b = reshape(transpose(out.b, perm, s), Shape{rows, out.folded.num_elements()}, s);
    return out;
  }
  bool broadcasts = true;
  const Shape batch = broadcast_shapes(Shape(Ints(ta.shape.begin(), ta.shape.end() - 2)),
                                       Shape(Ints(side.begin(), side.end() - 2)), broadcasts);
  if (!broadcasts) {
    s.shape_error("batch dimensions do not broadcast, got " + to_string(ta) + " and " + to_string(tb));
  }
  const auto with_batch = [&](Handle x, int64_t height, int64_t width) {
    Ints dims(batch.begin(), batch.end());
    dims.push_back(height);
    dims.push_back(width);
    return broadcast(x, Shape(dims), s);
  };
  out.a = with_batch(out.a, rows, columns);
  out.b = with_batch(out.b, rows, side[side.size() - 1]);
  return out;
}

}  // namespace calque::detail::ops::linalg
