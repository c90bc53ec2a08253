#pragma once
// Elementwise functions with NumPy's names that are made of others. Operands broadcast and promote; every function
// throws ShapeError when operands do not broadcast.
#include <concepts>
#include <optional>

#include "calque/detail/recorded.h"
#include "calque/index.h"

namespace calque {

#define CALQUE_FLOATS_OF_TWO(f)                                                                                     \
  template <OperandLike X, OperandLike Y>                                                                           \
    requires(ArrayLike<X> || ArrayLike<Y>)                                                                          \
  [[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y> f(const X& x, const Y& y, Loc loc = Loc::current()) { \
    using Out = out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y>;                                                      \
    return detail::apply_binary<Out>(#f, &detail::ops::f, x, y, loc);                                               \
  }
/// 0 for x < 0, y for x = 0, 1 for x > 0, NaN for NaN. Of the promoted type (integers and bool: f32). Throws DTypeError
/// for complex numbers.
///     heaviside(D{-1, 0, 2}, 0.5)  // [0.  0.5 1. ]
CALQUE_FLOATS_OF_TWO(heaviside)
/// x to the power y, of floats: integers and bool count as f32.
///     float_power(I{2, 3}, -1)  // [0.5        0.33333334]
CALQUE_FLOATS_OF_TWO(float_power)
/// x / y of floats: integers and bool count as f32.
///     true_divide(I{1, 3}, 2)  // [0.5 1.5]
CALQUE_FLOATS_OF_TWO(true_divide)
#undef CALQUE_FLOATS_OF_TWO

#define CALQUE_OF_ONE(f, R)                                               \
  template <ArrayLike X>                                                  \
  [[nodiscard]] out_t<R, X> f(const X& x, Loc loc = Loc::current()) {     \
    return detail::apply_unary<out_t<R, X>>(#f, &detail::ops::f, x, loc); \
  }
/// x pi / 180. Of x's type (integers and bool: f32). Throws DTypeError for complex numbers.
///     deg2rad(D{90, 180})  // [1.57079633 3.14159265]
CALQUE_OF_ONE(deg2rad, inexact_t<elem_t<X>>)
/// x 180 / pi. Of x's type (integers and bool: f32). Throws DTypeError for complex numbers.
///     rad2deg(D{1, 2})  // [ 57.29577951 114.59155903]
CALQUE_OF_ONE(rad2deg, inexact_t<elem_t<X>>)
/// 1 / x, of integers truncated. Of x's type. Throws DTypeError for bools.
///     reciprocal(D{2, 4})  // [0.5  0.25]
CALQUE_OF_ONE(reciprocal, elem_t<X>)
/// The distance to the next number away from 0, with x's sign; NaN for infinities. Of x's type (integers and bool:
/// f32). Throws DTypeError for complex numbers.
///     spacing(D{1, -1024})  // [ 2.22044605e-16 -2.27373675e-13]
CALQUE_OF_ONE(spacing, inexact_t<elem_t<X>>)
#undef CALQUE_OF_ONE

/// x rounded to this number of decimals, half to even, as numpy.round; negative ones count before the point. Of x's
/// type. Throws DTypeError for bools and complex numbers.
///     round(D{0.25, 2.675, -1.5}, 1)  // [ 0.2  2.7 -1.5]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> round(const X& x, int decimals, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::round_decimals(o[0], decimals, loc); };
  return detail::recorded<elem_t<X>>("round", loc, f, x);
}

/// (fraction, integer part) of x, both with its sign: `auto [fraction, whole] = cq::modf(x);` Of x's type (integers and
/// bool: f32). Throws DTypeError for complex numbers.
///     modf(D{1.5, -2.25})  // [ 0.5  -0.25], [ 1. -2.]
template <ArrayLike X>
auto modf(const X& x, Loc loc = Loc::current()) {
  using Out = out_t<inexact_t<elem_t<X>>, X>;
  return detail::apply_tuple<Out, Out>(
      "modf", loc, [&](detail::Operands o) { return detail::ops::modf(o[0], loc); }, x);
}
/// (mantissa, exponent) with x = mantissa 2^exponent and a mantissa in [1/2, 1): of x's type (integers and bool: f32)
/// and i32. 0, NaN and infinities are their own mantissas. Throws DTypeError for complex numbers.
///     frexp(D{1, 6, 0})  // [0.5  0.75 0.  ], [1 3 0]
template <ArrayLike X>
auto frexp(const X& x, Loc loc = Loc::current()) {
  return detail::apply_tuple<out_t<inexact_t<elem_t<X>>, X>, out_t<int32_t, X>>(
      "frexp", loc, [&](detail::Operands o) { return detail::ops::frexp(o[0], loc); }, x);
}
/// (floor_divide(x, y), mod(x, y)), of the promoted type. Throws DTypeError for bools and complex numbers.
///     divmod(I{7, -7}, 3)  // [ 2 -3], [1 2]
template <OperandLike X, OperandLike Y>
  requires(ArrayLike<X> || ArrayLike<Y>)
auto divmod(const X& x, const Y& y, Loc loc = Loc::current()) {
  using Out = out_t<promoted_elem_t<X, Y>, X, Y>;
  return detail::apply_tuple<Out, Out>(
      "divmod", loc, [&](detail::Operands o) { return detail::ops::divmod(o[0], o[1], loc); }, x, y);
}

/// x bounded by [low, high], as `clip`. Throws DTypeError for bools and complex numbers and for bounds that do not
/// promote to x's type.
///     clamp(I{-5, 3, 12}, 0, 10)  // [ 0  3 10]
template <ArrayLike X, OperandLike L, OperandLike H>
[[nodiscard]] out_t<elem_t<X>, X, L, H> clamp(const X& x, const L& low, const H& high, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::clip(o[0], o[1], o[2], loc); };
  return detail::recorded<elem_t<X>>("clamp", loc, f, x, low, high);
}

/// x limited from below alone: `clip(x, 0, cq::none)`. Otherwise as `clip`.
///     clip(D{-5, 3, NAN}, 0, none)  // [ 0.  3. nan]
template <ArrayLike X, OperandLike L>
[[nodiscard]] out_t<elem_t<X>, X, L> clip(const X& x, const L& low, none_t, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::clip_one(o[0], o[1], true, loc); };
  return detail::recorded<elem_t<X>>("clip", loc, f, x, low);
}
/// x limited from above alone.
///     clip(D{-5, 3, 12}, none, 10)  // [-5.  3. 10.]
template <ArrayLike X, OperandLike H>
[[nodiscard]] out_t<elem_t<X>, X, H> clip(const X& x, none_t, const H& high, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::clip_one(o[0], o[1], false, loc); };
  return detail::recorded<elem_t<X>>("clip", loc, f, x, high);
}

/// Bits in bytes along the axis, as numpy.packbits: eight elements that are 0 or not for each byte (u8), the first one
/// the highest bit, or the lowest with `bitorder::little`; missing ones are 0. Without an axis, of all elements as a
/// vector. Throws ShapeError for an axis out of range, DTypeError for floats.
///     packbits(B{true, false, true, false, false, false, false, true, true})  // [161 128]
template <ArrayLike X>
[[nodiscard]] out_t<uint8_t, X> packbits(const X& x, std::optional<int> axis = {}, bitorder order = bitorder::big,
                                         Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::packbits(o[0], axis, order, loc); };
  return detail::recorded<uint8_t>("packbits", loc, f, x);
}
/// The bits (u8, 0 or 1) of bytes along the axis, the highest first, as numpy.unpackbits; the first `count` ones along
/// it, zeros behind the last, or without the last -count. Without an axis, of all elements as a vector. Throws
/// ShapeError for an axis out of range and a count below minus all bits, DTypeError for elements that are not u8.
///     unpackbits(Array<uint8_t>{161}, 0, 3)  // [1 0 1]
template <ArrayLike X>
[[nodiscard]] out_t<uint8_t, X> unpackbits(const X& x, std::optional<int> axis = {}, std::optional<int64_t> count = {},
                                           bitorder order = bitorder::big, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::unpackbits(o[0], axis, count, order, loc); };
  return detail::recorded<uint8_t>("unpackbits", loc, f, x);
}

