#pragma once
// Polynomials by their coefficients, vectors with the highest power first, as NumPy's, and convolutions of vectors.
#include <tuple>
#include <utility>
#include <vector>

#include "calque/detail/recorded.h"

namespace calque {

/// The polynomial p at x, by Horner's rule: of x's shape and the promoted type (bool: i32). Throws ShapeError when p is
/// not a vector.
///     polyval(D{1, 0, -2}, 3.0)  // 7.0
template <ArrayLike P, OperandLike X>
[[nodiscard]] out_t<sum_t<promoted_elem_t<P, X>>, P, X> polyval(const P& p, const X& x, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<sum_t<promoted_elem_t<P, X>>, P, X>>("polyval", &detail::ops::polyval, p, x, loc);
}
#define CALQUE_OF_POLYNOMIALS(f)                                                                                \
  template <ArrayLike P, ArrayLike Q>                                                                           \
  [[nodiscard]] out_t<sum_t<promoted_elem_t<P, Q>>, P, Q> f(const P& p, const Q& q, Loc loc = Loc::current()) { \
    return detail::apply_binary<out_t<sum_t<promoted_elem_t<P, Q>>, P, Q>>(#f, &detail::ops::f, p, q, loc);     \
  }
/// p + q, of the length of the longer one and the promoted type. Throws ShapeError when one is not a vector.
///     polyadd(D{1, 2, 3}, D{4, 5})  // [1. 6. 8.]
CALQUE_OF_POLYNOMIALS(polyadd)
/// p - q, of the length of the longer one and the promoted type. Throws ShapeError when one is not a vector.
///     polysub(D{1, 2, 3}, D{4, 5})  // [ 1. -2. -2.]
CALQUE_OF_POLYNOMIALS(polysub)
/// p q, of one coefficient less than both have together and the promoted type. Throws ShapeError when one is not a
/// vector or is empty.
///     polymul(D{1, 1}, D{1, -1})  // [ 1.  0. -1.]
CALQUE_OF_POLYNOMIALS(polymul)
#undef CALQUE_OF_POLYNOMIALS

/// The m-th derivative of p, of m coefficients less, none at the least. Of p's type (bool: i32). Throws ShapeError for
/// a negative m or when p is not a vector.
///     polyder(D{1, 2, 3})  // [2. 2.]
template <ArrayLike P>
[[nodiscard]] out_t<sum_t<elem_t<P>>, P> polyder(const P& p, int64_t m = 1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::polyder(o[0], m, loc); };
  return detail::recorded<sum_t<elem_t<P>>>("polyder", loc, f, p);
}
/// The m-th antiderivative of p that is 0 at 0 with its first m - 1 derivatives. Of p's type (integers and bool: f32).
/// Throws ShapeError for a negative m or when p is not a vector.
///     polyint(D{3, 2, 1})  // [1. 1. 1. 0.]
template <ArrayLike P>
[[nodiscard]] out_t<inexact_t<elem_t<P>>, P> polyint(const P& p, int64_t m = 1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::polyint(o[0], m, loc); };
  return detail::recorded<inexact_t<elem_t<P>>>("polyint", loc, f, p);
}
/// The same with constants of integration, of which the first one is added first; one is for all. Of the promoted type.
/// Throws ShapeError also unless there are m of them.
///     polyint(D{6}, 2, D{5, 4})  // [3. 5. 4.]
template <ArrayLike P, OperandLike K>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<P, K>>, P, K> polyint(const P& p, int64_t m, const K& constants,
                                                                    Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::polyint_from(o[0], m, o[1], loc); };
  return detail::recorded<inexact_t<promoted_elem_t<P, K>>>("polyint", loc, f, p, constants);
}
/// (quotient, remainder) of the division of p by q, whose first coefficient is not 0. The remainder has one coefficient
/// less than q, of a constant q the coefficient 0, and is p where p is the shorter one. Of the promoted type (integers
/// and bool: f32). Throws ShapeError when one is not a vector or q is empty.
///     polydiv(D{1, 0, 1}, D{1, 1})  // [ 1. -1.], [2.]
template <ArrayLike P, ArrayLike Q>
auto polydiv(const P& p, const Q& q, Loc loc = Loc::current()) {
  using Out = out_t<inexact_t<promoted_elem_t<P, Q>>, P, Q>;
  return detail::apply_tuple<Out, Out>(
      "polydiv", loc, [&](detail::Operands o) { return detail::ops::polydiv(o[0], o[1], loc); }, p, q);
}
/// The coefficients [n + 1] of the polynomial with these roots [n] whose first coefficient is 1. Of the roots' type
/// (integers and bool: f32). Throws ShapeError when the roots are not a vector.
///     poly(D{1, 2})  // [ 1. -3.  2.]
template <ArrayLike R>
[[nodiscard]] out_t<inexact_t<elem_t<R>>, R> poly(const R& roots, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<inexact_t<elem_t<R>>, R>>("poly", &detail::ops::poly, roots, loc);
}
/// The polynomial of this degree that fits the values y [n] or [n, k] at x [n] best, in the sense of least squares;
/// coefficients are [degree + 1] or [degree + 1, k]. Of the promoted type (integers and bool: f32). Throws ShapeError
/// for a negative degree and when shapes do not fit, DTypeError for 16-bit floats.
///     round(polyfit(D{0, 1, 2}, D{1, 3, 5}, 1), 6)  // [2. 1.]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y> polyfit(const X& x, const Y& y, int64_t degree,
                                                                    Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::polyfit(o[0], o[1], degree, loc); };
  return detail::recorded<inexact_t<promoted_elem_t<X, Y>>>("polyfit", loc, f, x, y);
}

