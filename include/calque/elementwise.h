#pragma once
// Elementwise functions. Operands broadcast as in NumPy and promote by the lattice; the result is a Tracer if any
// operand is one, else an Array that is computed at once. Where a function is that of <cmath>, so is its name: write
// `sin(x)`, which is found by its argument. Errors: ShapeError where operands do not broadcast; DTypeError where an
// element type is not accepted or an integer literal does not fit.
#include "calque/detail/apply.h"

namespace calque {

// ---- one operand
#define CALQUE_UNARY(f, R, erased)                                           \
  template <class T>                                                         \
  Tracer<R> f(const Tracer<T>& x, Loc loc = Loc::current()) {                \
    return detail::apply_unary<Tracer<R>>(#f, &detail::ops::erased, x, loc); \
  }                                                                          \
  template <class T>                                                         \
  Array<R> f(const Array<T>& x, Loc loc = Loc::current()) {                  \
    return detail::apply_unary<Array<R>>(#f, &detail::ops::erased, x, loc);  \
  }
// Of integers and bool: float.
#define CALQUE_FLOATY(f) CALQUE_UNARY(f, floaty_t<T>, f)
#define CALQUE_SAME(f) CALQUE_UNARY(f, T, f)
#define CALQUE_REAL(f) CALQUE_UNARY(f, real_t<T>, f)
#define CALQUE_TEST(f) CALQUE_UNARY(f, bool, f)

/// Square root; NaN below 0, sqrt(-0) = -0. Complex: the branch with a real part that is not negative.
CALQUE_FLOATY(sqrt)
/// 1 / sqrt(x).
CALQUE_FLOATY(rsqrt)
/// Cube root, of negative numbers too.
CALQUE_FLOATY(cbrt)
/// e^x. Also complex.
CALQUE_FLOATY(exp)
/// 2^x.
CALQUE_FLOATY(exp2)
/// e^x - 1 without cancellation near 0.
CALQUE_FLOATY(expm1)
/// Natural logarithm; -inf at 0, NaN below. Complex: the principal branch.
CALQUE_FLOATY(log)
/// Logarithm to base 2.
CALQUE_FLOATY(log2)
/// Logarithm to base 10.
CALQUE_FLOATY(log10)
/// log(1 + x) without cancellation near 0.
CALQUE_FLOATY(log1p)
/// Sine of x in radians, over the whole range. Also complex.
CALQUE_FLOATY(sin)
/// Cosine of x in radians, over the whole range. Also complex.
CALQUE_FLOATY(cos)
/// Tangent of x in radians, over the whole range.
CALQUE_FLOATY(tan)
/// Arc sine in [-pi/2, pi/2]; NaN outside [-1, 1].
CALQUE_FLOATY(asin)
/// Arc cosine in [0, pi]; NaN outside [-1, 1].
CALQUE_FLOATY(acos)
/// Arc tangent in [-pi/2, pi/2].
CALQUE_FLOATY(atan)
/// Hyperbolic sine. Also complex.
CALQUE_FLOATY(sinh)
/// Hyperbolic cosine. Also complex.
CALQUE_FLOATY(cosh)
/// Hyperbolic tangent. Also complex.
CALQUE_FLOATY(tanh)
/// Inverse hyperbolic sine.
CALQUE_FLOATY(asinh)
/// Inverse hyperbolic cosine; NaN below 1.
CALQUE_FLOATY(acosh)
/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside.
CALQUE_FLOATY(atanh)
/// 1 / (1 + e^-x).
CALQUE_FLOATY(sigmoid)
/// The error function, 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
CALQUE_FLOATY(erf)
/// 1 - erf(x) without cancellation.
CALQUE_FLOATY(erfc)
/// The inverse of erf; infinite at -1 and 1, NaN outside.
CALQUE_FLOATY(erfinv)
/// log |gamma(x)|; +inf at 0 and the negative integers.
CALQUE_FLOATY(lgamma)
/// The gamma function; NaN at the negative integers.
CALQUE_FLOATY(tgamma)
/// The derivative of lgamma.
CALQUE_FLOATY(digamma)

/// The largest integer that is not above x; the identity of integers.
CALQUE_SAME(floor)
/// The smallest integer that is not below x; the identity of integers.
CALQUE_SAME(ceil)
/// The integer next to x towards 0; the identity of integers.
CALQUE_SAME(trunc)
/// The nearest integer, ties to even; the identity of integers.
CALQUE_SAME(round)
/// As `round`.
CALQUE_SAME(rint)
/// As `round`.
CALQUE_SAME(nearbyint)
/// The nearest integer, ties away from 0; the identity of integers.
CALQUE_SAME(round_half_away)
/// -1, 0 or 1; sign(-0) = -0, NaN of NaN.
CALQUE_SAME(sign)
/// x * x.
CALQUE_SAME(square)
/// x where it is above 0, else 0; NaN of NaN. The derivative at 0 is 0.
CALQUE_SAME(relu)
/// The complex conjugate; the identity of real numbers.
CALQUE_SAME(conj)
/// The number of bits that are set. Integers only.
CALQUE_SAME(popcount)
/// The number of leading zero bits; the width of 0. Integers only.
CALQUE_SAME(clz)
/// x, constant to derivatives.
CALQUE_SAME(stop_gradient)
/// x.
CALQUE_SAME(positive)

/// The absolute value (of MIN: MIN); of complex numbers the modulus, of their real type.
CALQUE_REAL(abs)
/// As `abs`.
CALQUE_UNARY(fabs, real_t<T>, abs)
/// The real part; the identity of real numbers.
CALQUE_REAL(real)
/// The imaginary part; 0 of real numbers.
CALQUE_REAL(imag)

/// True for NaN; false for integers.
CALQUE_TEST(isnan)
/// True for +-inf; false for integers.
CALQUE_TEST(isinf)
/// False for NaN and +-inf; true for integers.
CALQUE_TEST(isfinite)
/// True where the sign bit is set: for -0 and NaNs with that bit too.
CALQUE_TEST(signbit)

#undef CALQUE_FLOATY
#undef CALQUE_SAME
#undef CALQUE_REAL
#undef CALQUE_TEST
#undef CALQUE_UNARY

// ---- two operands: of one type exactly, which beats std::min and its like under `using namespace std`, or mixed
#define CALQUE_BINARY(f, R, M, erased)                                                \
  template <class T>                                                                  \
  Tracer<R> f(const Tracer<T>& x, const Tracer<T>& y, Loc loc = Loc::current()) {     \
    return detail::apply_binary<Tracer<R>>(#f, &detail::ops::erased, x, y, loc);      \
  }                                                                                   \
  template <class T>                                                                  \
  Array<R> f(const Array<T>& x, const Array<T>& y, Loc loc = Loc::current()) {        \
    return detail::apply_binary<Array<R>>(#f, &detail::ops::erased, x, y, loc);       \
  }                                                                                   \
  template <OperandLike X, OperandLike Y>                                             \
    requires((ArrayLike<X> || ArrayLike<Y>) && !std::same_as<X, Y>)                   \
  out_t<M, X, Y> f(const X& x, const Y& y, Loc loc = Loc::current()) {                \
    return detail::apply_binary<out_t<M, X, Y>>(#f, &detail::ops::erased, x, y, loc); \
  }
#define CALQUE_JOINED_AS(f, erased) CALQUE_BINARY(f, T, CALQUE_M, erased)
#define CALQUE_JOINED(f) CALQUE_JOINED_AS(f, f)
#define CALQUE_FLOATY(f) CALQUE_BINARY(f, floaty_t<T>, floaty_t<CALQUE_M>, f)
#define CALQUE_M join_t<X, Y>

/// The smaller one; NaN if either is. min(-0, +0) = -0.
CALQUE_JOINED(minimum)
/// The greater one; NaN if either is. max(-0, +0) = +0.
CALQUE_JOINED(maximum)
/// As `minimum`.
CALQUE_JOINED_AS(min, minimum)
/// As `maximum`.
CALQUE_JOINED_AS(max, maximum)
/// The smaller one, ignoring NaN as C does.
CALQUE_JOINED(fmin)
/// The greater one, ignoring NaN as C does.
CALQUE_JOINED(fmax)
/// x - y where it is above 0, else 0; NaN if either is.
CALQUE_JOINED(fdim)
/// x to the power y. Of integers it wraps, and a negative exponent gives 1/x truncated.
CALQUE_JOINED(pow)
/// The remainder with the sign of x, as operator % and C's fmod. Of integers, x rem 0 = x.
CALQUE_JOINED(rem)
/// As `rem`.
CALQUE_JOINED(fmod)
/// Python's remainder: of y's sign. Of integers, x mod 0 = x.
CALQUE_JOINED(mod)
/// Python's quotient, rounded down. Of integers, division by 0 gives -1 (all ones).
CALQUE_JOINED(floor_divide)
/// IEEE's remainder: x - n y with n nearest to x / y, ties to even. Floating point only.
CALQUE_JOINED(remainder)
/// The greatest common divisor, not negative; gcd(0, 0) = 0. Integers only.
CALQUE_JOINED(gcd)
/// The least common multiple, not negative; 0 if either is 0. Integers only.
CALQUE_JOINED(lcm)

/// The angle of the point (y, x) in [-pi, pi]: atan2(y, x) as in C.
CALQUE_FLOATY(atan2)
/// sqrt(x^2 + y^2) without overflow in between.
CALQUE_FLOATY(hypot)
/// x with the sign of y.
CALQUE_FLOATY(copysign)
/// The next representable number after x towards y.
CALQUE_FLOATY(nextafter)
/// x log(y), and 0 where x is 0 (unless y is NaN).
CALQUE_FLOATY(xlogy)
/// log(e^x + e^y) without overflow.
CALQUE_FLOATY(logaddexp)

#undef CALQUE_M
#undef CALQUE_FLOATY
#undef CALQUE_JOINED
#undef CALQUE_JOINED_AS
#undef CALQUE_BINARY

/// x * 2^exponent with one rounding; the exponent is an integer.
template <ArrayLike X, OperandLike Y>
out_t<floaty_t<elem_t<X>>, X, Y> ldexp(const X& x, const Y& exponent, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<floaty_t<elem_t<X>>, X, Y>>("ldexp", &detail::ops::ldexp, x, exponent, loc);
}

// ---- three operands

/// x * y + z with one rounding (of integers and complex numbers: as written).
template <OperandLike X, OperandLike Y, OperandLike Z>
  requires(ArrayLike<X> || ArrayLike<Y> || ArrayLike<Z>)
out_t<join_t<X, Y, Z>, X, Y, Z> fma(const X& x, const Y& y, const Z& z, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::fma(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<join_t<X, Y, Z>, X, Y, Z>>("fma", loc, f, x, y, z);
}

/// x limited to [low, high], of x's type; NaN stays NaN. DTypeError where a bound does not promote to x's type.
template <ArrayLike X, OperandLike L, OperandLike H>
out_t<elem_t<X>, X, L, H> clip(const X& x, const L& low, const H& high, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::clip(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<elem_t<X>, X, L, H>>("clip", loc, f, x, low, high);
}

/// What may choose: bool, or an array or tracer of bool.
template <class P>
concept PredicateLike = std::same_as<P, bool> || std::same_as<P, Tracer<bool>> || std::same_as<P, Array<bool>>;

/// x where the condition holds, else y. A NaN in the branch not taken does not reach the value, but reaches
/// derivatives: guard the argument as well, as in `where(x > 0, log(where(x > 0, x, 1)), 0)`.
template <PredicateLike P, OperandLike X, OperandLike Y>
  requires(ArrayLike<P> || ArrayLike<X> || ArrayLike<Y>)
out_t<join_t<X, Y>, P, X, Y> where(const P& condition, const X& x, const Y& y, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::where(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<join_t<X, Y>, P, X, Y>>("where", loc, f, condition, x, y);
}

/// A condition that is not of bool.
template <ArrayLike P, OperandLike X, OperandLike Y>
  requires(!PredicateLike<P>)
out_t<join_t<X, Y>, P, X, Y> where(const P& condition, const X&, const Y&) {
  static_assert(PredicateLike<P>,
                "calque: where: the condition must be of bool; compare it, as in where(x != 0, y, z)");
  return out_t<join_t<X, Y>, P, X, Y>(condition);
}

// ---- casts

/// x as elements of U: integers wrap, floats round to nearest even; float to integer truncates and saturates, NaN gives
/// 0; anything to bool is x != 0; complex to real drops the imaginary part.
template <Elem U, ArrayLike X>
out_t<U, X> cast(const X& x, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::cast(o[0], dtype_of<U>, loc); };
  return detail::apply<out_t<U, X>>("cast", loc, f, x);
}

/// The same bits read as elements of U, which has the same width; neither bool nor complex.
template <Elem U, ArrayLike X>
out_t<U, X> bitcast(const X& x, Loc loc = Loc::current()) {
  static_assert(sizeof(U) == sizeof(elem_t<X>), "calque: bitcast needs an element type of the same width");
  static_assert(std::same_as<U, elem_t<X>> || (!std::same_as<U, bool> && !std::same_as<elem_t<X>, bool> &&
                                               !ComplexElem<U> && !ComplexElem<elem_t<X>>),
                "calque: bitcast takes neither bool nor complex elements");
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::bitcast(o[0], dtype_of<U>, loc); };
  return detail::apply<out_t<U, X>>("bitcast", loc, f, x);
}

}  // namespace calque
