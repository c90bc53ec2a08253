// Layers as compositions: pooling by slices combined axis by axis, transposed convolution, normalizations.
#include <cmath>
#include <limits>
#include <tuple>

#include "frontend/vocabulary/masked.h"

namespace calque::detail::ops {
namespace {

/// One spatial dimension of a pooling: positions, and the padding at both ends.
struct Pooled {
  int64_t window, stride, low, high, positions;
};

Ints per_dimension(const std::vector<int64_t>& given, size_t count, std::string_view what, const Site& s) {
  if (given.empty()) return Ints(count, 1);
  if (given.size() != count) {
    s.shape_error(std::string(what) + " needs one number for each of " + std::to_string(count) +
                  " spatial dimensions, got " + std::to_string(given.size()));
  }
  for (int64_t g : given) {
    if (g < 1) s.shape_error(std::string(what) + " must be positive, got " + std::to_string(g));
  }
  return given;
}

/// Of the dimensions from `first` on, all but that many at the end.
std::vector<Pooled> pooled_dimensions(const Type& x, const PoolOptions& options, const Site& s, size_t first = 1) {
  if (x.shape.size() < 2 * first) s.shape_error("needs an array [N, spatial..., C], got " + to_string(x));
  const size_t spatial = x.shape.size() - 2 * first;
  const Ints windows = per_dimension(options.window, spatial, "window", s),
             strides = per_dimension(options.strides, spatial, "strides", s);
  if (options.padding.kind == Padding::Kind::pairs && options.padding.pairs.size() != spatial) {
    s.shape_error("padding needs a pair for each of " + std::to_string(spatial) + " spatial dimensions, got " +
                  std::to_string(options.padding.pairs.size()));
  }
  std::vector<Pooled> out;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t extent = x.shape[i + first];
    Pooled p{windows[i], strides[i], 0, 0, 0};
    if (options.padding.kind == Padding::Kind::same) {
      const int64_t positions = (extent + p.stride - 1) / p.stride;
      const int64_t total = std::max<int64_t>((positions - 1) * p.stride + p.window - extent, 0);
      p.low = total / 2;
      p.high = total - p.low;
    } else if (options.padding.kind == Padding::Kind::pairs) {
      p.low = options.padding.pairs[i].first;
      p.high = options.padding.pairs[i].second;
      if (p.low < 0 || p.high < 0 || p.low >= p.window || p.high >= p.window) {
        s.shape_error("padding must be in [0, window), got " + std::to_string(p.low) + " and " +
                      std::to_string(p.high) + " for a window of " + std::to_string(p.window));
      }
    }
    const int64_t padded = extent + p.low + p.high;
    p.positions = padded < p.window ? 0 : (padded - p.window) / p.stride + 1;
    out.push_back(p);
  }
  return out;
}

/// Combines the elements of each window along the axis, from the first on. Windows of up to eight elements are slices;
/// greater ones are combined from windows of half the extent.
template <class F>
Handle windows_combined(Handle x, int axis, const Pooled& p, const F& combine, const Site& s) {
  const int64_t n = extent_of(x, axis);
  constexpr int64_t kMostSlices = 8;
  if (p.window <= kMostSlices || p.stride >= p.window) {
    Handle result = x;
    for (int64_t k = 0; k < p.window; ++k) {
      const Handle part = slice_axis(x, axis, k, k + (p.positions - 1) * p.stride + 1, p.stride, s);
      result = k == 0 ? part : combine(result, part);
    }
    return result;
  }
  // Of powers of two at every position; then those that make up the window.
  Handle power = x;
  std::optional<Handle> result;
  int64_t covered = 0;
  const int64_t all = n - p.window + 1;
  for (int64_t width = 1;; width *= 2) {
    if ((p.window & width) != 0) {
      const Handle part = slice_axis(power, axis, covered, covered + all, 1, s);
      result = result ? combine(*result, part) : part;
      covered += width;
    }
    if (covered == p.window) break;
    const int64_t m = extent_of(power, axis);
    power = combine(slice_axis(power, axis, 0, m - width, 1, s), slice_axis(power, axis, width, m, 1, s));
  }
  return slice_axis(*result, axis, 0, (p.positions - 1) * p.stride + 1, p.stride, s);
}

Shape pooled_shape(const Type& x, const std::vector<Pooled>& dims, size_t first = 1) {
  Shape to = x.shape;
  for (size_t i = 0; i < dims.size(); ++i) to = to.with(i + first, dims[i].positions);
  return to;
}

/// Pads with `fill` and combines, the last spatial dimension first.
template <class F>
Handle pooled(Handle x, const std::vector<Pooled>& dims, const Literal& fill, const F& combine, const Site& s,
              size_t first = 1) {
  for (size_t i = dims.size(); i-- > 0;) {
    const int axis = static_cast<int>(i + first);
    const Pooled& p = dims[i];
    if (p.low != 0 || p.high != 0) {
      const auto rank = static_cast<size_t>(shape(x).rank());
      Ints low(rank, 0), high(rank, 0);
      low[i + first] = p.low;
      high[i + first] = p.high;
      x = emit<prim::Pad>(s, {x, literal(fill, {dtype(x), {}}, s.at)},
                          {{"high", high}, {"interior", Ints(rank, 0)}, {"low", low}});
    }
    x = windows_combined(x, axis, p, combine, s);
  }
  return x;
}

Handle extremum_pool(const Operand& x, const PoolOptions& options, bool least, const Site& s, size_t first_axis = 1) {
  const Handle v = value(x, s);
  const Type t = type(v);
  if (is_complex(t.dtype) || is_bool(t.dtype)) reject(t, "real numbers", s);
  const std::vector<Pooled> dims = pooled_dimensions(t, options, s, first_axis);
  const Shape to = pooled_shape(t, dims, first_axis);
  const Literal fill = visit_dtype(t.dtype, [&]<class T>() {
    if constexpr (is_complex(dtype_of<T>)) {
      return Literal::of(T());
    } else if constexpr (is_floating(dtype_of<T>)) {
      return make_literal(t.dtype, least ? __builtin_inf() : -__builtin_inf());
    } else {
      return Literal::of(least ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest());
    }
  });
  if (to.num_elements() == 0) return literal(fill, {t.dtype, to}, s.at);
  // Selected and not combined by max: the derivative goes to the first one of equal elements alone. NaN stays.
  const auto combine = [&](Handle first, Handle second) {
    Handle better = least ? emit<prim::Lt>(s, {second, first}) : emit<prim::Gt>(s, {second, first});
    if (is_floating(t.dtype)) better = emit<prim::Or>(s, {better, emit<prim::Ne>(s, {second, second})});
    return select(better, second, first, s);
  };
  return pooled(v, dims, fill, combine, s, first_axis);
}

/// Sums or products (P) of windows.
template <class P>
Handle total_pool(const Operand& x, const PoolOptions& options, int64_t identity, const Site& s, size_t first_axis) {
  const DType result = sum_result(operand_dtype(x, s));
  const Handle v = value(x, wide(result), s);
  const std::vector<Pooled> dims = pooled_dimensions(type(v), options, s, first_axis);
  const Shape to = pooled_shape(type(v), dims, first_axis);
  if (to.num_elements() == 0) return splat(static_cast<double>(identity), {result, to}, s);
  const auto combine = [&](Handle a, Handle b) { return emit<P>(s, {a, b}); };
  return convert(pooled(v, dims, make_literal(dtype(v), identity), combine, s, first_axis), result, s);
}

/// The number of elements of x in each window along a dimension, of shape [positions].
Handle counts_inside(const Pooled& p, int64_t extent, DType d, const Site& s) {
  const Expression start =
      Expression(counted(DType::i64, Shape{p.positions}, 0, s), s) * static_cast<double>(p.stride) -
      static_cast<double>(p.low);
  const Expression from(emit<prim::Max>(s, {start, start.number(0)}), s), end = start + static_cast<double>(p.window);
  const Expression to(emit<prim::Min>(s, {end, end.number(static_cast<double>(extent))}), s);
  return (to - from).as(d);
}

Handle normalized_by(Handle x, Handle scale, const Shape& of, const Site& s) {
  return emit<prim::Mul>(s, {x, broadcast(scale, of, s)});
}

/// A parameter of a normalization: a vector along the axis if its extent is that of the axis, else broadcast.
Handle along_feature(const Operand& p, const Type& x, int axis, const Site& s) {
  const Handle v = value(p, s);
  const Type t = type(v);
  if (t.shape.rank() == 1 && t.shape[0] == x.shape[static_cast<size_t>(axis)]) {
    return broadcast_in(convert(v, x.dtype, s), x.shape, {axis}, s);
  }
  return broadcast(convert(v, x.dtype, s), x.shape, s);
}

}  // namespace

