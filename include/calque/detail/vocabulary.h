#pragma once
// The type-erased versions of the functions in calque/numpy and calque/nn.h, as those of calque/detail/ops.h: operands
// promote and broadcast, the result is a value of the innermost trace. For semantics see the public templates.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "calque/detail/ops.h"

namespace calque {

/// How `pad` fills: `edge` repeats the first and last element, `reflect` mirrors at them, `symmetric` mirrors behind
/// them, `wrap` continues periodically, `linear_ramp` goes to an end value by equal steps; the others repeat a
/// statistic of the elements along the axis.
enum class pad_mode { edge, reflect, symmetric, wrap, linear_ramp, maximum, mean, median, minimum };

/// What `pad` mirrors: the elements (`even`), or twice the element at the edge less these (`odd`).
enum class reflection { even, odd };

/// Options of `pad` with a mode; lists have one pair (before, after) for all dimensions, or one for each.
struct PadOptions {
  /// Of `reflect` and `symmetric`.
  reflection reflect_type = reflection::even;
  /// Of the statistics: how many elements at each end they are of; all by default.
  std::vector<std::pair<int64_t, int64_t>> stat_length{};
  /// Of `linear_ramp`: the outermost elements; 0 by default.
  std::vector<std::pair<double, double>> end_values{};
};

/// Which bit of a byte is the first one: the highest (`big`, NumPy's default) or the lowest.
enum class bitorder { big, little };

/// The first two dimensions of grids: `xy` has rows for the second vector (NumPy's default), `ij` for the first.
enum class indexing { xy, ij };

/// What `convolve` and `correlate` keep: every overlap, the extent of the longer vector, or full overlaps only.
enum class convolve_mode { full, same, valid };

/// How `reduce_window` combines elements.
enum class window_reduction { sum, prod, max, min };

/// Parameters of the pooling functions; empty strides mean 1 for every spatial dimension.
struct PoolOptions {
  /// The extent of the window in each spatial dimension.
  std::vector<int64_t> window{};
  std::vector<int64_t> strides{};
  Padding padding{};
};

namespace detail {
/// Which weights a covariance has.
struct WeightsGiven {
  bool fweights = false, aweights = false;
};
}  // namespace detail

namespace detail::ops {

// ---- calque/numpy/rearranging.h
Handle moveaxis(const Operand& x, const Axes& source, const Axes& destination, Location at);
Handle swapaxes(const Operand& x, int axis1, int axis2, Location at);
Handle rollaxis(const Operand& x, int axis, int start, Location at);
Handle rot90(const Operand& x, int64_t k, int axis1, int axis2, Location at);
Handle fliplr(const Operand& x, Location at);
Handle flipud(const Operand& x, Location at);
Handle atleast_1d(const Operand& x, Location at);
Handle atleast_2d(const Operand& x, Location at);
Handle atleast_3d(const Operand& x, Location at);
Handle ravel(const Operand& x, Location at);
Handle matrix_transpose(const Operand& x, Location at);
Handle resize(const Operand& x, const Shape& to, Location at);
Handle roll_flat(const Operand& x, int64_t shift, Location at);
Handle roll_axes(const Operand& x, std::span<const int64_t> shifts, const Axes& axes, Location at);
/// By a scalar shift that is known only at run time.
Handle roll_by(const Operand& x, const Operand& shift, int axis, Location at);
Handle repeat_counts(const Operand& x, std::span<const int64_t> counts, int axis, Location at);
/// With counts known only at run time, cut or continued with the last element to `total` elements.
Handle repeat_by(const Operand& x, const Operand& counts, int64_t total, int axis, Location at);
Handle pad_with(const Operand& x, pad_mode how, std::span<const int64_t> low, std::span<const int64_t> high,
                const PadOptions& options, Location at);

// ---- calque/numpy/joining.h
Handle hstack(std::span<const Operand> xs, Location at);
Handle vstack(std::span<const Operand> xs, Location at);
Handle dstack(std::span<const Operand> xs, Location at);
Handle column_stack(std::span<const Operand> xs, Location at);
/// The rows of blocks, one after another; `rows` has the number of blocks of each.
Handle block(std::span<const Operand> xs, std::span<const int64_t> rows, Location at);
Handle append(const Operand& x, const Operand& y, std::optional<int> axis, Location at);
std::vector<Handle> array_split(const Operand& x, int64_t sections, int axis, Location at);
/// `which`: 'h', 'v' or 'd'.
std::vector<Handle> split_along(const Operand& x, char which, int64_t sections, Location at);
std::vector<Handle> split_along_at(const Operand& x, char which, std::span<const int64_t> indices, Location at);
std::vector<Handle> unstack(const Operand& x, int axis, Location at);
std::vector<Handle> broadcast_arrays(std::span<const Operand> xs, Location at);
std::vector<Handle> meshgrid(std::span<const Operand> xs, indexing order, bool sparse, Location at);
Handle insert(const Operand& x, std::span<const int64_t> positions, const Operand& values, int axis, Location at);
Handle delete_(const Operand& x, std::span<const int64_t> positions, int axis, Location at);

// ---- calque/numpy/differences.h
Handle diff(const Operand& x, int64_t n, int axis, Location at);
Handle ediff1d(const Operand& x, Location at);
/// x, then elements before it if `has_prepend`, then those behind it.
Handle diff_between(std::span<const Operand> all, bool has_prepend, int64_t n, int axis, Location at);
/// x, then elements behind the differences if `has_end`, then those before them.
Handle ediff1d_between(std::span<const Operand> all, bool has_end, Location at);
Handle gradient(const Operand& f, double spacing, int axis, int edge_order, Location at);
Handle gradient_at(const Operand& f, const Operand& x, int axis, int edge_order, Location at);
/// Along several axes, with a spacing for each or one for all.
std::vector<Handle> gradients(const Operand& f, std::span<const double> spacings, const Axes& axes, int edge_order,
                              Location at);
Handle trapezoid(const Operand& y, double dx, int axis, Location at);
Handle trapezoid_at(const Operand& y, const Operand& x, int axis, Location at);
Handle interp(const Operand& x, const Operand& xp, const Operand& fp, std::optional<double> left,
              std::optional<double> right, Location at);
/// The first or last line continues where the bool says so.
Handle interp_extrapolated(const Operand& x, const Operand& xp, const Operand& fp, std::optional<double> left,
                           std::optional<double> right, bool continues_left, bool continues_right, Location at);
Handle interp_periodic(const Operand& x, const Operand& xp, const Operand& fp, double period, Location at);
Handle unwrap(const Operand& x, int axis, std::optional<double> discont, double period, Location at);
Handle cumlogsumexp(const Operand& x, int axis, bool reverse, Location at);
/// Without an axis: of the flattened elements.
Handle cumsum_of(const Operand& x, std::optional<int> axis, bool reverse, Location at);
Handle cumprod_of(const Operand& x, std::optional<int> axis, bool reverse, Location at);
Handle cummax_of(const Operand& x, std::optional<int> axis, bool reverse, Location at);
Handle cummin_of(const Operand& x, std::optional<int> axis, bool reverse, Location at);
/// The same after the identity of the function, one element more.
Handle cumsum_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at);
Handle cumprod_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at);
Handle cummax_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at);
Handle cummin_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at);

