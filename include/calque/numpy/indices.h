#pragma once
// Functions by indices, with NumPy's and JAX's names: coordinates, updates, segments, elements that are not 0. Indices
// are integers, of results i32; numbers of elements are known while tracing.
#include <concepts>

#include "calque/detail/recorded.h"
#include "calque/gather_scatter.h"
#include "calque/numpy/statistics.h"

namespace calque {

/// For each dimension of the shape the coordinates of elements with these row-major indices, as numpy.unravel_index.
/// Negative indices count from the end; then the nearest element is meant. Throws ShapeError for a shape without
/// elements or too large for i32, DTypeError for indices that are not integers.
///     unravel_index(I{1, 5}, {2, 3})  // [0 1], [1 2]
template <ArrayLike I>
[[nodiscard]] std::vector<out_t<int32_t, I>> unravel_index(const I& indices, const Shape& shape,
                                                           Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::unravel_index(o[0], shape, loc); };
  return detail::recorded_many<int32_t>("unravel_index", loc, f, indices);
}
/// The row-major index of elements at these coordinates, an array for each dimension; they broadcast together. Out of
/// bounds the nearest element, or modulo the extent with `mode::wrap`; with `mode::fill` negative ones count from the
/// end first. Throws ShapeError unless there is an array for each dimension and when they do not broadcast, DTypeError
/// for coordinates that are not integers.
///     ravel_multi_index(std::vector{I{0, 1}, I{1, 2}}, {2, 3})  // [1 5]
template <ArrayLike I>
[[nodiscard]] out_t<int32_t, I> ravel_multi_index(const std::vector<I>& indices, const Shape& shape,
                                                  mode out_of_bounds = mode::clip, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::ravel_multi_index(o, shape, out_of_bounds, loc); };
  return detail::apply_to<out_t<int32_t, I>>("ravel_multi_index", loc,
                                             detail::operands_of(indices.data(), indices.size(), loc), f);
}

/// The elements of x at these row-major indices, as numpy.take without an axis, of the indices' shape; out of bounds as
/// for `take` along an axis.
///     take(D{{10, 20}, {30, 40}}, I{3, 0})  // [40. 10.]
template <ArrayLike X, ArrayLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> take(const X& x, const I& indices, Loc loc = Loc::current()) {
  return take(x, indices, mode::fill, loc);
}
template <ArrayLike X, ArrayLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> take(const X& x, const I& indices, std::same_as<mode> auto out_of_bounds,
                                          Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::take(detail::ops::ravel(o[0], loc), o[1], 0, out_of_bounds, loc);
  };
  return detail::recorded<elem_t<X>>("take", loc, f, x, indices);
}
/// What an index out of bounds reads, where it is not one of `mode`.
template <class T>
struct TakeOptions {
  T fill_value;
};
/// `take` along an axis with this element for indices out of bounds: `take(x, i, 0, {.fill_value = 0})`; negative ones
/// count from the end first.
///     take(D{10, 20, 30}, I{2, 9, -1}, 0, {.fill_value = 7})  // [30.  7. 30.]
template <ArrayLike X, OperandLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> take(const X& x, const I& indices, int axis, TakeOptions<elem_t<X>> options,
                                          Loc loc = Loc::current()) {
  const detail::Operand fill = detail::literal_operand(options.fill_value);
  const auto f = [&](detail::Operands o) { return detail::ops::take_filled(o[0], o[1], axis, fill, loc); };
  return detail::recorded<elem_t<X>>("take", loc, f, x, indices);
}
/// `take_along_axis` with this element for indices out of bounds; negative ones count from the end first.
///     take_along_axis(D{{1, 2}, {3, 4}}, I{{0}, {5}}, 1, {.fill_value = 7})  // [[1.]
///                                                                            //  [7.]]
template <ArrayLike X, ArrayLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> take_along_axis(const X& x, const I& indices, int axis,
                                                     TakeOptions<elem_t<X>> options, Loc loc = Loc::current()) {
  const detail::Operand fill = detail::literal_operand(options.fill_value);
  const auto f = [&](detail::Operands o) { return detail::ops::take_along_axis_filled(o[0], o[1], axis, fill, loc); };
  return detail::recorded<elem_t<X>>("take_along_axis", loc, f, x, indices);
}

