#pragma once
// Differences, integrals, interpolation and cumulative functions, with NumPy's names. Axes may be negative.
#include <concepts>
#include <numbers>
#include <optional>
#include <type_traits>
#include <vector>

#include "calque/detail/recorded.h"
#include "calque/index.h"

namespace calque {

/// x[i + 1] - x[i] along the axis, n times, as numpy.diff: the extent is smaller by n, at least 0. Of x's type; of
/// bools whether they differ. Throws ShapeError for a negative n or an axis out of range.
///     diff(D{1, 4, 9, 16})  // [3. 5. 7.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> diff(const X& x, int64_t n = 1, int axis = -1, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::diff(o[0], n, axis, loc); };
  return detail::recorded<elem_t<X>>("diff", loc, f, x);
}
namespace detail {
/// An argument that may be `cq::none`.
template <class T>
concept OptionalOperand = OperandLike<T> || std::same_as<T, none_t>;
/// O, or X for none.
template <class X, class O>
using given_or_t = std::conditional_t<std::same_as<O, none_t>, X, O>;
template <class O>
void add_given(std::vector<Operand>& operands, const O& o, Location at) {
  if constexpr (!std::same_as<O, none_t>) operands.push_back(operand_of(o, at));
}
}  // namespace detail
/// The same with elements before and after x along the axis, or `cq::none`: `diff(x, 1, -1, 0.0)`. A scalar is one
/// element, arrays have x's other dimensions. Of the promoted type. Throws ShapeError also when they do not fit.
///     diff(D{1, 4, 9}, 1, -1, 0, D{16, 25})  // [1. 3. 5. 7. 9.]
template <ArrayLike X, detail::OptionalOperand P, detail::OptionalOperand A = none_t>
[[nodiscard]] auto diff(const X& x, int64_t n, int axis, const P& prepend, const A& append = {},
                        Loc loc = Loc::current()) {
  using Before = detail::given_or_t<X, P>;
  using After = detail::given_or_t<X, A>;
  std::vector<detail::Operand> all{detail::operand_of(x, loc)};
  detail::add_given(all, prepend, loc);
  detail::add_given(all, append, loc);
  const auto f = [&](detail::Operands o) {
    return detail::ops::diff_between(o, !std::same_as<P, none_t>, n, axis, loc);
  };
  return detail::apply_to<out_t<promoted_elem_t<X, Before, After>, X, Before, After>>("diff", loc, all, f);
}
/// The differences of neighbouring elements of all of x in row-major order, of shape [size of x - 1]. Throws DTypeError
/// for bools.
///     ediff1d(D{{1, 2}, {4, 7}})  // [1. 2. 3.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> ediff1d(const X& x, Loc loc = Loc::current()) {
  return detail::apply_unary<out_t<elem_t<X>, X>>("ediff1d", &detail::ops::ediff1d, x, loc);
}
/// The same with the elements of `to_end` behind and those of `to_begin` before them, or `cq::none`. They promote to
/// x's type; DTypeError otherwise.
///     ediff1d(D{1, 2, 4}, D{9, 9}, -1)  // [-1.  1.  2.  9.  9.]
template <ArrayLike X, detail::OptionalOperand E, detail::OptionalOperand B = none_t>
[[nodiscard]] auto ediff1d(const X& x, const E& to_end, const B& to_begin = {}, Loc loc = Loc::current()) {
  std::vector<detail::Operand> all{detail::operand_of(x, loc)};
  detail::add_given(all, to_end, loc);
  detail::add_given(all, to_begin, loc);
  const auto f = [&](detail::Operands o) { return detail::ops::ediff1d_between(o, !std::same_as<E, none_t>, loc); };
  return detail::apply_to<out_t<elem_t<X>, X, detail::given_or_t<X, E>, detail::given_or_t<X, B>>>("ediff1d", loc, all,
                                                                                                   f);
}

