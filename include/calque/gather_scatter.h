#pragma once
// Indexing by arrays of integers. A negative index counts from the end; an index that is then out of bounds reads a
// fill value (NaN, the minimum of signed and the maximum of unsigned integers, true), and updates at it are dropped.
#include <vector>

#include "calque/detail/apply.h"
#include "calque/detail/axes.h"
#include "calque/index.h"

namespace calque {

/// The elements (or slices) of x at these indices along the axis, as numpy.take: the dimensions of the indices replace
/// the axis, x.shape[:axis] + indices.shape + x.shape[axis + 1:], of x's type. `out_of_bounds` selects what
/// out-of-bounds indices read (see `mode`). Throws DTypeError for indices that are not integers; ShapeError for an axis
/// out of range, or for an empty axis with `clip` or `wrap`.
///     take(D{10, 20, 30}, I{2, 0, -1, 9}, 0)  // [30. 10. 30. nan]
template <ArrayLike X, OperandLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> take(const X& x, const I& indices, int axis, mode out_of_bounds = mode::fill,
                                          Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::take(o[0], o[1], axis, out_of_bounds, loc);
  };
  return detail::apply<out_t<elem_t<X>, X, I>>("take", loc, f, x, indices);
}

/// out[i, j, k] = x[i, indices[i, j, k], k] for axis 1, as numpy.take_along_axis: of x's type and the rank of both; the
/// dimensions besides the axis broadcast. Throws DTypeError for indices that are not integers; ShapeError when ranks
/// differ, dimensions do not broadcast, the axis is out of range, or it is empty with `clip` or `wrap`.
///     take_along_axis(D{{1, 2}, {3, 4}}, I{{0}, {1}}, 1)  // [[1.]
///                                                         //  [4.]]
template <ArrayLike X, ArrayLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> take_along_axis(const X& x, const I& indices, int axis,
                                                     mode out_of_bounds = mode::fill, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::take_along_axis(o[0], o[1], axis, out_of_bounds, loc);
  };
  return detail::apply<out_t<elem_t<X>, X, I>>("take_along_axis", loc, f, x, indices);
}

namespace detail {
template <ArrayLike X, ArrayLike... I>
[[nodiscard]] out_t<elem_t<X>, X, I...> gather_at(Location at, const X& x, const I&... indices) {
  const auto f = [&](std::span<const Operand> o) { return ops::gather(o[0], o.subspan(1), at); };
  return apply<out_t<elem_t<X>, X, I...>>("gather", at, f, x, indices...);
}
}  // namespace detail

/// x[i, j, ...] for index arrays of the leading dimensions, which broadcast together: their common shape followed by
/// the other dimensions of x, of x's type. Throws DTypeError for indices that are not integers, ShapeError when they do
/// not broadcast or are more than the dimensions of x.
///     gather(D{{1, 2}, {3, 4}}, I{1, 0})  // [[3. 4.]
///                                         //  [1. 2.]]
template <ArrayLike X, ArrayLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> gather(const X& x, const I& i, Loc loc = Loc::current()) {
  return detail::gather_at(loc, x, i);
}
/// The same with two index arrays.
///     gather(D{{1, 2}, {3, 4}}, I{1, 0}, I{0, 1})  // [3. 2.]
template <ArrayLike X, ArrayLike I, ArrayLike J>
[[nodiscard]] out_t<elem_t<X>, X, I, J> gather(const X& x, const I& i, const J& j, Loc loc = Loc::current()) {
  return detail::gather_at(loc, x, i, j);
}
/// The same with three index arrays.
///     gather(D{{{1, 2}}}, I{0, 0}, I{0, 0}, I{1, 0})  // [2. 1.]
template <ArrayLike X, ArrayLike I, ArrayLike J, ArrayLike K>
[[nodiscard]] out_t<elem_t<X>, X, I, J, K> gather(const X& x, const I& i, const J& j, const K& k,
                                                  Loc loc = Loc::current()) {
  return detail::gather_at(loc, x, i, j, k);
}
/// The same with more index arrays; errors report the line of the previous operation.
///     gather(D{{{{1, 2}}}}, I{0, 0}, I{0, 0}, I{0, 0}, I{1, 0})  // [2. 1.]
template <ArrayLike X, ArrayLike... I>
  requires(sizeof...(I) > 3)