/// Options of `polyfit`.
struct PolyfitOptions {
  /// What each distance from the polynomial is multiplied with before it is squared: a vector [n].
  detail::Weights w{};
};
/// The same with weights: `polyfit(x, y, 1, {.w = w})`. Inside a trace x or y is a tracer when the weights are. Throws
/// ShapeError also unless there is a weight for each point.
///     round(polyfit(D{0, 1, 2}, D{1, 3, 0}, 1, {.w = D{1, 1, 0}}), 6)  // [2. 1.]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y> polyfit(const X& x, const Y& y, int64_t degree,
                                                                    PolyfitOptions options, Loc loc = Loc::current()) {
  std::vector<detail::Operand> all{detail::operand_of(x, loc), detail::operand_of(y, loc)};
  if (options.w.operand) all.push_back(*options.w.operand);
  const auto f = [&](detail::Operands o) {
    return detail::ops::polyfit_weighted(o[0], o[1], degree, o.size() > 2 ? &o[2] : nullptr, loc);
  };
  return detail::apply_to<out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y>>("polyfit", loc, all, f);
}
/// Options of `polyfit_cov`.
struct PolyfitCovOptions {
  detail::Weights w{};
  /// The weights are the inverses of known standard deviations: no factor of the residuals.
  bool unscaled = false;
};
/// (coefficients, covariance): those of `polyfit` and their covariance [degree + 1, degree + 1], or [degree + 1, degree
/// + 1, k] of k columns, as numpy.polyfit with `cov=True`: the inverse of V^T V of the Vandermonde matrix V times the
/// sum of squared residuals divided by n - degree - 1. Throws ShapeError also when there are no more points than
/// coefficients, unless `unscaled`.
///     round(std::get<1>(polyfit_cov(D{0, 1, 2}, D{1, 3, 2}, 1)), 6)  // [[ 0.75 -0.75]
///                                                                    //  [-0.75  1.25]]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] auto polyfit_cov(const X& x, const Y& y, int64_t degree, PolyfitCovOptions options = {},
                               Loc loc = Loc::current()) {
  using Out = out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y>;
  std::vector<detail::Operand> all{detail::operand_of(x, loc), detail::operand_of(y, loc)};
  if (options.w.operand) all.push_back(*options.w.operand);
  const auto f = [&](detail::Operands o) {
    return detail::ops::polyfit_cov(o[0], o[1], degree, o.size() > 2 ? &o[2] : nullptr, options.unscaled, loc);
  };
  std::vector<Out> both = detail::apply_many<Out>("polyfit_cov", loc, all, f);
  return std::tuple<Out, Out>(std::move(both[0]), std::move(both[1]));
}

/// The convolution of two vectors [n] and [m], out[k] = sum over j of x[k - j] y[j], as numpy.convolve: [n + m - 1],
/// or the middle max(n, m) (`convolve_mode::same`) or max(n, m) - min(n, m) + 1 elements (`valid`) of it. Of the
/// promoted type (bool: i32); 16-bit floats accumulate in f32. Throws ShapeError when one is not a vector or is empty.
///     convolve(D{1, 2, 3}, D{1, 10})  // [ 1. 12. 23. 30.]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<sum_t<promoted_elem_t<X, Y>>, X, Y> convolve(const X& x, const Y& y,
                                                                 convolve_mode mode = convolve_mode::full,
                                                                 Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::convolve(o[0], o[1], mode, loc); };
  return detail::recorded<sum_t<promoted_elem_t<X, Y>>>("convolve", loc, f, x, y);
}
/// The correlation of two vectors, out[k] = sum over j of x[k + j] conj(y[j]), as numpy.correlate, of full overlaps by
/// default. Shapes, types and errors as for `convolve`.
///     correlate(D{1, 2, 3}, D{1, 10})  // [21. 32.]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<sum_t<promoted_elem_t<X, Y>>, X, Y> correlate(const X& x, const Y& y,
                                                                  convolve_mode mode = convolve_mode::valid,
                                                                  Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::correlate(o[0], o[1], mode, loc); };
  return detail::recorded<sum_t<promoted_elem_t<X, Y>>>("correlate", loc, f, x, y);
}

}  // namespace calque
