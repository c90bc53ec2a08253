// Comparisons with tolerances, tests of elements and choices between arrays.
#include "calque/detail/sorting.h"

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

/// Whether a float equals `number`; false for other real numbers.
Handle equals_number(const Operand& x, double number, const Site& s) {
  const Handle v = value(x, s);
  if (is_complex(dtype(v))) reject(type(v), "real numbers", s);
  if (!is_floating(dtype(v))) return constant_bools(false, shape(v), s);
  return emit<prim::Eq>(s, {v, splat(number, type(v), s)});
}

Handle equal_elements(const Operand& x, const Operand& y, bool equal_nan, const Site& s) {
  const DType d = promoted_dtype(x, y, s);
  Handle xs[] = {value(x, d, s), value(y, d, s)};
  broadcast_together(xs, s);
  const Handle same = emit<prim::Eq>(s, {xs[0], xs[1]});
  if (!equal_nan || !is_inexact(d)) return same;
  return emit<prim::Or>(s, {same, emit<prim::And>(s, {isnan(xs[0], s.at), isnan(xs[1], s.at)})});
}

Handle every_element(Handle x, const Site& s) {
  return reduce_axes<prim::ReduceAnd>(x, normal_axes(Axes(), type(x), s), false, s);
}

}  // namespace

Handle isclose(const Operand& x, const Operand& y, double rtol, double atol, bool equal_nan, Location at) {
  const Site s{"isclose", at};
  const DType promoted_to = promoted_dtype(x, y, s);
  if (!is_inexact(promoted_to) && rtol == 0 && atol < 1) return equal_elements(x, y, false, s);
  const WidenedPair p = widened_pair(x, y, s);
  const Expression a(p.x, s), b(p.y, s);
  const Expression distance = (a - b).of<prim::Abs>(), size = b.of<prim::Abs>();
  // An infinity is close to itself alone, NaN to nothing unless asked for.
  const Expression finite = size < __builtin_inf();
  const Expression near = finite & (distance <= size * rtol + atol);
  Expression close = near | (a == b);
  if (equal_nan) close = close | (Expression(isnan(p.x, at), s) & Expression(isnan(p.y, at), s));
  return close;
}

Handle allclose(const Operand& x, const Operand& y, double rtol, double atol, bool equal_nan, Location at) {
  return every_element(isclose(x, y, rtol, atol, equal_nan, at), {"allclose", at});
}

Handle array_equal(const Operand& x, const Operand& y, bool equal_nan, Location at) {
  const Site s{"array_equal", at};
  if (shape(value(x, s)) != shape(value(y, s))) return constant_bools(false, Shape(), s);
  return every_element(equal_elements(x, y, equal_nan, s), s);
}

Handle array_equiv(const Operand& x, const Operand& y, Location at) {
  const Site s{"array_equiv", at};
  bool ok = true;
  broadcast_shapes(shape(value(x, s)), shape(value(y, s)), ok);
  if (!ok) return constant_bools(false, Shape(), s);
  return every_element(equal_elements(x, y, false, s), s);
}

Handle isin(const Operand& x, const Operand& elements, bool invert, Location at) {
  const Site s{"isin", at};
  const DType d = promoted_dtype(x, elements, s);
  const Handle v = value(x, d, s), list = flattened_to_vector(value(elements, d, s), s);
  const Shape own = shape(v);
  const int64_t count = extent_of(list, 0);
  // Of more elements a search takes less time than comparisons.
  constexpr int64_t kCompared = 64;
  if (count > kCompared && count <= INT32_MAX && !is_complex(d)) {
    const Handle sorted = sort(list, 0, false, at);
    const Handle i = searchsorted(sorted, v, side::left, at);
    const Handle equal = emit<prim::Eq>(s, {take(sorted, i, 0, mode::clip, at), v});
    return invert ? emit<prim::Not>(s, {equal}) : equal;
  }
  const Shape grid = own.with_inserted(own.size(), extent_of(list, 0));
  Ints axes;
  for (int i = 0; i < own.rank(); ++i) axes.push_back(i);
  const Handle same = emit<prim::Eq>(s, {broadcast_in(v, grid, axes, s), broadcast_in(list, grid, {own.rank()}, s)});
  const Handle found = reduce_axes<prim::ReduceOr>(same, {own.rank()}, false, s);
  return invert ? emit<prim::Not>(s, {found}) : found;
}

Handle isposinf(const Operand& x, Location at) { return equals_number(x, __builtin_inf(), {"isposinf", at}); }
Handle isneginf(const Operand& x, Location at) { return equals_number(x, -__builtin_inf(), {"isneginf", at}); }

Handle isreal(const Operand& x, Location at) {
  const Site s{"isreal", at};
  const Handle v = value(x, s);
  if (!is_complex(dtype(v))) return constant_bools(true, shape(v), s);
  return Expression(v, s).im() == 0.0;
}

Handle iscomplex(const Operand& x, Location at) {
  const Site s{"iscomplex", at};
  return emit<prim::Not>(s, {isreal(x, at)});
}

Handle logical_xor(const Operand& x, const Operand& y, Location at) {
  const Site s{"logical_xor", at};
  Handle xs[] = {as_truth(x, s), as_truth(y, s)};
  broadcast_together(xs, s);
  return emit<prim::Xor>(s, {xs[0], xs[1]});
}

Handle select_of(std::span<const Operand> all, Location at) {
  const Site s{"select", at};
  const size_t n = all.size() / 2;
  if (n == 0) s.shape_error("needs at least one condition and its choice");
  const std::vector<Handle> choices = promoted(all.subspan(n), s);
  std::vector<Handle> together;
  for (const Operand& c : all.first(n)) {
    together.push_back(value(c, s));
    if (!is_bool(dtype(together.back()))) reject(type(together.back()), "conditions of bools", s);
  }
  together.insert(together.end(), choices.begin(), choices.end());
  broadcast_together(together, s);
  Handle result = together.back();
  for (size_t i = n; i-- > 0;) result = select(together[i], together[n + i], result, s);
  return result;
}

Handle choose(std::span<const Operand> all, mode out_of_bounds, Location at) {
  const Site s{"choose", at};
  if (all.size() < 2) s.shape_error("needs at least one choice");
  const Handle which = value(all[0], s);
  if (!is_integer(dtype(which))) reject(type(which), "integer indices", s);
  std::vector<Handle> together = promoted(all.subspan(1), s);
  const auto n = static_cast<double>(together.size());
  together.insert(together.begin(), which);
  broadcast_together(together, s);
  const Type t = type(together[0]);
  Expression i(convert(together[0], size_of(t.dtype) == 8 ? DType::i64 : DType::i32, s), s);
  if (out_of_bounds == mode::wrap) i = Expression(mod(i.handle(), i.number(n).handle(), at), s);
  // Elsewhere the nearest choice.
  Handle result = together[1];
  for (size_t k = 2; k < together.size(); ++k) {
    result = select(i >= static_cast<double>(k - 1), together[k], result, s);
  }
  return result;
}

}  // namespace calque::detail::ops