/// `angle(x)` in degrees if so wanted, as numpy.angle.
///     angle(as_complex(D{0, -1}, D{2, 0}), true)  // [ 90. 180.]
template <ArrayLike X, std::same_as<bool> B>
[[nodiscard]] out_t<real_t<inexact_t<elem_t<X>>>, X> angle(const X& x, B degrees, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::angle_in(o[0], degrees, loc); };
  return detail::recorded<real_t<inexact_t<elem_t<X>>>>("angle", loc, f, x);
}

/// The higher half of the bits of x y, as jax.lax.mulhi. Of the promoted type. Throws DTypeError for elements that are
/// not integers.
///     mulhi(Array<uint8_t>{200, 3}, Array<uint8_t>{100, 4})  // [78  0]
template <OperandLike X, OperandLike Y>
  requires(ArrayLike<X> || ArrayLike<Y>)
[[nodiscard]] out_t<promoted_elem_t<X, Y>, X, Y> mulhi(const X& x, const Y& y, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<promoted_elem_t<X, Y>, X, Y>>("mulhi", &detail::ops::mulhi, x, y, loc);
}
/// The exclusive or of all elements over the axes, as jax.lax.reduce_xor; 0 for none. Of x's type. Throws ShapeError
/// for an axis out of range or given twice, DTypeError for floats.
///     reduce_xor(I{{1, 2}, {3, 4}}, {0})  // [2 6]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> reduce_xor(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::reduce_xor(o[0], axes, keep.value, loc); };
  return detail::recorded<elem_t<X>>("reduce_xor", loc, f, x);
}

}  // namespace calque
