#pragma once
// Layers of neural networks with the names of jax.nn and flax: activations, pooling, attention, normalizations. Arrays
// of images are [N, spatial..., C]. Elements are floats, of which 16-bit ones are computed in f32; integers and bools
// count as f32. Complex numbers are DTypeErrors.
#include <optional>
#include <vector>

#include "calque/detail/recorded.h"
#include "calque/numpy/statistics.h"

namespace calque {

namespace random {
template <class A>
struct BasicKey;
}  // namespace random

// ---- activations

#define CALQUE_ACTIVATION(f)                                                                 \
  template <ArrayLike X>                                                                     \
  [[nodiscard]] out_t<inexact_t<elem_t<X>>, X> f(const X& x, Loc loc = Loc::current()) {     \
    return detail::apply_unary<out_t<inexact_t<elem_t<X>>, X>>(#f, &detail::ops::f, x, loc); \
  }
/// x bounded by [0, 6].
///     relu6(D{-1, 3, 8})  // [0. 3. 6.]
CALQUE_ACTIVATION(relu6)
/// 1.0507 x for x > 0, else 1.0507 * 1.6733 (e^x - 1) (Klambauer et al. 2017).
///     selu(D{-1, 0, 1})  // [-1.11133074  0.          1.05070099]
CALQUE_ACTIVATION(selu)
/// x sigmoid(x), also called swish.
///     silu(D{-1, 0, 1})  // [-0.26894142  0.          0.73105858]
CALQUE_ACTIVATION(silu)
/// relu6(x + 3) / 6.
///     hard_sigmoid(D{-4, 0, 1.5})  // [0.   0.5  0.75]
CALQUE_ACTIVATION(hard_sigmoid)
/// x hard_sigmoid(x), also called hard_swish.
///     hard_silu(D{-4, 0, 1.5})  // [-0.     0.     1.125]
CALQUE_ACTIVATION(hard_silu)
/// x bounded by [-1, 1].
///     hard_tanh(D{-2, 0.5, 3})  // [-1.   0.5  1. ]
CALQUE_ACTIVATION(hard_tanh)
/// log(sigmoid(x)), without cancellation.
///     log_sigmoid(D{-800, 0, 1})  // [-8.00000000e+02 -6.93147181e-01 -3.13261688e-01]
CALQUE_ACTIVATION(log_sigmoid)
/// x / (1 + |x|).
///     soft_sign(D{-3, 0, 1})  // [-0.75  0.    0.5 ]
CALQUE_ACTIVATION(soft_sign)
/// log(1 + e^x), without overflow.
///     softplus(D{-1, 0, 800})  // [3.13261688e-01 6.93147181e-01 8.00000000e+02]
CALQUE_ACTIVATION(softplus)
/// x tanh(softplus(x)) (Misra 2019).
///     mish(D{-1, 0, 1})  // [-0.30340146  0.          0.86509839]
CALQUE_ACTIVATION(mish)
/// 0 for x <= -1, (x + 1)^2 / 4 for x < 1, else x.
///     sparse_plus(D{-2, 0, 3})  // [0.   0.25 3.  ]
CALQUE_ACTIVATION(sparse_plus)
/// (x + 1) / 2 bounded by [0, 1].
///     sparse_sigmoid(D{-2, 0.5, 3})  // [0.   0.75 1.  ]
CALQUE_ACTIVATION(sparse_sigmoid)
/// log(1 - e^-x) of x > 0, without cancellation; NaN below 0.
///     log1mexp(D{1e-20, 1})  // [-46.05170186  -0.45867515]
CALQUE_ACTIVATION(log1mexp)
#undef CALQUE_ACTIVATION

/// x for x > 0, else alpha (e^x - 1).
///     elu(D{-1, 0, 2})  // [-0.63212056  0.          2.        ]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> elu(const X& x, double alpha = 1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::elu(o[0], alpha, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("elu", loc, f, x);
}
/// x for x > 0, else alpha (e^(x / alpha) - 1).
///     celu(D{-1, 0, 2}, 0.5)  // [-0.43233236  0.          2.        ]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> celu(const X& x, double alpha = 1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::celu(o[0], alpha, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("celu", loc, f, x);
}
/// Options of `gelu`.
struct GeluOptions {
  /// By tanh(sqrt(2 / pi) (x + 0.044715 x^3)), as jax.nn.gelu's default; else by the normal distribution function.
  bool approximate = true;
};
/// x times the probability that a standard normal number is below x (Hendrycks, Gimpel 2016).
///     gelu(D{-1, 0, 1}, {.approximate = false})  // [-0.15865525  0.          0.84134475]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> gelu(const X& x, GeluOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::gelu(o[0], options.approximate, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("gelu", loc, f, x);
}
/// x for x >= 0, else x times the slope.
///     leaky_relu(D{-100, 0, 2})  // [-1.  0.  2.]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> leaky_relu(const X& x, double negative_slope = 0.01,
                                                        Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::leaky_relu(o[0], negative_slope, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("leaky_relu", loc, f, x);
}
/// (x + sqrt(x^2 + b)) / 2 (Barron 2021), without cancellation. Throws ShapeError for a negative b.
///     squareplus(D{-1.5, 0, 1.5})  // [0.5 1.  2. ]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> squareplus(const X& x, double b = 4, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::squareplus(o[0], b, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("squareplus", loc, f, x);
}
/// The first half of x along the axis times sigmoid of the second one (Dauphin et al. 2016). Throws ShapeError for an
/// odd extent or an axis out of range.
///     glu(D{1, 2, 0, 100})  // [0.5 2. ]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> glu(const X& x, int axis = -1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::glu(o[0], axis, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("glu", loc, f, x);
}
/// log of the mean of e^x over the axes (all by default), without overflow. Throws ShapeError for an axis out of range
/// or given twice.
///     logmeanexp(D{1000, 1000, 1000})  // 1000.0
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> logmeanexp(const X& x, Axes axes = {}, KeepDims keep = {},
                                                        Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::logmeanexp(o[0], axes, keep.value, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("logmeanexp", loc, f, x);
}

#define CALQUE_OUT(...) __VA_ARGS__
#define CALQUE_LOG_MASKED_OF(f, Out, Mask)                                                         \
  template <ArrayLike X>                                                                           \
  [[nodiscard]] Out f(const X& x, const BasicMasked<detail::Mask>& of, Loc loc = Loc::current()) { \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                  \
    const auto erased = [&](detail::Operands o) {                                                  \
      return detail::ops::f##_where(o[0], o[1], of.axes, of.keepdims.value, loc);                  \
    };                                                                                             \
    return detail::apply_to<Out>(#f, loc, all, erased);                                            \
  }
#define CALQUE_LOG_MASKED(f)                                                \
  CALQUE_LOG_MASKED_OF(f, CALQUE_OUT(out_t<inexact_t<elem_t<X>>, X>), Mask) \
  CALQUE_LOG_MASKED_OF(f, Tracer<inexact_t<elem_t<X>>>, TracerMask)
/// `logsumexp` of the elements under a mask, `logsumexp(x, {.where = mask})`; -infinity for none.
///     logsumexp(D{1000, 1000, 2000}, {.where = B{true, true, false}})  // 1000.69314718
CALQUE_LOG_MASKED(logsumexp)
/// `logmeanexp` of the elements under a mask; NaN for none.
///     logmeanexp(D{1000, 1000, 2000}, {.where = B{true, true, false}})  // 1000.0
CALQUE_LOG_MASKED(logmeanexp)
#undef CALQUE_LOG_MASKED
#undef CALQUE_LOG_MASKED_OF

/// log of the sum of b e^x over the axes, of factors b that broadcast with x; NaN where it is negative. Of the promoted
/// type (integers and bool: f32). Throws as `logsumexp`, and ShapeError when the operands do not broadcast.
///     logsumexp(D{1000, 1000}, D{3, -1})  // 1000.69314718
template <ArrayLike X, ArrayLike B>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, B>>, X, B> logsumexp(const X& x, const B& b, Axes axes = {},
                                                                      KeepDims keep = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::logsumexp_weighted(o[0], o[1], axes, keep.value, loc); };
  return detail::recorded<inexact_t<promoted_elem_t<X, B>>>("logsumexp", loc, f, x, b);
}
/// The type of `cq::signs`.
struct signs_t {};
/// `logsumexp(x, b, axes, cq::signs)`: the signs of the sums as well.
inline constexpr signs_t signs{};
/// (log of the modulus, sign) of the sum of b e^x, as jax.nn.logsumexp with `return_sign`: the sign is -1, 0 or 1.
///     logsumexp(D{1000, 1000}, D{1, -3}, {}, signs)  // 1000.69314718, -1.0
template <ArrayLike X, ArrayLike B>
[[nodiscard]] auto logsumexp(const X& x, const B& b, Axes axes, signs_t, KeepDims keep = {}, Loc loc = Loc::current()) {
  using Out = out_t<inexact_t<promoted_elem_t<X, B>>, X, B>;
  const auto f = [&](detail::Operands o) { return detail::ops::logsumexp_signed(o[0], o[1], axes, keep.value, loc); };
  return detail::apply_tuple<Out, Out>("logsumexp", loc, f, x, b);
}

/// A function along an axis of the elements where a mask is true: `softmax(x, {.where = mask})`.
template <class Mask>
struct BasicMaskedAlong {
  Mask where;
  int axis = -1;
};
#define CALQUE_SOFTMAX_OF(f, Out, Mask)                                                                       \
  template <ArrayLike X>                                                                                      \
  [[nodiscard]] Out f(const X& x, const BasicMaskedAlong<detail::Mask>& of, Loc loc = Loc::current()) {       \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                             \
    const auto erased = [&](detail::Operands o) { return detail::ops::f##_where(o[0], o[1], of.axis, loc); }; \
    return detail::apply_to<Out>(#f, loc, all, erased);                                                       \
  }
#define CALQUE_SOFTMAX(f)                                                \
  CALQUE_SOFTMAX_OF(f, CALQUE_OUT(out_t<inexact_t<elem_t<X>>, X>), Mask) \
  CALQUE_SOFTMAX_OF(f, Tracer<inexact_t<elem_t<X>>>, TracerMask)
/// `softmax` of the elements under a mask, 0 elsewhere. Throws ShapeError also when the mask does not broadcast to x.
///     softmax(D{0, 0, 9}, {.where = B{true, true, false}})  // [0.5 0.5 0. ]
CALQUE_SOFTMAX(softmax)
/// `log_softmax` of the elements under a mask, -infinity elsewhere.
///     log_softmax(D{0, 0, 9}, {.where = B{true, true, false}})  // [-0.69314718 -0.69314718        -inf]
CALQUE_SOFTMAX(log_softmax)
#undef CALQUE_SOFTMAX
#undef CALQUE_SOFTMAX_OF

// ---- pooling

#define CALQUE_POOLING(f, R)                                                                      \
  template <ArrayLike X>                                                                          \
  [[nodiscard]] out_t<R, X> f(const X& x, const PoolOptions& options, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(o[0], options, loc); };   \
    return detail::recorded<R>(#f, loc, erased, x);                                               \
  }
/// The greatest element of each window of x [N, spatial..., C], `max_pool(x, {.window = {2, 2}, .strides = {2, 2}})`;
/// padding counts as -infinity; NaN if any is. The derivative goes to the first one of equal elements. Of x's type.
/// Throws ShapeError for a rank below 2, options of the wrong length or below 1, and padding as wide as the window;
/// DTypeError for bools.
///     max_pool(D{1, 5, 2, 4}.reshape({1, 4, 1}), {.window = {2}, .strides = {2}}).reshape({2})  // [5. 4.]
CALQUE_POOLING(max_pool, elem_t<X>)
/// The smallest element of each window; padding counts as infinity. Otherwise as `max_pool`.
///     min_pool(D{1, 5, 2, 4}.reshape({1, 4, 1}), {.window = {2}, .strides = {2}}).reshape({2})  // [1. 2.]
CALQUE_POOLING(min_pool, elem_t<X>)
/// The sum of each window. Of x's type (bool: i32), complex numbers included. Otherwise as `max_pool`.
///     sum_pool(D{1, 5, 2, 4}.reshape({1, 4, 1}), {.window = {2}, .strides = {2}}).reshape({2})  // [6. 6.]
CALQUE_POOLING(sum_pool, sum_t<elem_t<X>>)
#undef CALQUE_POOLING
/// The mean of each window, of the elements inside x alone unless `count_padding`. Of x's type (integers and bool:
/// f32). Otherwise as `max_pool`.
///     avg_pool(D{1, 5, 2, 4}.reshape({1, 4, 1}), {.window = {3}, .padding = same}).reshape({4})
///     // [3.         2.66666667 3.66666667 3.        ]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> avg_pool(const X& x, const PoolOptions& options,
                                                      bool count_padding = false, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::avg_pool(o[0], options, count_padding, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("avg_pool", loc, f, x);
}

/// The sum, product, maximum or minimum of each window of all dimensions of x, as jax.lax.reduce_window:
/// `reduce_window(x, cq::window_reduction::max, {.window = {5}})` are running maxima of a vector. Padding counts as the
/// identity of the reduction. Of x's type (sums and products of bool: i32). Throws ShapeError for options of the wrong
/// length or below 1 and padding as wide as the window; DTypeError for maxima of bools and complex numbers.
///     reduce_window(D{1, 5, 2, 4}, window_reduction::max, {.window = {2}})  // [5. 5. 4.]
template <ArrayLike X>
[[nodiscard]] out_t<sum_t<elem_t<X>>, X> reduce_window(const X& x, window_reduction how, const PoolOptions& options,
                                                       Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::reduce_window(o[0], how, options, loc); };
  return detail::recorded<sum_t<elem_t<X>>>("reduce_window", loc, f, x);
}

/// Windows of `conv_patches`; empty lists mean 1 for every spatial dimension.
struct PatchesOptions {
  /// The extent of the window in each spatial dimension.
  std::vector<int64_t> window{};
  std::vector<int64_t> strides{};
  Padding padding{};
  std::vector<int64_t> dilation{};
};
/// The windows of x [N, spatial..., C] that `conv` reads, as jax.lax.conv_general_dilated_patches: [N, out..., C times
/// the elements of a window], those of the first channel first; padding is 0. Of x's type. Throws ShapeError for a rank
/// below 2 and for options of the wrong length or below 1.
///     conv_patches(D{1, 2, 3}.reshape({1, 3, 1}), {.window = {2}})  // [[[1. 2.]
///                                                                   //   [2. 3.]]]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> conv_patches(const X& x, const PatchesOptions& options, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::conv_patches(o[0], options.window, options.strides, options.padding, options.dilation, loc);
  };
  return detail::recorded<elem_t<X>>("conv_patches", loc, f, x);
}

