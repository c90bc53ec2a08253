#include "calque/conformance/numpy_functions.h"

#include "calque/detail/vocabulary.h"

namespace calque::cli {
namespace {

namespace ops = detail::ops;
using detail::Handle;
using detail::Operand;
using Handles = std::vector<Handle>;

bool flag(const FunctionCall& c, const char* name, bool absent) {
  return c.params.has(name) ? c.params.flag(name) : absent;
}
double number(const FunctionCall& c, const char* name, double absent) {
  return c.params.has(name) ? c.params.number(name) : absent;
}
std::optional<double> number_if(const FunctionCall& c, const char* name) {
  if (!c.params.has(name)) return std::nullopt;
  return c.params.number(name);
}
int axis(const FunctionCall& c, int absent = -1) { return c.params.has("axis") ? c.params.axis() : absent; }

template <Handle (*F)(const Operand&, Location)>
Handles one(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.at)};
}
template <Handle (*F)(const Operand&, const Operand&, Location)>
Handles two(const FunctionCall& c) {
  c.expect_operands(2);
  return {F(c.operand(0), c.operand(1), c.at)};
}
template <Handle (*F)(std::span<const Operand>, Location)>
Handles list(const FunctionCall& c) {
  return {F(c.operands, c.at)};
}
template <Handle (*F)(const Operand&, const Axes&, bool, Location)>
Handles over_axes(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.axes(), flag(c, "keepdims", false), c.at)};
}
template <Handle (*F)(const Operand&, int, Location)>
Handles along(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), axis(c), c.at)};
}
template <Handle (*F)(const Operand&, const Axes&, double, bool, Location)>
Handles nan_variance(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.axes(), number(c, "ddof", 0), flag(c, "keepdims", false), c.at)};
}
template <Handle (*F)(DType, int64_t, Location)>
Handles window(const FunctionCall& c) {
  return {F(c.params.dtype(), c.params.integer("n"), c.at)};
}
template <Handle (*F)(const Operand&, int64_t, Location)>
Handles of_order(const FunctionCall& c) {
  return {F(c.operand(0), c.params.integer("m", 1), c.at)};
}
template <Handle (*F)(const Operand&, const Operand&, convolve_mode, Location)>
Handles sliding(const FunctionCall& c) {
  c.expect_operands(2);
  const std::string text = c.params.text("mode");
  const convolve_mode mode = text == "full"   ? convolve_mode::full
                             : text == "same" ? convolve_mode::same
                                              : convolve_mode::valid;
  return {F(c.operand(0), c.operand(1), mode, c.at)};
}

// ---- shapes

Handles moveaxis(const FunctionCall& c) {
  return {ops::moveaxis(c.operand(0), c.params.axis("source"), c.params.axis("destination"), c.at)};
}
Handles swapaxes(const FunctionCall& c) {
  return {ops::swapaxes(c.operand(0), c.params.axis("axis1"), c.params.axis("axis2"), c.at)};
}
Handles rot90(const FunctionCall& c) { return {ops::rot90(c.operand(0), c.params.integer("k", 1), 0, 1, c.at)}; }
Handles array_split(const FunctionCall& c) {
  return ops::array_split(c.operand(0), c.params.integer("sections"), axis(c, 0), c.at);
}
Handles broadcast_arrays(const FunctionCall& c) { return ops::broadcast_arrays(c.operands, c.at); }
Handles meshgrid(const FunctionCall& c) {
  const bool ij = c.params.has("indexing") && c.params.text("indexing") == "ij";
  return ops::meshgrid(c.operands, ij ? indexing::ij : indexing::xy, flag(c, "sparse", false), c.at);
}
Handles tri(const FunctionCall& c) {
  const int64_t n = c.params.integer("n");
  return {ops::tri(c.params.dtype(), n, c.params.integer("m", n), c.params.integer("k", 0), c.at)};
}
Handles unravel_index(const FunctionCall& c) { return ops::unravel_index(c.operand(0), c.params.shape(), c.at); }
Handles ravel_multi_index(const FunctionCall& c) {
  return {ops::ravel_multi_index(c.operands, c.params.shape(), mode::clip, c.at)};
}
Handles fill_diagonal(const FunctionCall& c) {
  return {ops::fill_diagonal(c.operand(0), detail::literal_operand(c.params.number("value")), c.at)};
}
Handles logspace(const FunctionCall& c) {
  return {
      ops::logspace(c.params.dtype(), c.params.number("lo"), c.params.number("hi"), c.params.integer("n"), 10, c.at)};
}
Handles geomspace(const FunctionCall& c) {
  return {ops::geomspace(c.params.dtype(), c.params.number("lo"), c.params.number("hi"), c.params.integer("n"), c.at)};
}

