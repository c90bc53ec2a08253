// Positions in sorted vectors, and counts of elements in bins.
#include "frontend/sorting/sorting.h"
#include "frontend/vocabulary/binary_search.h"

namespace calque::detail::ops {
namespace {

/// The vector as an operand of a search. ShapeError for other ranks.
Handle sorted_vector(const Operand& x, DType d, std::string_view what, const Site& s) {
  return vector_operand(value(x, d, s), what, s);
}

DType ordered_dtype(const Operand& x, const Operand& y, const Site& s) {
  const DType d = promoted_dtype(x, y, s);
  if (is_complex(d)) reject(type(value(x, d, s)), "ordered numbers", s);
  return d;
}

/// The sum of what each element adds to the one with its number; numbers outside [0, length) are dropped. `weights` is
/// a number, or of the numbers' shape.
Handle summed(Handle numbers, Handle weights, int64_t length, const Site& s) {
  const Handle flat = flattened_to_vector(numbers, s);
  const Handle each = flattened_to_vector(broadcast(weights, shape(numbers), s), s);
  return segment_sum(each, flat, length, s.at);
}

Handle weights_of(const Operand* weights, Handle x, const Site& s) {
  if (weights == nullptr) return splat(1, {DType::i32, shape(x)}, s);
  const Handle w = value(*weights, s);
  if (shape(w) != shape(x)) {
    s.shape_error("needs a weight for each element, got " + to_string(type(x)) + " and " + to_string(type(w)));
  }
  return w;
}

// ---- bins of equal width

struct Range {
  Handle low, high;  ///< scalars
};

/// The bounds of bins for the elements of x: without given ones the least and the greatest element, half a unit to both
/// sides of a single value.
Range range_of(Handle x, const Bins& bins, const Site& s) {
  const Type scalar{dtype(x), {}};
  if (bins.low) return {splat(*bins.low, scalar, s), splat(*bins.high, scalar, s)};
  if (shape(x).num_elements() == 0) return {splat(0, scalar, s), splat(1, scalar, s)};
  const Expression low(amin(x, Axes(), false, s.at), s), high(amax(x, Axes(), false, s.at), s);
  const Expression single = low == high;
  return {single.choose(low - 0.5, low), single.choose(high + 0.5, high)};
}

void check_bins(const Bins& bins, const Site& s) {
  if (bins.count < 1) s.shape_error("needs 1 bin or more, got " + std::to_string(bins.count));
  if (bins.low && !(*bins.low < *bins.high)) {
    s.shape_error("the lower bound of the bins must be less than the upper one, got " + std::to_string(*bins.low) +
                  " and " + std::to_string(*bins.high));
  }
}

Handle edges_of(const Range& r, const Bins& bins, const Site& s) {
  const DType d = dtype(r.low);
  if (bins.low) return linspace(d, *bins.low, *bins.high, bins.count + 1, s.at);
  const Shape all{bins.count + 1};
  const Expression low(broadcast(r.low, all, s), s), high(broadcast(r.high, all, s), s);
  const Expression i(counted(d, all, 0, s), s);
  const auto n = static_cast<double>(bins.count);
  return (i == n).choose(high, low + (high - low) * (i / n));
}

/// The bin of each element, as i32; `count` for elements outside. The quotient may be off by one where an element is
/// close to an edge: the edges decide. The last bin includes the upper bound.
Handle bins_of(Handle x, Handle edges, const Range& r, int64_t count, const Site& s) {
  const Shape to = shape(x);
  const Expression v(x, s), low(broadcast(r.low, to, s), s), high(broadcast(r.high, to, s), s);
  const auto n = static_cast<double>(count);
  const Expression is_inside = (v >= low) & (v <= high);
  const Expression guess = is_inside.choose((v - low) * (v.number(n) / (high - low)), v.number(0));
  Expression i = guess.as(DType::i32);
  i = (i >= n).choose(i.number(n - 1), i);
  const auto edge = [&](Expression at) { return Expression(take(edges, at.handle(), 0, mode::clip, s.at), s); };
  i = (v < edge(i)).choose(i - 1.0, i);
  i = ((v >= edge(i + 1.0)) & (i < n - 1)).choose(i + 1.0, i);
  return is_inside.choose(i, i.number(n));
}

/// x for a histogram: as floats, 16-bit ones wider, without derivatives.
Handle counted_operand(const Operand& x, const Site& s) {
  const Widened v = widened_real(x, s);
  return flattened_to_vector(emit<prim::StopGradient>(s, {v.x}), s);
}

Handle flattened_weights(const Operand* weights, const Operand& x, const Site& s) {
  return flattened_to_vector(weights_of(weights, value(x, s), s), s);
}

/// Edges [2 or more] in ascending order.
Handle edges_operand(const Operand& edges, DType d, const Site& s) {
  const Handle bounds = vector_operand(value(edges, d, s), "the edges", s);
  if (extent_of(bounds, 0) < 2) s.shape_error("needs 2 edges or more, got " + to_string(type(bounds)));
  return bounds;
}

/// The bin of each element between edges, -1 for those before the first one, the number of bins behind the last.
Handle bin_between(Handle v, Handle edges, const Site& s) {
  const int64_t count = extent_of(edges, 0) - 1;
  const Expression found(position_of(edges, v, side::right, s), s);
  const Handle last = broadcast(reshape(slice_axis(edges, 0, count, count + 1, 1, s), Shape{}, s), shape(v), s);
  const Expression is_last(emit<prim::Eq>(s, {v, last}), s);
  return is_last.choose(found.number(static_cast<double>(count - 1)), found - 1.0);
}

// ---- several dimensions

/// The bins of points in one dimension; numbers outside [0, count) are none.
struct Cells {
  Handle bins;
  int64_t count;
};

/// The sum of the weights in each bin [count, ...].
Handle counted_in(std::span<const Cells> dimensions, Handle weights, const Site& s) {
  Ints counts;
  int64_t all = 1;
  for (const Cells& c : dimensions) {
    if (c.count > INT32_MAX / all) s.shape_error("has too many bins for indices of i32");
    all *= c.count;
    counts.push_back(c.count);
  }
  if (dimensions.size() == 1) return summed(dimensions[0].bins, weights, all, s);
  const Expression zero(splat(0, type(dimensions[0].bins), s), s);
  Expression cell = zero, is_outside = zero < 0.0;
  for (const Cells& c : dimensions) {
    const Expression i(c.bins, s);
    is_outside = is_outside | (i < 0.0) | (i >= static_cast<double>(c.count));
    cell = cell * static_cast<double>(c.count) + is_outside.choose(zero, i);
  }
  return reshape(summed(is_outside.choose(cell.number(-1), cell), weights, all, s), Shape(counts), s);
}

/// Counts divided by their sum and by the widths of the bins.
Handle density_of(Handle counts, std::span<const Handle> edges, const Site& s) {
  const Expression each(convert(counts, dtype(edges[0]), s), s);
  const Shape to = shape(each);
  Ints all;
  std::optional<Expression> volume;
  for (int a = 0; a < to.rank(); ++a) {
    const Handle bounds = convert(edges[static_cast<size_t>(a)], dtype(each), s);
    const int64_t n = to[static_cast<size_t>(a)];
    const Expression widths =
        Expression(slice_axis(bounds, 0, 1, n + 1, 1, s), s) - Expression(slice_axis(bounds, 0, 0, n, 1, s), s);
    const Expression along(broadcast_in(widths, to, {a}, s), s);
    volume = volume ? *volume * along : along;
    all.push_back(a);
  }
  const Expression total(broadcast(reduce_axes<prim::ReduceSum>(each, all, false, s), to, s), s);
  return each / (total * *volume);
}

/// Vectors of one length.
std::vector<Handle> coordinates_of(std::span<const Operand> xs, const Site& s) {
  std::vector<Handle> out;
  for (const Operand& x : xs) {
    const Handle v = value(x, s);
    out.push_back(xs.size() == 1 ? flattened_to_vector(v, s) : vector_operand(v, out.empty() ? "x" : "y", s));
    if (shape(out.back()) != shape(out[0])) {
      s.shape_error("needs vectors of one length, got " + to_string(type(out[0])) + " and " + to_string(type(v)));
    }
  }
  return out;
}

/// Counts or densities, then the edges of each dimension.
std::vector<Handle> histogram_over(std::span<const Operand> xs, std::span<const Bins> bins, const Operand* weights,
                                   bool density, const Site& s) {
  for (const Bins& b : bins) check_bins(b, s);
  const std::vector<Handle> points = coordinates_of(xs, s);
  std::vector<Cells> cells;
  std::vector<Handle> edges;
  for (size_t i = 0; i < points.size(); ++i) {
    const Handle v = counted_operand(points[i], s);
    const Range range = range_of(v, bins[i], s);
    edges.push_back(edges_of(range, bins[i], s));
    cells.push_back({bins_of(v, edges.back(), range, bins[i].count, s), bins[i].count});
  }
  const Handle w = xs.size() == 1 ? flattened_weights(weights, xs[0], s) : weights_of(weights, points[0], s);
  std::vector<Handle> out{counted_in(cells, w, s)};
  if (density) {
    std::vector<const Operand*> all = pointers_to(xs);
    if (weights != nullptr) all.push_back(weights);
    const DType result = to_inexact(promoted_dtype(all, s));
    // Neighbouring edges are subtracted in the wider type.
    std::vector<Handle> bounds;
    for (const Handle e : edges) bounds.push_back(convert(e, wide(result), s));
    out[0] = convert(density_of(out[0], bounds, s), result, s);
  }
  for (size_t i = 0; i < points.size(); ++i) out.push_back(convert(edges[i], to_inexact(dtype(points[i])), s));
  return out;
}

}  // namespace

Handle searchsorted(const Operand& sorted, const Operand& x, side where, Location at) {
  const Site s{"searchsorted", at};
  const DType d = ordered_dtype(sorted, x, s);
  return position_of(sorted_vector(sorted, d, "the sorted elements", s), value(x, d, s), where, s);
}

Handle digitize(const Operand& x, const Operand& bins, bool right, Location at) {
  const Site s{"digitize", at};
  const DType d = ordered_dtype(x, bins, s);
  const Handle v = value(x, d, s), edges = sorted_vector(bins, d, "bins", s);
  const int64_t n = extent_of(edges, 0);
  const side where = right ? side::left : side::right;
  if (n < 2) return position_of(edges, v, where, s);
  const Expression first(slice_axis(edges, 0, 0, 1, 1, s), s), last(slice_axis(edges, 0, n - 1, n, 1, s), s);
  // NaN is greater than all numbers.
  const Handle falls = reshape((first > last) | ((!(first == first)) & (last == last)), Shape{}, s);
  const Expression is_descending(broadcast(falls, shape(v), s), s);
  const Expression count(position_of(edges, v, where, s, falls), s);
  return is_descending.choose(count.number(static_cast<double>(n)) - count, count);
}

Handle bincount(const Operand& x, const Operand* weights, int64_t length, Location at) {
  const Site s{"bincount", at};
  const Handle v = vector_operand(value(x, s), "numbers of bins", s);
  if (!is_integer(dtype(v))) reject(type(v), "integers", s);
  check_size(length, "the length", s);
  return summed(v, weights_of(weights, v, s), length, s);
}

std::vector<Handle> histogram(const Operand& x, const Bins& bins, const Operand* weights, Location at) {
  return histogram_over(std::span(&x, 1), std::span(&bins, 1), weights, false, {"histogram", at});
}

std::vector<Handle> histogram_density(const Operand& x, const Bins& bins, const Operand* weights, Location at) {
  return histogram_over(std::span(&x, 1), std::span(&bins, 1), weights, true, {"histogram", at});
}

Handle histogram_at(const Operand& x, const Operand& edges, const Operand* weights, Location at) {
  const Site s{"histogram", at};
  const DType d = wide(to_inexact(ordered_dtype(x, edges, s)));
  const Handle bounds = edges_operand(edges, d, s);
  const Handle i = bin_between(flattened_to_vector(value(x, d, s), s), bounds, s);
  return summed(i, flattened_weights(weights, x, s), extent_of(bounds, 0) - 1, s);
}

Handle histogram_bin_edges(const Operand& x, const Bins& bins, Location at) {
  const Site s{"histogram_bin_edges", at};
  check_bins(bins, s);
  const Handle v = counted_operand(x, s);
  return convert(edges_of(range_of(v, bins, s), bins, s), to_inexact(operand_dtype(x, s)), s);
}

Handle histogram_density_at(const Operand& x, const Operand& edges, const Operand* weights, Location at) {
  const Site s{"histogram", at};
  DType result = to_inexact(promoted_dtype(x, edges, s));
  if (weights != nullptr) {
    const Operand* all[] = {&x, &edges, weights};
    result = to_inexact(promoted_dtype(all, s));
  }
  const Handle bounds = value(edges, wide(result), s);
  return convert(density_of(histogram_at(x, edges, weights, at), std::span(&bounds, 1), s), result, s);
}

std::vector<Handle> histogram_of(std::span<const Operand> coordinates, std::span<const Bins> bins,
                                 const Operand* weights, bool density, Location at) {
  return histogram_over(coordinates, bins, weights, density, {"histogram2d", at});
}

std::vector<Handle> histogram2d(const Operand& x, const Operand& y, const Bins& bins_x, const Bins& bins_y,
                                const Operand* weights, Location at) {
  const Operand both[] = {x, y};
  const Bins bins[] = {bins_x, bins_y};
  return histogram_of(both, bins, weights, false, at);
}

std::vector<Handle> histogramdd(const Operand& x, std::span<const Bins> bins, const Operand* weights, bool density,
                                Location at) {
  const Site s{"histogramdd", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  if (t.shape.rank() != 2 || t.shape[1] == 0) s.shape_error("needs points [n, dimensions], got " + to_string(t));
  if (bins.size() != 1 && std::ssize(bins) != t.shape[1]) {
    s.shape_error("needs bins for all dimensions or for each of " + std::to_string(t.shape[1]) + ", got " +
                  std::to_string(bins.size()));
  }
  std::vector<Operand> coordinates;
  std::vector<Bins> each;
  for (int64_t i = 0; i < t.shape[1]; ++i) {
    coordinates.push_back(reshape(slice_axis(v, 1, i, i + 1, 1, s), Shape{t.shape[0]}, s));
    each.push_back(bins[bins.size() == 1 ? 0 : static_cast<size_t>(i)]);
  }
  return histogram_over(coordinates, each, weights, density, s);
}

Handle histogram2d_at(const Operand& x, const Operand& y, const Operand& edges_x, const Operand& edges_y,
                      const Operand* weights, Location at) {
  const Site s{"histogram2d", at};
  const Operand both[] = {x, y};
  const std::vector<Handle> points = coordinates_of(both, s);
  const Operand* edges[] = {&edges_x, &edges_y};
  std::vector<Cells> cells;
  for (size_t i = 0; i < 2; ++i) {
    const DType d = wide(to_inexact(ordered_dtype(points[i], *edges[i], s)));
    const Handle bounds = edges_operand(*edges[i], d, s);
    cells.push_back({bin_between(value(points[i], d, s), bounds, s), extent_of(bounds, 0) - 1});
  }
  return counted_in(cells, weights_of(weights, points[0], s), s);
}

}  // namespace calque::detail::ops