// ---- calque/numpy/statistics.h
Handle ptp(const Operand& x, const Axes& axes, bool keepdims, Location at);
Handle count_nonzero(const Operand& x, const Axes& axes, bool keepdims, Location at);
Handle average(const Operand& x, const Operand& weights, const Axes& axes, bool keepdims, Location at);
/// The average and the sum of the weights.
std::vector<Handle> average_and_sum(const Operand& x, const Operand& weights, const Axes& axes, bool keepdims,
                                    Location at);
/// Dimension `axis` is kept with extent 1 if `keepdims`.
Handle argmax_kept(const Operand& x, int axis, bool keepdims, Location at);
Handle argmin_kept(const Operand& x, int axis, bool keepdims, Location at);
/// Of the variables in x, and in y where given.
Handle cov(std::span<const Operand> xs, bool rowvar, int64_t ddof, Location at);
Handle corrcoef(std::span<const Operand> xs, bool rowvar, Location at);
/// The same of the first `variables` operands; the others are the weights.
Handle cov_weighted(std::span<const Operand> all, size_t variables, bool rowvar, int64_t ddof, WeightsGiven given,
                    Location at);
Handle corrcoef_weighted(std::span<const Operand> all, size_t variables, bool rowvar, WeightsGiven given, Location at);
// clang-format off
#define CALQUE_MASKED_REDUCTION(X) X(sum) X(prod) X(mean) X(amax) X(amin) X(all) X(any)
#define CALQUE_MASKED_FOLDS(X) X(sum) X(prod) X(amax) X(amin)
#define CALQUE_NAN_REDUCTION(X) X(nansum) X(nanprod) X(nanmean) X(nanmax) X(nanmin)
// clang-format on
/// Over the elements where the mask, which broadcasts to x, is true.
#define CALQUE_X(f) \
  Handle f##_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at);
