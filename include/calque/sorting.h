#pragma once
// Sorting, parts of sorted arrays, searches, sets and histograms. Sorts are stable: equal elements keep their order,
// descending as well. -0 equals +0; NaN equals NaN and is greater than all numbers, so it comes last, or first when
// descending. Indices are i32. Sorted elements have the derivatives of the elements that they are; positions, counts
// and indices have none. Complex numbers have no order and are DTypeErrors. Axes may be negative.
#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/array.h"
#include "calque/detail/recorded.h"
#include "calque/detail/sorting.h"
#include "calque/tracer.h"

namespace calque {

/// The type of `cq::descending`.
struct descending_t {};
/// `sort(x, -1, cq::descending)`: the greatest element first.
inline constexpr descending_t descending{};
/// Whether the greatest element comes first.
struct Descending {
  bool value = false;

  Descending() = default;
  Descending(descending_t) : value(true) {}
  template <std::same_as<bool> B>
  Descending(B is_descending) : value(is_descending) {}
};

/// The elements of x in order along the axis, of x's type and shape. Throws ShapeError for an axis out of range or one
/// that i32 cannot number.
///     sort(D{3, 1, 2})  // [1. 2. 3.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> sort(const X& x, int axis = -1, Descending order = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::sort(o[0], axis, order.value, loc); };
  return detail::recorded<elem_t<X>>("sort", loc, f, x);
}
/// The indices along the axis that sort x, of x's shape. The errors are those of `sort`.
///     argsort(D{3, 1, 2}, -1, descending)  // [0 2 1]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> argsort(const X& x, int axis = -1, Descending order = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::argsort(o[0], axis, order.value, loc); };
  return detail::recorded<int32_t>("argsort", loc, f, x);
}

/// The elements in order along the last axis, the greatest first.
///     sort(D{3, 1, 2}, descending)  // [3. 2. 1.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> sort(const X& x, descending_t, Loc loc = Loc::current()) {
  return sort(x, -1, descending, loc);
}
/// The indices that sort x along the last axis, the greatest first.
///     argsort(D{3, 1, 2}, descending)  // [0 2 1]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> argsort(const X& x, descending_t, Loc loc = Loc::current()) {
  return argsort(x, -1, descending, loc);
}

/// Options of `sort_by`.
struct SortByOptions {
  /// How many of the first arrays are keys: the first one leads, where it is equal the second decides, and so on.
  int64_t keys = 1;
  int axis = -1;
  Descending order{};
};
/// Arrays of one shape, all in the order of the keys among them: `auto [k, v] = cq::sort_by(std::tuple{k, v});`. Throws
/// ShapeError when shapes differ, for a number of keys that is not in [1, number of arrays] and for an axis out of
/// range.
///     sort_by(std::tuple{I{2, 1, 2}, D{30, 10, 20}})  // [1 2 2], [10. 30. 20.]
template <ArrayLike... X>
[[nodiscard]] auto sort_by(const std::tuple<X...>& xs, SortByOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::sort_by(o, options.keys, options.axis, options.order.value, loc);
  };
  const auto call = [&](const auto&... x) {
    return detail::apply_tuple<out_t<elem_t<X>, X...>...>("sort_by", loc, f, x...);
  };
  return std::apply(call, xs);
}

/// The indices that sort by several keys of one shape, of which the last one leads, as numpy.lexsort. Throws ShapeError
/// without keys, when shapes differ or for an axis out of range.
///     lexsort(std::tuple{D{30, 10, 20}, I{2, 1, 2}})  // [1 2 0]
template <ArrayLike... X>
[[nodiscard]] out_t<int32_t, X...> lexsort(const std::tuple<X...>& keys, int axis = -1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::lexsort(o, axis, loc); };
  const auto call = [&](const auto&... x) { return detail::recorded<int32_t>("lexsort", loc, f, x...); };
  return std::apply(call, keys);
}
/// The same of keys of one type.
///     lexsort(std::vector{I{3, 1, 2}, I{2, 1, 2}})  // [1 2 0]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> lexsort(const std::vector<X>& keys, int axis = -1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::lexsort(o, axis, loc); };
  return detail::apply_to<out_t<int32_t, X>>("lexsort", loc, detail::operands_of(keys.data(), keys.size(), loc), f);
}

/// x rearranged along the axis so that element k is that of the sorted array, none before it is greater and none behind
/// it is less, as numpy.partition; here all are in order. Throws ShapeError when there is no element k (negative ones
/// count from the end) or for an axis out of range.
///     partition(D{3, 1, 4, 2}, 1)  // [1. 2. 3. 4.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> partition(const X& x, int64_t k, int axis = -1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::partition(o[0], k, axis, loc); };
  return detail::recorded<elem_t<X>>("partition", loc, f, x);
}
/// The indices that make `partition`. The errors are the same.
///     argpartition(D{3, 1, 4, 2}, 1)  // [1 3 0 2]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> argpartition(const X& x, int64_t k, int axis = -1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::argpartition(o[0], k, axis, loc); };
  return detail::recorded<int32_t>("argpartition", loc, f, x);
}