/// x with `value` at equal indices along all dimensions, as numpy.fill_diagonal, which changes x instead; the elements
/// of an array are put there one after another, repeated as needed. Of x's type, to which the value promotes. Throws
/// ShapeError for a rank below 2, for more than two dimensions that differ, and for an array without elements.
///     fill_diagonal(D{{1, 2}, {3, 4}}, 0)  // [[0. 2.]
///                                          //  [3. 0.]]
template <ArrayLike X, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, V> fill_diagonal(const X& x, const V& value, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<elem_t<X>, X, V>>("fill_diagonal", &detail::ops::fill_diagonal, x, value, loc);
}
/// x with x[i, indices[i, j, k], k] = values[i, j, k] for axis 1, as numpy.put_along_axis, which changes x instead.
/// Values broadcast to the indices' shape and promote to x's type; updates out of bounds are dropped, or go to the
/// nearest element or modulo the extent by the mode; of several the last one in row-major order stays. Throws
/// ShapeError when ranks or other dimensions differ or for an axis out of range, DTypeError for indices that are not
/// integers.
///     put_along_axis(D{{1, 2}, {3, 4}}, I{{0}, {1}}, 9, 1)  // [[9. 2.]
///                                                           //  [3. 9.]]
template <ArrayLike X, ArrayLike I, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, I, V> put_along_axis(const X& x, const I& indices, const V& values, int axis,
                                                       mode out_of_bounds = mode::fill, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::put_along_axis_in(o[0], o[1], o[2], axis, out_of_bounds, loc);
  };
  return detail::recorded<elem_t<X>>("put_along_axis", loc, f, x, indices, values);
}
/// x with the elements of `values` where the mask is true, one after another, repeated as needed, as numpy.place, which
/// changes x instead. Of x's type, to which values promote. Throws ShapeError unless the mask has x's shape and there
/// are values.
///     place(D{1, 2, 3, 4}, B{true, false, true, true}, D{8, 9})  // [8. 2. 9. 8.]
template <ArrayLike X, ArrayLike M, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, M, V> place(const X& x, const M& mask, const V& values, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::place(o[0], o[1], o[2], loc); };
  return detail::recorded<elem_t<X>>("place", loc, f, x, mask, values);
}
/// x with values at these row-major indices, as numpy.put, which changes x instead; values are repeated as needed and
/// promote to x's type. Updates out of bounds are dropped, or go to the nearest element or modulo the size by the mode.
/// Throws ShapeError without values, DTypeError for indices that are not integers.
///     put(D{{1, 2}, {3, 4}}, I{0, 3}, D{8, 9})  // [[8. 2.]
///                                               //  [3. 9.]]
template <ArrayLike X, ArrayLike I, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, I, V> put(const X& x, const I& indices, const V& values,
                                            mode out_of_bounds = mode::fill, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::put(o[0], o[1], o[2], out_of_bounds, loc); };
  return detail::recorded<elem_t<X>>("put", loc, f, x, indices, values);
}

#define CALQUE_SEGMENT(f, R)                                                                             \
  template <ArrayLike X, ArrayLike I>                                                                    \
  [[nodiscard]] out_t<R, X, I> f(const X& x, const I& ids, int64_t segments, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(o[0], o[1], segments, loc); };   \
    return detail::recorded<R>(#f, loc, erased, x, ids);                                                 \
  }
/// The sums of the rows of x [n, ...] with equal ids [n], of shape [segments, ...], as jax.ops.segment_sum; 0 where
/// there is none; ids outside [0, segments) are dropped. Of x's type (bool: i32). Throws ShapeError when there is not
/// an id for each row or for a negative number of segments, DTypeError for ids that are not integers.
///     segment_sum(D{1, 2, 4, 8}, I{0, 0, 2, 2}, 3)  // [ 3.  0. 12.]
CALQUE_SEGMENT(segment_sum, sum_t<elem_t<X>>)
/// The products of rows with equal ids; 1 where there is none. Otherwise as `segment_sum`.
///     segment_prod(D{1, 2, 4, 8}, I{0, 0, 2, 2}, 3)  // [ 2.  1. 32.]
CALQUE_SEGMENT(segment_prod, sum_t<elem_t<X>>)
/// The maxima of rows with equal ids; -infinity, or the least integer, where there is none. Otherwise as `segment_sum`,
/// of x's type.
///     segment_max(D{1, 2, 4, 8}, I{0, 0, 2, 2}, 3)  // [  2. -inf   8.]
CALQUE_SEGMENT(segment_max, elem_t<X>)
/// The minima of rows with equal ids; infinity, or the greatest integer, where there is none. Otherwise as
/// `segment_sum`, of x's type.
///     segment_min(D{1, 2, 4, 8}, I{0, 0, 2, 2}, 3)  // [ 1. inf  4.]
CALQUE_SEGMENT(segment_min, elem_t<X>)
#undef CALQUE_SEGMENT