/// The derivative of f along the axis at points `spacing` apart, as numpy.gradient: half the difference of both
/// neighbours, at the ends the difference to one, or with an edge order of 2 the derivative of the parabola through the
/// last three. Of f's shape and type (integers and bool: f32). Throws ShapeError for less elements than one more than
/// the edge order, one that is not 1 or 2, or an axis out of range.
///     gradient(D{1, 4, 9, 16})  // [3. 4. 6. 7.]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> gradient(const X& f, double spacing = 1, int axis = -1, int edge_order = 1,
                                                      Loc loc = Loc::current()) {
  const auto erased = [&](detail::Operands o) { return detail::ops::gradient(o[0], spacing, axis, edge_order, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("gradient", loc, erased, f);
}
/// The same at coordinates x [extent of the axis], which need not be evenly spaced: of second order inside. Of the
/// promoted type. Throws ShapeError also when the coordinates do not fit.
///     gradient(D{0, 1, 9}, D{0, 1, 3})  // [1. 2. 4.]
template <ArrayLike F, ArrayLike X>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<F, X>>, F, X> gradient(const F& f, const X& x, int axis = -1,
                                                                     int edge_order = 1, Loc loc = Loc::current()) {
  const auto erased = [&](detail::Operands o) { return detail::ops::gradient_at(o[0], o[1], axis, edge_order, loc); };
  return detail::recorded<inexact_t<promoted_elem_t<F, X>>>("gradient", loc, erased, f, x);
}

/// The derivatives along several axes, all by default, with a spacing for each or one for all: an array for each axis,
/// as numpy.gradient. Throws ShapeError also when the numbers of spacings and axes differ.
///     gradient(D{{1, 2}, {4, 6}}, {1, 0.5}, {0, 1})  // [[3. 4.]
///                                                    //  [3. 4.]],
///                                                    // [[2. 2.]
///                                                    //  [4. 4.]]
template <ArrayLike X>
[[nodiscard]] std::vector<out_t<inexact_t<elem_t<X>>, X>> gradient(const X& f, const std::vector<double>& spacings,
                                                                   const Axes& axes = {}, int edge_order = 1,
                                                                   Loc loc = Loc::current()) {
  const auto erased = [&](detail::Operands o) { return detail::ops::gradients(o[0], spacings, axes, edge_order, loc); };
  return detail::recorded_many<inexact_t<elem_t<X>>>("gradient", loc, erased, f);
}

/// The integral along the axis by the trapezoidal rule, of points dx apart, as numpy.trapezoid; the axis is dropped. Of
/// y's type (integers and bool: f32); 0 for less than two points. Throws ShapeError for an axis out of range.
///     trapezoid(D{1, 2, 4}, 0.5)  // 2.25
template <ArrayLike Y>
[[nodiscard]] out_t<inexact_t<elem_t<Y>>, Y> trapezoid(const Y& y, double dx = 1, int axis = -1,
                                                       Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::trapezoid(o[0], dx, axis, loc); };
  return detail::recorded<inexact_t<elem_t<Y>>>("trapezoid", loc, f, y);
}
/// The same at coordinates x, a vector along the axis or anything that broadcasts to y. Of the promoted type. Throws
/// ShapeError also when the coordinates do not fit.
///     trapezoid(D{1, 2, 4}, D{0, 1, 3})  // 7.5
template <ArrayLike Y, ArrayLike X>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<Y, X>>, Y, X> trapezoid(const Y& y, const X& x, int axis = -1,
                                                                      Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::trapezoid_at(o[0], o[1], axis, loc); };
  return detail::recorded<inexact_t<promoted_elem_t<Y, X>>>("trapezoid", loc, f, y, x);
}

/// The type of `cq::extrapolate`.
struct extrapolate_t {};
/// `interp(x, xp, fp, {.left = cq::extrapolate})`: the first or last line continues.
inline constexpr extrapolate_t extrapolate{};
/// What `interp` gives outside the points: a number or `cq::extrapolate`.
struct Outside {
  std::optional<double> value{};
  bool extrapolated = false;

  Outside() = default;
  Outside(double constant) : value(constant) {}
  Outside(extrapolate_t) : extrapolated(true) {}
};
/// What `interp` gives outside the points; the first and last value by default.
struct InterpOptions {
  Outside left{}, right{};
  /// The points continue with this period: they are in any order, and nothing is outside.
  std::optional<double> period{};
};
/// The piecewise linear function through the points (xp[i], fp[i]) at x, as numpy.interp: xp increases, both are [n].
/// Of x's shape and the promoted type (integers and bool: f32); NaN where x is. Throws ShapeError when xp and fp are
/// not vectors of one length, or empty, and for a period of 0; DTypeError for complex numbers.
///     interp(D{-1, 0.5, 1.5}, D{0, 1, 2}, D{0, 10, 30})  // [ 0.  5. 20.]
template <OperandLike X, ArrayLike P, ArrayLike F>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, P, F>>, X, P, F> interp(const X& x, const P& xp, const F& fp,
                                                                         InterpOptions options = {},
                                                                         Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    if (options.period) return detail::ops::interp_periodic(o[0], o[1], o[2], *options.period, loc);
    return detail::ops::interp_extrapolated(o[0], o[1], o[2], options.left.value, options.right.value,
                                            options.left.extrapolated, options.right.extrapolated, loc);
  };
  return detail::recorded<inexact_t<promoted_elem_t<X, P, F>>>("interp", loc, f, x, xp, fp);
}

