// Functions that rearrange or repeat elements under NumPy's names.
#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

/// Axes in the order in which they were given.
std::vector<int> ordered_axes(const Axes& axes, const Type& of, const Site& s) {
  if (axes.every) s.shape_error("needs axes, got none");
  std::vector<int> out;
  for (int axis : axes.list) {
    const int a = normal_axis(axis, of.shape.rank(), of, s);
    if (std::ranges::find(out, a) != out.end()) {
      s.shape_error("axis " + std::to_string(axis) + " is given twice for " + to_string(of));
    }
    out.push_back(a);
  }
  return out;
}

Handle at_least_of_rank(const Operand& x, int rank, const Site& s) {
  const Handle v = value(x, s);
  const Shape own = shape(v);
  if (own.rank() >= rank) return v;
  Ints to(own.begin(), own.end());
  if (rank == 3) {
    // [n] is [1, n, 1] and [m, n] is [m, n, 1].
    if (to.size() < 2) to.insert(to.begin(), 1);
    if (to.size() < 2) to.push_back(1);
    to.push_back(1);
  } else {
    while (static_cast<int>(to.size()) < rank) to.insert(to.begin(), 1);
  }
  return reshape(v, Shape(to), s);
}

Handle rolled(Handle x, int64_t shift, int axis, const Site& s) {
  const int64_t n = extent_of(x, axis), by = n == 0 ? 0 : ((shift % n) + n) % n;
  if (by == 0) return x;
  const Handle parts[] = {slice_axis(x, axis, n - by, n, 1, s), slice_axis(x, axis, 0, n - by, 1, s)};
  return concatenated(parts, axis, s);
}

}  // namespace

Handle arranged(Handle x, int axis, const Ints& indices, const Site& s) {
  struct Run {
    int64_t first, step, count;
  };
  std::vector<Run> runs;
  for (int64_t i : indices) {
    if (!runs.empty()) {
      Run& r = runs.back();
      const int64_t step = i - (r.first + r.step * (r.count - 1));
      if (r.count == 1 ? step >= -1 && step <= 1 : step == r.step) {
        r.step = step;
        ++r.count;
        continue;
      }
    }
    runs.push_back({i, 0, 1});
  }
  constexpr size_t kMostRuns = 16;
  if (runs.size() > kMostRuns) {
    const Handle list = constant_indices(indices, Shape{std::ssize(indices)}, s);
    return take(x, list, axis, mode::clip, s.at);
  }
  std::vector<Handle> parts;
  for (const Run& r : runs) {
    const int64_t last = r.first + r.step * (r.count - 1);
    const Handle part = slice_axis(x, axis, std::min(r.first, last), std::max(r.first, last) + 1, 1, s);
    if (r.step == 0) {
      parts.push_back(broadcast(part, shape(part).with(static_cast<size_t>(axis), r.count), s));
    } else {
      parts.push_back(r.step < 0 ? reversed(part, {axis}, s) : part);
    }
  }
  if (parts.empty()) return slice_axis(x, axis, 0, 0, 1, s);
  return concatenated(parts, axis, s);
}

Handle moveaxis(const Operand& x, const Axes& source, const Axes& destination, Location at) {
  const Site s{"moveaxis", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const std::vector<int> from = ordered_axes(source, t, s), to = ordered_axes(destination, t, s);
  if (from.size() != to.size()) {
    s.shape_error("needs as many destinations as sources, got " + std::to_string(from.size()) + " and " +
                  std::to_string(to.size()));
  }
  Ints perm(t.shape.size(), -1);
  for (size_t i = 0; i < from.size(); ++i) perm[static_cast<size_t>(to[i])] = from[i];
  int next = 0;
  for (int64_t& p : perm) {
    if (p >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    p = next++;
  }
  return transpose(v, perm, s);
}

Handle swapaxes(const Operand& x, int axis1, int axis2, Location at) {
  const Site s{"swapaxes", at};
  const Handle v = value(x, s);
  Ints perm;
  for (int i = 0; i < shape(v).rank(); ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis_in(axis1, v, s))], perm[static_cast<size_t>(axis_in(axis2, v, s))]);
  return transpose(v, perm, s);
}

