#pragma once
// Functions that rearrange or repeat elements, with NumPy's names. Results are of x's type. Errors are ShapeErrors.
#include <concepts>

#include "calque/detail/recorded.h"

namespace calque {

/// x with dimensions `source` moved to the positions `destination` of the result, each one axis or a list; the others
/// keep their order. Throws ShapeError when the numbers of axes differ, or for an axis out of range or given twice.
///     moveaxis(D{{{1, 2, 3}}}, 0, -1).shape()  // [1,3,1]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> moveaxis(const X& x, const Axes& source, const Axes& destination,
                                           Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::moveaxis(o[0], source, destination, loc); };
  return detail::recorded<elem_t<X>>("moveaxis", loc, f, x);
}
/// x with two dimensions interchanged. Throws ShapeError for an axis out of range.
///     swapaxes(D{{1, 2, 3}}, 0, 1).shape()  // [3,1]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> swapaxes(const X& x, int axis1, int axis2, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::swapaxes(o[0], axis1, axis2, loc); };
  return detail::recorded<elem_t<X>>("swapaxes", loc, f, x);
}
/// x with dimension `axis` moved before dimension `start`. Throws ShapeError for an axis out of range.
///     rollaxis(D{{{1, 2, 3}}}, 2).shape()  // [3,1,1]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> rollaxis(const X& x, int axis, int start = 0, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::rollaxis(o[0], axis, start, loc); };
  return detail::recorded<elem_t<X>>("rollaxis", loc, f, x);
}
/// x rotated by k quarters in the plane of two axes, from axis1 towards axis2. Throws ShapeError for a rank below 2,
/// equal axes or one out of range.
///     rot90(D{{1, 2}, {3, 4}})  // [[2. 4.]
///                               //  [1. 3.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> rot90(const X& x, int64_t k = 1, int axis1 = 0, int axis2 = 1,
                                        Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::rot90(o[0], k, axis1, axis2, loc); };
  return detail::recorded<elem_t<X>>("rot90", loc, f, x);
}

#define CALQUE_OF_ONE(f)                                                          \
  template <ArrayLike X>                                                          \
  [[nodiscard]] out_t<elem_t<X>, X> f(const X& x, Loc loc = Loc::current()) {     \
    return detail::apply_unary<out_t<elem_t<X>, X>>(#f, &detail::ops::f, x, loc); \
  }
/// x reversed along axis 1. Throws ShapeError for a rank below 2.
///     fliplr(D{{1, 2}, {3, 4}})  // [[2. 1.]
///                                //  [4. 3.]]
CALQUE_OF_ONE(fliplr)
/// x reversed along axis 0. Throws ShapeError for a scalar.
///     flipud(D{{1, 2}, {3, 4}})  // [[3. 4.]
///                                //  [1. 2.]]
CALQUE_OF_ONE(flipud)
/// A scalar as [1], all others as they are.
///     atleast_1d(D(5.0))  // [5.]
CALQUE_OF_ONE(atleast_1d)
/// A scalar as [1, 1], a vector [n] as [1, n], all others as they are.
///     atleast_2d(D{1, 2})  // [[1. 2.]]
CALQUE_OF_ONE(atleast_2d)
/// A scalar as [1, 1, 1], [n] as [1, n, 1], [m, n] as [m, n, 1], all others as they are.
///     atleast_3d(D{1, 2}).shape()  // [1,2,1]
CALQUE_OF_ONE(atleast_3d)
/// All elements in row-major order, of shape [size of x].
///     ravel(D{{1, 2}, {3, 4}})  // [1. 2. 3. 4.]
CALQUE_OF_ONE(ravel)
/// The matrices [..., m, n] transposed, [..., n, m]. Throws ShapeError for a rank below 2.
///     matrix_transpose(D{{1, 2}, {3, 4}})  // [[1. 3.]
///                                          //  [2. 4.]]
CALQUE_OF_ONE(matrix_transpose)
#undef CALQUE_OF_ONE

/// The elements of x in row-major order, repeated or cut to fill this shape, as numpy.resize; zeros when x is empty.
/// Throws ShapeError for a negative extent.
///     resize(D{1, 2, 3}, {2, 2})  // [[1. 2.]
///                                 //  [3. 1.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> resize(const X& x, const Counts& shape, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::resize(o[0], detail::shape_of("resize", shape, loc), loc);
  };
  return detail::recorded<elem_t<X>>("resize", loc, f, x);
}

