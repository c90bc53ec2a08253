#pragma once
// Functions that rearrange elements. Results are of x's type. Errors are ShapeErrors: axes out of range or repeated,
// numbers of elements that do not fit.
#include <array>
#include <tuple>
#include <vector>

#include "calque/detail/apply.h"
#include "calque/detail/axes.h"

namespace calque {

#define CALQUE_VIEW(call, ...)                                                               \
  const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::call; }; \
  return detail::apply<out_t<elem_t<X>, X>>(__VA_ARGS__, loc, erased, x)

/// The elements in row-major order with another shape of the same size; one extent may be -1 and is inferred. Throws
/// ShapeError when the sizes differ or the extent cannot be inferred.
///     reshape(D{1, 2, 3, 4}, {2, -1})  // [[1. 2.]
///                                      //  [3. 4.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> reshape(const X& x, const Counts& shape, Loc loc = Loc::current()) {
  CALQUE_VIEW(reshape(o[0], shape.list, loc), "reshape");
}
/// x with its dimensions in reverse order.
///     transpose(D{{1, 2}, {3, 4}})  // [[1. 3.]
///                                   //  [2. 4.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> transpose(const X& x, Loc loc = Loc::current()) {
  CALQUE_VIEW(transpose(o[0], loc), "transpose");
}
/// x with permuted dimensions: dimension i of the result is dimension perm[i] of x. Throws ShapeError unless perm is a
/// permutation of the axes.
///     transpose(D{{{1, 2, 3}}}, {2, 0, 1}).shape()  // [3,1,1]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> transpose(const X& x, Perm perm, Loc loc = Loc::current()) {
  CALQUE_VIEW(transpose(o[0], perm.list, loc), "transpose");
}
/// x broadcast to `shape` by NumPy's rules: repeated along dimensions of extent 1 and along new leading ones. Throws
/// ShapeError when it does not broadcast to that shape.
///     broadcast_to(D{1, 2}, {2, 2})  // [[1. 2.]
///                                    //  [1. 2.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> broadcast_to(const X& x, const Counts& shape, Loc loc = Loc::current()) {
  CALQUE_VIEW(broadcast_to(o[0], detail::shape_of("broadcast_to", shape, loc), loc), "broadcast_to");
}
/// x with new dimensions of extent 1 at these axes of the result. Throws ShapeError for one that is out of range or
/// given twice.
///     expand_dims(D{1, 2}, {0, 2}).shape()  // [1,2,1]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> expand_dims(const X& x, std::vector<int> axes, Loc loc = Loc::current()) {
  CALQUE_VIEW(expand_dims(o[0], axes, loc), "expand_dims");
}
/// x with a new dimension of extent 1 at this axis of the result. Throws ShapeError when it is out of range.
///     expand_dims(D{1, 2}, 0)  // [[1. 2.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> expand_dims(const X& x, int axis, Loc loc = Loc::current()) {
  return expand_dims(x, std::vector<int>{axis}, loc);
}
/// x without these dimensions, by default without all dimensions of extent 1. Throws ShapeError for an axis whose
/// extent is not 1, out of range or given twice.
///     squeeze(D{{1, 2}})  // [1. 2.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> squeeze(const X& x, Axes axes = {}, Loc loc = Loc::current()) {
  CALQUE_VIEW(squeeze(o[0], axes, loc), "squeeze");
}
/// x reversed along these axes, by default along all. Throws ShapeError for an axis out of range or given twice.
///     flip(D{{1, 2}, {3, 4}}, 1)  // [[2. 1.]
///                                 //  [4. 3.]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> flip(const X& x, Axes axes = {}, Loc loc = Loc::current()) {
  CALQUE_VIEW(flip(o[0], axes, loc), "flip");
}
/// x repeated `times[i]` times along dimension i, as numpy.tile; missing dimensions of either are added in front.
/// Throws ShapeError for a negative number.
///     tile(D{1, 2}, {3})  // [1. 2. 1. 2. 1. 2.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> tile(const X& x, const Counts& times, Loc loc = Loc::current()) {
  CALQUE_VIEW(tile(o[0], times.list, loc), "tile");
}
/// Each element repeated n times along the axis, whose extent is multiplied by n. Throws ShapeError for a negative n or
/// an axis out of range.
///     repeat(D{1, 2}, 2, 0)  // [1. 1. 2. 2.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> repeat(const X& x, int64_t n, int axis, Loc loc = Loc::current()) {
  CALQUE_VIEW(repeat(o[0], n, axis, loc), "repeat");
}
/// x rotated by `shift` along the axis: elements shifted past the end reappear at the front. Throws ShapeError for an
/// axis out of range.
///     roll(D{1, 2, 3, 4}, 1, 0)  // [4. 1. 2. 3.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> roll(const X& x, int64_t shift, int axis, Loc loc = Loc::current()) {
  CALQUE_VIEW(roll(o[0], shift, axis, loc), "roll");
}
/// The diagonal of the dimensions axis1 and axis2, as numpy.diagonal: the elements at index i along axis1 and i +
/// offset along axis2, in the last dimension of the result; the other dimensions come before it, in order. It is empty
/// when the offset is outside the array. Throws ShapeError when x has less than two dimensions and for an axis out of
/// range or given twice.
///     diagonal(D{{1, 2}, {3, 4}})  // [1. 4.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> diagonal(const X& x, int64_t offset = 0, int axis1 = 0, int axis2 = 1,
                                           Loc loc = Loc::current()) {
  CALQUE_VIEW(diagonal(o[0], offset, axis1, axis2, loc), "diagonal");
}
#undef CALQUE_VIEW