/// (values, indices) of the k greatest elements along the last axis, the greatest first, NaN before all; of equal ones
/// those with the lowest indices: x.shape[:-1] + [k]. Throws ShapeError for k outside [0, extent] and for scalars.
///     top_k(D{3, 1, 4, 2}, 2)  // [4. 3.], [2 0]
template <ArrayLike X>
[[nodiscard]] std::tuple<out_t<elem_t<X>, X>, out_t<int32_t, X>> top_k(const X& x, int64_t k,
                                                                       Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::top_k(o[0], k, loc); };
  return detail::apply_tuple<out_t<elem_t<X>, X>, out_t<int32_t, X>>("top_k", loc, f, x);
}

/// The same along another axis, which has k elements in the results. Throws ShapeError also when it is out of range.
///     top_k(D{{3, 1}, {4, 2}}, 1, 0)  // [[4. 2.]], [[1 1]]
template <ArrayLike X>
[[nodiscard]] std::tuple<out_t<elem_t<X>, X>, out_t<int32_t, X>> top_k(const X& x, int64_t k, int axis,
                                                                       Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::top_k_along(o[0], k, axis, loc); };
  return detail::apply_tuple<out_t<elem_t<X>, X>, out_t<int32_t, X>>("top_k", loc, f, x);
}

/// For each element of x its position (i32) in the sorted vector: how many elements of that are less (side::left), or
/// not greater (side::right); of x's shape. The two promote to one type. Throws ShapeError unless the sorted elements
/// are a vector.
///     searchsorted(D{1, 2, 2, 3}, D{2, 5}, side::right)  // [3 4]
template <OperandLike S, OperandLike X>
  requires(ArrayLike<S> || ArrayLike<X>)
[[nodiscard]] out_t<int32_t, S, X> searchsorted(const S& sorted, const X& x, side where = side::left,
                                                Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::searchsorted(o[0], o[1], where, loc); };
  return detail::recorded<int32_t>("searchsorted", loc, f, sorted, x);
}
/// The same in a vector that these indices sort, as `argsort` gives them: `searchsorted(a, x, cq::side::left, order)`.
/// Throws DTypeError for indices that are not integers.
///     searchsorted(D{3, 1, 2}, D{2.5}, side::left, I{1, 2, 0})  // [2]
template <ArrayLike S, OperandLike X, ArrayLike I>
[[nodiscard]] out_t<int32_t, S, X, I> searchsorted(const S& unsorted, const X& x, side where, const I& sorter,
                                                   Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::searchsorted(detail::ops::take(o[0], o[2], 0, mode::clip, loc), o[1], where, loc);
  };
  return detail::recorded<int32_t>("searchsorted", loc, f, unsorted, x, sorter);
}
/// The number (i32) of the bin of each element of x, where bin i is [bins[i - 1], bins[i]), or (bins[i - 1], bins[i]]
/// if `right`; descending bins are half open at the same end, as numpy.digitize. Throws ShapeError unless bins are a
/// vector.
///     digitize(D{0.5, 2, 9}, D{1, 2, 3})  // [0 2 3]
template <OperandLike X, OperandLike B>
  requires(ArrayLike<X> || ArrayLike<B>)
[[nodiscard]] out_t<int32_t, X, B> digitize(const X& x, const B& bins, bool right = false, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::digitize(o[0], o[1], right, loc); };
  return detail::recorded<int32_t>("digitize", loc, f, x, bins);
}

#define CALQUE_MEDIAN(f)                                                                                 \
  template <ArrayLike X>                                                                                 \
  [[nodiscard]] out_t<inexact_t<elem_t<X>>, X> f(const X& x, const Axes& axes = {}, KeepDims keep = {},  \
                                                 Loc loc = Loc::current()) {                             \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(o[0], axes, keep.value, loc); }; \
    return detail::recorded<inexact_t<elem_t<X>>>(#f, loc, erased, x);                                   \
  }
/// The middle of the sorted elements over the axes, all without axes; of an even number the mean of the two in the
/// middle; NaN where there is one. Integers give f32. Throws ShapeError without elements or for an axis out of range.
///     median(D{{3, 1, 2}, {4, 6, 9}}, {1})  // [2. 6.]
CALQUE_MEDIAN(median)
/// The median of the elements that are not NaN; NaN where all are. Otherwise as `median`.
///     nanmedian(D{3, NAN, 1})  // 2.0
CALQUE_MEDIAN(nanmedian)
#undef CALQUE_MEDIAN

