// Products of matrices and vectors.
#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

void check_product(const Type& matrix, const Type& vector, int from_end, const Site& s) {
  const bool ranks = matrix.shape.rank() >= 2 && vector.shape.rank() >= 1;
  if (!ranks ||
      matrix.shape[matrix.shape.size() - static_cast<size_t>(from_end)] != vector.shape[vector.shape.size() - 1]) {
    s.shape_error("needs matrices and vectors that fit, got " + to_string(matrix) + " and " + to_string(vector));
  }
}

}  // namespace

Handle matvec(const Operand& a, const Operand& x, Location at) {
  const Site s{"matvec", at};
  const Operand both[] = {a, x};
  const std::vector<Handle> values = promoted(both, s);
  check_product(type(values[0]), type(values[1]), 1, s);
  const Operand factors[] = {values[0], values[1]};
  return einsum("...mn,...n->...m", factors, at);
}

Handle vecmat(const Operand& x, const Operand& a, Location at) {
  const Site s{"vecmat", at};
  const Operand both[] = {x, a};
  std::vector<Handle> values = promoted(both, s);
  check_product(type(values[1]), type(values[0]), 2, s);
  if (is_complex(dtype(values[0]))) values[0] = emit<prim::Conj>(s, {values[0]});
  const Operand factors[] = {values[0], values[1]};
  return einsum("...m,...mn->...n", factors, at);
}

Handle vecdot_along(const Operand& a, const Operand& b, int axis, Location at) {
  const Site s{"vecdot", at};
  const auto last = [&](const Operand& x) {
    const Handle v = value(x, s);
    return moved_axis(v, axis_in(axis, v, s), shape(v).rank() - 1, s);
  };
  return vecdot(last(a), last(b), at);
}

Handle cross_along(const Operand& a, const Operand& b, int axis_a, int axis_b, int axis_c, Location at) {
  const Site s{"cross", at};
  const auto last = [&](const Operand& x, int axis) {
    const Handle v = value(x, s);
    return moved_axis(v, axis_in(axis, v, s), shape(v).rank() - 1, s);
  };
  const Handle y = cross(last(a, axis_a), last(b, axis_b), at);
  return moved_axis(y, shape(y).rank() - 1, axis_in(axis_c, y, s), s);
}

}  // namespace calque::detail::ops