// ---- layers

/// Parameters of `conv_transpose`; empty strides mean 1 for every spatial dimension.
struct ConvTransposeOptions {
  std::vector<int64_t> strides{};
  Padding padding{};
};
/// The transposed convolution of x [N, spatial..., C] with w [spatial..., C, O], as jax.lax.conv_transpose: `conv` of x
/// with strides - 1 zeros between its elements. The extent is extent * stride with `cq::same`, with `cq::valid` that
/// plus max(window - stride, 0); pairs pad what `conv` reads. Of the promoted type. Throws ShapeError when ranks or
/// channels do not fit, for an empty window, or for options of the wrong length or below 1.
///     D x = D{1, 2}.reshape({1, 2, 1}), w = D{1, 10}.reshape({2, 1, 1});
///     conv_transpose(x, w, {.strides = {2}}).reshape({4})  // [10.  1. 20.  2.]
template <ArrayLike X, ArrayLike W>
[[nodiscard]] out_t<promoted_elem_t<X, W>, X, W> conv_transpose(const X& x, const W& w,
                                                                const ConvTransposeOptions& options = {},
                                                                Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::conv_transpose(o[0], o[1], options.strides, options.padding, loc);
  };
  return detail::recorded<promoted_elem_t<X, W>>("conv_transpose", loc, f, x, w);
}