Handle max_pool(const Operand& x, const PoolOptions& options, Location at) {
  return extremum_pool(x, options, false, {"max_pool", at});
}
Handle min_pool(const Operand& x, const PoolOptions& options, Location at) {
  return extremum_pool(x, options, true, {"min_pool", at});
}

Handle sum_pool(const Operand& x, const PoolOptions& options, Location at) {
  return total_pool<prim::Add>(x, options, 0, {"sum_pool", at}, 1);
}

Handle reduce_window(const Operand& x, window_reduction how, const PoolOptions& options, Location at) {
  const Site s{"reduce_window", at};
  switch (how) {
    case window_reduction::sum:
      return total_pool<prim::Add>(x, options, 0, s, 0);
    case window_reduction::prod:
      return total_pool<prim::Mul>(x, options, 1, s, 0);
    case window_reduction::max:
      return extremum_pool(x, options, false, s, 0);
    case window_reduction::min:
      return extremum_pool(x, options, true, s, 0);
  }
  __builtin_unreachable();
}

Handle avg_pool(const Operand& x, const PoolOptions& options, bool count_padding, Location at) {
  const Site s{"avg_pool", at};
  const auto [v, result] = widened(x, s);
  const Type t = type(v);
  const std::vector<Pooled> dims = pooled_dimensions(t, options, s);
  const Shape to = pooled_shape(t, dims);
  if (to.num_elements() == 0) return splat(0, {result, to}, s);
  const auto combine = [&](Handle a, Handle b) { return emit<prim::Add>(s, {a, b}); };
  Handle sums = pooled(v, dims, make_literal(dtype(v), int64_t{0}), combine, s);
  double whole = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Pooled& p = dims[i];
    if (count_padding || (p.low == 0 && p.high == 0)) {
      whole *= static_cast<double>(p.window);
      continue;
    }
    const Handle counts = counts_inside(p, t.shape[i + 1], dtype(v), s);
    sums = emit<prim::Div>(s, {sums, broadcast_in(counts, to, {static_cast<int64_t>(i) + 1}, s)});
  }
  return convert(Expression(sums, s) / whole, result, s);
}

