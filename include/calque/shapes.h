#pragma once
// Views: the same elements in another arrangement. Errors are ShapeErrors: axes out of range or repeated, counts that
// do not fit.
#include <array>
#include <tuple>
#include <vector>

#include "calque/axes.h"
#include "calque/detail/apply.h"

namespace calque {

#define CALQUE_VIEW(call, ...)                                                               \
  const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::call; }; \
  return detail::apply<out_t<elem_t<X>, X>>(__VA_ARGS__, loc, erased, x)

/// The elements in row-major order with another shape of as many elements. One extent may be -1: it is what the others
/// leave.
template <ArrayLike X>
out_t<elem_t<X>, X> reshape(const X& x, const Counts& shape, Loc loc = Loc::current()) {
  CALQUE_VIEW(reshape(o[0], shape.list, loc), "reshape");
}
/// Dimensions reversed.
template <ArrayLike X>
out_t<elem_t<X>, X> transpose(const X& x, Loc loc = Loc::current()) {
  CALQUE_VIEW(transpose(o[0], loc), "transpose");
}
/// Dimension i of the result is dimension perm[i] of x.
template <ArrayLike X>
out_t<elem_t<X>, X> transpose(const X& x, Perm perm, Loc loc = Loc::current()) {
  CALQUE_VIEW(transpose(o[0], perm.list, loc), "transpose");
}
/// x repeated along dimensions of extent 1 and along new leading ones.
template <ArrayLike X>
out_t<elem_t<X>, X> broadcast_to(const X& x, const Counts& shape, Loc loc = Loc::current()) {
  CALQUE_VIEW(broadcast_to(o[0], detail::shape_of("broadcast_to", shape, loc), loc), "broadcast_to");
}
/// New dimensions of extent 1 at these positions of the result.
template <ArrayLike X>
out_t<elem_t<X>, X> expand_dims(const X& x, std::vector<int> axes, Loc loc = Loc::current()) {
  CALQUE_VIEW(expand_dims(o[0], axes, loc), "expand_dims");
}
template <ArrayLike X>
out_t<elem_t<X>, X> expand_dims(const X& x, int axis, Loc loc = Loc::current()) {
  return expand_dims(x, std::vector<int>{axis}, loc);
}
/// Without these dimensions, which have extent 1; by default without every such dimension.
template <ArrayLike X>
out_t<elem_t<X>, X> squeeze(const X& x, Axes axes = {}, Loc loc = Loc::current()) {
  CALQUE_VIEW(squeeze(o[0], axes, loc), "squeeze");
}
/// Reversed along these axes; by default along all.
template <ArrayLike X>
out_t<elem_t<X>, X> flip(const X& x, Axes axes = {}, Loc loc = Loc::current()) {
  CALQUE_VIEW(flip(o[0], axes, loc), "flip");
}
/// x repeated `times[i]` times along dimension i; more numbers than dimensions add leading ones.
template <ArrayLike X>
out_t<elem_t<X>, X> tile(const X& x, const Counts& times, Loc loc = Loc::current()) {
  CALQUE_VIEW(tile(o[0], times.list, loc), "tile");
}
/// Each element n times along the axis.
template <ArrayLike X>
out_t<elem_t<X>, X> repeat(const X& x, int64_t n, int axis, Loc loc = Loc::current()) {
  CALQUE_VIEW(repeat(o[0], n, axis, loc), "repeat");
}
/// Shifted along the axis; what leaves at the end comes in at the front.
template <ArrayLike X>
out_t<elem_t<X>, X> roll(const X& x, int64_t shift, int axis, Loc loc = Loc::current()) {
  CALQUE_VIEW(roll(o[0], shift, axis, loc), "roll");
}
#undef CALQUE_VIEW

/// `interior[i]` values between elements, then `low[i]` before and `high[i]` after them; negative edges cut.
template <ArrayLike X, OperandLike V>
out_t<elem_t<X>, X, V> pad(const X& x, const V& value, Counts low, Counts high, Counts interior = {},
                           Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::pad(o[0], o[1], low.list, high.list, interior.list, loc);
  };
  return detail::apply<out_t<elem_t<X>, X, V>>("pad", loc, f, x, value);
}

/// Equal parts along the axis. (Deduced, so that `{1}` is a list of one cut.)
template <ArrayLike X, std::integral I>
std::vector<out_t<elem_t<X>, X>> split(const X& x, I sections, int axis, Loc loc = Loc::current()) {
  const detail::Operand operand = detail::operand_of(x, loc);
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::split(o[0], static_cast<int64_t>(sections), axis, loc);
  };
  return detail::apply_many<out_t<elem_t<X>, X>>("split", loc, std::span(&operand, 1), f);
}
/// The parts between these places along the axis, which count from the back when negative.
template <ArrayLike X>
std::vector<out_t<elem_t<X>, X>> split(const X& x, Counts cuts, int axis, Loc loc = Loc::current()) {
  const detail::Operand operand = detail::operand_of(x, loc);
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::split_at(o[0], cuts.list, axis, loc); };
  return detail::apply_many<out_t<elem_t<X>, X>>("split", loc, std::span(&operand, 1), f);
}

// ---- joining

#define CALQUE_JOINING(f)                                                                                             \
  template <ArrayLike X>                                                                                              \
  X f(std::initializer_list<X> xs, int axis, Loc loc = Loc::current()) {                                              \
    return detail::f##_all<X>(std::span(xs.begin(), xs.size()), axis, loc);                                           \
  }                                                                                                                   \
  template <ArrayLike X>                                                                                              \
  X f(const std::vector<X>& xs, int axis, Loc loc = Loc::current()) {                                                 \
    return detail::f##_all<X>(std::span(xs), axis, loc);                                                              \
  }                                                                                                                   \
  template <ArrayLike X, size_t N>                                                                                    \
  X f(const std::array<X, N>& xs, int axis, Loc loc = Loc::current()) {                                               \
    return detail::f##_all<X>(std::span(xs), axis, loc);                                                              \
  }                                                                                                                   \
  template <ArrayLike... X>                                                                                           \
  out_t<join_t<X...>, X...> f(const std::tuple<X...>& xs, int axis, Loc loc = Loc::current()) {                       \
    const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::f(o, axis, loc); };             \
    return std::apply(                                                                                                \
        [&](const auto&... each) { return detail::apply<out_t<join_t<X...>, X...>>(#f, loc, erased, each...); }, xs); \
  }
namespace detail {
#define CALQUE_JOIN_ALL(f)                                                                \
  template <class X>                                                                      \
  X f##_all(std::span<const X> xs, int axis, Loc loc) {                                   \
    std::vector<Operand> operands;                                                        \
    for (const X& x : xs) operands.push_back(operand_of(x, loc));                         \
    const auto erased = [&](std::span<const Operand> o) { return ops::f(o, axis, loc); }; \
    return apply_to<X>(#f, loc, operands, erased);                                        \
  }
CALQUE_JOIN_ALL(concatenate)
CALQUE_JOIN_ALL(stack)
#undef CALQUE_JOIN_ALL
}  // namespace detail

/// Arrays one after the other along the axis: `cq::concatenate({a, b}, 0)` of one type, a vector or array of them, or a
/// tuple of several types, which promote.
CALQUE_JOINING(concatenate)
/// Arrays of one shape side by side along a new axis.
CALQUE_JOINING(stack)
#undef CALQUE_JOINING

}  // namespace calque