/// Options of `quantile` and its like.
struct QuantileOptions {
  quantile_method method = quantile_method::linear;
  KeepDims keepdims{};
};
#define CALQUE_QUANTILE(f)                                                                                           \
  template <ArrayLike X, OperandLike Q>                                                                              \
  [[nodiscard]] out_t<inexact_t<elem_t<X>>, X, Q> f(const X& x, const Q& q, const Axes& axes = {},                   \
                                                    QuantileOptions options = {}, Loc loc = Loc::current()) {        \
    const auto erased = [&](detail::Operands o) {                                                                    \
      return detail::ops::f(o[0], o[1], axes, options.method, options.keepdims.value, loc);                          \
    };                                                                                                               \
    return detail::recorded<inexact_t<elem_t<X>>>(#f, loc, erased, x, q);                                            \
  }                                                                                                                  \
  template <ArrayLike X>                                                                                             \
  [[nodiscard]] out_t<inexact_t<elem_t<X>>, X> f(const X& x, std::initializer_list<double> q, const Axes& axes = {}, \
                                                 QuantileOptions options = {}, Loc loc = Loc::current()) {           \
    return f(x, Array<double>::from(std::span<const double>(q.begin(), q.size())), axes, options, loc);              \
  }
/// The elements at position q (n - 1) of the n sorted ones over the axes, all without axes, between two elements by
/// the method; of shape q.shape + that of the others; q may be `{0.1, 0.9}`. NaN where there is one, and for q outside
/// [0, 1]. Integers give f32; positions are computed in f64. Throws ShapeError without elements or for an axis out of
/// range, DTypeError for complex numbers.
///     quantile(D{1, 2, 3, 4}, D{0, 0.5})  // [1.  2.5]
CALQUE_QUANTILE(quantile)
/// `quantile` of q / 100.
///     percentile(D{1, 2, 3, 4}, 25)  // 1.75
CALQUE_QUANTILE(percentile)
/// The quantile of the elements that are not NaN; NaN where all are. Otherwise as `quantile`.
///     nanquantile(D{1, NAN, 3}, 0.5)  // 2.0
CALQUE_QUANTILE(nanquantile)
/// `nanquantile` of q / 100.
///     nanpercentile(D{1, NAN, 3}, 50)  // 2.0
CALQUE_QUANTILE(nanpercentile)
#undef CALQUE_QUANTILE

/// How many elements the result has, and what stands behind those that were found: without it the first of them, or 0
/// if there is none.
template <class T>
struct UniqueOptions {
  int64_t size;
  std::optional<T> fill_value{};
  /// The slices along this axis are compared, in lexicographic order; without it all elements.
  std::optional<int> axis{};
  /// NaN equals NaN.
  bool equal_nan = true;
};
/// The distinct elements of x in ascending order, as many as the options say, then the fill value: `cq::unique(x,
/// {.size = 8})`; with an axis the distinct slices along it. Throws ShapeError for a negative size and an axis out of
/// range.
///     unique(I{3, 1, 3, 2}, {.size = 4, .fill_value = -1})  // [ 1  2  3 -1]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> unique(const X& x, UniqueOptions<elem_t<X>> options, Loc loc = Loc::current()) {
  const auto fill = detail::fill_of(options.fill_value);
  const auto f = [&](detail::Operands o) {
    return detail::ops::unique_of(o[0], options.size, detail::get(fill), options.axis, options.equal_nan, loc);
  };
  return detail::recorded<elem_t<X>>("unique", loc, f, x);
}
/// (values, indices, inverse, counts), as numpy.unique_all: those of `unique`, the index of the first of each in the
/// flattened x or along the axis, for each element of x (of its shape) or slice the number of its value, and how often
/// each value occurs; indices and counts are 0 behind the last value found. Of values that the size cuts off the
/// numbers in `inverse` go on.
///     unique_all(I{3, 1, 3, 2}, {.size = 3})  // [1 2 3], [1 3 0], [2 0 2 1], [1 1 2]
template <ArrayLike X>
[[nodiscard]] auto unique_all(const X& x, UniqueOptions<elem_t<X>> options, Loc loc = Loc::current()) {
  using I = out_t<int32_t, X>;
  const auto fill = detail::fill_of(options.fill_value);
  const auto f = [&](detail::Operands o) {
    return detail::ops::unique_all_of(o[0], options.size, detail::get(fill), options.axis, options.equal_nan, loc);
  };
  return detail::apply_tuple<out_t<elem_t<X>, X>, I, I, I>("unique_all", loc, f, x);
}