Handle conv_transpose(const Operand& x, const Operand& w, const std::vector<int64_t>& strides, const Padding& padding,
                      Location at) {
  const Site s{"conv_transpose", at};
  const DType d = promoted_dtype(x, w, s);
  const Handle input = value(x, d, s), kernel = value(w, d, s);
  const Type tx = type(input), tw = type(kernel);
  if (tx.shape.rank() < 2 || tx.shape.rank() != tw.shape.rank()) {
    s.shape_error("needs x [N, spatial..., C] and w [spatial..., C, O] of one rank, got " + to_string(tx) + " and " +
                  to_string(tw));
  }
  const size_t spatial = tx.shape.size() - 2;
  if (tw.shape[spatial] != tx.shape[spatial + 1]) {
    s.shape_error("numbers of channels differ, got " + to_string(tx) + " and " + to_string(tw));
  }
  const Ints steps = per_dimension(strides, spatial, "strides", s);
  if (padding.kind == Padding::Kind::pairs && padding.pairs.size() != spatial) {
    s.shape_error("padding needs a pair for each of " + std::to_string(spatial) + " spatial dimensions, got " +
                  std::to_string(padding.pairs.size()));
  }
  Ints low(tx.shape.size(), 0), high = low, interior = low;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t k = tw.shape[i], stride = steps[i];
    if (k == 0) s.shape_error("the kernel is empty, got " + to_string(tw));
    interior[i + 1] = stride - 1;
    switch (padding.kind) {
      case Padding::Kind::same: {
        const int64_t total = k + stride - 2;
        low[i + 1] = stride > k - 1 ? k - 1 : (total + 1) / 2;
        high[i + 1] = total - low[i + 1];
        break;
      }
      case Padding::Kind::valid:
        low[i + 1] = k - 1;
        high[i + 1] = k - 1 + std::max<int64_t>(k - stride, 0) - (k - stride);
        break;
      case Padding::Kind::pairs:
        low[i + 1] = padding.pairs[i].first;
        high[i + 1] = padding.pairs[i].second;
        break;
    }
  }
  // Elements `stride` apart with zeros between them, then an ordinary convolution.
  return conv(pad(input, lit(0), low, high, interior, at), kernel, ConvOptions{}, at);
}

