#pragma once
// Elementwise functions. Operands broadcast as in NumPy and promote by the lattice; the result is a Tracer if an
// operand is one, else an Array that is computed at once. Functions of <cmath> have their names: write `sin(x)`, which
// is found by argument-dependent lookup. Every function throws ShapeError when operands do not broadcast and DTypeError
// when an element type is not accepted or an integer literal does not fit the promoted type.
#include <cmath>
#include <numeric>

#include "calque/detail/apply.h"
#include "calque/detail/std_functions.h"

namespace calque {

// ---- one and two operands: a line of elementwise.def for each

#define CALQUE_RESULT_same(T) T
#define CALQUE_RESULT_inexact(T) inexact_t<T>
#define CALQUE_RESULT_real(T) real_t<T>
#define CALQUE_RESULT_real_inexact(T) real_t<inexact_t<T>>
#define CALQUE_RESULT_complex(T) complex_t<T>
#define CALQUE_RESULT_bool(T) bool

#define CALQUE_ONE_OPERAND(f, R, erased)                                     \
  template <class T>                                                         \
  [[nodiscard]] Tracer<R> f(const Tracer<T>& x, Loc loc = Loc::current()) {  \
    return detail::apply_unary<Tracer<R>>(#f, &detail::ops::erased, x, loc); \
  }                                                                          \
  template <class T>                                                         \
  [[nodiscard]] Array<R> f(const Array<T>& x, Loc loc = Loc::current()) {    \
    return detail::apply_unary<Array<R>>(#f, &detail::ops::erased, x, loc);  \
  }
// Operands of one type exactly, an overload that is preferred to std::min and the like under `using namespace std`, or
// of mixed types.
#define CALQUE_TWO_OPERANDS(f, R, M, erased)                                                    \
  template <class T>                                                                            \
  [[nodiscard]] Tracer<R> f(const Tracer<T>& x, const Tracer<T>& y, Loc loc = Loc::current()) { \
    return detail::apply_binary<Tracer<R>>(#f, &detail::ops::erased, x, y, loc);                \
  }                                                                                             \
  template <class T>                                                                            \
  [[nodiscard]] Array<R> f(const Array<T>& x, const Array<T>& y, Loc loc = Loc::current()) {    \
    return detail::apply_binary<Array<R>>(#f, &detail::ops::erased, x, y, loc);                 \
  }                                                                                             \
  template <OperandLike X, OperandLike Y>                                                       \
    requires((ArrayLike<X> || ArrayLike<Y>) && !std::same_as<X, Y>)                             \
  [[nodiscard]] out_t<M, X, Y> f(const X& x, const Y& y, Loc loc = Loc::current()) {            \
    return detail::apply_binary<out_t<M, X, Y>>(#f, &detail::ops::erased, x, y, loc);           \
  }
#define CALQUE_M promoted_elem_t<X, Y>
#define CALQUE_UNARY_BY_HAND(f, result) CALQUE_ONE_OPERAND(f, CALQUE_RESULT_##result(T), f)
#define CALQUE_UNARY(f, result, rule, Primitive) CALQUE_UNARY_BY_HAND(f, result)
#define CALQUE_BINARY_BY_HAND(f, result) \
  CALQUE_TWO_OPERANDS(f, CALQUE_RESULT_##result(T), CALQUE_RESULT_##result(CALQUE_M), f)
#define CALQUE_BINARY(f, result, rule, Primitive) CALQUE_BINARY_BY_HAND(f, result)
#include "calque/elementwise.def"

/// As `abs`.
///     fabs(D{-1, 2})  // [1. 2.]
CALQUE_ONE_OPERAND(fabs, real_t<T>, abs)
/// As `minimum`.
///     min(D{1, 5}, 3)  // [1. 3.]
CALQUE_TWO_OPERANDS(min, T, CALQUE_M, minimum)
/// As `maximum`.
///     max(D{1, 5}, 3)  // [3. 5.]
CALQUE_TWO_OPERANDS(max, T, CALQUE_M, maximum)

/// The class of each element, one of FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL and FP_NORMAL of <cmath>, of i32.
/// Throws DTypeError for complex x.
///     fpclassify(D{1, 0}) == I{FP_NORMAL, FP_ZERO}  // [ True  True]
CALQUE_ONE_OPERAND(fpclassify, int32_t, fpclassify)

#undef CALQUE_M
#undef CALQUE_ONE_OPERAND
#undef CALQUE_TWO_OPERANDS
#undef CALQUE_RESULT_same
#undef CALQUE_RESULT_inexact
#undef CALQUE_RESULT_real
#undef CALQUE_RESULT_real_inexact
#undef CALQUE_RESULT_complex
#undef CALQUE_RESULT_bool

/// x * 2^exponent, rounded once, of x's type (f32 for integers and bool). Throws DTypeError for complex x or an
/// exponent that is not of integers, ShapeError when shapes do not broadcast.
///     ldexp(D{1, 3}, I{4, -1})  // [16.   1.5]
template <ArrayLike X, OperandLike Y>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X, Y> ldexp(const X& x, const Y& exponent, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<inexact_t<elem_t<X>>, X, Y>>("ldexp", &detail::ops::ldexp, x, exponent, loc);
}

/// The derivative of digamma of order n >= 0, which is digamma itself for n = 0; infinite at 0 and the negative
/// integers for n > 0. Of x's type (f32 for integers and bool). Throws Error unless n is in [0, 170], DTypeError
/// for complex x.
///     polygamma(1, D{1, 2})  // [1.64493407 0.64493407]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> polygamma(int n, const X& x, Loc loc = Loc::current()) {
  const auto f = [n, loc](std::span<const detail::Operand> o) { return detail::ops::polygamma(n, o[0], loc); };
  return detail::apply<out_t<inexact_t<elem_t<X>>, X>>("polygamma", loc, f, x);
}

// ---- three operands

/// The regularized incomplete beta function of parameters a and b: the probability of numbers up to x in the beta
/// distribution. NaN unless a and b are positive and x is in [0, 1]. Of the promoted type (f32 for integers and bool).
/// Has derivatives by x; by a and b it throws GradError. Throws DTypeError for complex numbers, ShapeError when shapes
/// do not broadcast.
///     betainc(2, 3, D{0.25, 1})  // [0.26171875 1.        ]
template <OperandLike A, OperandLike B, OperandLike X>
  requires(ArrayLike<A> || ArrayLike<B> || ArrayLike<X>)
[[nodiscard]] out_t<inexact_t<promoted_elem_t<A, B, X>>, A, B, X> betainc(const A& a, const B& b, const X& x,
                                                                          Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::betainc(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<inexact_t<promoted_elem_t<A, B, X>>, A, B, X>>("betainc", loc, f, a, b, x);
}

/// x * y + z, rounded once; for integers, bool and complex numbers computed as two operations. Of the promoted type.
/// Throws ShapeError when shapes do not broadcast.
///     fma(D{2, 3}, 10, 1)  // [21. 31.]
template <OperandLike X, OperandLike Y, OperandLike Z>
  requires(ArrayLike<X> || ArrayLike<Y> || ArrayLike<Z>)
[[nodiscard]] out_t<promoted_elem_t<X, Y, Z>, X, Y, Z> fma(const X& x, const Y& y, const Z& z,
                                                           Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::fma(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<promoted_elem_t<X, Y, Z>, X, Y, Z>>("fma", loc, f, x, y, z);
}

/// The root of x^2 + y^2 + z^2 without overflow or underflow on the way; its derivative at 0 is 0. Of the promoted type
/// (f32 for integers and bool). Throws DTypeError for complex numbers, ShapeError when shapes do not broadcast.
///     hypot(D{2, 1e200}, D{3, 0}, D{6, 0})  // [7.e+000 1.e+200]
template <OperandLike X, OperandLike Y, OperandLike Z>
  requires(ArrayLike<X> || ArrayLike<Y> || ArrayLike<Z>)
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y, Z>>, X, Y, Z> hypot(const X& x, const Y& y, const Z& z,
                                                                        Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::hypot3(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<inexact_t<promoted_elem_t<X, Y, Z>>, X, Y, Z>>("hypot", loc, f, x, y, z);
}

/// a + t (b - a): a at t = 0 and b at t = 1 exactly, without overflow for t in [0, 1]. Of the promoted type (f32 for
/// integers and bool). Throws DTypeError for complex numbers, ShapeError when shapes do not broadcast.
///     lerp(D{1, 1}, 3, D{0.25, 1})  // [1.5 3. ]
template <OperandLike A, OperandLike B, OperandLike T>
  requires(ArrayLike<A> || ArrayLike<B> || ArrayLike<T>)
[[nodiscard]] out_t<inexact_t<promoted_elem_t<A, B, T>>, A, B, T> lerp(const A& a, const B& b, const T& t,
                                                                       Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::lerp(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<inexact_t<promoted_elem_t<A, B, T>>, A, B, T>>("lerp", loc, f, a, b, t);
}

/// x limited to [low, high], of x's type; NaN stays NaN. Throws DTypeError when a bound does not promote to x's type or
/// x is of bool or complex numbers, ShapeError when shapes do not broadcast.
///     clip(D{-5, 3, NAN}, 0, 10)  // [ 0.  3. nan]
template <ArrayLike X, OperandLike L, OperandLike H>
[[nodiscard]] out_t<elem_t<X>, X, L, H> clip(const X& x, const L& low, const H& high, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::clip(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<elem_t<X>, X, L, H>>("clip", loc, f, x, low, high);
}

/// The condition of `where`: bool, or an array or tracer of bool.
template <class P>
concept PredicateLike = std::same_as<P, bool> || std::same_as<P, Tracer<bool>> || std::same_as<P, Array<bool>>;

/// x where the condition holds, else y, of the promoted type of x and y. A NaN in the operand that is not selected does
/// not reach the value but reaches derivatives: guard its argument too, as in `where(x > 0, log(where(x > 0, x, 1)),
/// 0)`. Throws ShapeError when the three shapes do not broadcast.
///     D x = {-1, 2, 3};
///     where(x > 0, x, 0)  // [0. 2. 3.]
template <PredicateLike P, OperandLike X, OperandLike Y>
  requires(ArrayLike<P> || ArrayLike<X> || ArrayLike<Y>)
[[nodiscard]] out_t<promoted_elem_t<X, Y>, P, X, Y> where(const P& condition, const X& x, const Y& y,
                                                          Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::where(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<promoted_elem_t<X, Y>, P, X, Y>>("where", loc, f, condition, x, y);
}

// Rejects a condition that is not of bool at compile time.
template <ArrayLike P, OperandLike X, OperandLike Y>
  requires(!PredicateLike<P>)
[[nodiscard]] out_t<promoted_elem_t<X, Y>, P, X, Y> where(const P& condition, const X&, const Y&) {
  static_assert(PredicateLike<P>,
                "calque: where: the condition must be of bool; compare it, as in where(x != 0, y, z)");
  return out_t<promoted_elem_t<X, Y>, P, X, Y>(condition);
}

// ---- casts

/// x converted to elements of U: integers wrap, floats round to nearest even; float to integer truncates and saturates,
/// with 0 for NaN; conversion to bool is x != 0; complex to real drops the imaginary part. A float that is cast, be it
/// to its own type, is rounded: no product behind a cast is contracted into a sum.
///     cast<int>(D{1.9, -1.9, 1e20})  // [         1         -1 2147483647]
template <Elem U, ArrayLike X>
[[nodiscard]] out_t<U, X> cast(const X& x, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::cast(o[0], dtype_of<U>, loc); };
  return detail::apply<out_t<U, X>>("cast", loc, f, x);
}

/// The bits of x read as elements of U, of the same width (else a compile error); neither may be bool or complex,
/// except that x's own type is allowed.
///     bitcast<int>(F{1, -0.0f})  // [ 1065353216 -2147483648]
template <Elem U, ArrayLike X>
[[nodiscard]] out_t<U, X> bitcast(const X& x, Loc loc = Loc::current()) {
  static_assert(sizeof(U) == sizeof(elem_t<X>), "calque: bitcast needs an element type of the same width");
  static_assert(std::same_as<U, elem_t<X>> || (!std::same_as<U, bool> && !std::same_as<elem_t<X>, bool> &&
                                               !ComplexElem<U> && !ComplexElem<elem_t<X>>),
                "calque: bitcast takes neither bool nor complex elements");
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::bitcast(o[0], dtype_of<U>, loc); };
  return detail::apply<out_t<U, X>>("bitcast", loc, f, x);
}

}  // namespace calque

// clang-format off
#define CALQUE_CMATH_FUNCTIONS(X) \
  X(abs) X(fabs) X(sqrt) X(cbrt) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) \
  X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(lgamma) X(tgamma) \
  X(floor) X(ceil) X(trunc) X(round) X(rint) X(nearbyint) X(isnan) X(isinf) X(isfinite) X(isnormal) X(fpclassify) \
  X(signbit) X(pow) X(atan2) X(hypot) X(fmod) X(remainder) X(copysign) X(nextafter) X(fmin) X(fmax) X(min) X(max) \
  X(fdim) X(fma) X(ldexp) X(lerp) X(midpoint) X(isless) X(islessequal) X(isgreater) X(isgreaterequal) \
  X(islessgreater) X(isunordered)
// clang-format on
/// Declares the functions of <cmath> in another namespace, for numbers as well as for arrays and tracers, for templates
/// that call them by it: after `CALQUE_FUNCTIONS_INTO(geometry)`, outside of all namespaces, `geometry::cos(x)`.
#define CALQUE_FUNCTIONS_INTO(...)              \
  namespace __VA_ARGS__ {                       \
  CALQUE_CMATH_FUNCTIONS(CALQUE_USING_FUNCTION) \
  }
#define CALQUE_USING_FUNCTION(f) \
  using std::f;                  \
  using calque::f;