namespace detail {
/// How many counts come before the first one that is 0.
inline int64_t leading_nonzero(const Array<int32_t>& counts, Loc loc) {
  const auto host = counts.host(loc);
  return std::find(host.begin(), host.end(), 0) - host.begin();
}
}  // namespace detail
/// (values, indices, inverse, counts) of all distinct elements of an array.
///     unique_all(I{3, 1, 3, 2})  // [1 2 3], [1 3 0], [2 0 2 1], [1 1 2]
template <Elem T>
[[nodiscard]] std::tuple<Array<T>, Array<int32_t>, Array<int32_t>, Array<int32_t>> unique_all(
    const Array<T>& x, Loc loc = Loc::current()) {
  const auto [values, indices, inverse, counts] = unique_all(x, UniqueOptions<T>{x.size()}, loc);
  const int64_t n = detail::leading_nonzero(counts, loc);
  return {detail::first_elements(values, n, loc), detail::first_elements(indices, n, loc), inverse,
          detail::first_elements(counts, n, loc)};
}
/// (values, indices, inverse, counts) of all distinct slices of an array along the axis.
///     unique_all(I{{1, 2}, {0, 1}, {1, 2}}, 0)  // [[0 1]
///                                               //  [1 2]],
///                                               // [1 0],
///                                               // [1 0 1],
///                                               // [1 2]
template <Elem T>
[[nodiscard]] std::tuple<Array<T>, Array<int32_t>, Array<int32_t>, Array<int32_t>> unique_all(
    const Array<T>& x, int axis, Loc loc = Loc::current()) {
  const int64_t extent = detail::extent_along("unique_all", x.any(loc), axis, loc);
  const auto counts = std::get<3>(unique_all(x, UniqueOptions<T>{extent, {}, axis}, loc));
  return unique_all(x, UniqueOptions<T>{detail::leading_nonzero(counts, loc), {}, axis}, loc);
}
/// The distinct elements of an array in ascending order, as many as there are, as numpy.unique. Of a tracer it needs a
/// size, since shapes are known while tracing.
///     unique(I{3, 1, 3, 2})  // [1 2 3]
template <Elem T>
[[nodiscard]] Array<T> unique(const Array<T>& x, Loc loc = Loc::current()) {
  return std::get<0>(unique_all(x, loc));
}
/// The distinct slices of an array along the axis, in lexicographic order.
///     unique(I{{1, 2}, {0, 1}, {1, 2}}, 0)  // [[0 1]
///                                           //  [1 2]]
template <Elem T>
[[nodiscard]] Array<T> unique(const Array<T>& x, int axis, Loc loc = Loc::current()) {
  return std::get<0>(unique_all(x, axis, loc));
}
template <Elem T>
Tracer<T> unique(const Tracer<T>& x) {
  static_assert(sizeof(T) == 0, CALQUE_NEEDS_SIZE(unique, "unique(x, {.size = 8})"));
  return x;
}

/// How many elements a set has, and what stands behind those that were found, as for `unique`.
template <class T>
struct SetOptions {
  int64_t size;
  std::optional<T> fill_value{};
};
#define CALQUE_SET(f)                                                                                \
  template <ArrayLike X, ArrayLike Y>                                                                \
  [[nodiscard]] out_t<promoted_elem_t<X, Y>, X, Y> f(                                                \
      const X& x, const Y& y, SetOptions<promoted_elem_t<X, Y>> options, Loc loc = Loc::current()) { \
    const auto fill = detail::fill_of(options.fill_value);                                           \
    const auto erased = [&](detail::Operands o) {                                                    \
      return detail::ops::f(o[0], o[1], options.size, detail::get(fill), loc);                       \
    };                                                                                               \
    return detail::recorded<promoted_elem_t<X, Y>>(#f, loc, erased, x, y);                           \
  }
/// The distinct elements of x and y together, otherwise as `unique`.
///     union1d(I{1, 3}, I{2, 3}, {.size = 3})  // [1 2 3]
CALQUE_SET(union1d)
/// The distinct elements of x that y has, too; NaN equals NaN. Otherwise as `unique`.
///     intersect1d(I{1, 3}, I{2, 3}, {.size = 1})  // [3]
CALQUE_SET(intersect1d)
/// The distinct elements of x that y does not have; NaN equals NaN. Otherwise as `unique`.
///     setdiff1d(I{1, 3}, I{2, 3}, {.size = 1})  // [1]
CALQUE_SET(setdiff1d)
/// The distinct elements that one of x and y has and the other does not; NaN equals NaN. Otherwise as `unique`.
///     setxor1d(I{1, 3}, I{2, 3}, {.size = 2})  // [1 2]
CALQUE_SET(setxor1d)
#undef CALQUE_SET
/// (values, indices, indices), as numpy.intersect1d with `return_indices`: those of `intersect1d`, and where each is
/// first in the flattened x and in y; 0 behind the last value found.
///     intersect1d_all(I{5, 1, 3}, I{3, 2, 5}, {.size = 2})  // [3 5], [2 0], [0 2]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] auto intersect1d_all(const X& x, const Y& y, SetOptions<promoted_elem_t<X, Y>> options,
                                   Loc loc = Loc::current()) {
  using I = out_t<int32_t, X, Y>;
  const auto fill = detail::fill_of(options.fill_value);
  const auto f = [&](detail::Operands o) {
    return detail::ops::intersect1d_all(o[0], o[1], options.size, detail::get(fill), loc);
  };
  return detail::apply_tuple<out_t<promoted_elem_t<X, Y>, X, Y>, I, I>("intersect1d_all", loc, f, x, y);
}