// ---- normalizations

Handle standardize(const Operand& x, const Axes& axes, double epsilon, Location at) {
  const Site s{"standardize", at};
  const auto [v, result] = widened_real(x, s);
  const Type t = type(v);
  const Ints list = normal_axes(axes, t, s);
  const Expression mean(mean_where(v, std::nullopt, list, true, s), s);
  const Expression variance(variance_where(v, std::nullopt, list, 0, true, s), s);
  const Expression centred = Expression(v, s) - Expression(broadcast(mean, t.shape, s), s);
  return convert(normalized_by(centred, (variance + epsilon).of<prim::Rsqrt>(), t.shape, s), result, s);
}

Handle rms_norm(const Operand& x, int axis, double eps, Location at) {
  const Site s{"rms_norm", at};
  const auto [v, result] = widened_real(x, s);
  const Type t = type(v);
  const int a = axis_in(axis, v, s);
  const Expression mean(mean_where(Expression(v, s) * Expression(v, s), std::nullopt, {a}, true, s), s);
  return convert(normalized_by(v, (mean + eps).of<prim::Rsqrt>(), t.shape, s), result, s);
}

Handle batch_norm(std::span<const Operand> all, int axis, double eps, Location at) {
  const Site s{"batch_norm", at};
  const auto [v, result] = widened_real(all[0], s);
  const Type t = type(v);
  const int a = axis_in(axis, v, s);
  const auto parameter = [&](size_t i) {
    value_fitting(all[i], result, s);
    return Expression(along_feature(all[i], t, a, s), s);
  };
  const Expression centred = Expression(v, s) - parameter(1);
  return convert(centred * ((parameter(2) + eps).of<prim::Rsqrt>() * parameter(3)) + parameter(4), result, s);
}

Handle one_hot(DType d, const Operand& indices, int64_t classes, int axis, Location at) {
  const Site s{"one_hot", at};
  const Handle i = value(indices, s);
  if (!is_integer(dtype(i))) reject(type(i), "integer indices", s);
  if (classes < 0) s.shape_error("the number of classes must not be negative, got " + std::to_string(classes));
  const Shape own = shape(i);
  const int rank = own.rank() + 1;
  if (axis < -rank || axis >= rank) {
    s.shape_error("axis " + std::to_string(axis) + " is out of range for a result of rank " + std::to_string(rank));
  }
  const int a = axis < 0 ? axis + rank : axis;
  const Shape to = own.with_inserted(static_cast<size_t>(a), classes);
  Ints axes;
  for (int k = 0; k < rank; ++k) {
    if (k != a) axes.push_back(k);
  }
  // In 64 bits where classes do not fit the indices' type.
  const DType wide_index = dtype(i) == DType::u64 ? DType::u64 : DType::i64;
  const Handle which = convert(i,
                               size_of(dtype(i)) < 4    ? DType::i32
                               : dtype(i) == DType::i32 ? DType::i32
                                                        : wide_index,
                               s);
  const Handle same = emit<prim::Eq>(s, {broadcast_in(which, to, axes, s), counted(dtype(which), to, a, s)});
  return convert(same, d, s);
}

Handle dropout(const Operand& key, const Operand& x, double rate, Location at) {
  const Site s{"dropout", at};
  const DType result = to_inexact(operand_dtype(x, s));
  const Handle v = value(x, result, s);
  if (!(rate >= 0 && rate < 1)) s.shape_error("the rate must be in [0, 1), got " + std::to_string(rate));
  if (rate == 0) return v;
  const Handle kept = random::bernoulli(key, lit(1 - rate), shape(v), at);
  const Expression scaled = Expression(v, s) / (1 - rate);
  return select(kept, scaled, splat(0, type(v), s), s);
}

Handle logmeanexp(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"logmeanexp", at};
  const auto [v, result] = widened_real(x, s);
  const Type t = type(v);
  const int64_t n = elements_along(t.shape, normal_axes(axes, t, s));
  const Expression sum(logsumexp(v, axes, keepdims, at), s);
  return convert(sum - std::log(static_cast<double>(n)), result, s);
}

// ---- under masks and with weights

