// Convolution as one contraction (im2col): the windows of the padded input (one slice for each kernel tap, concatenated
// along the channels) times the kernel as a matrix.
#include <algorithm>

#include "frontend/ops/common.h"

namespace calque::detail::ops {
namespace {

struct Geometry {
  size_t spatial = 0;
  Ints kernel, strides, dilation, low, high, out;
};

Ints each(const std::vector<int64_t>& given, size_t count, std::string_view what, const Site& s) {
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

Geometry geometry(const Type& x, const Type& w, const ConvOptions& options, const Site& s) {
  Geometry g;
  g.spatial = x.shape.size() - 2;
  for (size_t i = 0; i < g.spatial; ++i) g.kernel.push_back(w.shape[i]);
  g.strides = each(options.strides, g.spatial, "strides", s);
  g.dilation = each(options.dilation, g.spatial, "dilation", s);
  if (options.padding.kind == Padding::Kind::pairs && options.padding.pairs.size() != g.spatial) {
    s.shape_error("padding needs a pair for each of " + std::to_string(g.spatial) + " spatial dimensions, got " +
                  std::to_string(options.padding.pairs.size()));
  }
  for (size_t i = 0; i < g.spatial; ++i) {
    const int64_t extent = x.shape[i + 1];
    const int64_t window = g.kernel[i] == 0 ? 0 : (g.kernel[i] - 1) * g.dilation[i] + 1;
    int64_t low = 0, high = 0;
    if (options.padding.kind == Padding::Kind::same) {
      const int64_t positions = (extent + g.strides[i] - 1) / g.strides[i];
      const int64_t total = std::max<int64_t>((positions - 1) * g.strides[i] + window - extent, 0);
      low = total / 2;
      high = total - low;
    } else if (options.padding.kind == Padding::Kind::pairs) {
      low = options.padding.pairs[i].first;
      high = options.padding.pairs[i].second;
    }
    const int64_t padded = extent + low + high;
    g.low.push_back(low);
    g.high.push_back(high);
    g.out.push_back(window == 0 || padded < window ? 0 : (padded - window) / g.strides[i] + 1);
  }
  return g;
}

/// [N, out..., taps * C]: for each output position the elements of its window, tap by tap.
Handle windows(Handle x, const Geometry& g, const Site& s) {
  const Shape padded = shape(x);
  Ints tap(g.spatial, 0);
  std::vector<Operand> parts;
  while (true) {
    Ints start{0}, limit{padded[0]}, stride{1};
    for (size_t i = 0; i < g.spatial; ++i) {
      const int64_t from = tap[i] * g.dilation[i];
      start.push_back(from);
      limit.push_back(g.out[i] == 0 ? from : from + (g.out[i] - 1) * g.strides[i] + 1);
      stride.push_back(g.strides[i]);
    }
    start.push_back(0);
    limit.push_back(padded[g.spatial + 1]);
    stride.push_back(1);
    parts.push_back(slice(x, start, limit, stride, s));
    size_t i = g.spatial;
    while (i > 0 && ++tap[i - 1] == g.kernel[i - 1]) tap[--i] = 0;
    if (i == 0) break;
  }
  return concatenate(parts, static_cast<int>(g.spatial) + 1, s.at);
}

}  // namespace

Handle conv(const Operand& x, const Operand& w, const ConvOptions& options, Location at) {
  const Site s{"conv", at};
  const DType d = promoted_dtype(x, w, s);
  Handle input = value(x, d, s), kernel = value(w, d, s);
  const Type tx = type(input), tw = type(kernel);
  if (tx.shape.rank() < 2 || tx.shape.rank() != tw.shape.rank()) {
    s.shape_error("needs x [N, spatial..., C] and w [spatial..., C / groups, O] of one rank, got " + to_string(tx) +
                  " and " + to_string(tw));
  }
  const size_t spatial = tx.shape.size() - 2;
  const int64_t batch = tx.shape[0], channels = tx.shape[spatial + 1], groups = options.groups;
  const int64_t per_group = tw.shape[spatial], outputs = tw.shape[spatial + 1];
  if (groups < 1 || channels % groups != 0 || outputs % groups != 0) {
    s.shape_error("channels of " + to_string(tx) + " and " + to_string(tw) + " do not divide into " +
                  std::to_string(groups) + " groups");
  }
  if (per_group != channels / groups) {
    s.shape_error("w must have " + std::to_string(channels / groups) + " input channels, got " + to_string(tx) +
                  " and " + to_string(tw));
  }
  const Geometry g = geometry(tx, tw, options, s);
  Ints result{batch};
  result.insert(result.end(), g.out.begin(), g.out.end());
  result.push_back(outputs);
  int64_t taps = 1;
  for (int64_t k : g.kernel) taps *= k;
  if (Shape(result).num_elements() == 0 || taps == 0) return splat(0, {d, Shape(result)}, s);

  Ints low{0}, high{0};
  low.insert(low.end(), g.low.begin(), g.low.end());
  high.insert(high.end(), g.high.begin(), g.high.end());
  low.push_back(0);
  high.push_back(0);
  input = pad(input, splat(0, {d, {}}, s), low, high, {}, at);
  const Handle columns = windows(input, g, s);
  int64_t positions = batch;
  for (int64_t o : g.out) positions *= o;
  if (groups == 1) {
    const Handle matrix = reshape(kernel, Shape{taps * channels, outputs}, s);
    const auto inner = static_cast<int64_t>(spatial + 1);
    const Handle product = emit<prim::DotGeneral>(
        s, {columns, matrix},
        {{"lhs_batch", Ints{}}, {"lhs_contract", Ints{inner}}, {"rhs_batch", Ints{}}, {"rhs_contract", Ints{0}}});
    return product;
  }
  // [P, taps, G, C/G] times [taps, C/G, G, O/G]: G is a batch dimension.
  const Handle left = reshape(columns, Shape{positions, taps, groups, per_group}, s);
  const Handle right = reshape(kernel, Shape{taps, per_group, groups, outputs / groups}, s);
  const Handle product = emit<prim::DotGeneral>(
      s, {left, right},
      {{"lhs_batch", Ints{2}}, {"lhs_contract", Ints{1, 3}}, {"rhs_batch", Ints{2}}, {"rhs_contract", Ints{0, 1}}});
  return reshape(transpose(product, {1, 0, 2}, s), Shape(result), s);
}

}  // namespace calque::detail::ops