// ---- differences, statistics

Handles diff(const FunctionCall& c) { return {ops::diff(c.operand(0), c.params.integer("n", 1), axis(c), c.at)}; }
Handles gradient(const FunctionCall& c) {
  return {ops::gradient(c.operand(0), number(c, "spacing", 1), axis(c), 1, c.at)};
}
Handles trapezoid(const FunctionCall& c) {
  if (c.operands.size() == 2) return {ops::trapezoid_at(c.operand(0), c.operand(1), axis(c), c.at)};
  c.expect_operands(1);
  return {ops::trapezoid(c.operand(0), number(c, "dx", 1), axis(c), c.at)};
}
Handles interp(const FunctionCall& c) {
  c.expect_operands(3);
  return {ops::interp(c.operand(0), c.operand(1), c.operand(2), number_if(c, "left"), number_if(c, "right"), c.at)};
}
Handles unwrap(const FunctionCall& c) {
  return {ops::unwrap(c.operand(0), axis(c), std::nullopt, number(c, "period", 2 * 3.14159265358979323846), c.at)};
}
Handles cumlogsumexp(const FunctionCall& c) {
  return {ops::cumlogsumexp(c.operand(0), axis(c), flag(c, "reverse", false), c.at)};
}
Handles average(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::average(c.operand(0), c.operand(1), c.params.axes(), flag(c, "keepdims", false), c.at)};
}
Handles cov(const FunctionCall& c) {
  return {ops::cov(c.operands, flag(c, "rowvar", true), c.params.integer("ddof", 1), c.at)};
}
Handles corrcoef(const FunctionCall& c) { return {ops::corrcoef(c.operands, flag(c, "rowvar", true), c.at)}; }
Handles nan_to_num(const FunctionCall& c) {
  return {ops::nan_to_num(c.operand(0), number(c, "nan", 0), number_if(c, "posinf"), number_if(c, "neginf"), c.at)};
}
Handles isclose(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::isclose(c.operand(0), c.operand(1), number(c, "rtol", 1e-5), number(c, "atol", 1e-8),
                       flag(c, "equal_nan", false), c.at)};
}
Handles isin(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::isin(c.operand(0), c.operand(1), false, c.at)};
}
Handles array_equal(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::array_equal(c.operand(0), c.operand(1), false, c.at)};
}
Handles modf(const FunctionCall& c) { return ops::modf(c.operand(0), c.at); }
Handles divmod(const FunctionCall& c) {
  c.expect_operands(2);
  return ops::divmod(c.operand(0), c.operand(1), c.at);
}
Handles put_along_axis(const FunctionCall& c) {
  c.expect_operands(3);
  return {ops::put_along_axis(c.operand(0), c.operand(1), c.operand(2), axis(c), c.at)};
}
template <Handle (*F)(const Operand&, const Operand&, int64_t, Location)>
Handles segments(const FunctionCall& c) {
  c.expect_operands(2);
  return {F(c.operand(0), c.operand(1), c.params.integer("segments"), c.at)};
}

// ---- layers

Handles elu(const FunctionCall& c) { return {ops::elu(c.operand(0), number(c, "alpha", 1), c.at)}; }
Handles celu(const FunctionCall& c) { return {ops::celu(c.operand(0), number(c, "alpha", 1), c.at)}; }
Handles gelu(const FunctionCall& c) { return {ops::gelu(c.operand(0), flag(c, "approximate", true), c.at)}; }
Handles leaky_relu(const FunctionCall& c) {
  return {ops::leaky_relu(c.operand(0), number(c, "negative_slope", 0.01), c.at)};
}
Handles squareplus(const FunctionCall& c) { return {ops::squareplus(c.operand(0), number(c, "b", 4), c.at)}; }
Handles standardize(const FunctionCall& c) {
  return {ops::standardize(c.operand(0), Axes(axis(c)), number(c, "epsilon", 1e-5), c.at)};
}
Handles one_hot(const FunctionCall& c) {
  return {ops::one_hot(c.params.dtype(), c.operand(0), c.params.integer("classes"), axis(c), c.at)};
}
Padding padding(const FunctionCall& c) {
  const std::string text = c.params.text("padding");
  if (text == "same") return same;
  if (text == "valid") return valid;
  throw CaseError("padding: expected same or valid, got " + text);
}
PoolOptions pool_options(const FunctionCall& c) {
  return {c.params.integers("window"), c.params.integers("strides"), padding(c)};
}
Handles max_pool(const FunctionCall& c) { return {ops::max_pool(c.operand(0), pool_options(c), c.at)}; }
Handles avg_pool(const FunctionCall& c) { return {ops::avg_pool(c.operand(0), pool_options(c), false, c.at)}; }
Handles conv_transpose(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::conv_transpose(c.operand(0), c.operand(1), c.params.integers("strides"), padding(c), c.at)};
}
Handles dot_product_attention(const FunctionCall& c) {
  c.expect_operands(3);
  return {ops::dot_product_attention(c.operand(0), c.operand(1), c.operand(2), nullptr, flag(c, "causal", false),
                                     std::nullopt, c.at)};
}

}  // namespace

