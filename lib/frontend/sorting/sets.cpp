// Distinct elements and sets of them, with as many elements as the caller says.
#include "frontend/sorting/sorting.h"
#include "frontend/vocabulary/binary_search.h"

namespace calque::detail::ops {
namespace {

/// The first element of each run of equal ones in a sorted vector; NaN equals NaN.
Handle begins_run(Handle sorted, const Site& s) {
  const int64_t n = extent_of(sorted, 0);
  const Expression before(slice_axis(sorted, 0, 0, n - 1, 1, s), s), here(slice_axis(sorted, 0, 1, n, 1, s), s);
  Expression equal = before == here;
  if (is_floating(dtype(sorted))) equal = equal | ((!(before == before)) & (!(here == here)));
  const Handle parts[] = {constant_bools(true, Shape{1}, s), !equal};
  return concatenated(parts, 0, s);
}

/// For each element the number of true ones before it, or `size` where it is false.
Expression slots_of(Handle is_one, int64_t size, const Site& s) {
  const Expression count(
      emit<prim::Cumsum>(s, {convert(is_one, DType::i32, s)}, {{"axis", int64_t{0}}, {"reverse", false}}), s);
  return Expression(is_one, s).choose(count - 1.0, count.number(static_cast<double>(size)));
}

/// A vector of what `initial` has, where elements of x replace those at their slots; others are dropped.
Handle scattered(Handle initial, Handle slots, Handle x, const Site& s) {
  const Shape own = shape(slots);
  return emit<prim::Scatter>(s, {initial, reshape(slots, own.with_inserted(own.size(), 1), s), x},
                             {{"indices_batching_dims", Ints{}},
                              {"inserted_window_dims", Ints{0}},
                              {"operand_batching_dims", Ints{}},
                              {"scatter_dims_to_operand_dims", Ints{0}},
                              {"update_window_dims", Ints{}}});
}

/// The elements of a sorted vector where `is_one`, then the fill value: `fill`, else the first of these elements, else
/// 0.
Handle chosen(Handle sorted, Handle is_one, int64_t size, const Operand* fill, const Site& s) {
  const DType d = dtype(sorted);
  const Shape to{size};
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
    const Handle first = scattered(splat(0, {d, Shape{1}}, s), slots_of(is_one, 1, s), sorted, s);
    with = broadcast(reshape(first, Shape{}, s), to, s);
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

Handle set_of(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Set which, const Site& s) {
  check_size(size, "the size", s);
  const DType d = promoted_dtype(x, y, s);
  const Handle a = sorted_elements(operand_of_dtype(x, d, s), s), b = sorted_elements(operand_of_dtype(y, d, s), s);
  if (extent_of(a, 0) == 0) return chosen(a, a, size, fill, s);
  const Expression in(is_in(a, b, s), s);
  const Expression is_one = Expression(begins_run(a, s), s) & (which == Set::intersection ? in : !in);
  return chosen(a, is_one, size, fill, s);
}

}  // namespace

Handle unique(const Operand& x, int64_t size, const Operand* fill, Location at) {
  const Site s{"unique", at};
  check_size(size, "the size", s);
  const Handle sorted = sorted_elements(ordered_operand(x, s), s);
  return chosen(sorted, extent_of(sorted, 0) == 0 ? sorted : begins_run(sorted, s), size, fill, s);
}

std::vector<Handle> unique_all(const Operand& x, int64_t size, const Operand* fill, Location at) {
  const Site s{"unique_all", at};
  check_size(size, "the size", s);
  const Handle v = ordered_operand(x, s);
  const Handle flat = flattened_to_vector(v, s);
  const int64_t n = extent_of(flat, 0);
  if (n - 1 > INT32_MAX) s.shape_error("has too many elements for indices of i32, got " + to_string(type(v)));
  const Type numbers{DType::i32, Shape{size}};
  const auto zeros = [&] { return splat(0, numbers, s); };
  if (n == 0) return {chosen(flat, flat, size, fill, s), zeros(), splat(0, {DType::i32, shape(v)}, s), zeros()};
  const std::vector<Handle> both = sorted_rows(std::span(&flat, 1), {.indices = true}, s);
  const Handle begins = begins_run(both[0], s);
  const Handle values = chosen(both[0], begins, size, fill, s);
  if (size == 0) return {values, zeros(), splat(0, {DType::i32, shape(v)}, s), zeros()};
  // Each element belongs to the run that began last; numbers beyond the size stand for values that were cut off.
  const Handle run =
      Expression(emit<prim::Cumsum>(s, {convert(begins, DType::i32, s)}, {{"axis", int64_t{0}}, {"reverse", false}}),
                 s) -
      1.0;
  const Handle first = scattered(zeros(), slots_of(begins, size, s), both[1], s);
  const Handle inverse = scattered(splat(0, {DType::i32, Shape{n}}, s), both[1], run, s);
  const Handle counts = segment_sum(splat(1, {DType::i32, Shape{n}}, s), run, size, at);
  return {values, first, reshape(inverse, shape(v), s), counts};
}

Handle union1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at) {
  const Site s{"union1d", at};
  check_size(size, "the size", s);
  const DType d = promoted_dtype(x, y, s);
  const Handle parts[] = {flattened_to_vector(operand_of_dtype(x, d, s), s),
                          flattened_to_vector(operand_of_dtype(y, d, s), s)};
  const Handle sorted = sorted_elements(concatenated(parts, 0, s), s);
  return chosen(sorted, extent_of(sorted, 0) == 0 ? sorted : begins_run(sorted, s), size, fill, s);
}

Handle intersect1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at) {
  return set_of(x, y, size, fill, Set::intersection, {"intersect1d", at});
}
Handle setdiff1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at) {
  return set_of(x, y, size, fill, Set::difference, {"setdiff1d", at});
}

Handle setxor1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at) {
  const Site s{"setxor1d", at};
  check_size(size, "the size", s);
  const DType d = promoted_dtype(x, y, s);
  const Handle a = sorted_elements(operand_of_dtype(x, d, s), s), b = sorted_elements(operand_of_dtype(y, d, s), s);
  const Handle parts[] = {a, b};
  const Handle sorted = sorted_elements(concatenated(parts, 0, s), s);
  if (extent_of(sorted, 0) == 0) return chosen(sorted, sorted, size, fill, s);
  const Expression in_both = Expression(is_in(sorted, a, s), s) & Expression(is_in(sorted, b, s), s);
  return chosen(sorted, Expression(begins_run(sorted, s), s) & !in_both, size, fill, s);
}

}  // namespace calque::detail::ops
