// Norms of vectors and matrices: reductions of elements or singular values.
#include <algorithm>
#include <cmath>

#include "frontend/linalg/systems.h"
#include "trace/builder.h"

namespace calque::detail::ops::linalg {
namespace {

/// The vectors or matrices whose norms are wanted.
struct Normed {
  Handle x;
  Type type;
  std::vector<int> axes;  ///< one of vectors; of rows and columns, in this order, of matrices; none of a scalar
  DType result = DType::f32;
  bool keepdims = false;

  bool matrices() const { return axes.size() == 2; }
  int64_t extent(size_t i) const { return type.shape[static_cast<size_t>(axes[i])]; }
};

Normed normed(const Operand& x, bool any_rank, const Axes& axes, bool keepdims, const Site& s) {
  Normed out{value(x, s), {}, {}, DType::f32, keepdims};
  out.type = type(out.x);
  const int rank = out.type.shape.rank();
  if (axes.every) {
    if (rank == 0 && !any_rank) s.shape_error("needs vectors or matrices, got " + to_string(out.type));
    if (rank > 1) out.axes.push_back(rank - 2);
    if (rank > 0) out.axes.push_back(rank - 1);
  } else {
    if (axes.list.empty() || axes.list.size() > 2) {
      s.shape_error("needs one axis of vectors or two of matrices, got " + std::to_string(axes.list.size()));
    }
    for (int axis : axes.list) out.axes.push_back(normal_axis(axis, rank, out.type, s));
    if (out.matrices() && out.axes[0] == out.axes[1]) {
      s.shape_error("axis " + std::to_string(out.axes[0]) + " is given twice for " + to_string(out.type));
    }
  }
  const DType own = to_inexact(out.type.dtype);
  out.result = real_of(own);
  out.x = convert(out.x, wide(own), s);
  return out;
}

Handle magnitude(const Normed& n, const Site& s) { return emit<prim::Abs>(s, {n.x}); }

/// y, whose reduced dimensions have extent 1, as the result.
Handle finish(const Normed& n, Handle y, const Site& s) {
  if (!n.keepdims) {
    const Shape of = shape(y);
    Ints kept;
    for (size_t d = 0; d < of.size(); ++d) {
      if (std::ranges::find(n.axes, static_cast<int>(d)) == n.axes.end()) kept.push_back(of[d]);
    }
    y = reshape(y, Shape(kept), s);
  }
  return convert(y, n.result, s);
}

Handle euclidean(const Normed& n, const Site& s) {
  return convert(ops::norm(n.x, Axes(n.axes), n.keepdims, s.at), n.result, s);
}

/// The greatest or least element along an axis: the greatest of none is 0, of numbers that are not negative.
Handle extreme(Handle x, int axis, bool greatest, const Site& s) {
  const Type t = type(x);
  if (t.shape[static_cast<size_t>(axis)] == 0) {
    if (!greatest) s.shape_error("no elements to choose the least one from in " + to_string(t));
    return splat(0, {t.dtype, t.shape.with(static_cast<size_t>(axis), 1)}, s);
  }
  return greatest ? amax(x, Axes(axis), true, s.at) : amin(x, Axes(axis), true, s.at);
}

/// The sum of |x|^p along the axis to the power of 1 / p.
Handle root_of_powers(const Normed& n, double p, const Site& s) {
  const Handle sum = ops::sum(pow(magnitude(n, s), lit(p), s.at), Axes(n.axes), true, s.at);
  if (p < 0) return finish(n, pow(sum, lit(1 / p), s.at), s);
  // As for the Euclidean norm: the derivative where the sum is 0 is 0.
  const Type t = type(sum);
  const Handle zero = splat(0, t, s), none = emit<prim::Eq>(s, {sum, zero});
  const Handle root = pow(select(none, splat(1, t, s), sum, s), lit(1 / p), s.at);
  return finish(n, select(none, zero, root, s), s);
}

std::string_view name_of(ord order) {
  constexpr std::string_view kNames[] = {"fro", "nuc", "one", "two", "inf", "minus_one", "minus_two", "minus_inf"};
  return kNames[static_cast<size_t>(order)];
}

Handle vector_norm(const Normed& n, ord order, const Site& s) {
  switch (order) {
    case ord::fro:
    case ord::nuc:
      s.shape_error("ord::" + std::string(name_of(order)) + " is a norm of matrices, got vectors of " +
                    to_string(n.type));
    case ord::one:
      return finish(n, sum(magnitude(n, s), Axes(n.axes), true, s.at), s);
    case ord::two:
      return euclidean(n, s);
    case ord::inf:
    case ord::minus_inf:
      return finish(n, extreme(magnitude(n, s), n.axes[0], order == ord::inf, s), s);
    case ord::minus_one:
      return root_of_powers(n, -1, s);
    case ord::minus_two:
      return root_of_powers(n, -2, s);
  }
  __builtin_unreachable();
}

/// The sum of the singular values, the greatest or the least one.
Handle spectral_norm(const Normed& n, ord order, const Site& s) {
  // Rows and columns become the last dimensions.
  Ints perm, kept;
  for (int64_t d = 0; d < n.type.shape.rank(); ++d) {
    const bool is_normed = std::ranges::find(n.axes, static_cast<int>(d)) != n.axes.end();
    kept.push_back(is_normed ? 1 : n.type.shape[static_cast<size_t>(d)]);
    if (!is_normed) perm.push_back(d);
  }
  perm.insert(perm.end(), n.axes.begin(), n.axes.end());
  const Handle values = singular_values(transpose(n.x, perm, s), s);
  const int axis = shape(values).rank() - 1;
  const Handle y =
      order == ord::nuc ? sum(values, Axes(axis), false, s.at) : extreme(values, axis, order == ord::two, s);
  return finish(n, reshape(y, Shape(kept), s), s);
}

Handle matrix_norm(const Normed& n, ord order, const Site& s) {
  if (order == ord::fro) return euclidean(n, s);
  if (order == ord::nuc || order == ord::two || order == ord::minus_two) return spectral_norm(n, order, s);
  const bool by_columns = order == ord::one || order == ord::minus_one;
  const bool greatest = order == ord::one || order == ord::inf;
  const size_t summed = by_columns ? 0 : 1;
  const Handle sums = sum(magnitude(n, s), Axes(n.axes[summed]), true, s.at);
  return finish(n, extreme(sums, n.axes[1 - summed], greatest, s), s);
}

/// The member of `ord` that stands for p.
std::optional<ord> order_of(double p) {
  if (p == 1) return ord::one;
  if (p == 2) return ord::two;
  if (p == -1) return ord::minus_one;
  if (p == -2) return ord::minus_two;
  if (std::isinf(p)) return p > 0 ? ord::inf : ord::minus_inf;
  return std::nullopt;
}

}  // namespace

Handle norm(const Operand& x, std::optional<ord> order, const Axes& axes, bool keepdims, Location at) {
  const Site s{"linalg::norm", at};
  const Normed n = normed(x, !order, axes, keepdims, s);
  if (!order) return euclidean(n, s);
  return n.matrices() ? matrix_norm(n, *order, s) : vector_norm(n, *order, s);
}

Handle norm(const Operand& x, double p, const Axes& axes, bool keepdims, Location at) {
  const Site s{"linalg::norm", at};
  const Normed n = normed(x, false, axes, keepdims, s);
  if (const auto order = order_of(p)) return n.matrices() ? matrix_norm(n, *order, s) : vector_norm(n, *order, s);
  if (n.matrices()) {
    s.shape_error("a norm of matrices has the order 1, 2 or inf, or one of their negatives, got " + std::to_string(p) +
                  " and " + to_string(n.type));
  }
  if (p != 0) return root_of_powers(n, p, s);
  // The limit of the sum of powers: how many elements are not 0.
  const Handle counted = emit<prim::Ne>(s, {n.x, splat(0, type(n.x), s)});
  return finish(n, sum(convert(counted, real_of(dtype(n.x)), s), Axes(n.axes), true, at), s);
}

}  // namespace calque::detail::ops::linalg