#define CALQUE_SET_OF_ARRAYS(f)                                                                        \
  template <Elem T, Elem U>                                                                            \
  [[nodiscard]] Array<promoted_elem_t<Array<T>, Array<U>>> f(const Array<T>& x, const Array<U>& y,     \
                                                             Loc loc = Loc::current()) {               \
    using R = promoted_elem_t<Array<T>, Array<U>>;                                                     \
    const auto erased = [&](detail::Operands o) { return detail::ops::f##_counted(o[0], o[1], loc); }; \
    const auto [values, count] = detail::apply_tuple<Array<R>, Array<int32_t>>(#f, loc, erased, x, y); \
    return detail::first_elements(values, count.item(loc), loc);                                       \
  }                                                                                                    \
  template <ArrayLike X, ArrayLike Y>                                                                  \
    requires(TracerLike<X> || TracerLike<Y>)                                                           \
  out_t<promoted_elem_t<X, Y>, X, Y> f(const X&, const Y&) {                                           \
    static_assert(sizeof(X) == 0, CALQUE_NEEDS_SIZE(f, #f "(x, y, {.size = 8})"));                     \
    return {};                                                                                         \
  }
/// All distinct elements of an array that another one has, too.
///     intersect1d(I{1, 3}, I{2, 3})  // [3]
CALQUE_SET_OF_ARRAYS(intersect1d)
/// All distinct elements of an array that another one does not have.
///     setdiff1d(I{1, 3}, I{2, 3})  // [1]
CALQUE_SET_OF_ARRAYS(setdiff1d)
/// All distinct elements that one of two arrays has and the other does not.
///     setxor1d(I{1, 3}, I{2, 3})  // [1 2]
CALQUE_SET_OF_ARRAYS(setxor1d)
/// All distinct elements of two arrays together.
///     union1d(I{1, 3}, I{2, 3})  // [1 2 3]
CALQUE_SET_OF_ARRAYS(union1d)
#undef CALQUE_SET_OF_ARRAYS

/// Which zeros `trim_zeros` removes.
enum class trim { both, front, back };
/// The vector without the zeros before its first and behind its last element that is not 0, as numpy.trim_zeros; of
/// arrays alone, since shapes are known while tracing. Throws ShapeError for other ranks.
///     trim_zeros(D{0, 1, 0, 2, 0})  // [1. 0. 2.]
template <Elem T>
[[nodiscard]] Array<T> trim_zeros(const Array<T>& x, trim ends = trim::both, Loc loc = Loc::current()) {
  const std::span<const T> all(static_cast<const T*>(detail::vector_data("trim_zeros", x.any(loc), loc)),
                               static_cast<size_t>(x.size()));
  size_t first = 0, last = all.size();
  while (ends != trim::back && first < last && all[first] == T(0)) ++first;
  while (ends != trim::front && last > first && all[last - 1] == T(0)) --last;
  return Array<T>::from(all.subspan(first, last - first)).to(x.device(loc), loc);
}

/// How many bins `bincount` has.
struct BincountOptions {
  int64_t length;
};
/// How often each number in [0, length) occurs in the vector x, i32; others are dropped. Throws ShapeError for other
/// ranks and a negative length, DTypeError for x that is not of integers.
///     bincount(I{0, 2, 2, 7}, {.length = 3})  // [1 0 2]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> bincount(const X& x, BincountOptions options, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::bincount(o[0], nullptr, options.length, loc); };
  return detail::recorded<int32_t>("bincount", loc, f, x);
}
namespace detail {
/// How many counts all numbers of an array need.
template <class T>
int64_t counts_of(const Array<T>& x, Loc loc) {
  int64_t length = 0;
  for (const T i : x.host(loc)) {
    if (std::cmp_greater_equal(i, length)) length = static_cast<int64_t>(i) + 1;
  }
  return length;
}
}  // namespace detail
/// The counts of all numbers from 0 to the greatest one in an array; negative numbers are dropped. Of a tracer it needs
/// a length.
///     bincount(I{0, 2, 2})  // [1 0 2]
template <IntegerElem T>
[[nodiscard]] Array<int32_t> bincount(const Array<T>& x, Loc loc = Loc::current()) {
  return bincount(x, BincountOptions{detail::counts_of(x, loc)}, loc);
}
template <Elem T>
Tracer<int32_t> bincount(const Tracer<T>&) {
  static_assert(sizeof(T) == 0, CALQUE_NEEDS_SIZE(bincount, "bincount(x, {.length = 8})"));
  return {};
}
/// The least number of counts of an array.
struct MinlengthOptions {
  int64_t minlength;
};
/// The counts of all numbers in an array, at least so many: `bincount(x, {.minlength = 4})`.
///     bincount(I{0, 2, 2}, {.minlength = 4})  // [1 0 2 0]
template <IntegerElem T>
[[nodiscard]] Array<int32_t> bincount(const Array<T>& x, MinlengthOptions options, Loc loc = Loc::current()) {
  return bincount(x, BincountOptions{std::max(detail::counts_of(x, loc), options.minlength)}, loc);
}
/// The sums of the weights of equal numbers, of the weights' type (bool: i32). Throws ShapeError also unless each
/// number has a weight.
///     bincount(I{0, 2, 2}, D{0.5, 1, 1}, {.length = 3})  // [0.5 0.  2. ]
template <ArrayLike X, ArrayLike W>
[[nodiscard]] out_t<sum_t<elem_t<W>>, X, W> bincount(const X& x, const W& weights, BincountOptions options,
                                                     Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::bincount(o[0], &o[1], options.length, loc); };
  return detail::recorded<sum_t<elem_t<W>>>("bincount", loc, f, x, weights);
}

/// The same for all numbers of an array.
///     bincount(I{0, 2, 2}, D{0.5, 1, 1})  // [0.5 0.  2. ]
template <IntegerElem T, ArrayLike W>
[[nodiscard]] out_t<sum_t<elem_t<W>>, W> bincount(const Array<T>& x, const W& weights, Loc loc = Loc::current()) {
  return bincount(x, weights, BincountOptions{detail::counts_of(x, loc)}, loc);
}

/// Bins of equal width: `{.bins = 20, .range = {{0.0, 1.0}}}`; without a range they lie between the least and the
/// greatest element.
struct HistogramOptions {
  int64_t bins = 10;
  std::optional<std::pair<double, double>> range{};
};
namespace detail {
inline Bins bins_of(const HistogramOptions& o) {
  if (!o.range) return {o.bins, std::nullopt, std::nullopt};
  return {o.bins, o.range->first, o.range->second};
}
}  // namespace detail
/// (counts, edges): how many elements of x are in each bin, i32 [bins], and the edges [bins + 1], of x's type
/// (integers: f32). A bin has its lower edge, the last one both; NaN and what is outside are not counted. Throws
/// ShapeError without bins and for bounds that are not in order.
///     histogram(D{1, 2, 2, 5}, {.bins = 2})  // [3 1], [1. 3. 5.]
template <ArrayLike X>
[[nodiscard]] auto histogram(const X& x, HistogramOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::histogram(o[0], detail::bins_of(options), nullptr, loc);
  };
  return detail::apply_tuple<out_t<int32_t, X>, out_t<inexact_t<elem_t<X>>, X>>("histogram", loc, f, x);
}
/// The sums of the weights of the elements in each bin, of the weights' type. Throws ShapeError also unless each
/// element has a weight.
///     histogram(D{1, 2, 5}, {.bins = 2}, D{0.5, 1, 4})  // [1.5 4. ], [1. 3. 5.]
template <ArrayLike X, ArrayLike W>
[[nodiscard]] auto histogram(const X& x, HistogramOptions options, const W& weights, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::histogram(o[0], detail::bins_of(options), &o[1], loc); };
  return detail::apply_tuple<out_t<sum_t<elem_t<W>>, X, W>, out_t<inexact_t<elem_t<X>>, X, W>>("histogram", loc, f, x,
                                                                                               weights);
}
/// The counts between edges in ascending order, which need not be evenly spaced: i32, one less than there are edges.
/// Throws ShapeError unless these are a vector of 2 or more.
///     histogram(D{1, 2, 2, 5}, D{0, 2, 5})  // [1 3]
template <ArrayLike X, ArrayLike E>
[[nodiscard]] out_t<int32_t, X, E> histogram(const X& x, const E& edges, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::histogram_at(o[0], o[1], nullptr, loc); };
  return detail::recorded<int32_t>("histogram", loc, f, x, edges);
}
/// As `histogram(x, {.bins = bins})`.
///     histogram(D{1, 2, 2, 5}, 2)  // [3 1], [1. 3. 5.]
template <ArrayLike X, std::integral N>
[[nodiscard]] auto histogram(const X& x, N bins, Loc loc = Loc::current()) {
  return histogram(x, HistogramOptions{static_cast<int64_t>(bins)}, loc);
}
/// The type of `cq::density`.
struct density_t {};
/// `histogram(x, {.bins = 20}, cq::density)`: counts divided by their sum and by the width of the bin.
inline constexpr density_t density{};
/// (density, edges), whose integral over the bins is 1, of x's type (integers: f32). Otherwise as `histogram`.
///     histogram(D{1, 2, 2, 5}, {.bins = 2}, density)  // [0.375 0.125], [1. 3. 5.]
template <ArrayLike X>
[[nodiscard]] auto histogram(const X& x, HistogramOptions options, density_t, Loc loc = Loc::current()) {
  using Out = out_t<inexact_t<elem_t<X>>, X>;
  const auto f = [&](detail::Operands o) {
    return detail::ops::histogram_density(o[0], detail::bins_of(options), nullptr, loc);
  };
  return detail::apply_tuple<Out, Out>("histogram", loc, f, x);
}
/// The same with weights, of the promoted type.
///     histogram(D{1, 2, 5}, {.bins = 2}, D{0.5, 1, 4.5}, density)  // [0.125 0.375], [1. 3. 5.]
template <ArrayLike X, ArrayLike W>
[[nodiscard]] auto histogram(const X& x, HistogramOptions options, const W& weights, density_t,
                             Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::histogram_density(o[0], detail::bins_of(options), &o[1], loc);
  };
  return detail::apply_tuple<out_t<inexact_t<promoted_elem_t<X, W>>, X, W>, out_t<inexact_t<elem_t<X>>, X, W>>(
      "histogram", loc, f, x, weights);
}
/// The sums of the weights between edges in ascending order, of the weights' type.
///     histogram(D{1, 2, 5}, D{0, 2, 5}, D{0.5, 1, 4})  // [0.5 5. ]
template <ArrayLike X, ArrayLike E, ArrayLike W>
[[nodiscard]] out_t<sum_t<elem_t<W>>, X, E, W> histogram(const X& x, const E& edges, const W& weights,
                                                         Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::histogram_at(o[0], o[1], &o[2], loc); };
  return detail::recorded<sum_t<elem_t<W>>>("histogram", loc, f, x, edges, weights);
}
/// The density between edges in ascending order, of the promoted type (integers: f32).
///     histogram(D{1, 2, 2, 5}, D{0, 2, 4}, density)  // [0.16666667 0.33333333]
template <ArrayLike X, ArrayLike E>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, E>>, X, E> histogram(const X& x, const E& edges, density_t,
                                                                      Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::histogram_density_at(o[0], o[1], nullptr, loc); };
  return detail::recorded<inexact_t<promoted_elem_t<X, E>>>("histogram", loc, f, x, edges);
}
/// The same with weights.
///     histogram(D{1, 2, 5}, D{0, 2, 6}, D{1, 1, 2}, density)  // [0.125  0.1875]
template <ArrayLike X, ArrayLike E, ArrayLike W>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, E, W>>, X, E, W> histogram(const X& x, const E& edges,
                                                                            const W& weights, density_t,
                                                                            Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::histogram_density_at(o[0], o[1], &o[2], loc); };
  return detail::recorded<inexact_t<promoted_elem_t<X, E, W>>>("histogram", loc, f, x, edges, weights);
}
/// The edges of `histogram`.
///     histogram_bin_edges(D{1, 2, 5}, {.bins = 4})  // [1. 2. 3. 4. 5.]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> histogram_bin_edges(const X& x, HistogramOptions options = {},
                                                                 Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::histogram_bin_edges(o[0], detail::bins_of(options), loc);
  };
  return detail::recorded<inexact_t<elem_t<X>>>("histogram_bin_edges", loc, f, x);
}
/// (counts, edges of x, edges of y) of points (x, y), vectors of one length: counts are i32 [bins of x, bins of y].
/// Otherwise as `histogram`.
///     histogram2d(D{0, 1, 1}, D{0, 0, 1}, {.bins = 2}, {.bins = 2})  // [[1 0]
///                                                                    //  [1 1]],
///                                                                    // [0.  0.5 1. ],
///                                                                    // [0.  0.5 1. ]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] auto histogram2d(const X& x, const Y& y, HistogramOptions bins_x = {}, HistogramOptions bins_y = {},
                               Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::histogram2d(o[0], o[1], detail::bins_of(bins_x), detail::bins_of(bins_y), nullptr, loc);
  };
  return detail::apply_tuple<out_t<int32_t, X, Y>, out_t<inexact_t<elem_t<X>>, X, Y>,
                             out_t<inexact_t<elem_t<Y>>, X, Y>>("histogram2d", loc, f, x, y);
}

