#pragma once
// Arrays joined, split and laid out as grids, with NumPy's names. Lists are braces or a vector of arrays of one type,
// or a tuple of arrays of several types, which promote. Errors are ShapeErrors.
#include "calque/detail/recorded.h"
#include "calque/shapes.h"

namespace calque {

#define CALQUE_JOINING(f)                                                                                    \
  template <ArrayLike X>                                                                                     \
  X f(std::initializer_list<X> xs, Loc loc = Loc::current()) {                                               \
    const std::vector<detail::Operand> all = detail::operands_of(xs.begin(), xs.size(), loc);                \
    return detail::apply_to<X>(#f, loc, all, [&](detail::Operands o) { return detail::ops::f(o, loc); });    \
  }                                                                                                          \
  template <ArrayLike X>                                                                                     \
  X f(const std::vector<X>& xs, Loc loc = Loc::current()) {                                                  \
    const std::vector<detail::Operand> all = detail::operands_of(xs.data(), xs.size(), loc);                 \
    return detail::apply_to<X>(#f, loc, all, [&](detail::Operands o) { return detail::ops::f(o, loc); });    \
  }                                                                                                          \
  template <ArrayLike... X>                                                                                  \
  [[nodiscard]] out_t<promoted_elem_t<X...>, X...> f(const std::tuple<X...>& xs, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(o, loc); };                          \
    const auto call = [&](const auto&... x) {                                                                \
      return detail::recorded<promoted_elem_t<X...>>(#f, loc, erased, x...);                                 \
    };                                                                                                       \
    return std::apply(call, xs);                                                                             \
  }
/// Vectors one after another, others joined along axis 1; scalars are vectors of one element. Throws ShapeError when
/// there is no array or shapes differ elsewhere.
///     hstack({D{{1}, {2}}, D{{3}, {4}}})  // [[1. 3.]
///                                         //  [2. 4.]]
CALQUE_JOINING(hstack)
/// Arrays joined along axis 0; a vector is a row. Throws ShapeError when there is no array or shapes differ elsewhere.
///     vstack({D{1, 2}, D{3, 4}})  // [[1. 2.]
///                                 //  [3. 4.]]
CALQUE_JOINING(vstack)
/// Arrays joined along axis 2, after `atleast_3d`. Throws ShapeError when there is no array or shapes differ elsewhere.
///     dstack({D{1, 2}, D{3, 4}})  // [[[1. 3.]
///                                 //   [2. 4.]]]
CALQUE_JOINING(dstack)
/// Arrays joined along axis 1; a vector is a column. Throws ShapeError when there is no array or shapes differ
/// elsewhere.
///     column_stack({D{1, 2}, D{3, 4}})  // [[1. 3.]
///                                       //  [2. 4.]]
CALQUE_JOINING(column_stack)
#undef CALQUE_JOINING

/// The matrix of these rows of blocks: `cq::block({{a, b}, {c, d}})`. Blocks of a row are joined along the last axis,
/// rows along the last but one; a vector is a row. Throws ShapeError when extents differ or a row is empty.
///     D one = {{1}};
///     block({{one, 2 * one}, {3 * one, 4 * one}})  // [[1. 2.]
///                                                  //  [3. 4.]]
template <ArrayLike X>
X block(const std::vector<std::vector<X>>& rows, Loc loc = Loc::current()) {
  std::vector<detail::Operand> all;
  std::vector<int64_t> counts;
  for (const std::vector<X>& row : rows) {
    for (const X& x : row) all.push_back(detail::operand_of(x, loc));
    counts.push_back(static_cast<int64_t>(row.size()));
  }
  return detail::apply_to<X>("block", loc, all, [&](detail::Operands o) { return detail::ops::block(o, counts, loc); });
}
template <ArrayLike X>
X block(std::initializer_list<std::initializer_list<X>> rows, Loc loc = Loc::current()) {
  return block(std::vector<std::vector<X>>(rows.begin(), rows.end()), loc);
}

/// The elements of x, then those of y, as a vector, as numpy.append. Of the promoted type.
///     append(D{{1, 2}}, 3)  // [1. 2. 3.]
template <ArrayLike X, OperandLike Y>
[[nodiscard]] out_t<promoted_elem_t<X, Y>, X, Y> append(const X& x, const Y& y, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::append(o[0], o[1], std::nullopt, loc); };
  return detail::recorded<promoted_elem_t<X, Y>>("append", loc, f, x, y);
}
/// x followed by y along the axis. Throws ShapeError when shapes differ elsewhere or the axis is out of range.
///     append(D{{1, 2}}, D{{3, 4}}, 0)  // [[1. 2.]
///                                      //  [3. 4.]]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<promoted_elem_t<X, Y>, X, Y> append(const X& x, const Y& y, int axis, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::append(o[0], o[1], axis, loc); };
  return detail::recorded<promoted_elem_t<X, Y>>("append", loc, f, x, y);
}
/// x with values before these positions along the axis, as numpy.insert: values broadcast to one slice for each
/// position; one position takes all of them. Of x's type, to which values promote. Throws ShapeError for positions out
/// of range and values that do not broadcast.
///     insert(D{1, 2, 3}, {1}, 9, 0)  // [1. 9. 2. 3.]
template <ArrayLike X, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, V> insert(const X& x, const Counts& positions, const V& values, int axis,
                                            Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::insert(o[0], positions.list, o[1], axis, loc); };
  return detail::recorded<elem_t<X>>("insert", loc, f, x, values);
}
/// The same in the elements of x in row-major order.
///     insert(D{{1, 2}, {3, 4}}, {1}, 9)  // [1. 9. 2. 3. 4.]
template <ArrayLike X, OperandLike V>
[[nodiscard]] out_t<elem_t<X>, X, V> insert(const X& x, const Counts& positions, const V& values,
                                            Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::insert(detail::ops::ravel(o[0], loc), positions.list, o[1], 0, loc);
  };
  return detail::recorded<elem_t<X>>("insert", loc, f, x, values);
}
/// x without these positions along the axis, as numpy.delete. Throws ShapeError for positions or an axis out of range.
///     delete_(D{1, 2, 3, 4}, {0, 2}, 0)  // [2. 4.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> delete_(const X& x, const Counts& positions, int axis, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::delete_(o[0], positions.list, axis, loc); };
  return detail::recorded<elem_t<X>>("delete_", loc, f, x);
}
/// The elements of x in row-major order without these positions.
///     delete_(D{{1, 2}, {3, 4}}, {0, 2})  // [2. 4.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> delete_(const X& x, const Counts& positions, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::delete_(detail::ops::ravel(o[0], loc), positions.list, 0, loc);
  };
  return detail::recorded<elem_t<X>>("delete_", loc, f, x);
}