[[nodiscard]] out_t<elem_t<X>, X, I...> gather(const X& x, const I&... indices) {
  return detail::gather_at(Location(), x, indices...);
}

/// x with the updates added to its rows at these indices (axis 0); repeated indices accumulate, out-of-bounds ones are
/// dropped. Updates broadcast to indices.shape + x.shape[1:] and promote to x's type. Throws DTypeError for indices
/// that are not integers, x of bool, or updates that do not promote to x's type; ShapeError for x of rank 0 or updates
/// that do not broadcast.
///     scatter_add(D{1, 2, 3}, I{0, 0, 2}, 10)  // [21.  2. 13.]
template <ArrayLike X, ArrayLike I, OperandLike U>
[[nodiscard]] out_t<elem_t<X>, X, I, U> scatter_add(const X& x, const I& indices, const U& updates,
                                                    Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::scatter_add(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<elem_t<X>, X, I, U>>("scatter_add", loc, f, x, indices, updates);
}

/// The start of a window in each dimension: integers, or arrays or tracers that are integer scalars.
struct Starts {
  std::vector<detail::IndexItem> items;

  Starts(std::initializer_list<Index> starts) {
    for (const Index& i : starts) items.push_back(i.item);
  }
  Starts(const std::vector<Index>& starts) {
    for (const Index& i : starts) items.push_back(i.item);
  }
};

namespace detail {
/// Appends the starts as operands. Throws ShapeError for an item that is not an integer or an array.
void append_starts(std::string_view name, const Starts& starts, std::vector<Operand>& operands, Location at);
}  // namespace detail

/// The window of shape `sizes` that begins at `starts`, of x's type. Negative starts count from the end; then the
/// window is moved inside x. Throws ShapeError unless there is one scalar start and one size in [0, extent] for each
/// dimension, DTypeError for starts that are not integers.
///     dynamic_slice(D{1, 2, 3, 4}, {I(1)}, {2})  // [2. 3.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> dynamic_slice(const X& x, const Starts& starts, const Shape& sizes,
                                                Loc loc = Loc::current()) {
  std::vector<detail::Operand> operands{detail::operand_of(x, loc)};
  detail::append_starts("dynamic_slice", starts, operands, loc);
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::dynamic_slice(o[0], o.subspan(1), sizes.dims(), loc);
  };
  return detail::apply_to<out_t<elem_t<X>, X>>("dynamic_slice", loc, operands, f);
}

/// x with the window that begins at `starts` replaced by `update`, which promotes to x's type; the window is moved
/// inside x as by `dynamic_slice`. Throws ShapeError when the update has another rank or is larger than x, or unless
/// there is one scalar start for each dimension; DTypeError for starts that are not integers or an update that does not
/// promote.
///     dynamic_update_slice(D{1, 2, 3, 4}, D{8, 9}, {I(1)})  // [1. 8. 9. 4.]
template <ArrayLike X, ArrayLike U>
[[nodiscard]] out_t<elem_t<X>, X, U> dynamic_update_slice(const X& x, const U& update, const Starts& starts,
                                                          Loc loc = Loc::current()) {
  std::vector<detail::Operand> operands{detail::operand_of(x, loc), detail::operand_of(update, loc)};
  detail::append_starts("dynamic_update_slice", starts, operands, loc);
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::dynamic_update_slice(o[0], o[1], o.subspan(2), loc);
  };
  return detail::apply_to<out_t<elem_t<X>, X, U>>("dynamic_update_slice", loc, operands, f);
}

}  // namespace calque
