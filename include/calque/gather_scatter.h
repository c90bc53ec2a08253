#pragma once
// Indexing by arrays. Index arrays are of integers; negative ones count once from the end; what is out of bounds then
// reads a fill value (NaN, the minimum of signed and the maximum of unsigned integers, true) or is dropped by updates.
// Errors: DTypeError for indices that are no integers; ShapeError where shapes do not fit.
#include <vector>

#include "calque/axes.h"
#include "calque/detail/apply.h"
#include "calque/index.h"

namespace calque {

/// The elements (or slices) of x at these indices along the axis: the indices' dimensions take the axis' place. Modes
/// `clip` and `wrap` read other elements where indices are out of bounds instead of a fill value.
template <ArrayLike X, OperandLike I>
out_t<elem_t<X>, X, I> take(const X& x, const I& indices, int axis, mode out_of_bounds = mode::fill,
                            Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::take(o[0], o[1], axis, out_of_bounds, loc);
  };
  return detail::apply<out_t<elem_t<X>, X, I>>("take", loc, f, x, indices);
}

/// out[i, j, k] = x[i, indices[i, j, k], k] for axis 1; the other dimensions broadcast.
template <ArrayLike X, ArrayLike I>
out_t<elem_t<X>, X, I> take_along_axis(const X& x, const I& indices, int axis, mode out_of_bounds = mode::fill,
                                       Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::take_along_axis(o[0], o[1], axis, out_of_bounds, loc);
  };
  return detail::apply<out_t<elem_t<X>, X, I>>("take_along_axis", loc, f, x, indices);
}

namespace detail {
template <ArrayLike X, ArrayLike... I>
out_t<elem_t<X>, X, I...> gather_at(Location at, const X& x, const I&... indices) {
  const auto f = [&](std::span<const Operand> o) { return ops::gather(o[0], o.subspan(1), at); };
  return apply<out_t<elem_t<X>, X, I...>>("gather", at, f, x, indices...);
}
}  // namespace detail

/// x[i, j, ...] for index arrays that broadcast together, for the leading dimensions.
template <ArrayLike X, ArrayLike I>
out_t<elem_t<X>, X, I> gather(const X& x, const I& i, Loc loc = Loc::current()) {
  return detail::gather_at(loc, x, i);
}
template <ArrayLike X, ArrayLike I, ArrayLike J>
out_t<elem_t<X>, X, I, J> gather(const X& x, const I& i, const J& j, Loc loc = Loc::current()) {
  return detail::gather_at(loc, x, i, j);
}
template <ArrayLike X, ArrayLike I, ArrayLike J, ArrayLike K>
out_t<elem_t<X>, X, I, J, K> gather(const X& x, const I& i, const J& j, const K& k, Loc loc = Loc::current()) {
  return detail::gather_at(loc, x, i, j, k);
}
/// More indices; errors name the line of the operation before.
template <ArrayLike X, ArrayLike... I>
  requires(sizeof...(I) > 3)
out_t<elem_t<X>, X, I...> gather(const X& x, const I&... indices) {
  return detail::gather_at(Location(), x, indices...);
}

/// x with the updates added to its rows at these indices (axis 0); repeated indices add repeatedly. Updates broadcast
/// to the indices' shape followed by that of a row, and promote to x's type.
template <ArrayLike X, ArrayLike I, OperandLike U>
out_t<elem_t<X>, X, I, U> scatter_add(const X& x, const I& indices, const U& updates, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::scatter_add(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<elem_t<X>, X, I, U>>("scatter_add", loc, f, x, indices, updates);
}

/// The start of a window in each dimension: integers or integer scalars of arrays and tracers.
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
/// The starts as operands. Throws ShapeError for an item that is no index.
void append_starts(std::string_view name, const Starts& starts, std::vector<Operand>& operands, Location at);
}  // namespace detail

/// The window of these sizes that starts at `starts`; negative starts wrap once, then the window is moved inside.
template <ArrayLike X>
out_t<elem_t<X>, X> dynamic_slice(const X& x, const Starts& starts, const Shape& sizes, Loc loc = Loc::current()) {
  std::vector<detail::Operand> operands{detail::operand_of(x, loc)};
  detail::append_starts("dynamic_slice", starts, operands, loc);
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::dynamic_slice(o[0], o.subspan(1), sizes.dims(), loc);
  };
  return detail::apply_to<out_t<elem_t<X>, X>>("dynamic_slice", loc, operands, f);
}

/// x with the window that starts at `starts` replaced by `update`; the window is moved inside.
template <ArrayLike X, ArrayLike U>
out_t<elem_t<X>, X, U> dynamic_update_slice(const X& x, const U& update, const Starts& starts,
                                            Loc loc = Loc::current()) {
  std::vector<detail::Operand> operands{detail::operand_of(x, loc), detail::operand_of(update, loc)};
  detail::append_starts("dynamic_update_slice", starts, operands, loc);
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::dynamic_update_slice(o[0], o[1], o.subspan(2), loc);
  };
  return detail::apply_to<out_t<elem_t<X>, X, U>>("dynamic_update_slice", loc, operands, f);
}

}  // namespace calque
