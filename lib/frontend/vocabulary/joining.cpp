// Arrays joined, split and laid out as grids under NumPy's names.
#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

Handle joined_along(std::span<const Handle> xs, int axis, const Site& s) {
  const Type first = type(xs[0]);
  for (Handle x : xs) {
    const Type t = type(x);
    const auto a = static_cast<size_t>(axis);
    if (t.shape.rank() == first.shape.rank() && t.shape.with(a, 0) == first.shape.with(a, 0)) continue;
    s.shape_error("arrays differ in shape besides axis " + std::to_string(axis) + ", got " + to_string(first) +
                  " and " + to_string(t));
  }
  return concatenated(xs, axis, s);
}

std::vector<Handle> cut_at(Handle x, int axis, std::span<const int64_t> ends, const Site& s) {
  std::vector<Handle> parts;
  int64_t from = 0;
  for (int64_t to : ends) {
    parts.push_back(slice_axis(x, axis, from, to, 1, s));
    from = to;
  }
  return parts;
}

/// Positions counted from the front, sorted, each once. ShapeError for one that is out of range.
Ints positions_in(std::span<const int64_t> positions, int64_t n, const Site& s) {
  Ints out;
  for (int64_t p : positions) {
    if (p < -n || p >= n) {
      s.shape_error("position " + std::to_string(p) + " is out of range for an axis of " + std::to_string(n));
    }
    out.push_back(p < 0 ? p + n : p);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The axis of hsplit, vsplit and dsplit.
int split_axis(char which, const Type& t, const Site& s) {
  const int rank = t.shape.rank(), least = which == 'h' ? 1 : which == 'v' ? 2 : 3;
  if (rank < least) {
    s.shape_error("needs an array of " + std::to_string(least) + " or more dimensions, got " + to_string(t));
  }
  return which == 'h' ? (rank == 1 ? 0 : 1) : which == 'v' ? 0 : 2;
}
constexpr std::string_view split_name(char which) {
  return which == 'h' ? "hsplit" : which == 'v' ? "vsplit" : "dsplit";
}

}  // namespace

Handle hstack(std::span<const Operand> xs, Location at) {
  const Site s{"hstack", at};
  std::vector<Handle> values = promoted(xs, s);
  for (Handle& v : values) v = atleast_1d(v, at);
  return joined_along(values, shape(values[0]).rank() == 1 ? 0 : 1, s);
}

Handle vstack(std::span<const Operand> xs, Location at) {
  const Site s{"vstack", at};
  std::vector<Handle> values = promoted(xs, s);
  for (Handle& v : values) v = atleast_2d(v, at);
  return joined_along(values, 0, s);
}

Handle dstack(std::span<const Operand> xs, Location at) {
  const Site s{"dstack", at};
  std::vector<Handle> values = promoted(xs, s);
  for (Handle& v : values) v = atleast_3d(v, at);
  return joined_along(values, 2, s);
}

Handle column_stack(std::span<const Operand> xs, Location at) {
  const Site s{"column_stack", at};
  std::vector<Handle> values = promoted(xs, s);
  for (Handle& v : values) {
    const Shape own = shape(v);
    if (own.rank() < 2) v = reshape(v, Shape{own.num_elements(), 1}, s);
  }
  return joined_along(values, 1, s);
}

Handle block(std::span<const Operand> xs, std::span<const int64_t> rows, Location at) {
  const Site s{"block", at};
  const std::vector<Handle> values = promoted(xs, s);
  int rank = 2;
  for (Handle v : values) rank = std::max(rank, shape(v).rank());
  std::vector<Handle> joined;
  size_t next = 0;
  for (int64_t count : rows) {
    if (count == 0) s.shape_error("a row has no blocks");
    std::vector<Handle> row;
    for (int64_t i = 0; i < count; ++i) {
      const Handle v = values[next++];
      Ints to(static_cast<size_t>(rank) - shape(v).size(), 1);
      const Shape own = shape(v);
      to.insert(to.end(), own.begin(), own.end());
      row.push_back(reshape(v, Shape(to), s));
    }
    joined.push_back(joined_along(row, rank - 1, s));
  }
  return joined_along(joined, rank - 2, s);
}

Handle append(const Operand& x, const Operand& y, std::optional<int> axis, Location at) {
  const Site s{"append", at};
  const Operand both[] = {x, y};
  std::vector<Handle> values = promoted(both, s);
  if (!axis) {
    for (Handle& v : values) v = flattened_to_vector(v, s);
    return concatenated(values, 0, s);
  }
  return joined_along(values, axis_in(*axis, values[0], s), s);
}

std::vector<Handle> array_split(const Operand& x, int64_t sections, int axis, Location at) {
  const Site s{"array_split", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  if (sections < 1) s.shape_error("the number of sections must be positive, got " + std::to_string(sections));
  // The first n % sections parts have one element more.
  Ints ends;
  for (int64_t i = 0, end = 0; i < sections; ++i) {
    end += n / sections + (i < n % sections ? 1 : 0);
    ends.push_back(end);
  }
  return cut_at(v, a, ends, s);
}

std::vector<Handle> split_along(const Operand& x, char which, int64_t sections, Location at) {
  const Site s{split_name(which), at};
  const Handle v = value(x, s);
  return split(v, sections, split_axis(which, type(v), s), at);
}

std::vector<Handle> split_along_at(const Operand& x, char which, std::span<const int64_t> indices, Location at) {
  const Site s{split_name(which), at};
  const Handle v = value(x, s);
  return split_at(v, indices, split_axis(which, type(v), s), at);
}

std::vector<Handle> unstack(const Operand& x, int axis, Location at) {
  const Site s{"unstack", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  std::vector<Handle> parts;
  const Shape without = shape(v).without(static_cast<size_t>(a));
  for (int64_t i = 0; i < extent_of(v, a); ++i) {
    parts.push_back(reshape(slice_axis(v, a, i, i + 1, 1, s), without, s));
  }
  return parts;
}

std::vector<Handle> broadcast_arrays(std::span<const Operand> xs, Location at) {
  const Site s{"broadcast_arrays", at};
  std::vector<Handle> values;
  for (const Operand& x : xs) values.push_back(value(x, s));
  broadcast_together(values, s);
  return values;
}

std::vector<Handle> meshgrid(std::span<const Operand> xs, indexing order, bool sparse, Location at) {
  const Site s{"meshgrid", at};
  std::vector<Handle> values;
  Ints full;
  for (const Operand& x : xs) {
    const Handle v = value(x, s);
    if (shape(v).rank() > 1) s.shape_error("needs vectors and scalars, got " + to_string(type(v)));
    values.push_back(flattened_to_vector(v, s));
    full.push_back(extent_of(values.back(), 0));
  }
  const auto dimension = [&](size_t i) { return order == indexing::xy && values.size() > 1 && i < 2 ? 1 - i : i; };
  Ints grid(full.size());
  for (size_t i = 0; i < full.size(); ++i) grid[dimension(i)] = full[i];
  if (!sparse) checked_product(grid, s);
  for (size_t i = 0; i < values.size(); ++i) {
    Ints thin(full.size(), 1);
    thin[dimension(i)] = full[i];
    values[i] = sparse ? reshape(values[i], Shape(thin), s)
                       : broadcast_in(values[i], Shape(grid), {static_cast<int64_t>(dimension(i))}, s);
  }
  return values;
}

Handle insert(const Operand& x, std::span<const int64_t> positions, const Operand& values, int axis, Location at) {
  const Site s{"insert", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int a = axis_in(axis, v, s);
  const auto ua = static_cast<size_t>(a);
  const int64_t n = t.shape[ua];
  std::vector<std::pair<int64_t, int64_t>> order;  // where, which value
  for (int64_t p : positions) {
    if (p < -n || p > n) {
      s.shape_error("position " + std::to_string(p) + " is out of range for an axis of " + std::to_string(n));
    }
    order.emplace_back(p < 0 ? p + n : p, std::ssize(order));
  }
  std::ranges::sort(order);
  // One position takes all values along the axis.
  const Handle given = value_fitting(values, t.dtype, s);
  const Type tg = type(given);
  int64_t each = 1;
  if (order.size() == 1 && tg.shape.rank() == t.shape.rank()) each = tg.shape[ua];
  const Shape wanted = t.shape.with(ua, std::ssize(order) * each);
  const Handle all = broadcast(given, wanted, s);
  std::vector<Handle> parts;
  int64_t from = 0;
  const auto old = [&](int64_t to) {
    if (to > from) parts.push_back(slice_axis(v, a, from, to, 1, s));
    from = to;
  };
  for (const auto& [where_to, which] : order) {
    old(where_to);
    parts.push_back(slice_axis(all, a, which * each, (which + 1) * each, 1, s));
  }
  old(n);
  if (parts.empty()) return v;
  return concatenated(parts, a, s);
}

Handle delete_(const Operand& x, std::span<const int64_t> positions, int axis, Location at) {
  const Site s{"delete_", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  std::vector<Handle> parts;
  int64_t from = 0;
  Ints gone = positions_in(positions, n, s);
  gone.push_back(n);
  for (int64_t p : gone) {
    if (p > from) parts.push_back(slice_axis(v, a, from, p, 1, s));
    from = p + 1;
  }
  if (parts.empty()) return slice_axis(v, a, 0, 0, 1, s);
  return concatenated(parts, a, s);
}

}  // namespace calque::detail::ops