/// The same with weights of the points: sums of the weights' type.
///     std::get<0>(histogram2d(D{0, 1, 1}, D{0, 0, 1}, {.bins = 2}, {.bins = 2}, D{1, 2, 4}))  // [[1. 0.]
///                                                                                             //  [2. 4.]]
template <ArrayLike X, ArrayLike Y, ArrayLike W>
[[nodiscard]] auto histogram2d(const X& x, const Y& y, HistogramOptions bins_x, HistogramOptions bins_y,
                               const W& weights, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::histogram2d(o[0], o[1], detail::bins_of(bins_x), detail::bins_of(bins_y), &o[2], loc);
  };
  return detail::apply_tuple<out_t<sum_t<elem_t<W>>, X, Y, W>, out_t<inexact_t<elem_t<X>>, X, Y, W>,
                             out_t<inexact_t<elem_t<Y>>, X, Y, W>>("histogram2d", loc, f, x, y, weights);
}
/// The density, whose integral over the bins is 1, of the promoted type (integers: f32).
///     std::get<0>(histogram2d(D{0, 1}, D{0, 2}, {.bins = 2}, {.bins = 1}, density))  // [[0.5]
///                                                                                    //  [0.5]]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] auto histogram2d(const X& x, const Y& y, HistogramOptions bins_x, HistogramOptions bins_y, density_t,
                               Loc loc = Loc::current()) {
  const detail::Bins both[] = {detail::bins_of(bins_x), detail::bins_of(bins_y)};
  const auto f = [&](detail::Operands o) { return detail::ops::histogram_of(o, both, nullptr, true, loc); };
  return detail::apply_tuple<out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y>, out_t<inexact_t<elem_t<X>>, X, Y>,
                             out_t<inexact_t<elem_t<Y>>, X, Y>>("histogram2d", loc, f, x, y);
}
/// The counts between edges in ascending order, i32 [edges of x - 1, edges of y - 1].
///     histogram2d(D{0, 1, 1}, D{0, 0, 3}, D{0, 1, 9}, D{0, 2, 4})  // [[1 0]
///                                                                  //  [1 1]]
template <ArrayLike X, ArrayLike Y, ArrayLike EX, ArrayLike EY>
[[nodiscard]] out_t<int32_t, X, Y, EX, EY> histogram2d(const X& x, const Y& y, const EX& edges_x, const EY& edges_y,
                                                       Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::histogram2d_at(o[0], o[1], o[2], o[3], nullptr, loc); };
  return detail::recorded<int32_t>("histogram2d", loc, f, x, y, edges_x, edges_y);
}