/// How many elements the result of a search has, and the index after the last one found.
struct NonzeroOptions {
  int64_t size;
  int64_t fill_value = 0;
};
/// The row-major indices of the first elements that are not 0, `cq::flatnonzero(x, {.size = 10})`, then the fill
/// value; of shape [size]. Throws ShapeError for a negative size.
///     flatnonzero(D{{0, 2}, {3, 0}}, {.size = 3, .fill_value = -1})  // [ 1  2 -1]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> flatnonzero(const X& x, NonzeroOptions options, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::flatnonzero(o[0], options.size, options.fill_value, loc);
  };
  return detail::recorded<int32_t>("flatnonzero", loc, f, x);
}
/// The coordinates of the first elements that are not 0, an array [size] for each dimension. Throws ShapeError for a
/// negative size or a scalar.
///     nonzero(D{{0, 2}, {3, 0}}, {.size = 2})  // [0 1], [1 0]
template <ArrayLike X>
[[nodiscard]] std::vector<out_t<int32_t, X>> nonzero(const X& x, NonzeroOptions options, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::nonzero(o[0], options.size, options.fill_value, loc); };
  return detail::recorded_many<int32_t>("nonzero", loc, f, x);
}
/// The coordinates of the first elements that are not 0, one element a row, of shape [size, rank of x], then the fill
/// value. Throws ShapeError for a negative size or a scalar.
///     argwhere(D{{0, 2}, {3, 0}}, {.size = 2})  // [[0 1]
///                                               //  [1 0]]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> argwhere(const X& x, NonzeroOptions options, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::argwhere(o[0], options.size, options.fill_value, loc); };
  return detail::recorded<int32_t>("argwhere", loc, f, x);
}
/// The row-major indices of all elements of an array that are not 0. Of a tracer it needs a size, since shapes are
/// known while tracing; so do the functions below.
///     flatnonzero(D{{0, 2}, {3, 0}})  // [1 2]
template <Elem T>
[[nodiscard]] Array<int32_t> flatnonzero(const Array<T>& x, Loc loc = Loc::current()) {
  const int64_t n = count_nonzero(x, {}, {}, loc).item();
  return detail::first_elements(flatnonzero(x, NonzeroOptions{x.size()}, loc), n, loc);
}
/// The coordinates of all elements of an array that are not 0.
///     nonzero(D{{0, 2}, {3, 0}})  // [0 1], [1 0]
template <Elem T>
[[nodiscard]] std::vector<Array<int32_t>> nonzero(const Array<T>& x, Loc loc = Loc::current()) {
  const int64_t n = count_nonzero(x, {}, {}, loc).item();
  std::vector<Array<int32_t>> out = nonzero(x, NonzeroOptions{x.size()}, loc);
  for (Array<int32_t>& i : out) i = detail::first_elements(i, n, loc);
  return out;
}
/// The coordinates of all elements of an array that are not 0, one element a row.
///     argwhere(D{{0, 2}, {3, 0}})  // [[0 1]
///                                  //  [1 0]]
template <Elem T>
[[nodiscard]] Array<int32_t> argwhere(const Array<T>& x, Loc loc = Loc::current()) {
  const int64_t n = count_nonzero(x, {}, {}, loc).item(), rank = x.rank();
  const Array<int32_t> rows = argwhere(x, NonzeroOptions{x.size()}, loc);
  return detail::first_elements(rows.reshape({-1}), n * rank, loc).reshape({n, rank});
}
#define CALQUE_OF_TRACER(f)                                                     \
  template <Elem T>                                                             \
  Tracer<int32_t> f(const Tracer<T>&) {                                         \
    static_assert(sizeof(T) == 0, CALQUE_NEEDS_SIZE(f, #f "(x, {.size = 8})")); \
    return {};                                                                  \
  }
CALQUE_OF_TRACER(flatnonzero)
CALQUE_OF_TRACER(nonzero)
CALQUE_OF_TRACER(argwhere)
#undef CALQUE_OF_TRACER
/// How many slices the result of `compress` has, and what stands behind those that were found.
template <class T>
struct CompressOptions {
  int64_t size;
  T fill_value{};
};
/// The first slices of x along the axis where the condition [extent] holds, as numpy.compress, then the fill value:
/// `cq::compress(mask, x, 0, {.size = 4})`. Of x's type. Throws ShapeError for a negative size, a condition that is
/// longer than the axis, or an axis out of range.
///     compress(B{false, true, true}, D{1, 2, 3}, 0, {.size = 2})  // [2. 3.]
template <ArrayLike C, ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, C, X> compress(const C& condition, const X& x, int axis,
                                              CompressOptions<elem_t<X>> options, Loc loc = Loc::current()) {
  const detail::Operand fill = detail::literal_operand(options.fill_value);
  const auto f = [&](detail::Operands o) { return detail::ops::compress(o[0], o[1], axis, options.size, fill, loc); };
  return detail::recorded<elem_t<X>>("compress", loc, f, condition, x);
}
/// The same of all elements in row-major order.
///     compress(B{false, true, true}, D{{1, 2}, {3, 4}}, {.size = 3})  // [2. 3. 0.]
template <ArrayLike C, ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, C, X> compress(const C& condition, const X& x, CompressOptions<elem_t<X>> options,
                                              Loc loc = Loc::current()) {
  const detail::Operand fill = detail::literal_operand(options.fill_value);
  const auto f = [&](detail::Operands o) {
    return detail::ops::compress(o[0], detail::ops::ravel(o[1], loc), 0, options.size, fill, loc);
  };
  return detail::recorded<elem_t<X>>("compress", loc, f, condition, x);
}
/// All slices of an array where the condition holds. Of a tracer it needs a size.
///     compress(B{false, true, true}, D{1, 2, 3}, 0)  // [2. 3.]
template <Elem C, Elem T>
[[nodiscard]] Array<T> compress(const Array<C>& condition, const Array<T>& x, int axis, Loc loc = Loc::current()) {
  const int64_t n = count_nonzero(condition, {}, {}, loc).item();
  return compress(condition, x, axis, CompressOptions<T>{n}, loc);
}
/// All elements of an array, in row-major order, where the condition holds.
///     compress(B{false, true, true}, D{{1, 2}, {3, 4}})  // [2. 3.]
template <Elem C, Elem T>
[[nodiscard]] Array<T> compress(const Array<C>& condition, const Array<T>& x, Loc loc = Loc::current()) {
  return compress(condition, x.reshape({-1}, loc), 0, loc);
}

/// The first elements of x, in row-major order, where the condition, which broadcasts to it, holds, as numpy.extract,
/// then the fill value: `cq::extract(x > 0.0, x, {.size = 4})`, of shape [size] and x's type. Throws ShapeError for a
/// negative size and when the operands do not broadcast.
///     D x = {3, -1, 2};
///     extract(x > 0, x, {.size = 3})  // [3. 2. 0.]
template <ArrayLike C, ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, C, X> extract(const C& condition, const X& x, CompressOptions<elem_t<X>> options,
                                             Loc loc = Loc::current()) {
  const detail::Operand fill = detail::literal_operand(options.fill_value);
  const auto f = [&](detail::Operands o) { return detail::ops::extract(o[0], o[1], options.size, fill, loc); };
  return detail::recorded<elem_t<X>>("extract", loc, f, condition, x);
}

/// All elements of an array where the condition holds, as numpy.extract.
///     D x = {3, -1, 2};
///     extract(x > 0, x)  // [3. 2.]
template <Elem C, Elem T>
[[nodiscard]] Array<T> extract(const Array<C>& condition, const Array<T>& x, Loc loc = Loc::current()) {
  const Array<bool> mask = cast<bool>(condition, loc) & Array<bool>::full(x.shape(), true);
  const Array<T> all = extract(mask, x, CompressOptions<T>{mask.size()}, loc);
  return detail::first_elements(all, count_nonzero(mask, {}, {}, loc).item(), loc);
}
template <ArrayLike C, ArrayLike X>
  requires(TracerLike<C> || TracerLike<X>)
out_t<elem_t<X>, C, X> extract(const C&, const X&) {
  static_assert(sizeof(X) == 0, CALQUE_NEEDS_SIZE(extract, "extract(mask, x, {.size = 8})"));
  return {};
}

}  // namespace calque