/// x padded with the scalar `value` along each dimension i: `interior[i]` values between elements, then `low[i]` before
/// and `high[i]` after them; negative edges crop. Throws ShapeError unless there is one number for each dimension, for
/// negative interior padding or when more is cropped than there is; DTypeError when the value does not promote to x's
/// type.
///     pad(D{1, 2}, 0, {1}, {2}, {1})  // [0. 1. 0. 2. 0. 0.]
template <ArrayLike X, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, V> pad(const X& x, const V& value, Counts low, Counts high, Counts interior = {},
                                         Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::pad(o[0], o[1], low.list, high.list, interior.list, loc);
  };
  return detail::apply<out_t<elem_t<X>, X, V>>("pad", loc, f, x, value);
}

/// x split into `sections` equal parts along the axis. Throws ShapeError when its extent is not divisible by them or
/// the axis is out of range. (A deduced type, so that `{1}` is a list of one split point.)
///     split(D{1, 2, 3, 4}, 2, 0)  // [1. 2.], [3. 4.]
template <ArrayLike X, std::integral I>
[[nodiscard]] std::vector<out_t<elem_t<X>, X>> split(const X& x, I sections, int axis = 0, Loc loc = Loc::current()) {
  const detail::Operand operand = detail::operand_of(x, loc);
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::split(o[0], static_cast<int64_t>(sections), axis, loc);
  };
  return detail::apply_many<out_t<elem_t<X>, X>>("split", loc, std::span(&operand, 1), f);
}
/// The parts of x between these split points along the axis, as numpy.split: negative ones count from the end, and all
/// are clamped to the extent. Throws ShapeError for an axis out of range.
///     split(D{1, 2, 3, 4}, {1, 3}, 0)  // [1.], [2. 3.], [4.]
template <ArrayLike X>
[[nodiscard]] std::vector<out_t<elem_t<X>, X>> split(const X& x, Counts indices, int axis = 0,
                                                     Loc loc = Loc::current()) {
  const detail::Operand operand = detail::operand_of(x, loc);
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::split_at(o[0], indices.list, axis, loc);
  };
  return detail::apply_many<out_t<elem_t<X>, X>>("split", loc, std::span(&operand, 1), f);
}

// ---- concatenation

#define CALQUE_CONCATENATION(f)                                                                           \
  template <ArrayLike X>                                                                                  \
  X f(std::initializer_list<X> xs, int axis = 0, Loc loc = Loc::current()) {                              \
    return detail::f##_all<X>(std::span(xs.begin(), xs.size()), axis, loc);                               \
  }                                                                                                       \
  template <ArrayLike X>                                                                                  \
  X f(const std::vector<X>& xs, int axis = 0, Loc loc = Loc::current()) {                                 \
    return detail::f##_all<X>(std::span(xs), axis, loc);                                                  \
  }                                                                                                       \
  template <ArrayLike X, size_t N>                                                                        \
  X f(const std::array<X, N>& xs, int axis = 0, Loc loc = Loc::current()) {                               \
    return detail::f##_all<X>(std::span(xs), axis, loc);                                                  \
  }                                                                                                       \
  template <ArrayLike... X>                                                                               \
  [[nodiscard]] out_t<promoted_elem_t<X...>, X...> f(const std::tuple<X...>& xs, int axis = 0,            \
                                                     Loc loc = Loc::current()) {                          \
    const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::f(o, axis, loc); }; \
    return std::apply(                                                                                    \
        [&](const auto&... each) {                                                                        \
          return detail::apply<out_t<promoted_elem_t<X...>, X...>>(#f, loc, erased, each...);             \
        },                                                                                                \
        xs);                                                                                              \
  }