/// The elements of x rotated by `shift` in row-major order, in x's shape.
///     roll(D{1, 2, 3, 4}, 1)  // [4. 1. 2. 3.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> roll(const X& x, int64_t shift, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::roll_flat(o[0], shift, loc); };
  return detail::recorded<elem_t<X>>("roll", loc, f, x);
}
/// x rotated along several axes: `cq::roll(x, {1, -2}, {0, 1})`; one shift is for all of them. Throws ShapeError when
/// the numbers of shifts and axes differ, or for an axis out of range.
///     roll(D{{1, 2}, {3, 4}}, {1, 1}, {0, 1})  // [[4. 3.]
///                                              //  [2. 1.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> roll(const X& x, const Counts& shifts, const Axes& axes, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::roll_axes(o[0], shifts.list, axes, loc); };
  return detail::recorded<elem_t<X>>("roll", loc, f, x);
}
/// x rotated along the axis by a shift that is an integer scalar known at run time. Throws ShapeError for a shift that
/// is not a scalar or an axis out of range, DTypeError for one that is not an integer.
///     roll(D{1, 2, 3, 4}, I(-1), 0)  // [2. 3. 4. 1.]
template <ArrayLike X, ArrayLike S>
[[nodiscard]] out_t<elem_t<X>, X, S> roll(const X& x, const S& shift, int axis, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::roll_by(o[0], o[1], axis, loc); };
  return detail::recorded<elem_t<X>>("roll", loc, f, x, shift);
}

/// Element i along the axis repeated counts[i] times, as numpy.repeat; the extent is the sum of the counts, of which
/// one is for all elements. Throws ShapeError for a negative count, when their number is not the extent, or for an axis
/// out of range.
///     repeat(D{1, 2}, {2, 3}, 0)  // [1. 1. 2. 2. 2.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> repeat(const X& x, const Counts& counts, int axis, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::repeat_counts(o[0], counts.list, axis, loc); };
  return detail::recorded<elem_t<X>>("repeat", loc, f, x);
}
/// The same of all elements in row-major order, as a vector: `repeat(x, n)` or `repeat(x, {counts})`.
///     repeat(D{{1, 2}, {3, 4}}, 2)  // [1. 1. 2. 2. 3. 3. 4. 4.]
template <ArrayLike X, std::integral N>
[[nodiscard]] out_t<elem_t<X>, X> repeat(const X& x, N n, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::repeat(detail::ops::ravel(o[0], loc), static_cast<int64_t>(n), 0, loc);
  };
  return detail::recorded<elem_t<X>>("repeat", loc, f, x);
}
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> repeat(const X& x, const Counts& counts, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::repeat_counts(detail::ops::ravel(o[0], loc), counts.list, 0, loc);
  };
  return detail::recorded<elem_t<X>>("repeat", loc, f, x);
}
/// The extent of a `repeat` by counts that are known at run time.
struct RepeatOptions {
  int64_t total;
};
/// The same with counts [extent] that are known at run time: `cq::repeat(x, counts, 0, {.total = 10})` has the first
/// ten elements of the result, the last one repeated where there are fewer. Throws ShapeError for a negative total and
/// as above, DTypeError for counts that are not integers.
///     repeat(D{1, 2}, I{2, 3}, 0, {.total = 4})  // [1. 1. 2. 2.]
template <ArrayLike X, ArrayLike C>
[[nodiscard]] out_t<elem_t<X>, X, C> repeat(const X& x, const C& counts, int axis, RepeatOptions options,
                                            Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::repeat_by(o[0], o[1], options.total, axis, loc); };
  return detail::recorded<elem_t<X>>("repeat", loc, f, x, counts);
}

/// x continued along each dimension i, one after another, by `low[i]` elements before and `high[i]` after it:
/// `cq::pad(x, cq::pad_mode::reflect, {1, 1}, {1, 1})`. Ramps and means of integers are rounded down and to the nearest
/// one. Throws ShapeError unless there is one number for each dimension, for negative ones, for a dimension without
/// elements, and for options that are not one pair or one for each dimension; DTypeError for ramps, means, medians and
/// odd reflections of bools and for maxima, minima and medians of complex numbers.
///     pad(D{1, 2, 3}, pad_mode::reflect, {2}, {1})  // [3. 2. 1. 2. 3. 2.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> pad(const X& x, pad_mode how, const Counts& low, const Counts& high,
                                      const PadOptions& options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::pad_with(o[0], how, low.list, high.list, options, loc);
  };
  return detail::recorded<elem_t<X>>("pad", loc, f, x);
}

}  // namespace calque
