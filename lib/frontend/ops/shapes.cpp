// Functions that rearrange elements, each made of reshapes, broadcasts, transposes, slices, reversals, pads and
// concatenations.
#include <algorithm>

#include "calque/detail/array_data.h"

#include "frontend/ops/common.h"

namespace calque::detail::ops {
namespace {

std::string text(std::span<const int64_t> list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(list[i]);
  return out + "]";
}

/// Sets `out` to the number of elements. Returns false on overflow.
bool count(std::span<const int64_t> dims, int64_t& out) {
  out = 1;
  for (int64_t d : dims) {
    if (__builtin_mul_overflow(out, d, &out)) return false;
  }
  return true;
}

int axis_of(int axis, Handle x, const Site& s) {
  const Type t = type(x);
  return normal_axis(axis, t.shape.rank(), t, s);
}

}  // namespace

Handle reshape(const Operand& x, std::span<const int64_t> extents, Location at) {
  const Site s{"reshape", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const Ints to = inferred_extents(extents, t, at);
  int64_t n = 0;
  if (!count(to, n) || n != t.shape.num_elements()) {
    s.shape_error("needs " + std::to_string(t.shape.num_elements()) + " elements, got " + to_string(t) + " for shape " +
                  text(to));
  }
  return reshape(v, Shape(to), s);
}

Handle transpose(const Operand& x, Location at) {
  const Site s{"transpose", at};
  const Handle v = value(x, s);
  Ints perm;
  for (int i = shape(v).rank() - 1; i >= 0; --i) perm.push_back(i);
  return transpose(v, perm, s);
}

Handle transpose(const Operand& x, std::span<const int> perm, Location at) {
  const Site s{"transpose", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int rank = t.shape.rank();
  if (static_cast<int>(perm.size()) != rank) {
    s.shape_error("needs a permutation of " + std::to_string(rank) + " axes for " + to_string(t) + ", got " +
                  std::to_string(perm.size()));
  }
  Ints order;
  for (int p : perm) {
    const int axis = normal_axis(p, rank, t, s);
    if (std::ranges::find(order, axis) != order.end()) {
      s.shape_error("axis " + std::to_string(p) + " is given twice for " + to_string(t));
    }
    order.push_back(axis);
  }
  return transpose(v, order, s);
}

Handle broadcast_to(const Operand& x, const Shape& to, Location at) {
  const Site s{"broadcast_to", at};
  return broadcast(value(x, s), to, s);
}

Handle expand_dims(const Operand& x, std::span<const int> axes, Location at) {
  const Site s{"expand_dims", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int rank = t.shape.rank() + static_cast<int>(axes.size());
  std::vector<bool> fresh(static_cast<size_t>(rank), false);
  for (int axis : axes) {
    if (axis < -rank || axis >= rank) {
      s.shape_error("axis " + std::to_string(axis) + " is out of range for a result of rank " + std::to_string(rank));
    }
    const auto a = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    if (fresh[a]) s.shape_error("axis " + std::to_string(axis) + " is given twice");
    fresh[a] = true;
  }
  Ints to;
  size_t next = 0;
  for (size_t i = 0; i < fresh.size(); ++i) to.push_back(fresh[i] ? 1 : t.shape[next++]);
  return reshape(v, Shape(to), s);
}

Handle squeeze(const Operand& x, const Axes& axes, Location at) {
  const Site s{"squeeze", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  Ints gone;
  if (axes.every) {
    for (size_t i = 0; i < t.shape.size(); ++i) {
      if (t.shape[i] == 1) gone.push_back(static_cast<int64_t>(i));
    }
  } else {
    gone = normal_axes(axes, t, s);
  }
  Ints to;
  for (size_t i = 0; i < t.shape.size(); ++i) {
    if (std::ranges::find(gone, static_cast<int64_t>(i)) == gone.end()) {
      to.push_back(t.shape[i]);
    } else if (t.shape[i] != 1) {
      s.shape_error("axis " + std::to_string(i) + " of " + to_string(t) + " is not of extent 1");
    }
  }
  return reshape(v, Shape(to), s);
}

Handle diagonal(Handle x, int64_t offset, int axis1, int axis2, const Site& s) {
  const Type t = type(x);
  const int rank = t.shape.rank();
  if (rank < 2) s.shape_error("needs an array of two or more dimensions, got " + to_string(t));
  const int64_t a = normal_axis(axis1, rank, t, s), b = normal_axis(axis2, rank, t, s);
  if (a == b) s.shape_error("axis " + std::to_string(axis2) + " is given twice for " + to_string(t));
  return emit<prim::Diagonal>(s, {x}, {{"axis1", a}, {"axis2", b}, {"offset", offset}});
}

Handle diagonal(const Operand& x, int64_t offset, int axis1, int axis2, Location at) {
  const Site s{"diagonal", at};
  return diagonal(value(x, s), offset, axis1, axis2, s);
}

Handle flip(const Operand& x, const Axes& axes, Location at) {
  const Site s{"flip", at};
  const Handle v = value(x, s);
  const Ints list = normal_axes(axes, type(v), s);
  return list.empty() ? v : emit<prim::Reverse>(s, {v}, {{"axes", list}});
}

Handle pad(const Operand& x, const Operand& fill, std::span<const int64_t> low, std::span<const int64_t> high,
           std::span<const int64_t> interior, Location at) {
  const Site s{"pad", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const Handle f = value_fitting(fill, t.dtype, s);
  if (shape(f).rank() != 0) s.shape_error("the value must be a scalar, got " + to_string(type(f)));
  const size_t rank = t.shape.size();
  const Ints gaps = interior.empty() ? Ints(rank, 0) : Ints(interior.begin(), interior.end());
  if (low.size() != rank || high.size() != rank || gaps.size() != rank) {
    s.shape_error("needs one number for each dimension of " + to_string(t) + ", got low " + text(low) + ", high " +
                  text(high) + (interior.empty() ? "" : ", interior " + text(interior)));
  }
  bool nothing = true;
  for (size_t i = 0; i < rank; ++i) {
    if (gaps[i] < 0) s.shape_error("interior padding must not be negative, got " + text(gaps));
    constexpr int64_t kLimit = int64_t{1} << 40;
    if (std::max({std::abs(low[i]), std::abs(high[i]), gaps[i]}) > kLimit) {
      s.shape_error("padding of " + to_string(t) + " is too large");
    }
    const int64_t dilated = t.shape[i] + std::max<int64_t>(t.shape[i] - 1, 0) * gaps[i];
    if (dilated + low[i] + high[i] < 0) {
      s.shape_error("low " + std::to_string(low[i]) + " and high " + std::to_string(high[i]) +
                    " cut more than dimension " + std::to_string(i) + " of " + to_string(t) + " has");
    }
    nothing = nothing && low[i] == 0 && high[i] == 0 && (gaps[i] == 0 || t.shape[i] < 2);
  }
  if (nothing) return v;
  return emit<prim::Pad>(
      s, {v, f}, {{"high", Ints(high.begin(), high.end())}, {"interior", gaps}, {"low", Ints(low.begin(), low.end())}});
}

// ---- concatenation and splitting

Handle concatenate(std::span<const Operand> xs, int axis, Location at) {
  const Site s{"concatenate", at};
  const std::vector<Handle> values = promoted(xs, s);
  const Type first = type(values[0]);
  const int a = normal_axis(axis, first.shape.rank(), first, s);
  for (Handle v : values) {
    const Type t = type(v);
    if (t.shape.rank() == first.shape.rank() &&
        t.shape.with(static_cast<size_t>(a), 0) == first.shape.with(static_cast<size_t>(a), 0)) {
      continue;
    }
    s.shape_error("arrays differ in shape besides axis " + std::to_string(a) + ", got " + to_string(first) + " and " +
                  to_string(t));
  }
  return concatenated(values, a, s);
}

Handle stack(std::span<const Operand> xs, int axis, Location at) {
  const Site s{"stack", at};
  std::vector<Handle> values = promoted(xs, s);
  const Type first = type(values[0]);
  const int rank = first.shape.rank() + 1;
  if (axis < -rank || axis >= rank) {
    s.shape_error("axis " + std::to_string(axis) + " is out of range for a result of rank " + std::to_string(rank));
  }
  const int a = axis < 0 ? axis + rank : axis;
  for (Handle& v : values) {
    const Type t = type(v);
    if (t.shape != first.shape) {
      s.shape_error("arrays differ in shape, got " + to_string(first) + " and " + to_string(t));
    }
    v = reshape(v, t.shape.with_inserted(static_cast<size_t>(a), 1), s);
  }
  return concatenated(values, a, s);
}

std::vector<Handle> split(const Operand& x, int64_t sections, int axis, Location at) {
  const Site s{"split", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int a = normal_axis(axis, t.shape.rank(), t, s);
  const int64_t extent = t.shape[static_cast<size_t>(a)];
  if (sections < 1 || extent % sections != 0) {
    s.shape_error("axis " + std::to_string(a) + " of " + to_string(t) + " does not split into " +
                  std::to_string(sections) + " equal parts");
  }
  std::vector<Handle> parts;
  const int64_t size = extent / sections;
  for (int64_t i = 0; i < sections; ++i) parts.push_back(slice_axis(v, a, i * size, (i + 1) * size, 1, s));
  return parts;
}

std::vector<Handle> split_at(const Operand& x, std::span<const int64_t> indices, int axis, Location at) {
  const Site s{"split", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int a = normal_axis(axis, t.shape.rank(), t, s);
  const int64_t extent = t.shape[static_cast<size_t>(a)];
  // As in Python's slices: negative split points count from the end, and all are clamped to the extent.
  const auto position = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + extent : i, 0, extent); };
  std::vector<Handle> parts;
  int64_t from = 0;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const int64_t to = i < indices.size() ? position(indices[i]) : extent;
    parts.push_back(slice_axis(v, a, from, std::max(from, to), 1, s));
    from = to;
  }
  return parts;
}

// ---- repetition

Handle tile(const Operand& x, std::span<const int64_t> repetitions, Location at) {
  const Site s{"tile", at};
  Handle v = value(x, s);
  const Type t = type(v);
  for (int64_t r : repetitions) {
    if (r < 0) s.shape_error("repetitions must not be negative, got " + text(repetitions));
  }
  const size_t rank = std::max(repetitions.size(), t.shape.size());
  Ints tiled, axes, flat;
  int64_t total = 0;
  for (size_t i = 0; i < rank; ++i) {
    const size_t from_end = rank - i;
    const int64_t times = from_end > repetitions.size() ? 1 : repetitions[repetitions.size() - from_end];
    tiled.push_back(times);
    int64_t extent = 1;
    if (from_end <= t.shape.size()) {
      extent = t.shape[t.shape.size() - from_end];
      axes.push_back(static_cast<int64_t>(tiled.size()));
      tiled.push_back(extent);
    }
    if (__builtin_mul_overflow(times, extent, &extent)) s.shape_error("the result is too large");
    flat.push_back(extent);
  }
  if (!count(flat, total)) s.shape_error("the result is too large");
  v = broadcast_in(v, Shape(tiled), axes, s);
  return reshape(v, Shape(flat), s);
}

Handle repeat(const Operand& x, int64_t times, int axis, Location at) {
  const Site s{"repeat", at};
  const Handle v = value(x, s);
  const int a = axis_of(axis, v, s);
  const Shape own = shape(v);
  if (times < 0) s.shape_error("the number of repetitions must not be negative, got " + std::to_string(times));
  int64_t extent = 0;
  if (__builtin_mul_overflow(own[static_cast<size_t>(a)], times, &extent)) s.shape_error("the result is too large");
  Ints axes;
  for (int i = 0; i < own.rank(); ++i) axes.push_back(i <= a ? i : i + 1);
  const Handle wide_view = broadcast_in(v, own.with_inserted(static_cast<size_t>(a) + 1, times), axes, s);
  return reshape(wide_view, own.with(static_cast<size_t>(a), extent), s);
}

Handle roll(const Operand& x, int64_t shift, int axis, Location at) {
  const Site s{"roll", at};
  const Handle v = value(x, s);
  const int a = axis_of(axis, v, s);
  const int64_t n = shape(v)[static_cast<size_t>(a)];
  const int64_t by = n == 0 ? 0 : ((shift % n) + n) % n;
  if (by == 0) return v;
  const Handle parts[] = {slice_axis(v, a, n - by, n, 1, s), slice_axis(v, a, 0, n - by, 1, s)};
  return concatenated(parts, a, s);
}

}  // namespace calque::detail::ops