// ---- parts

/// x split into `sections` parts along the axis, of which the first ones are longer by one where the extent does not
/// divide. Throws ShapeError for less than one part or an axis out of range.
///     array_split(D{1, 2, 3, 4, 5}, 2)  // [1. 2. 3.], [4. 5.]
template <ArrayLike X, std::integral I>
[[nodiscard]] std::vector<out_t<elem_t<X>, X>> array_split(const X& x, I sections, int axis = 0,
                                                           Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::array_split(o[0], static_cast<int64_t>(sections), axis, loc);
  };
  return detail::recorded_many<elem_t<X>>("array_split", loc, f, x);
}
/// The parts of x between these split points, as `split`.
///     array_split(D{1, 2, 3, 4}, {1, 3})  // [1.], [2. 3.], [4.]
template <ArrayLike X>
[[nodiscard]] std::vector<out_t<elem_t<X>, X>> array_split(const X& x, const Counts& indices, int axis = 0,
                                                           Loc loc = Loc::current()) {
  return split(x, indices, axis, loc);
}
/// The slices of x along the axis, which is dropped. Throws ShapeError for an axis out of range.
///     unstack(D{{1, 2}, {3, 4}})  // [1. 2.], [3. 4.]
template <ArrayLike X>
[[nodiscard]] std::vector<out_t<elem_t<X>, X>> unstack(const X& x, int axis = 0, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::unstack(o[0], axis, loc); };
  return detail::recorded_many<elem_t<X>>("unstack", loc, f, x);
}
#define CALQUE_SPLITTING(f, which)                                                                                \
  template <ArrayLike X, std::integral I>                                                                         \
  [[nodiscard]] std::vector<out_t<elem_t<X>, X>> f(const X& x, I sections, Loc loc = Loc::current()) {            \
    const auto erased = [&](detail::Operands o) {                                                                 \
      return detail::ops::split_along(o[0], which, static_cast<int64_t>(sections), loc);                          \
    };                                                                                                            \
    return detail::recorded_many<elem_t<X>>(#f, loc, erased, x);                                                  \
  }                                                                                                               \
  template <ArrayLike X>                                                                                          \
  [[nodiscard]] std::vector<out_t<elem_t<X>, X>> f(const X& x, const Counts& indices, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) {                                                                 \
      return detail::ops::split_along_at(o[0], which, indices.list, loc);                                         \
    };                                                                                                            \
    return detail::recorded_many<elem_t<X>>(#f, loc, erased, x);                                                  \
  }
/// `split` along axis 1, of vectors along axis 0. Throws ShapeError for a scalar and as `split`.
///     hsplit(D{1, 2, 3, 4}, 2)  // [1. 2.], [3. 4.]
CALQUE_SPLITTING(hsplit, 'h')
/// `split` along axis 0. Throws ShapeError for a rank below 2 and as `split`.
///     vsplit(D{{1, 2}, {3, 4}}, 2)  // [[1. 2.]], [[3. 4.]]
CALQUE_SPLITTING(vsplit, 'v')
/// `split` along axis 2. Throws ShapeError for a rank below 3 and as `split`.
///     dsplit(D{{{1, 2}}}, 2)  // [[[1.]]], [[[2.]]]
CALQUE_SPLITTING(dsplit, 'd')
#undef CALQUE_SPLITTING

// ---- grids

/// Options of `meshgrid`.
struct MeshgridOptions {
  indexing order = indexing::xy;
  /// Extents of 1 where the element does not vary; they broadcast together.
  bool sparse = false;
};
/// The coordinates of the grid of two vectors, x [n] and y [m]: two arrays [m, n], or [n, m] with `indexing::ij`, of
/// the types of x and y. `auto [gx, gy] = cq::meshgrid(x, y);` Throws ShapeError for ranks above 1.
///     meshgrid(D{1, 2}, D{3, 4})  // [[1. 2.]
///                                 //  [1. 2.]],
///                                 // [[3. 3.]
///                                 //  [4. 4.]]
template <ArrayLike X, ArrayLike Y>
auto meshgrid(const X& x, const Y& y, MeshgridOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::meshgrid(o, options.order, options.sparse, loc); };
  return detail::apply_tuple<out_t<elem_t<X>, X, Y>, out_t<elem_t<Y>, X, Y>>("meshgrid", loc, f, x, y);
}
/// The same of three vectors: arrays [m, n, k], or [n, m, k] with `indexing::ij`.
///     std::get<2>(meshgrid(D{1, 2}, D{3}, D{4, 5}))  // [[[4. 5.]
///                                                    //   [4. 5.]]]
template <ArrayLike X, ArrayLike Y, ArrayLike Z>
auto meshgrid(const X& x, const Y& y, const Z& z, MeshgridOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::meshgrid(o, options.order, options.sparse, loc); };
  return detail::apply_tuple<out_t<elem_t<X>, X, Y, Z>, out_t<elem_t<Y>, X, Y, Z>, out_t<elem_t<Z>, X, Y, Z>>(
      "meshgrid", loc, f, x, y, z);
}
/// The same of any number of vectors of one type.
///     meshgrid(std::vector{D{1, 2}, D{3, 4}}, {.order = indexing::ij})  // [[1. 1.]
///                                                                       //  [2. 2.]],
///                                                                       // [[3. 4.]
///                                                                       //  [3. 4.]]
template <ArrayLike X>
[[nodiscard]] std::vector<X> meshgrid(const std::vector<X>& xs, MeshgridOptions options = {},
                                      Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::meshgrid(o, options.order, options.sparse, loc); };
  return detail::apply_many<X>("meshgrid", loc, detail::operands_of(xs.data(), xs.size(), loc), f);
}