namespace detail {
#define CALQUE_CONCATENATION_OF_LIST(f)                                                   \
  template <class X>                                                                      \
  X f##_all(std::span<const X> xs, int axis, Loc loc) {                                   \
    std::vector<Operand> operands;                                                        \
    for (const X& x : xs) operands.push_back(operand_of(x, loc));                         \
    const auto erased = [&](std::span<const Operand> o) { return ops::f(o, axis, loc); }; \
    return apply_to<X>(#f, loc, operands, erased);                                        \
  }
CALQUE_CONCATENATION_OF_LIST(concatenate)
CALQUE_CONCATENATION_OF_LIST(stack)
#undef CALQUE_CONCATENATION_OF_LIST
}  // namespace detail

/// The arrays one after another along the axis, the first by default: `cq::concatenate({a, b}, 0)` of one type, a
/// vector or array of them, or a tuple of several types, which promote. Throws ShapeError when there is none, when
/// shapes differ besides the axis, or for an axis out of range.
///     concatenate({D{1, 2}, D{3}}, 0)  // [1. 2. 3.]
CALQUE_CONCATENATION(concatenate)
/// Arrays of one shape stacked along a new axis of the result; argument types as for `concatenate`. Throws ShapeError
/// when there is none, when shapes differ, or for an axis out of range.
///     stack({D{1, 2}, D{3, 4}}, 0)  // [[1. 2.]
///                                   //  [3. 4.]]
CALQUE_CONCATENATION(stack)
#undef CALQUE_CONCATENATION

namespace detail {
/// An element of a braced list of arrays (or tracers) of T and numbers, which nothing else converts to.
template <class X>
struct ListItem;
template <class T>
struct ListItem<Array<T>> : LocatedOperand {
  ListItem(const Array<T>& x, Loc loc = Loc::current()) : LocatedOperand{x.any(loc), loc} {}
  template <KeepingLiteral<T> L>
  ListItem(L x, Loc loc = Loc::current()) : LocatedOperand{literal_operand(x), loc} {}
};
template <class T>
struct ListItem<Tracer<T>> : LocatedOperand {
  ListItem(const Tracer<T>& x, Loc loc = Loc::current()) : LocatedOperand{x.handle(), loc} {}
  ListItem(const Array<T>& x, Loc loc = Loc::current()) : LocatedOperand{x.any(loc), loc} {}
  template <KeepingLiteral<T> L>
  ListItem(L x, Loc loc = Loc::current()) : LocatedOperand{literal_operand(x), loc} {}
};
/// An axis to which an int converts: among lists to which all elements convert, those with an `int` come first.
struct LaterAxis {
  int value;
  LaterAxis(int axis) : value(axis) {}
};
template <class X>
X stack_items(std::initializer_list<ListItem<X>> xs, int axis, Loc loc) {
  std::vector<Operand> operands;
  for (const ListItem<X>& x : xs) operands.push_back(x.operand);
  const auto erased = [&](std::span<const Operand> o) { return ops::stack(o, axis, loc); };
  return apply_to<X>("stack", loc, operands, erased);
}
}  // namespace detail

// The same of arrays and numbers, `stack({x[0], 1.0, x[1]}, 0)`: a braced list of several types has no type that a
// template could deduce.
#define CALQUE_Y(T, name)                                                                                             \
  [[nodiscard]] inline Array<T> stack(std::initializer_list<detail::ListItem<Array<T>>> xs, int axis,                 \
                                      Loc loc = Loc::current()) {                                                     \
    return detail::stack_items(xs, axis, loc);                                                                        \
  }                                                                                                                   \
  [[nodiscard]] inline Tracer<T> stack(std::initializer_list<detail::ListItem<Tracer<T>>> xs, detail::LaterAxis axis, \
                                       Loc loc = Loc::current()) {                                                    \
    return detail::stack_items(xs, axis.value, loc);                                                                  \
  }
CALQUE_ELEMENT_TYPES(CALQUE_Y)
#undef CALQUE_Y

}  // namespace calque