CALQUE_MASKED_REDUCTION(CALQUE_X)
#undef CALQUE_X
/// The same, starting from an element; without one: null.
#define CALQUE_X(f)                                                                             \
  Handle f##_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, \
                        const Operand* initial, Location at);
CALQUE_MASKED_FOLDS(CALQUE_X)
#undef CALQUE_X
Handle var_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at);
Handle stddev_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at);
Handle var_ddof(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at);
Handle stddev_ddof(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at);

// ---- calque/numpy/nan.h
#define CALQUE_X(f) Handle f(const Operand& x, const Axes& axes, bool keepdims, Location at);
CALQUE_NAN_REDUCTION(CALQUE_X)
#undef CALQUE_X
/// Starting from an element; without one: null.
#define CALQUE_X(f)                                                                             \
  Handle f##_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, \
                        const Operand* initial, Location at);
CALQUE_X(nansum)
CALQUE_X(nanprod)
CALQUE_X(nanmax)
CALQUE_X(nanmin)
#undef CALQUE_X
Handle nanmean_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at);
Handle nanvar(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at);
Handle nanstd(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at);
Handle nanvar_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at);
Handle nanstd_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at);
Handle nanargmax(const Operand& x, int axis, Location at);
Handle nanargmin(const Operand& x, int axis, Location at);
Handle nanargmax_kept(const Operand& x, int axis, bool keepdims, Location at);
Handle nanargmin_kept(const Operand& x, int axis, bool keepdims, Location at);
Handle nancumsum(const Operand& x, int axis, Location at);
Handle nancumprod(const Operand& x, int axis, Location at);
Handle nan_to_num(const Operand& x, double nan, std::optional<double> posinf, std::optional<double> neginf,
                  Location at);

// ---- calque/numpy/logic.h
Handle isclose(const Operand& x, const Operand& y, double rtol, double atol, bool equal_nan, Location at);
Handle allclose(const Operand& x, const Operand& y, double rtol, double atol, bool equal_nan, Location at);
Handle array_equal(const Operand& x, const Operand& y, bool equal_nan, Location at);
Handle array_equiv(const Operand& x, const Operand& y, Location at);
Handle isin(const Operand& x, const Operand& elements, bool invert, Location at);
Handle isposinf(const Operand& x, Location at);
Handle isneginf(const Operand& x, Location at);
Handle isreal(const Operand& x, Location at);
Handle iscomplex(const Operand& x, Location at);
Handle logical_xor(const Operand& x, const Operand& y, Location at);
/// The conditions, then the choices, then the value elsewhere.
Handle select_of(std::span<const Operand> all, Location at);
/// The indices, then the choices.
Handle choose(std::span<const Operand> all, mode out_of_bounds, Location at);

// ---- calque/numpy/arithmetic.h
Handle heaviside(const Operand& x, const Operand& at_zero, Location at);
Handle float_power(const Operand& x, const Operand& y, Location at);
Handle true_divide(const Operand& x, const Operand& y, Location at);
Handle deg2rad(const Operand& x, Location at);
Handle rad2deg(const Operand& x, Location at);
Handle reciprocal(const Operand& x, Location at);
std::vector<Handle> modf(const Operand& x, Location at);
std::vector<Handle> divmod(const Operand& x, const Operand& y, Location at);
std::vector<Handle> frexp(const Operand& x, Location at);
Handle spacing(const Operand& x, Location at);
Handle round_decimals(const Operand& x, int decimals, Location at);
/// Limited from below if `low`, else from above.
Handle clip_one(const Operand& x, const Operand& bound, bool low, Location at);
/// Without an axis: of the flattened elements.
Handle packbits(const Operand& x, std::optional<int> axis, bitorder order, Location at);
/// The first `count` bits along the axis, or all less -count; all without it.
Handle unpackbits(const Operand& x, std::optional<int> axis, std::optional<int64_t> count, bitorder order, Location at);
Handle angle_in(const Operand& x, bool degrees, Location at);
Handle mulhi(const Operand& x, const Operand& y, Location at);
Handle reduce_xor(const Operand& x, const Axes& axes, bool keepdims, Location at);