/// Parameters of `dot_product_attention`.
struct AttentionOptions {
  /// Element t of q attends to elements up to t of k alone.
  bool causal = false;
  /// 1 / sqrt(size) when absent.
  std::optional<double> scale{};
};
/// softmax(scale q k^T) v for each head, with q [batch, T, heads, size] and k, v [batch, S, heads, size], of q's shape
/// (with v's size) and the promoted type; without a batch dimension, too, and with a number of heads of k and v that
/// divides that of q. Logits and softmax of 16-bit floats are in f32. From 512 x 512 elements on a head's scores are
/// computed block by block, with an online softmax (Dao et al. 2022, FlashAttention): memory then grows with T and S,
/// not with their product, and derivatives, of orders one and two, compute the scores again. Throws ShapeError when
/// shapes do not fit.
///     D q = D{1, 0}.reshape({1, 1, 2}), k = D{{0, 0}, {0, 9}}.reshape({2, 1, 2});
///     D v = D{{1, 2}, {3, 4}}.reshape({2, 1, 2});
///     dot_product_attention(q, k, v).reshape({2})  // [2. 3.]
template <ArrayLike Q, ArrayLike K, ArrayLike V>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<Q, K, V>>, Q, K, V> dot_product_attention(const Q& q, const K& k,
                                                                                        const V& v,
                                                                                        AttentionOptions options = {},
                                                                                        Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::dot_product_attention(o[0], o[1], o[2], nullptr, options.causal, options.scale, loc);
  };
  return detail::recorded<inexact_t<promoted_elem_t<Q, K, V>>>("dot_product_attention", loc, f, q, k, v);
}
/// The same with a mask, which broadcasts to [batch, heads, T, S]: where one of bool is false nothing is attended to;
/// one of numbers is added to the logits. Throws ShapeError also when it does not broadcast.
///     D q = D{1, 0}.reshape({1, 1, 2}), v = D{{1, 2}, {3, 4}}.reshape({2, 1, 2});
///     dot_product_attention(q, v, v, B{true, false}.reshape({1, 2})).reshape({2})  // [1. 2.]
template <ArrayLike Q, ArrayLike K, ArrayLike V, ArrayLike M>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<Q, K, V>>, Q, K, V, M> dot_product_attention(
    const Q& q, const K& k, const V& v, const M& mask, AttentionOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::dot_product_attention(o[0], o[1], o[2], &o[3], options.causal, options.scale, loc);
  };
  return detail::recorded<inexact_t<promoted_elem_t<Q, K, V>>>("dot_product_attention", loc, f, q, k, v, mask);
}

