// Eigenvalues and singular values, and what follows from them: pseudo-inverses, ranks and condition numbers.
#include <algorithm>
#include <limits>

#include "frontend/linalg/systems.h"

namespace calque::detail::ops::linalg {
namespace {

// Vectors that nothing reads are not computed (transform/linalg/expand_linalg.h), and derivatives share the equation.
std::vector<Handle> eigh(Handle a, const Site& s) {
  return emit_all<prim::Eigh>(s, {hermitian(a, s)}, {{"vectors", true}});
}
std::vector<Handle> eig(Handle a, const Site& s) { return emit_all<prim::Eig>(s, {a}, {{"vectors", true}}); }
std::vector<Handle> svd(Handle a, const Site& s) { return emit_all<prim::Svd>(s, {a}, {{"vectors", true}}); }

/// `factor` times eps times the greater extent of the matrices.
double default_rcond(Handle a, double factor) {
  const Type t = type(a);
  const DType real = real_of(t.dtype);
  const double eps = real == DType::f64 ? std::numeric_limits<double>::epsilon()
                                        : static_cast<double>(std::numeric_limits<float>::epsilon());
  const size_t rank = t.shape.size();
  return factor * eps * static_cast<double>(std::max(t.shape[rank - 1], t.shape[rank - 2]));
}

Handle pinv(Handle a, double rcond, const Site& s) { return emit<prim::Pinv>(s, {a}, {{"rcond", rcond}}); }

/// Value i of each matrix, of k that are not none, counted from the end if i is negative.
Handle value_at(Handle values, int64_t i, const Site& s) {
  const Shape of = shape(values);
  const size_t last = of.size() - 1;
  if (i < 0) i += of[last];
  return reshape(slice_axis(values, static_cast<int>(last), i, i + 1, 1, s), of.without(last), s);
}

/// How many singular values [..., k] are greater than rcond times the greatest.
Handle rank_of(Handle values, double rcond, const Site& s) {
  const Shape of = shape(values);
  const int axis = of.rank() - 1;
  if (of[static_cast<size_t>(axis)] == 0) return splat(0, {DType::i32, of.without(static_cast<size_t>(axis))}, s);
  const Handle greatest = broadcast(slice_axis(values, axis, 0, 1, 1, s), of, s);
  const Handle counted = convert(emit<prim::Gt>(s, {values, scaled(greatest, rcond, s)}), DType::i32, s);
  return emit<prim::ReduceSum>(s, {counted}, {{"axes", Ints{axis}}});
}

}  // namespace

Handle singular_values(Handle a, const Site& s) { return svd(a, s)[1]; }

std::vector<Handle> eigh(const Operand& a, Location at) {
  const Site s{"linalg::eigh", at};
  return eigh(square_matrices_of(a, s), s);
}

Handle eigvalsh(const Operand& a, Location at) {
  const Site s{"linalg::eigvalsh", at};
  return eigh(square_matrices_of(a, s), s)[0];
}

std::vector<Handle> eig(const Operand& a, Location at) {
  const Site s{"linalg::eig", at};
  return eig(square_matrices_of(a, s), s);
}

Handle eigvals(const Operand& a, Location at) {
  const Site s{"linalg::eigvals", at};
  return eig(square_matrices_of(a, s), s)[0];
}

std::vector<Handle> svd(const Operand& a, Location at) {
  const Site s{"linalg::svd", at};
  return svd(matrices_of(a, s), s);
}

Handle svdvals(const Operand& a, Location at) {
  const Site s{"linalg::svdvals", at};
  return singular_values(matrices_of(a, s), s);
}

Handle pinv(const Operand& a, std::optional<double> rcond, Location at) {
  const Site s{"linalg::pinv", at};
  const Handle x = matrices_of(a, s);
  return pinv(x, rcond.value_or(default_rcond(x, 10)), s);
}

std::vector<Handle> lstsq(const Operand& a, const Operand& b, std::optional<double> rcond, Location at) {
  const Site s{"linalg::lstsq", at};
  const System system = system_of(a, b, s, false);
  const double cutoff = rcond.value_or(default_rcond(system.a, 1));
  const Handle values = singular_values(system.a, s);
  const Handle x = product(pinv(system.a, cutoff, s), system.b, s);
  const Handle left = emit<prim::Sub>(s, {system.b, product(system.a, x, s)});
  const Handle squares = emit<prim::Mul>(s, {left, conjugated(left, s)});
  const Handle reals = is_complex(dtype(left)) ? emit<prim::Real>(s, {squares}) : squares;
  const Shape sides = shape(reals);
  const Handle sums = emit<prim::ReduceSum>(s, {reals}, {{"axes", Ints{sides.rank() - 2}}});
  Handle residuals = system.result(reshape(sums, sides.with(sides.size() - 2, 1), s), s);
  if (!system.is_vector) {
    const Shape rows = shape(residuals);
    residuals = reshape(residuals, rows.without(rows.size() - 2), s);
  }
  return {system.result(x, s), residuals, rank_of(values, cutoff, s), values};
}

Handle matrix_rank(const Operand& a, std::optional<double> rcond, Location at) {
  const Site s{"linalg::matrix_rank", at};
  const Handle x = matrices_of(a, s);
  return rank_of(singular_values(x, s), rcond.value_or(default_rcond(x, 1)), s);
}

Handle cond(const Operand& a, ord order, Location at) {
  const Site s{"linalg::cond", at};
  if (order != ord::two && order != ord::minus_two) {
    const Handle x = square_matrices_of(a, s);
    const Axes matrices({-2, -1});
    return emit<prim::Mul>(s, {norm(x, order, matrices, false, at), norm(inverse(x, s), order, matrices, false, at)});
  }
  const Handle x = matrices_of(a, s);
  const Type t = type(x);
  const size_t rank = t.shape.size();
  if (t.shape[rank - 1] == 0 || t.shape[rank - 2] == 0) {
    s.shape_error("a matrix without elements has no condition number, got " + to_string(t));
  }
  const Handle values = singular_values(x, s);
  Handle greatest = value_at(values, 0, s), least = value_at(values, -1, s);
  if (order == ord::minus_two) return emit<prim::Div>(s, {least, greatest});
  // Of the zero matrix infinite, not NaN.
  const Handle none = emit<prim::Eq>(s, {least, splat(0, type(least), s)});
  const Handle infinite = splat(std::numeric_limits<double>::infinity(), type(least), s);
  const Handle divisor = select(none, splat(1, type(least), s), least, s);
  return select(none, infinite, emit<prim::Div>(s, {greatest, divisor}), s);
}

}  // namespace calque::detail::ops::linalg