// ---- calque/numpy/products.h
Handle matvec(const Operand& a, const Operand& x, Location at);
Handle vecmat(const Operand& x, const Operand& a, Location at);
Handle vecdot_along(const Operand& a, const Operand& b, int axis, Location at);
Handle cross_along(const Operand& a, const Operand& b, int axis_a, int axis_b, int axis_c, Location at);

// ---- calque/numpy/polynomials.h
Handle polyval(const Operand& p, const Operand& x, Location at);
Handle polyadd(const Operand& p, const Operand& q, Location at);
Handle polysub(const Operand& p, const Operand& q, Location at);
Handle polymul(const Operand& p, const Operand& q, Location at);
Handle polyder(const Operand& p, int64_t m, Location at);
Handle polyint(const Operand& p, int64_t m, Location at);
/// With constants of integration.
Handle polyint_from(const Operand& p, int64_t m, const Operand& constants, Location at);
std::vector<Handle> polydiv(const Operand& p, const Operand& q, Location at);
Handle poly(const Operand& roots, Location at);
Handle polyfit(const Operand& x, const Operand& y, int64_t degree, Location at);
/// Without weights: null.
Handle polyfit_weighted(const Operand& x, const Operand& y, int64_t degree, const Operand* weights, Location at);
/// Coefficients and their covariance.
std::vector<Handle> polyfit_cov(const Operand& x, const Operand& y, int64_t degree, const Operand* weights,
                                bool unscaled, Location at);
Handle convolve(const Operand& x, const Operand& y, convolve_mode mode, Location at);
Handle correlate(const Operand& x, const Operand& y, convolve_mode mode, Location at);

// ---- calque/numpy/making.h
Handle tri(DType dtype, int64_t n, int64_t m, int64_t k, Location at);
Handle eye_of(DType dtype, int64_t n, int64_t m, int64_t k, Location at);
Handle bartlett(DType dtype, int64_t n, Location at);
Handle blackman(DType dtype, int64_t n, Location at);
Handle hamming(DType dtype, int64_t n, Location at);
Handle hanning(DType dtype, int64_t n, Location at);
Handle kaiser(DType dtype, int64_t n, double beta, Location at);
Handle logspace(DType dtype, double low, double high, int64_t n, double base, Location at);
Handle geomspace(DType dtype, double low, double high, int64_t n, Location at);
Handle logspace_without_end(DType dtype, double low, double high, int64_t n, double base, Location at);
Handle geomspace_without_end(DType dtype, double low, double high, int64_t n, Location at);
/// Between arrays, along a new axis.
Handle linspace_between(const Operand& low, const Operand& high, int64_t n, bool endpoint, int axis, Location at);
Handle logspace_between(const Operand& low, const Operand& high, int64_t n, bool endpoint, double base, int axis,
                        Location at);
Handle geomspace_between(const Operand& low, const Operand& high, int64_t n, bool endpoint, int axis, Location at);
/// Arrays of i32, one for each dimension.
std::vector<Handle> indices(const Shape& shape, bool sparse, Location at);
/// `which`: 'l' or 'u'.
std::vector<Handle> triangle_indices(char which, int64_t n, int64_t k, int64_t m, Location at);
std::vector<Handle> diag_indices(int64_t n, int64_t rank, Location at);
Handle full_like(const Operand& x, const Operand& value, Location at);
Handle diagflat(const Operand& x, int64_t k, Location at);

// ---- calque/numpy/indices.h
std::vector<Handle> unravel_index(const Operand& indices, const Shape& shape, Location at);
Handle ravel_multi_index(std::span<const Operand> indices, const Shape& shape, mode out_of_bounds, Location at);
Handle fill_diagonal(const Operand& x, const Operand& value, Location at);
Handle put_along_axis(const Operand& x, const Operand& indices, const Operand& values, int axis, Location at);
Handle put_along_axis_in(const Operand& x, const Operand& indices, const Operand& values, int axis, mode out_of_bounds,
                         Location at);
