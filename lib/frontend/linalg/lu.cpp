// lu and what follows from it: solve, inv, det, slogdet.
#include <algorithm>
#include <utility>

#include "frontend/linalg/systems.h"

namespace calque::detail::ops::linalg {
namespace {

Handle element(Handle a, int64_t i, int64_t j, const Site& s) {
  const Shape of = shape(a);
  const int rank = of.rank();
  const Handle row = slice_axis(a, rank - 2, i, i + 1, 1, s);
  return reshape(slice_axis(row, rank - 1, j, j + 1, 1, s), Shape(Ints(of.begin(), of.end() - 2)), s);
}

/// a b - c d with an error of 1.5 units in the last place (Kahan; Jeannerod, Louvet and Muller, Further analysis of
/// Kahan's algorithm, Mathematics of Computation 82, 2013).
Handle difference_of_products(Handle a, Handle b, Handle c, Handle d, const Site& s) {
  const Handle cd = emit<prim::Mul>(s, {c, d});
  if (is_complex(dtype(a))) return emit<prim::Sub>(s, {emit<prim::Mul>(s, {a, b}), cd});
  const Handle error = emit<prim::Fma>(s, {emit<prim::Neg>(s, {c}), d, cd});
  return add(emit<prim::Fma>(s, {a, b, emit<prim::Neg>(s, {cd})}), error, s);
}

}  // namespace

Handle solve_system(Handle a, Handle b, const Site& s) {
  const std::vector<Handle> factors = emit_all<prim::Lu>(s, {emit<prim::StopGradient>(s, {a})});
  return emit<prim::LuSolve>(s, {a, factors[0], factors[1], b}, {{"transpose", false}});
}

std::vector<Handle> lu_factor(const Operand& a, Location at) {
  const Site s{"linalg::lu_factor", at};
  return emit_all<prim::Lu>(s, {matrices_of(a, s)});
}

std::vector<Handle> lu(const Operand& a, Location at) {
  const Site s{"linalg::lu", at};
  const Handle x = matrices_of(a, s);
  const std::vector<Handle> factors = emit_all<prim::Lu>(s, {x});
  const Type t = type(x);
  const int rank = t.shape.rank();
  const auto last = static_cast<size_t>(rank - 1);
  const int64_t rows = t.shape[last - 1], columns = t.shape[last], least = std::min(rows, columns);
  // p has a one in row perm[j] and column j.
  const Type square{t.dtype, t.shape.with(last, rows)};
  Ints axes;
  for (int d = 0; d < rank - 2; ++d) axes.push_back(d);
  axes.push_back(rank - 1);
  const Handle order = broadcast_in(factors[1], square.shape, axes, s);
  const Handle row = detail::emit(
      prim::get<prim::Iota>(), std::initializer_list<Handle>{},
      {{"axis", int64_t{rank - 2}}, {"dtype", DType::i32}, {"shape", Ints(square.shape.begin(), square.shape.end())}},
      at);
  const Handle p = convert(emit<prim::Eq>(s, {row, order}), t.dtype, s);
  const Handle left = slice_axis(factors[0], rank - 1, 0, least, 1, s);
  const Handle l = add(tril(left, -1, at), identity(type(left), s), s);
  const Handle u = triu(slice_axis(factors[0], rank - 2, 0, least, 1, s), 0, at);
  return {p, l, u};
}

Handle lu_solve(const Operand& packed, const Operand& perm, const Operand& b, Location at) {
  const Site s{"linalg::lu_solve", at};
  const Type order = type(value(perm, s)), factors = type(value(packed, s));
  check_square(factors, s);
  if (!is_integer(order.dtype)) s.dtype_error("needs the integer order of the rows, got " + to_string(order));
  if (order.shape != factors.shape.without(factors.shape.size() - 1)) {
    s.shape_error("factors and order of the rows do not fit, got " + to_string(factors) + " and " + to_string(order));
  }
  const System system = system_of(packed, b, s);
  const Shape matrices = shape(system.a);
  const Handle rows = broadcast(convert(value(perm, s), DType::i32, s), matrices.without(matrices.size() - 1), s);
  const Handle columns = reshape(rows, matrices.with(matrices.size() - 1, 1), s);
  const Handle ordered = take_along_axis(system.b, broadcast(columns, shape(system.b), s), -2, mode::clip, at);
  const Handle y = triangular_solve(system.a, ordered, true, false, true, s);
  return system.result(triangular_solve(system.a, y, false, false, false, s), s);
}

Handle solve(const Operand& a, const Operand& b, Location at) {
  const Site s{"linalg::solve", at};
  const System system = system_of(a, b, s);
  return system.result(solve_system(system.a, system.b, s), s);
}

Handle inverse(Handle a, const Site& s) { return solve_system(a, identity(type(a), s), s); }

Handle inv(const Operand& a, Location at) {
  const Site s{"linalg::inv", at};
  return inverse(square_matrices_of(a, s), s);
}

Handle det(const Operand& a, Location at) {
  const Site s{"linalg::det", at};
  const Handle x = square_matrices_of(a, s);
  const Shape of = shape(x);
  const int64_t n = of[of.size() - 1];
  const auto at_ = [&](int64_t i, int64_t j) { return element(x, i, j, s); };
  if (n == 1) return at_(0, 0);
  if (n == 2) return difference_of_products(at_(0, 0), at_(1, 1), at_(0, 1), at_(1, 0), s);
  if (n != 3) return emit<prim::Det>(s, {x});
  Handle sum;
  for (int64_t j = 0; j < 3; ++j) {
    const int64_t next = (j + 1) % 3, after = (j + 2) % 3;
    const Handle minor = difference_of_products(at_(1, next), at_(2, after), at_(1, after), at_(2, next), s);
    const Handle term = emit<prim::Mul>(s, {at_(0, j), minor});
    sum = j == 0 ? term : add(sum, term, s);
  }
  return sum;
}

std::vector<Handle> slogdet(const Operand& a, Location at) {
  const Site s{"linalg::slogdet", at};
  return emit_all<prim::SlogDet>(s, {square_matrices_of(a, s)});
}

}  // namespace calque::detail::ops::linalg
