// Distinct elements and slices and sets of elements, with as many elements as the caller says.
#include "calque/detail/array_data.h"
#include "calque/detail/control/control.h"

#include "frontend/sorting/sorting.h"
#include "frontend/vocabulary/binary_search.h"

namespace calque::detail::ops {
namespace {

/// The first of each run of equal elements, or rows, in sorted ones [n] or [n, m].
Handle begins_run(Handle sorted, const Site& s, bool equal_nan = true) {
  const int64_t n = extent_of(sorted, 0);
  const Expression before(slice_axis(sorted, 0, 0, n - 1, 1, s), s), here(slice_axis(sorted, 0, 1, n, 1, s), s);
  Expression equal = before == here;
  if (equal_nan && is_floating(dtype(sorted))) equal = equal | ((!(before == before)) & (!(here == here)));
  Handle differs = !equal;
  if (shape(differs).rank() == 2) differs = reduce_axes<prim::ReduceOr>(differs, {1}, false, s);
  const Handle parts[] = {constant_bools(true, Shape{1}, s), differs};
  return concatenated(parts, 0, s);
}

/// For each element the number of true ones before it, or `size` where it is false.
Expression slots_of(Handle is_one, int64_t size, const Site& s) {
  const Expression count(
      emit<prim::Cumsum>(s, {convert(is_one, DType::i32, s)}, {{"axis", int64_t{0}}, {"reverse", false}}), s);
  return Expression(is_one, s).choose(count - 1.0, count.number(static_cast<double>(size)));
}

/// What `initial` has, where elements, or rows, of x replace those at their slots; others are dropped.
Handle scattered(Handle initial, Handle slots, Handle x, const Site& s) {
  const Shape own = shape(slots);
  const Ints window = shape(x).rank() == 2 ? Ints{1} : Ints{};
  return emit<prim::Scatter>(s, {initial, reshape(slots, own.with_inserted(own.size(), 1), s), x},
                             {{"indices_batching_dims", Ints{}},
                              {"inserted_window_dims", Ints{0}},
                              {"operand_batching_dims", Ints{}},
                              {"scatter_dims_to_operand_dims", Ints{0}},
                              {"update_window_dims", window}});
}

/// The elements, or rows, of sorted ones where `is_one`, then the fill value: `fill`, else the first of these, else 0.
Handle chosen(Handle sorted, Handle is_one, int64_t size, const Operand* fill, const Site& s) {
  const DType d = dtype(sorted);
  const Shape to = shape(sorted).with(0, size);
  Handle with{};
  if (fill != nullptr) {
    with = value_fitting(*fill, d, s);
    if (shape(with).rank() != 0) s.shape_error("the fill value must be a scalar, got " + to_string(type(with)));
    with = broadcast(with, to, s);
  } else {
    with = splat(0, {d, to}, s);
  }
  const int64_t n = extent_of(sorted, 0);
  if (n == 0 || size == 0) return with;
  if (fill == nullptr) {
    const Handle first = scattered(splat(0, {d, to.with(0, 1)}, s), slots_of(is_one, 1, s), sorted, s);
    with = broadcast(first, to, s);
  }
  return scattered(with, slots_of(is_one, size, s), sorted, s);
}

/// All elements in order. The order of -0 and +0 is that of x.
Handle sorted_elements(Handle x, const Site& s) {
  const Handle flat = flattened_to_vector(x, s);
  if (extent_of(flat, 0) - 1 > INT32_MAX)
    s.shape_error("has too many elements for indices of i32, got " + to_string(type(x)));
  return sorted_rows(std::span(&flat, 1), {}, s)[0];
}

Handle operand_of_dtype(const Operand& x, DType d, const Site& s) { return ordered_operand(value(x, d, s), s); }

/// Whether each element of the sorted vector equals one of y, which is sorted, too; NaN equals NaN.
Handle is_in(Handle x, Handle y, const Site& s) {
  if (extent_of(y, 0) == 0) return constant_bools(false, shape(x), s);
  const Expression i(position_of(y, x, side::left, s), s);
  const Expression found(take(y, i.handle(), 0, mode::clip, s.at), s), v(x, s);
  Expression equal = found == v;
  if (is_floating(dtype(x))) equal = equal | ((!(found == found)) & (!(v == v)));
  return equal & (i < static_cast<double>(extent_of(y, 0)));
}

enum class Set { intersection, difference };

/// Sorted elements and which of them a set has.
struct Members {
  Handle sorted, is_one;
};
Members set_of(const Operand& x, const Operand& y, Set which, const Site& s) {
  const DType d = promoted_dtype(x, y, s);
  const Handle a = sorted_elements(operand_of_dtype(x, d, s), s), b = sorted_elements(operand_of_dtype(y, d, s), s);
  if (extent_of(a, 0) == 0) return {a, constant_bools(false, Shape{0}, s)};
  const Expression in(is_in(a, b, s), s);
  return {a, Expression(begins_run(a, s), s) & (which == Set::intersection ? in : !in)};
}

Members symmetric_difference(const Operand& x, const Operand& y, const Site& s) {
  const DType d = promoted_dtype(x, y, s);
  const Handle a = sorted_elements(operand_of_dtype(x, d, s), s), b = sorted_elements(operand_of_dtype(y, d, s), s);
  const Handle parts[] = {a, b};
  const Handle sorted = sorted_elements(concatenated(parts, 0, s), s);
  if (extent_of(sorted, 0) == 0) return {sorted, constant_bools(false, Shape{0}, s)};
  const Expression in_both = Expression(is_in(sorted, a, s), s) & Expression(is_in(sorted, b, s), s);
  return {sorted, Expression(begins_run(sorted, s), s) & !in_both};
}

Members together(const Operand& x, const Operand& y, const Site& s) {
  const DType d = promoted_dtype(x, y, s);
  const Handle parts[] = {flattened_to_vector(operand_of_dtype(x, d, s), s),
                          flattened_to_vector(operand_of_dtype(y, d, s), s)};
  const Handle sorted = sorted_elements(concatenated(parts, 0, s), s);
  return {sorted, extent_of(sorted, 0) == 0 ? constant_bools(false, Shape{0}, s) : begins_run(sorted, s)};
}

Handle sized(const Members& m, int64_t size, const Operand* fill, const Site& s) {
  check_size(size, "the size", s);
  return chosen(m.sorted, m.is_one, size, fill, s);
}

/// With room for all, and how many there are.
std::vector<Handle> with_count(const Members& m, const Site& s) {
  const Handle n = reduce_axes<prim::ReduceSum>(convert(m.is_one, DType::i32, s), {0}, false, s);
  return {chosen(m.sorted, m.is_one, extent_of(m.sorted, 0), nullptr, s), n};
}

// ---- rows

/// The order that sorts the rows of [n, m] lexicographically; equal ones keep theirs.
Handle row_order(Handle rows, const Site& s) {
  const int64_t n = extent_of(rows, 0), m = extent_of(rows, 1);
  const Handle columns = transpose(rows, {1, 0}, s);
  const auto column = [&](int64_t i) { return reshape(slice_axis(columns, 0, i, i + 1, 1, s), Shape{n}, s); };
  constexpr int64_t kMostKeys = 4;
  if (m <= kMostKeys) {
    std::vector<Handle> keys;
    for (int64_t i = 0; i < m; ++i) keys.push_back(column(i));
    return sorted_rows(keys, {.values = false, .indices = true}, s)[0];
  }
  // By the last column first, then stably by those before it.
  const TraceBody by_column = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Handle key = at_indices(in[1], in[0], s);
    const Handle order = sorted_rows(std::span(&key, 1), {.values = false, .indices = true}, s)[0];
    out.push_back(at_indices(in[0], order, s));
  };
  const Handle carry[] = {counted(DType::i32, Shape{n}, 0, s)}, xs[] = {reversed(columns, {0}, s)};
  return scan(by_column, carry, xs, {}, {s.at, {}})[0];
}

/// The slices along an axis as rows [n, m], and the shape of the other dimensions.
struct Rows {
  Handle rows;
  Shape others;
  int axis;
};
Rows rows_of(const Operand& x, int axis, const Site& s) {
  const Handle v = ordered_operand(x, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  if (n - 1 > INT32_MAX) s.shape_error("has too many slices for indices of i32, got " + to_string(type(v)));
  const Handle first = moved_axis(v, a, 0, s);
  const Shape others = shape(first).without(0);
  return {reshape(first, Shape{n, others.num_elements()}, s), others, a};
}

/// Values, where each is first, for each element or slice the number of its value, and how many there are of each.
std::vector<Handle> distinct(const Operand& x, int64_t size, const Operand* fill, std::optional<int> axis,
                             bool equal_nan, const Site& s) {
  check_size(size, "the size", s);
  const Handle v = ordered_operand(x, s);
  std::optional<Rows> rows;
  if (axis) rows = rows_of(v, *axis, s);
  const Handle all = rows ? rows->rows : flattened_to_vector(v, s);
  const int64_t n = extent_of(all, 0);
  if (n - 1 > INT32_MAX) s.shape_error("has too many elements for indices of i32, got " + to_string(type(v)));
  const Type numbers{DType::i32, Shape{size}};
  const Shape inverse_shape = rows ? Shape{n} : shape(v);
  const auto zeros = [&] { return splat(0, numbers, s); };
  const auto in_place = [&](Handle values) {
    if (!rows) return values;
    return moved_axis(reshape(values, rows->others.with_inserted(0, size), s), 0, rows->axis, s);
  };
  const auto without_any = [&](Handle values) {
    return std::vector<Handle>{in_place(values), zeros(), splat(0, {DType::i32, inverse_shape}, s), zeros()};
  };
  if (n == 0) return without_any(chosen(all, all, size, fill, s));
  Handle sorted{}, order{};
  if (rows && extent_of(all, 1) != 1) {
    order = extent_of(all, 1) == 0 ? counted(DType::i32, Shape{n}, 0, s) : row_order(all, s);
    sorted = take(all, order, 0, mode::clip, s.at);
  } else {
    const Handle vector = flattened_to_vector(all, s);
    const std::vector<Handle> both = sorted_rows(std::span(&vector, 1), {.indices = true}, s);
    sorted = reshape(both[0], shape(all), s);
    order = both[1];
  }
  const Handle begins = begins_run(sorted, s, equal_nan);
  const Handle values = chosen(sorted, begins, size, fill, s);
  if (size == 0) return without_any(values);
  // Each element belongs to the run that began last; numbers beyond the size stand for values that were cut off.
  const Handle run =
      Expression(emit<prim::Cumsum>(s, {convert(begins, DType::i32, s)}, {{"axis", int64_t{0}}, {"reverse", false}}),
                 s) -
      1.0;
  const Handle first = scattered(zeros(), slots_of(begins, size, s), order, s);
  const Handle inverse = scattered(splat(0, {DType::i32, Shape{n}}, s), order, run, s);
  const Handle counts = segment_sum(splat(1, {DType::i32, Shape{n}}, s), run, size, s.at);
  return {in_place(values), first, reshape(inverse, inverse_shape, s), counts};
}

}  // namespace

Handle unique(const Operand& x, int64_t size, const Operand* fill, Location at) {
  return unique_of(x, size, fill, {}, true, at);
}

Handle unique_of(const Operand& x, int64_t size, const Operand* fill, std::optional<int> axis, bool equal_nan,
                 Location at) {
  const Site s{"unique", at};
  if (axis) return distinct(x, size, fill, axis, equal_nan, s)[0];
  check_size(size, "the size", s);
  const Handle sorted = sorted_elements(ordered_operand(x, s), s);
  return chosen(sorted, extent_of(sorted, 0) == 0 ? sorted : begins_run(sorted, s, equal_nan), size, fill, s);
}

std::vector<Handle> unique_all(const Operand& x, int64_t size, const Operand* fill, Location at) {
  return unique_all_of(x, size, fill, {}, true, at);
}

std::vector<Handle> unique_all_of(const Operand& x, int64_t size, const Operand* fill, std::optional<int> axis,
                                  bool equal_nan, Location at) {
  return distinct(x, size, fill, axis, equal_nan, {"unique_all", at});
}

#define CALQUE_SET(f, ...)                                                                       \
  Handle f(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at) { \
    const Site s{#f, at};                                                                        \
    return sized(__VA_ARGS__, size, fill, s);                                                    \
  }                                                                                              \
  std::vector<Handle> f##_counted(const Operand& x, const Operand& y, Location at) {             \
    const Site s{#f, at};                                                                        \
    return with_count(__VA_ARGS__, s);                                                           \
  }
CALQUE_SET(union1d, together(x, y, s))
CALQUE_SET(intersect1d, set_of(x, y, Set::intersection, s))
CALQUE_SET(setdiff1d, set_of(x, y, Set::difference, s))
CALQUE_SET(setxor1d, symmetric_difference(x, y, s))
#undef CALQUE_SET

std::vector<Handle> intersect1d_all(const Operand& x, const Operand& y, int64_t size, const Operand* fill,
                                    Location at) {
  const Site s{"intersect1d_all", at};
  check_size(size, "the size", s);
  const DType d = promoted_dtype(x, y, s);
  const Handle a = flattened_to_vector(operand_of_dtype(x, d, s), s),
               b = flattened_to_vector(operand_of_dtype(y, d, s), s);
  const int64_t n = extent_of(a, 0), m = extent_of(b, 0);
  if (std::max(n, m) > INT32_MAX) s.shape_error("has too many elements for indices of i32, got " + to_string(type(a)));
  const auto positions_behind = [&](int64_t count) {
    return splat(static_cast<double>(count), {DType::i32, Shape{size}}, s);
  };
  if (n == 0 || m == 0 || size == 0) {
    const Handle none = constant_bools(false, Shape{n}, s);
    return {chosen(a, none, size, fill, s), positions_behind(n), positions_behind(m)};
  }
  const std::vector<Handle> sorted_a = sorted_rows(std::span(&a, 1), {.indices = true}, s),
                            sorted_b = sorted_rows(std::span(&b, 1), {.indices = true}, s);
  const Expression is_one =
      Expression(begins_run(sorted_a[0], s), s) & Expression(is_in(sorted_a[0], sorted_b[0], s), s);
  const Handle slots = slots_of(is_one, size, s);
  // Sorts are stable: the first of equal ones in y is the first in its sorted elements.
  const Handle there = take(sorted_b[1], position_of(sorted_b[0], sorted_a[0], side::left, s), 0, mode::clip, at);
  return {chosen(sorted_a[0], is_one, size, fill, s), scattered(positions_behind(n), slots, sorted_a[1], s),
          scattered(positions_behind(m), slots, there, s)};
}

}  // namespace calque::detail::ops

namespace calque::detail {

int64_t extent_along(std::string_view function, const AnyArray& x, int axis, Location at) {
  const ops::Site s{function, at};
  return x.shape()[static_cast<size_t>(ops::normal_axis(axis, x.rank(), x.type(), s))];
}

const void* vector_data(std::string_view function, const AnyArray& x, Location at) {
  const ops::Site s{function, at};
  if (x.rank() != 1) s.shape_error("needs a vector, got " + to_string(x.type()));
  return host_data(x, at);
}

}  // namespace calque::detail