Handle put(const Operand& x, const Operand& indices, const Operand& values, mode out_of_bounds, Location at);
Handle segment_sum(const Operand& x, const Operand& ids, int64_t segments, Location at);
Handle segment_prod(const Operand& x, const Operand& ids, int64_t segments, Location at);
Handle segment_max(const Operand& x, const Operand& ids, int64_t segments, Location at);
Handle segment_min(const Operand& x, const Operand& ids, int64_t segments, Location at);
Handle flatnonzero(const Operand& x, int64_t size, int64_t fill_value, Location at);
std::vector<Handle> nonzero(const Operand& x, int64_t size, int64_t fill_value, Location at);
Handle argwhere(const Operand& x, int64_t size, int64_t fill_value, Location at);
Handle extract(const Operand& condition, const Operand& x, int64_t size, const Operand& fill, Location at);
Handle compress(const Operand& condition, const Operand& x, int axis, int64_t size, const Operand& fill, Location at);
Handle place(const Operand& x, const Operand& mask, const Operand& values, Location at);
Handle take_filled(const Operand& x, const Operand& indices, int axis, const Operand& fill, Location at);
Handle take_along_axis_filled(const Operand& x, const Operand& indices, int axis, const Operand& fill, Location at);

// ---- calque/nn.h
// clang-format off
#define CALQUE_ACTIVATIONS(X) \
  X(relu6) X(selu) X(silu) X(hard_sigmoid) X(hard_silu) X(hard_tanh) X(log_sigmoid) X(soft_sign) X(softplus) X(mish) \
  X(sparse_plus) X(sparse_sigmoid) X(log1mexp)
// clang-format on
#define CALQUE_X(f) Handle f(const Operand& x, Location at);
CALQUE_ACTIVATIONS(CALQUE_X)
#undef CALQUE_X
Handle elu(const Operand& x, double alpha, Location at);
Handle celu(const Operand& x, double alpha, Location at);
Handle gelu(const Operand& x, bool approximate, Location at);
Handle leaky_relu(const Operand& x, double slope, Location at);
Handle squareplus(const Operand& x, double b, Location at);
Handle glu(const Operand& x, int axis, Location at);
Handle max_pool(const Operand& x, const PoolOptions& options, Location at);
Handle min_pool(const Operand& x, const PoolOptions& options, Location at);
Handle sum_pool(const Operand& x, const PoolOptions& options, Location at);
/// Over windows of all dimensions.
Handle reduce_window(const Operand& x, window_reduction how, const PoolOptions& options, Location at);
Handle avg_pool(const Operand& x, const PoolOptions& options, bool count_padding, Location at);
Handle conv_transpose(const Operand& x, const Operand& w, const std::vector<int64_t>& strides, const Padding& padding,
                      Location at);
/// Without a mask: null.
Handle dot_product_attention(const Operand& q, const Operand& k, const Operand& v, const Operand* mask, bool causal,
                             std::optional<double> scale, Location at);
Handle standardize(const Operand& x, const Axes& axes, double epsilon, Location at);
Handle rms_norm(const Operand& x, int axis, double eps, Location at);
/// Of x, mean, variance, gamma, beta.
Handle batch_norm(std::span<const Operand> all, int axis, double eps, Location at);
Handle one_hot(DType dtype, const Operand& indices, int64_t classes, int axis, Location at);
Handle dropout(const Operand& key, const Operand& x, double rate, Location at);
Handle logmeanexp(const Operand& x, const Axes& axes, bool keepdims, Location at);
Handle logmeanexp_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at);
Handle logsumexp_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at);
/// log of the modulus of the sum of b e^x, and the sign of that sum.
std::vector<Handle> logsumexp_signed(const Operand& x, const Operand& b, const Axes& axes, bool keepdims, Location at);
/// The first of these; NaN where the sum is negative.
Handle logsumexp_weighted(const Operand& x, const Operand& b, const Axes& axes, bool keepdims, Location at);
Handle softmax_where(const Operand& x, const Operand& mask, int axis, Location at);
Handle log_softmax_where(const Operand& x, const Operand& mask, int axis, Location at);
Handle standardize_where(const Operand& x, const Operand& mask, const Axes& axes, double epsilon, Location at);
Handle standardize_with(const Operand& x, const Operand& mean, const Operand& variance, double epsilon, Location at);
Handle conv_patches(const Operand& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides,
                    const Padding& padding, const std::vector<int64_t>& dilation, Location at);

}  // namespace detail::ops
}  // namespace calque
