// Padding by what an array has: mirrored, periodic, ramps and statistics.
#include "calque/detail/sorting.h"

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

struct PaddedDimension {
  int axis;
  int64_t low, high;
};

/// The element of an axis of extent n that stands at index i, which may be outside.
int64_t padded_index(int64_t i, int64_t n, pad_mode how) {
  const auto wrapped = [](int64_t k, int64_t period) { return ((k % period) + period) % period; };
  switch (how) {
    case pad_mode::edge:
      return std::clamp<int64_t>(i, 0, n - 1);
    case pad_mode::wrap:
      return wrapped(i, n);
    case pad_mode::symmetric: {
      const int64_t k = wrapped(i, 2 * n);
      return k < n ? k : 2 * n - 1 - k;
    }
    case pad_mode::reflect: {
      if (n == 1) return 0;
      const int64_t k = wrapped(i, 2 * n - 2);
      return k < n ? k : 2 * n - 2 - k;
    }
    default:
      __builtin_unreachable();
  }
}

/// The pair of an option for a dimension. ShapeError unless there is one for all or one for each.
template <class T>
std::pair<T, T> pair_of(const std::vector<std::pair<T, T>>& pairs, std::string_view name, const Type& of, int axis,
                        const Site& s) {
  if (pairs.size() == 1) return pairs[0];
  if (pairs.size() != of.shape.size()) {
    s.shape_error("needs one pair of " + std::string(name) + " or one for each dimension of " + to_string(of) +
                  ", got " + std::to_string(pairs.size()));
  }
  return pairs[static_cast<size_t>(axis)];
}

Handle edge_of(Handle x, int axis, bool first, const Site& s) {
  const int64_t n = extent_of(x, axis), i = first ? 0 : n - 1;
  return slice_axis(x, axis, i, i + 1, 1, s);
}

/// Odd reflections. Each is twice the edge there less what is mirrored, so that behind an even number of them the
/// elements of x return, moved by twice the difference of both edges.
Handle reflected_oddly(Handle x, const PaddedDimension& d, pad_mode how, const Site& s) {
  const Type t = type(x);
  if (is_bool(t.dtype)) reject(t, "numbers for an odd reflection", s);
  const int64_t n = extent_of(x, d.axis);
  if (how == pad_mode::reflect && n == 1) {
    return arranged(x, d.axis, Ints(static_cast<size_t>(d.low + 1 + d.high), 0), s);
  }
  const int64_t period = how == pad_mode::reflect ? 2 * n - 2 : 2 * n;
  const auto side = [&](int64_t from, int64_t to) {
    // sign x[index] + before x[0] + behind x[n - 1], where an infinity times a factor of 0 must not occur.
    Ints indices;
    std::vector<double> signs, before, behind;
    for (int64_t i = from; i < to; ++i) {
      const int64_t k = ((i % period) + period) % period, turns = 2 * ((i - k) / period);
      const bool is_mirrored = k >= n;
      indices.push_back(padded_index(i, n, how));
      signs.push_back(is_mirrored ? -1 : 1);
      before.push_back(static_cast<double>(-turns));
      behind.push_back(static_cast<double>(turns + (is_mirrored ? 2 : 0)));
    }
    const Handle base = arranged(x, d.axis, indices, s);
    const Shape to_shape = shape(base);
    const auto factors = [&](const std::vector<double>& list) {
      const Handle vector = constant(AnyArray::from<double>(std::span(list), Shape{std::ssize(list)}), s.at);
      return Expression(broadcast_in(convert(vector, t.dtype, s), to_shape, {d.axis}, s), s);
    };
    const auto edge = [&](bool first) { return Expression(broadcast(edge_of(x, d.axis, first, s), to_shape, s), s); };
    const auto some = [](const std::vector<double>& list) {
      return std::ranges::any_of(list, [](double f) { return f != 0; });
    };
    Expression y = factors(signs) * Expression(base, s);
    if (some(before)) y = factors(before) * edge(true) + y;
    if (some(behind)) y = factors(behind) * edge(false) + y;
    return y.handle();
  };
  std::vector<Handle> parts;
  if (d.low > 0) parts.push_back(side(-d.low, 0));
  parts.push_back(x);
  if (d.high > 0) parts.push_back(side(n, n + d.high));
  return concatenated(parts, d.axis, s);
}

/// From the end value at the outermost element by equal steps to the edge, which is not repeated.
Handle ramp(Handle x, int axis, int64_t count, double end, bool first, const Site& s) {
  const DType own = dtype(x), d = is_inexact(own) ? wide(own) : DType::f64;
  const Handle edge = convert(edge_of(x, axis, first, s), d, s);
  const Shape to = shape(edge).with(static_cast<size_t>(axis), count);
  Handle steps = counted(real_of(d), Shape{count}, 0, s);
  if (!first) steps = reversed(steps, {0}, s);
  const Expression i(broadcast_in(convert(steps, d, s), to, {axis}, s), s);
  const Expression rise(broadcast(Expression(edge, s) - end, to, s), s);
  // The quotient is last: whole numbers are exact.
  Expression y = rise * i / static_cast<double>(count) + end;
  if (!is_inexact(own)) y = y.of<prim::Floor>();
  return y.as(own);
}