namespace {

Handle mask_of(const Operand& mask, const Shape& of, const Site& s) {
  const Handle m = value(mask, s);
  if (!is_bool(dtype(m))) reject(type(m), "a mask of bools", s);
  return broadcast(m, of, s);
}

}  // namespace

Handle logsumexp_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  const Site s{"logsumexp", at};
  const auto [v, result] = widened_real(x, s);
  const Handle none = splat(-__builtin_inf(), type(v), s);
  return convert(logsumexp(select(mask_of(mask, shape(v), s), v, none, s), axes, keepdims, at), result, s);
}

Handle logmeanexp_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  const Site s{"logmeanexp", at};
  const auto [v, result] = widened_real(x, s);
  const Handle m = mask_of(mask, shape(v), s);
  const Expression count(count_where(m, type(v), normal_axes(axes, type(v), s), keepdims, s), s);
  const Expression sum(logsumexp_where(v, m, axes, keepdims, at), s);
  return convert((count == 0.0).choose(count.number(__builtin_nan("")), sum - count.of<prim::Log>()), result, s);
}

std::vector<Handle> logsumexp_signed(const Operand& x, const Operand& b, const Axes& axes, bool keepdims, Location at) {
  const Site s{"logsumexp", at};
  const auto [v, factors, result] = widened_pair(x, b, s);
  const Type t = type(v);
  if (is_complex(t.dtype)) reject(t, "real numbers", s);
  const Ints list = normal_axes(axes, t, s);
  const Expression e(v, s), f(factors, s);
  if (elements_along(t.shape, list) == 0) {
    const Expression none(reduce_axes<prim::ReduceSum>(e, list, keepdims, s), s);
    return {convert(none.number(-__builtin_inf()), result, s), convert(none, result, s)};
  }
  // Terms with a factor of 0 do not count, whatever their exponent is.
  const Expression counts = !(f == 0.0);
  const Expression exponents = counts.choose(e, e.number(-__builtin_inf()));
  const Expression top(emit<prim::StopGradient>(s, {reduce_axes<prim::ReduceMax>(exponents, list, true, s)}), s);
  const Expression shift = (top.of<prim::Abs>() < __builtin_inf()).choose(top, top.number(0));
  const Expression shifted = counts.choose(e - Expression(broadcast(shift, t.shape, s), s), e.number(0));
  const Expression sum(reduce_axes<prim::ReduceSum>(f * shifted.of<prim::Exp>(), list, keepdims, s), s);
  const Expression back(reshape(shift, shape(sum), s), s);
  return {convert(sum.of<prim::Abs>().of<prim::Log>() + back, result, s), convert(sum.of<prim::Sign>(), result, s)};
}

Handle logsumexp_weighted(const Operand& x, const Operand& b, const Axes& axes, bool keepdims, Location at) {
  const Site s{"logsumexp", at};
  const std::vector<Handle> both = logsumexp_signed(x, b, axes, keepdims, at);
  const Expression log(both[0], s);
  return (Expression(both[1], s) < 0.0).choose(log.number(__builtin_nan("")), log);
}

namespace {

/// Where nothing is selected the elements count as 0, so that results and derivatives are finite.
struct MaskedLogits {
  Expression x, mask;
  DType result;
};
MaskedLogits masked_logits(const Operand& x, const Operand& mask, int axis, const Site& s) {
  const auto [v, result] = widened_real(x, s);
  const Expression m(mask_of(mask, shape(v), s), s);
  const int a = axis_in(axis, v, s);
  const Expression some(broadcast(reduce_axes<prim::ReduceOr>(m, {a}, true, s), shape(v), s), s);
  const Expression e(v, s);
  return {m.choose(e, some.choose(e.number(-__builtin_inf()), e.number(0))), m, result};
}

}  // namespace

Handle softmax_where(const Operand& x, const Operand& mask, int axis, Location at) {
  const Site s{"softmax", at};
  const MaskedLogits l = masked_logits(x, mask, axis, s);
  const Expression y(softmax(l.x.handle(), axis, at), s);
  return convert(l.mask.choose(y, y.number(0)), l.result, s);
}

Handle log_softmax_where(const Operand& x, const Operand& mask, int axis, Location at) {
  const Site s{"log_softmax", at};
  const MaskedLogits l = masked_logits(x, mask, axis, s);
  const Expression y(log_softmax(l.x.handle(), axis, at), s);
  return convert(l.mask.choose(y, y.number(-__builtin_inf())), l.result, s);
}

