// Sorting: orders along an axis and parts of them.
#include "frontend/sorting/sorting.h"

#include <algorithm>

namespace calque::detail::ops {

std::vector<Handle> sorted_rows(std::span<const Handle> keys, const SortForm& form, const Site& s) {
  const Shape of = shape(keys[0]);
  const int64_t n = of[of.size() - 1];
  std::vector<Handle> out;
  detail::emit(prim::get<prim::Sort>(), keys,
               {{"descending", form.descending},
                {"indices", form.indices},
                {"limit", form.limit < 0 ? n : form.limit},
                {"values", form.values}},
               {}, s.at, out);
  return out;
}

Handle ordered_operand(const Operand& x, const Site& s) {
  const Handle v = value(x, s);
  if (is_complex(dtype(v))) reject(type(v), "ordered numbers", s);
  return v;
}

Handle axis_last(Handle x, int axis, const Site& s) {
  const int last = shape(x).rank() - 1;
  return axis == last ? x : moved_axis(x, axis, last, s);
}
Handle axis_back(Handle x, int axis, const Site& s) {
  const int last = shape(x).rank() - 1;
  return axis == last ? x : moved_axis(x, last, axis, s);
}

Handle at_indices(Handle x, Handle indices, const Site& s) {
  const Shape to = shape(indices);
  if (to.num_elements() == 0) return splat(0, {dtype(x), to}, s);
  return take_along_axis(x, indices, -1, mode::clip, s.at);
}

void check_size(int64_t size, std::string_view what, const Site& s) {
  if (size < 0) s.shape_error(std::string(what) + " must not be negative, got " + std::to_string(size));
}

namespace {

/// The axis of x, whose elements i32 can number.
int sorted_axis(Handle x, int axis, const Site& s) {
  const int a = axis_in(axis, x, s);
  if (extent_of(x, a) - 1 > INT32_MAX) {
    s.shape_error("axis " + std::to_string(a) + " of " + to_string(type(x)) + " is too long for indices of i32");
  }
  return a;
}

/// One result of a sort along an axis.
Handle along(const Operand& x, int axis, const SortForm& form, const Site& s) {
  const Handle v = ordered_operand(x, s);
  const int a = sorted_axis(v, axis, s);
  const Handle rows = axis_last(v, a, s);
  return axis_back(sorted_rows(std::span(&rows, 1), form, s)[0], a, s);
}

/// Operands of one shape. ShapeError for others, or without any.
std::vector<Handle> alike(std::span<const Operand> xs, const Site& s) {
  if (xs.empty()) s.shape_error("needs an array");
  std::vector<Handle> out;
  for (const Operand& x : xs) out.push_back(value(x, s));
  for (const Handle h : out) {
    if (shape(h) != shape(out[0])) {
      s.shape_error("needs arrays of one shape, got " + to_string(type(out[0])) + " and " + to_string(type(h)));
    }
  }
  return out;
}

void check_rank_in(Handle x, int64_t k, int axis, const Site& s) {
  const int64_t n = extent_of(x, axis);
  if (k < -n || k >= n) {
    s.shape_error("there is no element " + std::to_string(k) + " along axis " + std::to_string(axis) + " of " +
                  to_string(type(x)));
  }
}

}  // namespace

Handle sort(const Operand& x, int axis, bool descending, Location at) {
  return along(x, axis, {.descending = descending}, {"sort", at});
}

Handle argsort(const Operand& x, int axis, bool descending, Location at) {
  return along(x, axis, {.descending = descending, .values = false, .indices = true}, {"argsort", at});
}

Handle partition(const Operand& x, int64_t k, int axis, Location at) {
  const Site s{"partition", at};
  const Handle v = ordered_operand(x, s);
  check_rank_in(v, k, axis_in(axis, v, s), s);
  return along(v, axis, {}, s);
}

Handle argpartition(const Operand& x, int64_t k, int axis, Location at) {
  const Site s{"argpartition", at};
  const Handle v = ordered_operand(x, s);
  check_rank_in(v, k, axis_in(axis, v, s), s);
  return along(v, axis, {.values = false, .indices = true}, s);
}

std::vector<Handle> top_k(const Operand& x, int64_t k, Location at) {
  const Site s{"top_k", at};
  const Handle v = ordered_operand(x, s);
  if (shape(v).rank() == 0) s.shape_error("needs an array of rank 1 or more, got " + to_string(type(v)));
  const int a = sorted_axis(v, -1, s);
  if (k < 0 || k > extent_of(v, a)) {
    s.shape_error("k is " + std::to_string(k) + ", which is not in [0, " + std::to_string(extent_of(v, a)) + "] of " +
                  to_string(type(v)));
  }
  return sorted_rows(std::span(&v, 1), {.descending = true, .indices = true, .limit = k}, s);
}

std::vector<Handle> top_k_along(const Operand& x, int64_t k, int axis, Location at) {
  const Site s{"top_k", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  std::vector<Handle> out = top_k(axis_last(v, a, s), k, at);
  for (Handle& h : out) h = axis_back(h, a, s);
  return out;
}

std::vector<Handle> sort_by(std::span<const Operand> xs, int64_t keys, int axis, bool descending, Location at) {
  const Site s{"sort_by", at};
  std::vector<Handle> all = alike(xs, s);
  if (keys < 1 || keys > static_cast<int64_t>(all.size())) {
    s.shape_error("the number of keys is " + std::to_string(keys) + ", which is not in [1, " +
                  std::to_string(all.size()) + "]");
  }
  const auto count = static_cast<size_t>(keys);
  const int a = sorted_axis(all[0], axis, s);
  for (size_t i = 0; i < all.size(); ++i) {
    if (i < count) ordered_operand(all[i], s);
    all[i] = axis_last(all[i], a, s);
  }
  const bool has_more = all.size() > count;
  std::vector<Handle> out =
      sorted_rows(std::span(all).first(count), {.descending = descending, .indices = has_more}, s);
  if (has_more) {
    const Handle order = out.back();
    out.pop_back();
    for (size_t i = count; i < all.size(); ++i) out.push_back(at_indices(all[i], order, s));
  }
  for (Handle& h : out) h = axis_back(h, a, s);
  return out;
}

Handle lexsort(std::span<const Operand> keys, int axis, Location at) {
  const Site s{"lexsort", at};
  std::vector<Handle> all = alike(keys, s);
  const int a = sorted_axis(all[0], axis, s);
  for (Handle& h : all) h = axis_last(ordered_operand(h, s), a, s);
  std::reverse(all.begin(), all.end());
  return axis_back(sorted_rows(all, {.values = false, .indices = true}, s)[0], a, s);
}

}  // namespace calque::detail::ops
