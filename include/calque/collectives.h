#pragma once
// Operations among the examples that a vmap with a named axis maps over, as JAX's collectives: the same program
// describes a batch on one machine and, with calque::mpi, ranks of many.
#include <string_view>
#include <utility>
#include <vector>

#include "calque/detail/apply.h"
#include "calque/trees.h"

namespace calque {
namespace detail {

/// The element type of what takes part: of an array, of data or of a number.
template <OperandLike X>
constexpr DType message_dtype() {
  if constexpr (ArrayLike<X>) {
    return dtype_of<elem_t<X>>;
  } else if constexpr (CapturedData<X>) {
    return dtype_of<captured_elem_t<X>>;
  } else {
    return literal_dtype<std::remove_cvref_t<X>>();
  }
}

/// `record(operand, dtype)` of x, or of each leaf of the tree x, as tracers.
template <class X, class Record>
auto of_leaves(const X& x, const Record& record, Location at) {
  if constexpr (OperandLike<X>) {
    constexpr DType dtype = message_dtype<X>();
    const auto& held = held_operand(x);
    return Tracer<calque::type_of<dtype>>(record(operand_of(held, at), dtype));
  } else {
    return tree_map_at([&](const auto& leaf) { return of_leaves(leaf, record, at); }, at, x);
  }
}

}  // namespace detail

/// The number of examples that the axis of that name has, of all processes if it is sharded over several. Throws Error
/// outside of the function of a `vmap` with that axis_name.
///     vmap([](auto x) { return x / axis_size("i"); }, {.axis_name = "i"})(D{1, 2})  // [0.5 1. ]
inline int64_t axis_size(std::string_view axis, Loc loc = Loc::current()) { return detail::ops::axis_size(axis, loc); }

/// The number of the example, an i32 from 0 to axis_size - 1. Throws Error as `axis_size`.
///     vmap([](auto x) { return x + axis_index("i"); }, {.axis_name = "i"})(D{1, 1, 1})  // [1. 2. 3.]
inline Tracer<int32_t> axis_index(std::string_view axis, Loc loc = Loc::current()) {
  return Tracer<int32_t>(detail::ops::axis_index(axis, loc));
}

/// The sum of the x of all examples, the same for each: an array, a number, or a tree leaf by leaf. Its derivative is
/// that of the whole batch: the cotangents of all examples are added. Throws Error as `axis_size`, DTypeError for bool.
///     vmap([](auto x) { return x / psum(x, "i"); }, {.axis_name = "i"})(D{1, 3})  // [0.25 0.75]
template <class X>
auto psum(const X& x, std::string_view axis, Loc loc = Loc::current()) {
  return detail::of_leaves(
      x, [&](const auto& leaf, DType d) { return detail::ops::mapped_reduce(ReduceOp::sum, leaf, d, axis, loc); }, loc);
}

/// The mean of the x of all examples, of floating-point type. Otherwise as `psum`.
///     vmap([](auto x) { return x - pmean(x, "i"); }, {.axis_name = "i"})(D{1, 3})  // [-1.  1.]
template <class X>
auto pmean(const X& x, std::string_view axis, Loc loc = Loc::current()) {
  const auto mean = [&](const auto& leaf) {
    return psum(leaf, axis, loc) / static_cast<double>(detail::ops::axis_size(axis, loc));
  };
  if constexpr (OperandLike<X>) {
    return mean(x);
  } else {
    return tree_map(mean, x, loc);
  }
}

/// The greatest of the x of all examples, element by element; NaN if one is. Otherwise as `psum`. Throws DTypeError for
/// bool and complex x.
///     vmap([](auto x) { return x == pmax(x, "i"); }, {.axis_name = "i"})(D{1, 3})  // [False  True]
template <class X>
auto pmax(const X& x, std::string_view axis, Loc loc = Loc::current()) {
  return detail::of_leaves(
      x, [&](const auto& leaf, DType d) { return detail::ops::mapped_reduce(ReduceOp::max, leaf, d, axis, loc); }, loc);
}

/// The least of the x of all examples. Otherwise as `pmax`.
///     vmap([](auto x) { return x - pmin(x, "i"); }, {.axis_name = "i"})(D{1, 3})  // [0. 2.]
template <class X>
auto pmin(const X& x, std::string_view axis, Loc loc = Loc::current()) {
  return detail::of_leaves(
      x, [&](const auto& leaf, DType d) { return detail::ops::mapped_reduce(ReduceOp::min, leaf, d, axis, loc); }, loc);
}

/// The x of all examples, stacked along a new leading axis: an array, a number, or a tree leaf by leaf. Throws Error as
/// `axis_size`.
///     vmap([](auto x) { return all_gather(x, "i"); }, {.axis_name = "i"})(D{1, 2})  // [[1. 2.] [1. 2.]]
template <class X>
auto all_gather(const X& x, std::string_view axis, Loc loc = Loc::current()) {
  return detail::of_leaves(
      x, [&](const auto& leaf, DType d) { return detail::ops::mapped_gather(leaf, d, axis, loc); }, loc);
}

/// Row i of the sum of the x of all examples, for example i: x is [axis_size, ...], the result [...]. Throws Error as
/// `axis_size`, ShapeError when x has not a row for each example, DTypeError for bool.
///     vmap([](auto x) { return psum_scatter(x, "i"); }, {.axis_name = "i"})(D{{1, 2}, {3, 4}})  // [4. 6.]
template <class X>
auto psum_scatter(const X& x, std::string_view axis, Loc loc = Loc::current()) {
  return detail::of_leaves(
      x, [&](const auto& leaf, DType d) { return detail::ops::mapped_scatter(leaf, d, axis, loc); }, loc);
}

/// The x of another example: each of `pairs` is an example and the one that receives its x; those that receive none get
/// zeros. Throws Error as `axis_size`, ShapeError when an example is not in the axis or twice a source or a target.
///     const std::vector<std::pair<int64_t, int64_t>> next{{0, 1}, {1, 2}};
///     vmap([&](auto x) { return ppermute(x, "i", next); }, {.axis_name = "i"})(D{1, 2, 3})  // [0. 1. 2.]
template <class X>
auto ppermute(const X& x, std::string_view axis, const std::vector<std::pair<int64_t, int64_t>>& pairs,
              Loc loc = Loc::current()) {
  return detail::of_leaves(
      x, [&](const auto& leaf, DType d) { return detail::ops::mapped_permute(leaf, d, axis, pairs, loc); }, loc);
}

}  // namespace calque