const std::map<std::string_view, Handles (*)(const FunctionCall&)>& numpy_functions() {
  static const std::map<std::string_view, Handles (*)(const FunctionCall&)> table = {
#define CALQUE_X(f) {#f, &one<ops::f>},
      CALQUE_ACTIVATIONS(CALQUE_X)
#undef CALQUE_X
  // clang-format off
#define CALQUE_X(rule, f) {#f, &rule<ops::f>}
      CALQUE_X(one, fliplr), CALQUE_X(one, flipud), CALQUE_X(one, atleast_1d), CALQUE_X(one, atleast_2d),
      CALQUE_X(one, atleast_3d), CALQUE_X(one, ediff1d), CALQUE_X(one, isposinf), CALQUE_X(one, isneginf),
      CALQUE_X(one, deg2rad), CALQUE_X(one, rad2deg), CALQUE_X(one, reciprocal),
      CALQUE_X(list, hstack), CALQUE_X(list, vstack), CALQUE_X(list, dstack), CALQUE_X(list, column_stack),
      CALQUE_X(two, heaviside), CALQUE_X(two, float_power), CALQUE_X(two, logical_xor), CALQUE_X(two, polyval),
      CALQUE_X(two, polyadd), CALQUE_X(two, polysub), CALQUE_X(two, polymul),
      CALQUE_X(of_order, polyder), CALQUE_X(of_order, polyint),
      CALQUE_X(sliding, convolve), CALQUE_X(sliding, correlate),
      CALQUE_X(over_axes, ptp), CALQUE_X(over_axes, count_nonzero), CALQUE_X(over_axes, nansum),
      CALQUE_X(over_axes, nanprod), CALQUE_X(over_axes, nanmean), CALQUE_X(over_axes, nanmax),
      CALQUE_X(over_axes, nanmin), CALQUE_X(nan_variance, nanvar), CALQUE_X(nan_variance, nanstd),
      CALQUE_X(along, nanargmax), CALQUE_X(along, nanargmin), CALQUE_X(along, nancumsum), CALQUE_X(along, nancumprod),
      CALQUE_X(along, glu), CALQUE_X(window, bartlett), CALQUE_X(window, blackman), CALQUE_X(window, hamming),
      CALQUE_X(window, hanning), CALQUE_X(segments, segment_sum), CALQUE_X(segments, segment_prod),
      CALQUE_X(segments, segment_max), CALQUE_X(segments, segment_min),
#undef CALQUE_X
#define CALQUE_X(f) {#f, &f}
      CALQUE_X(moveaxis), CALQUE_X(swapaxes), CALQUE_X(rot90), CALQUE_X(array_split), CALQUE_X(broadcast_arrays),
      CALQUE_X(meshgrid), CALQUE_X(tri), CALQUE_X(unravel_index), CALQUE_X(ravel_multi_index), CALQUE_X(fill_diagonal),
      CALQUE_X(logspace), CALQUE_X(geomspace), CALQUE_X(diff), CALQUE_X(gradient), CALQUE_X(trapezoid),
      CALQUE_X(interp), CALQUE_X(unwrap), CALQUE_X(cumlogsumexp), CALQUE_X(average), CALQUE_X(cov), CALQUE_X(corrcoef),
      CALQUE_X(nan_to_num), CALQUE_X(isclose), CALQUE_X(isin), CALQUE_X(array_equal), CALQUE_X(modf), CALQUE_X(divmod),
      CALQUE_X(put_along_axis), CALQUE_X(elu), CALQUE_X(celu), CALQUE_X(gelu), CALQUE_X(leaky_relu),
      CALQUE_X(squareplus), CALQUE_X(standardize), CALQUE_X(one_hot), CALQUE_X(max_pool), CALQUE_X(avg_pool),
      CALQUE_X(conv_transpose), CALQUE_X(dot_product_attention),
#undef CALQUE_X
      // clang-format on
  };
  return table;
}

}  // namespace calque::cli