/// Options of `unwrap`.
struct UnwrapOptions {
  int axis = -1;
  /// The least jump that is changed; less than half a period counts as that.
  std::optional<double> discont{};
  double period = 2 * std::numbers::pi;
};
/// x with multiples of the period added so that neighbours along the axis differ by at most half of it, as
/// numpy.unwrap. Of x's shape and type (integers and bool: f32). Throws ShapeError for an axis out of range, DTypeError
/// for complex numbers.
///     unwrap(D{0, 3, 1, 2}, {.period = 4})  // [ 0. -1. -3. -2.]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> unwrap(const X& x, UnwrapOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::unwrap(o[0], options.axis, options.discont, options.period, loc);
  };
  return detail::recorded<inexact_t<elem_t<X>>>("unwrap", loc, f, x);
}

/// Options of cumulative functions.
struct CumulativeOptions {
  /// Absent: of all elements in row-major order, as a vector.
  std::optional<int> axis{};
  /// From the last element to the first.
  bool reverse = false;
  /// Begins with what the function has of no elements, so that there is one element more.
  bool include_initial = false;
};
#define CALQUE_CUMULATIVE(f, R)                                                                  \
  template <ArrayLike X>                                                                         \
  [[nodiscard]] out_t<R, X> f(const X& x, CumulativeOptions options, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) {                                                \
      if (options.include_initial) {                                                             \
        return detail::ops::f##_from_identity(o[0], options.axis, options.reverse, loc);         \
      }                                                                                          \
      return detail::ops::f##_of(o[0], options.axis, options.reverse, loc);                      \
    };                                                                                           \
    return detail::recorded<R>(#f, loc, erased, x);                                              \
  }                                                                                              \
  template <ArrayLike X>                                                                         \
  [[nodiscard]] out_t<R, X> f(const X& x, Loc loc = Loc::current()) {                            \
    return f(x, CumulativeOptions(), loc);                                                       \
  }
/// The cumulative sum of all elements as a vector, or `cumsum(x, {.axis = 0, .reverse = true})`. Of x's type (bool:
/// i32). Throws ShapeError for an axis out of range.
///     cumsum(D{{1, 2}, {3, 4}})  // [ 1.  3.  6. 10.]
CALQUE_CUMULATIVE(cumsum, sum_t<elem_t<X>>)
/// The cumulative product, as `cumsum`.
///     cumprod(D{{1, 2}, {3, 4}}, {.axis = 0})  // [[1. 2.]
///                                              //  [3. 8.]]
CALQUE_CUMULATIVE(cumprod, sum_t<elem_t<X>>)
/// The cumulative maximum, as `cumsum`; NaN from the first NaN on. Throws DTypeError for complex numbers.
///     cummax(I{1, 3, 2, 5})  // [1 3 3 5]
CALQUE_CUMULATIVE(cummax, elem_t<X>)
/// The cumulative minimum, as `cumsum`; NaN from the first NaN on. Throws DTypeError for complex numbers.
///     cummin(I{4, 1, 3, 2}, {.reverse = true})  // [1 1 2 2]
CALQUE_CUMULATIVE(cummin, elem_t<X>)
#undef CALQUE_CUMULATIVE

/// log of the cumulative sum of e^x along the axis, without overflow. Of x's shape and type (integers and bool: f32).
/// Throws ShapeError for an axis out of range, DTypeError for complex numbers.
///     cumlogsumexp(D{1000, 1000}, 0)  // [1000.         1000.69314718]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> cumlogsumexp(const X& x, int axis, bool reverse = false,
                                                          Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::cumlogsumexp(o[0], axis, reverse, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("cumlogsumexp", loc, f, x);
}

}  // namespace calque