/// Options of `standardize`.
struct StandardizeOptions {
  Axes axes = -1;
  double epsilon = 1e-5;
};
/// (x - mean) / sqrt(variance + epsilon) over the axes, of x's shape, as jax.nn.standardize. Throws ShapeError for an
/// axis out of range or given twice.
///     standardize(D{1, 2, 3}, {.epsilon = 0})  // [-1.22474487  0.          1.22474487]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> standardize(const X& x, const StandardizeOptions& options = {},
                                                         Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::standardize(o[0], options.axes, options.epsilon, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("standardize", loc, f, x);
}
/// (x - mean) / sqrt(variance + epsilon) of a mean and a variance that broadcast with x. Of the promoted type (integers
/// and bool: f32). Throws ShapeError when they do not broadcast.
///     standardize(D{1, 2, 3}, 1.0, 4.0, {.epsilon = 0})  // [0.  0.5 1. ]
template <ArrayLike X, OperandLike M, OperandLike V>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, M, V>>, X, M, V> standardize(const X& x, const M& mean,
                                                                              const V& variance,
                                                                              const StandardizeOptions& options = {},
                                                                              Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::standardize_with(o[0], o[1], o[2], options.epsilon, loc);
  };
  return detail::recorded<inexact_t<promoted_elem_t<X, M, V>>>("standardize", loc, f, x, mean, variance);
}
/// `standardize` by the mean and variance of the elements under a mask.
template <class Mask>
struct BasicMaskedStandardize {
  Mask where;
  Axes axes = -1;
  double epsilon = 1e-5;
};
#define CALQUE_STANDARDIZE(Out, Mask)                                                       \
  template <ArrayLike X>                                                                    \
  [[nodiscard]] Out standardize(const X& x, const BasicMaskedStandardize<detail::Mask>& of, \
                                Loc loc = Loc::current()) {                                 \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};           \
    const auto f = [&](detail::Operands o) {                                                \
      return detail::ops::standardize_where(o[0], o[1], of.axes, of.epsilon, loc);          \
    };                                                                                      \
    return detail::apply_to<Out>("standardize", loc, all, f);                               \
  }
