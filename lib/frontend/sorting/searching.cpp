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
  const Site s{"histogram", at};
  check_bins(bins, s);
  const Handle v = counted_operand(x, s);
  const Range range = range_of(v, bins, s);
  const Handle edges = edges_of(range, bins, s);
  const Handle i = bins_of(v, edges, range, bins.count, s);
  return {summed(i, flattened_weights(weights, x, s), bins.count, s),
          convert(edges, to_inexact(operand_dtype(x, s)), s)};
}

std::vector<Handle> histogram_density(const Operand& x, const Bins& bins, Location at) {
  const Site s{"histogram", at};
  const DType result = to_inexact(operand_dtype(x, s));
  // Edges in the wider type, since neighbouring ones are subtracted.
  const std::vector<Handle> counted = histogram(value(x, wide(result), s), bins, nullptr, at);
  const Expression edges(counted[1], s), counts(convert(counted[0], dtype(counted[1]), s), s);
  const int64_t n = bins.count;
  const Expression widths =
      Expression(slice_axis(edges, 0, 1, n + 1, 1, s), s) - Expression(slice_axis(edges, 0, 0, n, 1, s), s);
  const Expression total(broadcast(emit<prim::ReduceSum>(s, {counts}, {{"axes", Ints{0}}}), shape(counts), s), s);
  return {convert(counts / (total * widths), result, s), convert(edges, result, s)};
}

Handle histogram_at(const Operand& x, const Operand& edges, const Operand* weights, Location at) {
  const Site s{"histogram", at};
  const DType d = wide(to_inexact(ordered_dtype(x, edges, s)));
  const Handle bounds = vector_operand(value(edges, d, s), "the edges", s);
  const int64_t count = extent_of(bounds, 0) - 1;
  if (count < 1) s.shape_error("needs 2 edges or more, got " + to_string(type(bounds)));
  const Handle v = flattened_to_vector(value(x, d, s), s);
  const Expression found(position_of(bounds, v, side::right, s), s);
  const Handle last = broadcast(reshape(slice_axis(bounds, 0, count, count + 1, 1, s), Shape{}, s), shape(v), s);
  const Expression is_last(emit<prim::Eq>(s, {v, last}), s);
  // Elements before the first edge have number -1, those behind the last one `count`: both are dropped.
  const Expression i = is_last.choose(found.number(static_cast<double>(count - 1)), found - 1.0);
  return summed(i, flattened_weights(weights, x, s), count, s);
}

Handle histogram_bin_edges(const Operand& x, const Bins& bins, Location at) {
  const Site s{"histogram_bin_edges", at};
  check_bins(bins, s);
  const Handle v = counted_operand(x, s);
  return convert(edges_of(range_of(v, bins, s), bins, s), to_inexact(operand_dtype(x, s)), s);
}

std::vector<Handle> histogram2d(const Operand& x, const Operand& y, const Bins& bins_x, const Bins& bins_y,
                                const Operand* weights, Location at) {
  const Site s{"histogram2d", at};
  check_bins(bins_x, s);
  check_bins(bins_y, s);
  const Handle a = vector_operand(value(x, s), "x", s), b = vector_operand(value(y, s), "y", s);
  if (shape(a) != shape(b)) {
    s.shape_error("needs vectors of one length, got " + to_string(type(a)) + " and " + to_string(type(b)));
  }
  if (bins_x.count > INT32_MAX / bins_y.count) s.shape_error("has too many bins for indices of i32");
  const Handle v = counted_operand(a, s), w = counted_operand(b, s);
  const Range range_x = range_of(v, bins_x, s), range_y = range_of(w, bins_y, s);
  const Handle edges_x = edges_of(range_x, bins_x, s), edges_y = edges_of(range_y, bins_y, s);
  const Expression i(bins_of(v, edges_x, range_x, bins_x.count, s), s);
  const Expression j(bins_of(w, edges_y, range_y, bins_y.count, s), s);
  const auto columns = static_cast<double>(bins_y.count);
  const Expression cell = (j < columns).choose(i * columns + j, i.number(-1));
  const Handle flat = summed(cell, weights_of(weights, a, s), bins_x.count * bins_y.count, s);
  return {reshape(flat, Shape{bins_x.count, bins_y.count}, s), convert(edges_x, to_inexact(dtype(a)), s),
          convert(edges_y, to_inexact(dtype(b)), s)};
}

}  // namespace calque::detail::ops