Handle rollaxis(const Operand& x, int axis, int start, Location at) {
  const Site s{"rollaxis", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int rank = t.shape.rank(), from = axis_in(axis, v, s);
  if (start < -rank || start > rank) {
    s.shape_error("start " + std::to_string(start) + " is out of range for " + to_string(t));
  }
  const int before = start < 0 ? start + rank : start;
  return moved_axis(v, from, before > from ? before - 1 : before, s);
}

Handle rot90(const Operand& x, int64_t k, int axis1, int axis2, Location at) {
  const Site s{"rot90", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  if (t.shape.rank() < 2) s.shape_error("needs an array of two or more dimensions, got " + to_string(t));
  const int a = axis_in(axis1, v, s), b = axis_in(axis2, v, s);
  if (a == b) s.shape_error("axis " + std::to_string(axis2) + " is given twice for " + to_string(t));
  const int64_t quarter = ((k % 4) + 4) % 4;
  const Ints both = a < b ? Ints{a, b} : Ints{b, a};
  switch (quarter) {
    case 0:
      return v;
    case 1:
      return swapaxes(reversed(v, {b}, s), a, b, at);
    case 2:
      return reversed(v, both, s);
    default:
      return reversed(swapaxes(v, a, b, at), {b}, s);
  }
}

Handle fliplr(const Operand& x, Location at) {
  const Site s{"fliplr", at};
  const Handle v = value(x, s);
  if (shape(v).rank() < 2) s.shape_error("needs an array of two or more dimensions, got " + to_string(type(v)));
  return reversed(v, {1}, s);
}

Handle flipud(const Operand& x, Location at) {
  const Site s{"flipud", at};
  const Handle v = value(x, s);
  if (shape(v).rank() < 1) s.shape_error("needs an array of one or more dimensions, got " + to_string(type(v)));
  return reversed(v, {0}, s);
}

Handle atleast_1d(const Operand& x, Location at) { return at_least_of_rank(x, 1, {"atleast_1d", at}); }
Handle atleast_2d(const Operand& x, Location at) { return at_least_of_rank(x, 2, {"atleast_2d", at}); }
Handle atleast_3d(const Operand& x, Location at) { return at_least_of_rank(x, 3, {"atleast_3d", at}); }

Handle ravel(const Operand& x, Location at) {
  const Site s{"ravel", at};
  return flattened_to_vector(value(x, s), s);
}

Handle matrix_transpose(const Operand& x, Location at) {
  const Site s{"matrix_transpose", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  if (t.shape.rank() < 2) s.shape_error("needs matrices [..., m, n], got " + to_string(t));
  return swapaxes(v, -1, -2, at);
}

Handle resize(const Operand& x, const Shape& to, Location at) {
  const Site s{"resize", at};
  const Handle v = flattened_to_vector(value(x, s), s);
  const int64_t own = extent_of(v, 0), wanted = to.num_elements();
  if (wanted == 0) return reshape(slice_axis(v, 0, 0, 0, 1, s), to, s);
  if (own == 0) return splat(0, {dtype(v), to}, s);
  const Ints times{(wanted + own - 1) / own};
  const Handle repeated = times[0] == 1 ? v : tile(v, times, at);
  return reshape(slice_axis(repeated, 0, 0, wanted, 1, s), to, s);
}

Handle roll_flat(const Operand& x, int64_t shift, Location at) {
  const Site s{"roll", at};
  const Handle v = value(x, s);
  return reshape(rolled(flattened_to_vector(v, s), shift, 0, s), shape(v), s);
}

Handle roll_axes(const Operand& x, std::span<const int64_t> shifts, const Axes& axes, Location at) {
  const Site s{"roll", at};
  Handle v = value(x, s);
  const Type t = type(v);
  std::vector<int> list;
  if (axes.every) s.shape_error("needs an axis for each shift");
  for (int axis : axes.list) list.push_back(normal_axis(axis, t.shape.rank(), t, s));
  if (shifts.size() != list.size() && shifts.size() != 1) {
    s.shape_error("needs a shift for each of " + std::to_string(list.size()) + " axes, got " +
                  std::to_string(shifts.size()));
  }
  for (size_t i = 0; i < list.size(); ++i) v = rolled(v, shifts[shifts.size() == 1 ? 0 : i], list[i], s);
  return v;
}

Handle roll_by(const Operand& x, const Operand& shift, int axis, Location at) {
  const Site s{"roll", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  Handle by = value(shift, s);
  const Type t = type(by);
  if (!is_integer(t.dtype)) reject(t, "an integer shift", s);
  if (t.shape.rank() != 0) s.shape_error("the shift must be a scalar, got " + to_string(t));
  const int64_t n = extent_of(v, a);
  if (n == 0) return v;
  // The window of the array followed by itself that begins at -shift modulo n.
  DType d = DType::i32;
  if (size_of(t.dtype) == 8 || t.dtype == DType::u32 || n > INT32_MAX / 2) d = DType::i64;
  if (t.dtype == DType::u64) by = emit<prim::Rem>(s, {by, splat(static_cast<double>(n), t, s)});
  by = convert(by, d, s);
  const Handle size = splat(static_cast<double>(n), {d, {}}, s);
  const Handle within = mod(by, size, at);
  const Handle start = emit<prim::Sub>(s, {size, within});
  const Handle both[] = {v, v};
  std::vector<Operand> starts(shape(v).size(), Operand(splat(0, {d, {}}, s)));
  starts[static_cast<size_t>(a)] = start;
  const Shape sizes = shape(v);
  return dynamic_slice(concatenated(both, a, s), starts, sizes.dims(), at);
}

// ---- repetition

Handle repeat_counts(const Operand& x, std::span<const int64_t> counts, int axis, Location at) {
  const Site s{"repeat", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  if (std::ssize(counts) == 1) return repeat(v, counts[0], axis, at);
  if (std::ssize(counts) != n) {
    s.shape_error("needs a count for each of " + std::to_string(n) + " elements along axis " + std::to_string(a) +
                  " of " + to_string(type(v)) + ", got " + std::to_string(counts.size()));
  }
  Ints indices;
  int64_t total = 0;
  for (int64_t c : counts) {
    if (c < 0) s.shape_error("counts must not be negative, got " + std::to_string(c));
    constexpr int64_t kMost = int64_t{1} << 31;
    if (c > kMost || (total += c) > kMost) s.shape_error("the result is too large");
  }
  for (int64_t i = 0; i < n; ++i) indices.insert(indices.end(), static_cast<size_t>(counts[static_cast<size_t>(i)]), i);
  return arranged(v, a, indices, s);
}

Handle repeat_by(const Operand& x, const Operand& counts, int64_t total, int axis, Location at) {
  const Site s{"repeat", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  const Handle c = vector_operand(value(counts, s), "counts", s);
  if (!is_integer(dtype(c))) reject(type(c), "integer counts", s);
  if (extent_of(c, 0) != n) {
    s.shape_error("needs a count for each of " + std::to_string(n) + " elements, got " + to_string(type(c)));
  }
  if (total < 0) s.shape_error("the total must not be negative, got " + std::to_string(total));
  if (total > INT32_MAX) s.shape_error("the result is too large");
  if (n == 0 && total > 0) s.shape_error("no elements to repeat in " + to_string(type(v)));
  // Element i begins where the counts before it end: a one there, and the sums of the ones number the elements.
  const Handle ends = emit<prim::Cumsum>(s, {convert(c, DType::i32, s)}, {{"axis", int64_t{0}}, {"reverse", false}});
  const Handle zeros_of = splat(0, {DType::i32, Shape{total}}, s);
  if (total == 0) return slice_axis(v, a, 0, 0, 1, s);
  const Handle starts = slice_axis(ends, 0, 0, n - 1, 1, s);
  const Handle ones_at = n == 1 ? zeros_of : scatter_add(zeros_of, starts, lit(1), at);
  const Handle which = emit<prim::Cumsum>(s, {ones_at}, {{"axis", int64_t{0}}, {"reverse", false}});
  return take(v, which, a, mode::clip, at);
}

}  // namespace calque::detail::ops
