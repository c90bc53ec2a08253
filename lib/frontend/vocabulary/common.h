#pragma once
// What the functions with NumPy's names share: operands widened to floats, reductions and slices along one axis,
// constants of indices.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "calque/detail/vocabulary.h"

#include "frontend/ops/expression.h"

namespace calque::detail::ops {

inline int64_t extent_of(Handle x, int axis) { return shape(x)[static_cast<size_t>(axis)]; }

/// The axis counted from the front. ShapeError when it is out of range.
inline int axis_in(int axis, Handle x, const Site& s) {
  const Type t = type(x);
  return normal_axis(axis, t.shape.rank(), t, s);
}

/// All elements in one dimension.
inline Handle flattened_to_vector(Handle x, const Site& s) { return reshape(x, Shape{shape(x).num_elements()}, s); }

/// The operand as a vector. ShapeError that calls it `what` for other ranks.
inline Handle vector_operand(Handle x, std::string_view what, const Site& s) {
  const Type t = type(x);
  if (t.shape.rank() != 1) s.shape_error("needs a vector as " + std::string(what) + ", got " + to_string(t));
  return x;
}

/// An operand in the floating or complex dtype in which a function computes, f32 for 16-bit floats.
struct Widened {
  Handle x;
  DType result;  ///< the dtype to return
};
inline Widened widened(const Operand& x, const Site& s) {
  const DType result = to_inexact(operand_dtype(x, s));
  return {value(x, wide(result), s), result};
}
/// The same of real numbers. DTypeError for complex ones.
inline Widened widened_real(const Operand& x, const Site& s) {
  const DType result = to_inexact(operand_dtype(x, s));
  if (is_complex(result)) reject(type(value(x, s)), "real numbers", s);
  return {value(x, wide(result), s), result};
}

/// Two operands in the dtype in which a function computes, broadcast together.
struct WidenedPair {
  Handle x, y;
  DType result;
};
inline WidenedPair widened_pair(const Operand& x, const Operand& y, const Site& s) {
  const DType result = to_inexact(promoted_dtype(x, y, s));
  Handle xs[] = {value(x, wide(result), s), value(y, wide(result), s)};
  broadcast_together(xs, s);
  return {xs[0], xs[1], result};
}

/// The shape with extents of 1 at these axes.
inline Shape kept_shape(Shape of, const Ints& axes) {
  for (int64_t a : axes) of = of.with(static_cast<size_t>(a), 1);
  return of;
}

inline int64_t elements_along(const Shape& of, const Ints& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= of[static_cast<size_t>(a)];
  return n;
}

/// The reduction P over sorted axes.
template <class P>
Handle reduce_axes(Handle x, const Ints& axes, bool keepdims, const Site& s) {
  const Shape kept = kept_shape(shape(x), axes);
  const Handle y = axes.empty() ? x : emit<P>(s, {x}, {{"axes", axes}});
  return keepdims ? reshape(y, kept, s) : y;
}

/// The greatest number, the identity of a minimum, or the least: an infinity, or the end of the integers.
Handle extremum_identity(bool greatest, const Type& t, const Site& s);

inline std::vector<const Operand*> pointers_to(std::span<const Operand> xs) {
  std::vector<const Operand*> all;
  for (const Operand& x : xs) all.push_back(&x);
  return all;
}

inline Handle constant_bools(bool value, const Shape& of, const Site& s) {
  return literal(Literal::of<bool>(value), {DType::bool_, of}, s.at);
}

/// Integers known while tracing, as i32 if they fit.
inline Handle constant_indices(const Ints& numbers, const Shape& of, const Site& s) {
  const bool small = std::ranges::all_of(numbers, [](int64_t n) { return n >= INT32_MIN && n <= INT32_MAX; });
  if (!small) return constant(AnyArray::from<int64_t>(std::span(numbers), of), s.at);
  const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  return constant(AnyArray::from<int32_t>(std::span(narrow), of), s.at);
}

inline Handle reversed(Handle x, const Ints& axes, const Site& s) {
  return axes.empty() ? x : emit<prim::Reverse>(s, {x}, {{"axes", axes}});
}

/// `low` elements equal to `fill` before and `high` after those along the axis; negative numbers cut.
inline Handle padded_along(Handle x, int axis, int64_t low, int64_t high, double fill, const Site& s) {
  if (low == 0 && high == 0) return x;
  const auto rank = static_cast<size_t>(shape(x).rank());
  Ints lows(rank, 0), highs(rank, 0);
  lows[static_cast<size_t>(axis)] = low;
  highs[static_cast<size_t>(axis)] = high;
  return emit<prim::Pad>(s, {x, splat(fill, {dtype(x), {}}, s)},
                         {{"high", highs}, {"interior", Ints(rank, 0)}, {"low", lows}});
}

/// x with dimension `from` moved to position `to`.
inline Handle moved_axis(Handle x, int from, int to, const Site& s) {
  Ints perm;
  for (int i = 0; i < shape(x).rank(); ++i) {
    if (i != from) perm.push_back(i);
  }
  perm.insert(perm.begin() + to, from);
  return transpose(x, perm, s);
}

/// A product of extents. ShapeError on overflow.
inline int64_t checked_product(std::span<const int64_t> dims, const Site& s) {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (__builtin_mul_overflow(n, d, &n)) s.shape_error("the result is too large");
  }
  return n;
}

/// The elements of the axis at these indices: slices, reversed slices and repeated elements where they are few, else a
/// gather.
Handle arranged(Handle x, int axis, const Ints& indices, const Site& s);

inline Handle as_truth(const Operand& x, const Site& s) { return convert(value(x, s), DType::bool_, s); }

}  // namespace calque::detail::ops