namespace detail {
/// Counts of elements R and edges of elements E, of points and, where `weighted`, their weights.
template <class R, class E, class... A>
auto histogramdd_of(const std::vector<HistogramOptions>& each, bool weighted, bool density, Loc loc, const A&... all) {
  std::vector<Bins> bins;
  for (const HistogramOptions& o : each) bins.push_back(bins_of(o));
  const Operand operands[] = {operand_of(all, loc)...};
  const auto f = [&](Operands o) { return ops::histogramdd(o[0], bins, weighted ? &o[1] : nullptr, density, loc); };
  using Counted = out_t<R, A...>;
  using Edges = out_t<E, A...>;
  const auto unpack = [](auto results) {
    std::tuple<Counted, std::vector<Edges>> out{Counted(std::move(results[0])), {}};
    for (size_t i = 1; i < results.size(); ++i) std::get<1>(out).push_back(Edges(std::move(results[i])));
    return out;
  };
  if constexpr (TracerLike<Counted>) {
    return unpack(f(operands));
  } else {
    return unpack(run_operands_many("histogramdd", operands, f, loc));
  }
}
}  // namespace detail
/// (counts, edges of each dimension) of the points x [n, d], a point in each row: counts are i32 [bins, ...]. Bins are
/// one for all dimensions or one for each: `histogramdd(x, {{.bins = 4}, {.bins = 8}})`. Throws ShapeError for other
/// ranks, without dimensions, for another number of bins, and for more than 2^31 - 1 bins. Otherwise as `histogram`.
///     std::get<0>(histogramdd(D{{0, 0}, {1, 0}, {1, 1}}, {{.bins = 2}}))  // [[1 0]
///                                                                         //  [1 1]]
template <ArrayLike X>
[[nodiscard]] auto histogramdd(const X& x, const std::vector<HistogramOptions>& bins = {HistogramOptions()},
                               Loc loc = Loc::current()) {
  return detail::histogramdd_of<int32_t, inexact_t<elem_t<X>>>(bins, false, false, loc, x);
}
/// The sums of the weights of the points [n], of the weights' type.
///     std::get<0>(histogramdd(D{{0, 0}, {1, 0}, {1, 1}}, {{.bins = 2}}, D{1, 2, 4}))  // [[1. 0.]
///                                                                                     //  [2. 4.]]
template <ArrayLike X, ArrayLike W>
[[nodiscard]] auto histogramdd(const X& x, const std::vector<HistogramOptions>& bins, const W& weights,
                               Loc loc = Loc::current()) {
  return detail::histogramdd_of<sum_t<elem_t<W>>, inexact_t<elem_t<X>>>(bins, true, false, loc, x, weights);
}
/// The density, whose integral over the bins is 1, of x's type (integers: f32).
///     std::get<0>(histogramdd(D{{0}, {1}, {2}, {2}}, {{.bins = 2}}, density))  // [0.25 0.75]
template <ArrayLike X>
[[nodiscard]] auto histogramdd(const X& x, const std::vector<HistogramOptions>& bins, density_t,
                               Loc loc = Loc::current()) {
  return detail::histogramdd_of<inexact_t<elem_t<X>>, inexact_t<elem_t<X>>>(bins, false, true, loc, x);
}
/// The density of points with weights, of the promoted type.
///     std::get<0>(histogramdd(D{{0}, {1}, {1}}, {{.bins = 2}}, D{1, 2, 1}, density))  // [0.5 1.5]
template <ArrayLike X, ArrayLike W>
[[nodiscard]] auto histogramdd(const X& x, const std::vector<HistogramOptions>& bins, const W& weights, density_t,
                               Loc loc = Loc::current()) {
  return detail::histogramdd_of<inexact_t<promoted_elem_t<X, W>>, inexact_t<elem_t<X>>>(bins, true, true, loc, x,
                                                                                        weights);
}

}  // namespace calque