/// x less the mean of its elements under a mask, divided by the root of their variance plus epsilon; NaN where there
/// are none.
///     standardize(D{1, 3, 7}, {.where = B{true, true, false}, .epsilon = 0})  // [-1.  1.  5.]
CALQUE_STANDARDIZE(CALQUE_OUT(out_t<inexact_t<elem_t<X>>, X>), Mask)
CALQUE_STANDARDIZE(Tracer<inexact_t<elem_t<X>>>, TracerMask)
#undef CALQUE_STANDARDIZE
#undef CALQUE_OUT
/// x / sqrt(mean of squares + eps) along the axis (Zhang, Sennrich 2019). Throws ShapeError for an axis out of range.
///     rms_norm(D{1, 7}, -1, 0)  // [0.2 1.4]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> rms_norm(const X& x, int axis = -1, double eps = 1e-6,
                                                      Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::rms_norm(o[0], axis, eps, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("rms_norm", loc, f, x);
}
/// Options of `batch_norm`.
struct BatchNormOptions {
  int axis = -1;
  double eps = 1e-5;
};
/// (x - mean) / sqrt(variance + eps) * gamma + beta (Ioffe, Szegedy 2015), where the four are vectors along the axis or
/// broadcast to x: of a batch they are mean(x, axes) and var(x, axes), else running averages. Of x's shape and type.
/// Throws ShapeError when they do not broadcast or for an axis out of range, DTypeError when one does not promote to
/// the result's type.
///     D x = {{0, 10}, {2, 30}};
///     batch_norm(x, mean(x, 0), var(x, 0), 1.0, 5.0, {.eps = 0})  // [[4. 4.]
///                                                                 //  [6. 6.]]
template <ArrayLike X, ArrayLike M, ArrayLike V, OperandLike G, OperandLike B>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X, M, V, G, B> batch_norm(const X& x, const M& mean, const V& variance,
                                                                    const G& gamma, const B& beta,
                                                                    BatchNormOptions options = {},
                                                                    Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::batch_norm(o, options.axis, options.eps, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("batch_norm", loc, f, x, mean, variance, gamma, beta);
}

/// 1 at the index and 0 elsewhere along a new axis of `classes` elements: `one_hot<float>(labels, 10)`. Zeros for
/// indices outside [0, classes). Throws ShapeError for a negative number of classes or an axis of the result that is
/// out of range, DTypeError for indices that are not integers.
///     one_hot<float>(I{0, 2, 5}, 3)  // [[1. 0. 0.]
///                                    //  [0. 0. 1.]
///                                    //  [0. 0. 0.]]
template <Elem T, ArrayLike I>
[[nodiscard]] out_t<T, I> one_hot(const I& indices, int64_t classes, int axis = -1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::one_hot(dtype_of<T>, o[0], classes, axis, loc); };
  return detail::recorded<T>("one_hot", loc, f, indices);
}
/// The rows of the table [classes, ...] at these indices, `take` along axis 0; NaN for indices out of bounds. Throws
/// DTypeError for indices that are not integers, ShapeError for a scalar table.
///     embedding(D{{1, 2}, {3, 4}}, I{1, 0, 1})  // [[3. 4.]
///                                               //  [1. 2.]
///                                               //  [3. 4.]]
template <ArrayLike X, ArrayLike I>
[[nodiscard]] out_t<elem_t<X>, X, I> embedding(const X& table, const I& indices, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::take(o[0], o[1], 0, mode::fill, loc); };
  return detail::recorded<elem_t<X>>("embedding", loc, f, table, indices);
}
/// x with each element 0 with probability `rate`, else divided by 1 - rate (Srivastava et al. 2014); the key is that of
/// calque/random.h. Throws ShapeError for a rate outside [0, 1).
///     dropout(random::key(0), D{1, 2, 3, 4}, 0.5)  // [0. 0. 6. 8.]
template <ArrayLike K, ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, K, X> dropout(const random::BasicKey<K>& key, const X& x, double rate,
                                                        Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::dropout(o[0], o[1], rate, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("dropout", loc, f, key.data, x);
}

}  // namespace calque