Handle statistic(Handle x, int axis, pad_mode how, const Site& s) {
  const DType own = dtype(x);
  const Axes axes(axis);
  switch (how) {
    case pad_mode::maximum:
      return amax(x, axes, true, s.at);
    case pad_mode::minimum:
      return amin(x, axes, true, s.at);
    default: {
      // Of integers in f64, in which most are exact, to the nearest one.
      const Handle v = is_inexact(own) ? x : convert(x, DType::f64, s);
      Handle y = how == pad_mode::mean ? mean(v, axes, true, s.at) : median(v, axes, true, s.at);
      if (!is_inexact(own)) y = emit<prim::Round>(s, {y});
      return convert(y, own, s);
    }
  }
}

Handle padded_by_statistic(Handle x, const PaddedDimension& d, pad_mode how, std::pair<int64_t, int64_t> lengths,
                           const Site& s) {
  const int64_t n = extent_of(x, d.axis);
  if (lengths.first < 1 || lengths.second < 1) {
    s.shape_error("a statistic is of 1 element or more, got " +
                  std::to_string(std::min(lengths.first, lengths.second)));
  }
  const int64_t before = std::min(lengths.first, n), behind = std::min(lengths.second, n);
  const auto repeated = [&](Handle one, int64_t count) {
    return broadcast(one, shape(one).with(static_cast<size_t>(d.axis), count), s);
  };
  const Handle first = statistic(slice_axis(x, d.axis, 0, before, 1, s), d.axis, how, s);
  const Handle last =
      before == n && behind == n ? first : statistic(slice_axis(x, d.axis, n - behind, n, 1, s), d.axis, how, s);
  std::vector<Handle> parts;
  if (d.low > 0) parts.push_back(repeated(first, d.low));
  parts.push_back(x);
  if (d.high > 0) parts.push_back(repeated(last, d.high));
  return concatenated(parts, d.axis, s);
}

Handle padded(Handle x, const PaddedDimension& d, pad_mode how, const PadOptions& options, const Site& s) {
  const int64_t n = extent_of(x, d.axis);
  const Type t = type(x);
  switch (how) {
    case pad_mode::reflect:
    case pad_mode::symmetric:
      if (options.reflect_type == reflection::odd) return reflected_oddly(x, d, how, s);
      [[fallthrough]];
    case pad_mode::edge:
    case pad_mode::wrap: {
      Ints indices;
      for (int64_t i = -d.low; i < n + d.high; ++i) indices.push_back(padded_index(i, n, how));
      return arranged(x, d.axis, indices, s);
    }
    case pad_mode::linear_ramp: {
      const auto [before, behind] =
          options.end_values.empty() ? std::pair(0.0, 0.0) : pair_of(options.end_values, "end_values", t, d.axis, s);
      std::vector<Handle> parts;
      if (d.low > 0) parts.push_back(ramp(x, d.axis, d.low, before, true, s));
      parts.push_back(x);
      if (d.high > 0) parts.push_back(ramp(x, d.axis, d.high, behind, false, s));
      return concatenated(parts, d.axis, s);
    }
    case pad_mode::maximum:
    case pad_mode::mean:
    case pad_mode::median:
    case pad_mode::minimum:
      return padded_by_statistic(
          x, d, how,
          options.stat_length.empty() ? std::pair(n, n) : pair_of(options.stat_length, "stat_length", t, d.axis, s), s);
  }
  __builtin_unreachable();
}

}  // namespace

Handle pad_with(const Operand& x, pad_mode how, std::span<const int64_t> low, std::span<const int64_t> high,
                const PadOptions& options, Location at) {
  const Site s{"pad", at};
  Handle v = value(x, s);
  const Type t = type(v);
  if (low.size() != t.shape.size() || high.size() != t.shape.size()) {
    s.shape_error("needs one number for each dimension of " + to_string(t) + ", got " + std::to_string(low.size()) +
                  " and " + std::to_string(high.size()));
  }
  const bool computes = how == pad_mode::linear_ramp || how == pad_mode::mean || how == pad_mode::median;
  if (computes && is_bool(t.dtype)) reject(t, "numbers", s);
  const bool orders = how == pad_mode::maximum || how == pad_mode::minimum || how == pad_mode::median;
  if (orders && is_complex(t.dtype)) reject(t, "ordered numbers", s);
  for (int a = 0; a < t.shape.rank(); ++a) {
    const auto ua = static_cast<size_t>(a);
    if (low[ua] < 0 || high[ua] < 0) s.shape_error("padding must not be negative");
    if (low[ua] == 0 && high[ua] == 0) continue;
    if (t.shape[ua] == 0) {
      s.shape_error("axis " + std::to_string(a) + " of " + to_string(t) + " is empty: nothing to repeat");
    }
    constexpr int64_t kMost = int64_t{1} << 31;
    if (low[ua] > kMost || high[ua] > kMost) s.shape_error("padding of " + to_string(t) + " is too large");
    v = padded(v, {a, low[ua], high[ua]}, how, options, s);
  }
  return v;
}

}  // namespace calque::detail::ops