Handle standardize_where(const Operand& x, const Operand& mask, const Axes& axes, double epsilon, Location at) {
  const Site s{"standardize", at};
  const auto [v, result] = widened_real(x, s);
  const Type t = type(v);
  const Handle m = mask_of(mask, t.shape, s);
  const Ints list = normal_axes(axes, t, s);
  const Expression mean(mean_where(v, m, list, true, s), s);
  const Expression variance(variance_where(v, m, list, 0, true, s), s);
  const Expression centred = Expression(v, s) - Expression(broadcast(mean, t.shape, s), s);
  return convert(normalized_by(centred, (variance + epsilon).of<prim::Rsqrt>(), t.shape, s), result, s);
}

Handle standardize_with(const Operand& x, const Operand& mean, const Operand& variance, double epsilon, Location at) {
  const Site s{"standardize", at};
  const Operand* all[] = {&x, &mean, &variance};
  const DType result = to_inexact(promoted_dtype(all, s)), d = wide(result);
  if (is_complex(d)) reject(type(value(x, s)), "real numbers", s);
  Handle values[] = {value(x, d, s), value(mean, d, s), value(variance, d, s)};
  broadcast_together(values, s);
  const Expression centred = Expression(values[0], s) - Expression(values[1], s);
  return convert(centred * (Expression(values[2], s) + epsilon).of<prim::Rsqrt>(), result, s);
}

Handle conv_patches(const Operand& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides,
                    const Padding& padding, const std::vector<int64_t>& dilation, Location at) {
  const Site s{"conv_patches", at};
  Handle v = value(x, s);
  const Type t = type(v);
  if (t.shape.rank() < 2) s.shape_error("needs [N, spatial..., C], got " + to_string(t));
  const int spatial = t.shape.rank() - 2;
  const auto n = static_cast<size_t>(spatial);
  const Ints windows = per_dimension(window, n, "window", s), steps = per_dimension(strides, n, "strides", s),
             holes = per_dimension(dilation, n, "dilation", s);
  if (padding.kind == Padding::Kind::pairs && padding.pairs.size() != n) {
    s.shape_error("needs a pair of padding for each of " + std::to_string(n) + " spatial dimensions, got " +
                  std::to_string(padding.pairs.size()));
  }
  // Each spatial dimension becomes two: position and element of the window.
  for (size_t i = 0; i < n; ++i) {
    const int axis = static_cast<int>(1 + 2 * i);
    const int64_t extent = extent_of(v, axis), reach = (windows[i] - 1) * holes[i] + 1;
    int64_t low = 0, high = 0;
    if (padding.kind == Padding::Kind::pairs) std::tie(low, high) = padding.pairs[i];
    if (padding.kind == Padding::Kind::same) {
      const int64_t wanted = (extent + steps[i] - 1) / steps[i];
      const int64_t total = std::max<int64_t>((wanted - 1) * steps[i] + reach - extent, 0);
      low = total / 2;
      high = total - low;
    }
    if (extent + low + high < 0) s.shape_error("crops more than there is of " + to_string(t));
    const Handle padded = padded_along(v, axis, low, high, 0, s);
    const int64_t room = extent + low + high - reach, positions = room < 0 ? 0 : room / steps[i] + 1;
    Ints indices;
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t k = 0; k < windows[i]; ++k) indices.push_back(p * steps[i] + k * holes[i]);
    }
    v = positions == 0 ? slice_axis(padded, axis, 0, 0, 1, s) : arranged(padded, axis, indices, s);
    v = reshape(
        v, shape(v).with(static_cast<size_t>(axis), positions).with_inserted(static_cast<size_t>(axis) + 1, windows[i]),
        s);
  }
  // [N, out, window, ..., C] to [N, out..., C, window...].
  Ints perm{0}, to{t.shape[0]};
  int64_t features = t.shape[n + 1];
  for (int i = 0; i < spatial; ++i) {
    perm.push_back(1 + 2 * i);
    to.push_back(extent_of(v, 1 + 2 * i));
    features *= windows[static_cast<size_t>(i)];
  }
  perm.push_back(1 + 2 * spatial);
  for (int i = 0; i < spatial; ++i) perm.push_back(2 + 2 * i);
  to.push_back(features);
  return reshape(transpose(v, perm, s), Shape(to), s);
}

}  // namespace calque::detail::ops