/// The arrays broadcast to their common shape, each of its type. Throws ShapeError when they do not broadcast.
///     broadcast_arrays(D{1, 2}, I{{3}})  // [[1. 2.]], [[3 3]]
template <ArrayLike X, ArrayLike... Y>
auto broadcast_arrays(const X& x, const Y&... others) {
  const auto f = [&](detail::Operands o) { return detail::ops::broadcast_arrays(o, Location()); };
  return detail::apply_tuple<out_t<elem_t<X>, X, Y...>, out_t<elem_t<Y>, X, Y...>...>("broadcast_arrays", Location(), f,
                                                                                      x, others...);
}
/// The same of any number of arrays of one type.
///     broadcast_arrays(std::vector{D{1, 2}, D{{3}}})  // [[1. 2.]], [[3. 3.]]
template <ArrayLike X>
[[nodiscard]] std::vector<X> broadcast_arrays(const std::vector<X>& xs, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::broadcast_arrays(o, loc); };
  return detail::apply_many<X>("broadcast_arrays", loc, detail::operands_of(xs.data(), xs.size(), loc), f);
}

/// op(a, b) of each element of a with each of b, as numpy's `ufunc.outer`, of shape a.shape + b.shape:
/// `cq::outer([](auto x, auto y) { return x - y; }, a, b)`. The operation is elementwise.
///     outer([](auto x, auto y) { return x - y; }, D{1, 2}, D{0, 1})  // [[1. 0.]
///                                                                    //  [2. 1.]]
template <class F, ArrayLike A, ArrayLike B>
  requires(!OperandLike<F>)
auto outer(const F& op, const A& a, const B& b, Loc loc = Loc::current()) {
  std::vector<int64_t> extents;
  for (const int64_t n : a.shape()) extents.push_back(n);
  extents.insert(extents.end(), b.shape().size(), 1);
  return op(reshape(a, extents, loc), b);
}

}  // namespace calque
