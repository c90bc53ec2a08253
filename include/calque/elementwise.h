#pragma once
// Elementwise functions. Operands broadcast as in NumPy and promote by the lattice; the result is a Tracer if an
// operand is one, else an Array that is computed at once. Functions of <cmath> have their names: write `sin(x)`, which
// is found by argument-dependent lookup. Every function throws ShapeError when operands do not broadcast and DTypeError
// when an element type is not accepted or an integer literal does not fit the promoted type.
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
// Integers and bool give float.
#define CALQUE_INEXACT(f) CALQUE_UNARY(f, inexact_t<T>, f)
#define CALQUE_SAME(f) CALQUE_UNARY(f, T, f)
#define CALQUE_REAL(f) CALQUE_UNARY(f, real_t<T>, f)
#define CALQUE_TEST(f) CALQUE_UNARY(f, bool, f)

/// Square root; NaN below 0, sqrt(-0) = -0. Complex: the branch with a real part that is not negative. Integers and
/// bool give f32.
CALQUE_INEXACT(sqrt)
/// 1 / sqrt(x). Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(rsqrt)
/// Cube root, of negative numbers too. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(cbrt)
/// e^x. Also complex. Integers and bool give f32.
CALQUE_INEXACT(exp)
/// 2^x. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(exp2)
/// e^x - 1 without cancellation near 0. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(expm1)
/// Natural logarithm; -inf at 0, NaN below. Complex: the principal branch. Integers and bool give f32.
CALQUE_INEXACT(log)
/// Logarithm to base 2. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(log2)
/// Logarithm to base 10. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(log10)
/// log(1 + x) without cancellation near 0. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(log1p)
/// Sine of x in radians, over the whole range. Also complex. Integers and bool give f32.
CALQUE_INEXACT(sin)
/// Cosine of x in radians, over the whole range. Also complex. Integers and bool give f32.
CALQUE_INEXACT(cos)
/// Tangent of x in radians, over the whole range. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(tan)
/// Arc sine in [-pi/2, pi/2]; NaN outside [-1, 1]. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(asin)
/// Arc cosine in [0, pi]; NaN outside [-1, 1]. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(acos)
/// Arc tangent in [-pi/2, pi/2]. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(atan)
/// Hyperbolic sine. Also complex. Integers and bool give f32.
CALQUE_INEXACT(sinh)
/// Hyperbolic cosine. Also complex. Integers and bool give f32.
CALQUE_INEXACT(cosh)
/// Hyperbolic tangent. Also complex. Integers and bool give f32.
CALQUE_INEXACT(tanh)
/// Inverse hyperbolic sine. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(asinh)
/// Inverse hyperbolic cosine; NaN below 1. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(acosh)
/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside. Integers and bool give f32. Throws DTypeError for
/// complex x.
CALQUE_INEXACT(atanh)
/// 1 / (1 + e^-x). Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(sigmoid)
/// The error function, 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x. Integers and bool give f32. Throws
/// DTypeError for complex x.
CALQUE_INEXACT(erf)
/// 1 - erf(x) without cancellation. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(erfc)
/// The inverse of erf; infinite at -1 and 1, NaN outside. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(erfinv)
/// log |gamma(x)|; +inf at 0 and the negative integers. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(lgamma)
/// The gamma function; NaN at the negative integers. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(tgamma)
/// The derivative of lgamma. Integers and bool give f32. Throws DTypeError for complex x.
CALQUE_INEXACT(digamma)

/// The largest integer that is not above x; the identity of integers. Throws DTypeError for bool and complex x.
CALQUE_SAME(floor)
/// The smallest integer that is not below x; the identity of integers. Throws DTypeError for bool and complex x.
CALQUE_SAME(ceil)
/// x rounded towards 0; the identity of integers. Throws DTypeError for bool and complex x.
CALQUE_SAME(trunc)
/// The nearest integer, ties to even; the identity of integers. Throws DTypeError for bool and complex x.
CALQUE_SAME(round)
/// As `round`. Throws DTypeError for bool and complex x.
CALQUE_SAME(rint)
/// As `round`. Throws DTypeError for bool and complex x.
CALQUE_SAME(nearbyint)
/// The nearest integer, ties away from 0; the identity of integers. Throws DTypeError for bool and complex x.
CALQUE_SAME(round_half_away)
/// -1, 0 or 1; sign(-0) = -0, NaN of NaN. Throws DTypeError for bool and complex x.
CALQUE_SAME(sign)
/// x * x, of x's type. Throws DTypeError for bool.
CALQUE_SAME(square)
/// x where it is above 0, else 0; NaN of NaN. The derivative at 0 is 0. Throws DTypeError for bool and complex x.
CALQUE_SAME(relu)
/// The complex conjugate; the identity of real numbers.
CALQUE_SAME(conj)
/// The number of bits that are set. Throws DTypeError for anything but integers.
CALQUE_SAME(popcount)
/// The number of leading zero bits; the width of 0. Throws DTypeError for anything but integers.
CALQUE_SAME(clz)
/// x, treated as a constant by derivatives.
CALQUE_SAME(stop_gradient)
/// x unchanged, as unary +.
CALQUE_SAME(positive)

/// The absolute value (of MIN: MIN); of complex numbers the modulus, of their real type.
CALQUE_REAL(abs)
/// As `abs`.
CALQUE_UNARY(fabs, real_t<T>, abs)
/// The real part; the identity of real numbers.
CALQUE_REAL(real)
/// The imaginary part; 0 of real numbers.
CALQUE_REAL(imag)

/// True for NaN; false for integers. Of complex numbers: whether either part is NaN.
CALQUE_TEST(isnan)
/// True for +-inf; false for integers. Of complex numbers: whether either part is infinite.
CALQUE_TEST(isinf)
/// False for NaN and +-inf; true for integers. Of complex numbers: whether both parts are finite.
CALQUE_TEST(isfinite)
/// True where the sign bit is set: for -0 and NaNs with that bit too. Throws DTypeError for bool and complex x.
CALQUE_TEST(signbit)

#undef CALQUE_INEXACT
#undef CALQUE_SAME
#undef CALQUE_REAL
#undef CALQUE_TEST
#undef CALQUE_UNARY

// ---- two operands: of one type exactly, an overload that is preferred to std::min and the like under
// `using namespace std`, or of mixed types
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
#define CALQUE_PROMOTED_AS(f, erased) CALQUE_BINARY(f, T, CALQUE_M, erased)
#define CALQUE_PROMOTED(f) CALQUE_PROMOTED_AS(f, f)
#define CALQUE_INEXACT(f) CALQUE_BINARY(f, inexact_t<T>, inexact_t<CALQUE_M>, f)
#define CALQUE_M promoted_elem_t<X, Y>

/// The smaller operand; NaN if either is. min(-0, +0) = -0. Throws DTypeError for complex numbers.
CALQUE_PROMOTED(minimum)
/// The greater operand; NaN if either is. max(-0, +0) = +0. Throws DTypeError for complex numbers.
CALQUE_PROMOTED(maximum)
/// As `minimum`.
CALQUE_PROMOTED_AS(min, minimum)
/// As `maximum`.
CALQUE_PROMOTED_AS(max, maximum)
/// The smaller operand; of a number and NaN the number, as C's fmin. Throws DTypeError for complex numbers.
CALQUE_PROMOTED(fmin)
/// The greater operand; of a number and NaN the number, as C's fmax. Throws DTypeError for complex numbers.
CALQUE_PROMOTED(fmax)
/// x - y where it is above 0, else 0; NaN if either is. Throws DTypeError for bool and complex numbers.
CALQUE_PROMOTED(fdim)
/// x to the power y. Of integers it wraps, and a negative exponent gives 1/x truncated. Throws DTypeError for bool and
/// complex numbers.
CALQUE_PROMOTED(pow)
/// The remainder with the sign of x, as operator % and C's fmod. Of integers, x rem 0 = x. Throws DTypeError for bool
/// and complex numbers.
CALQUE_PROMOTED(rem)
/// As `rem`.
CALQUE_PROMOTED(fmod)
/// Python's remainder: of y's sign. Of integers, x mod 0 = x. Throws DTypeError for bool and complex numbers.
CALQUE_PROMOTED(mod)
/// Python's quotient, rounded down. Of integers, division by 0 gives -1 (all ones). Throws DTypeError for bool and
/// complex numbers.
CALQUE_PROMOTED(floor_divide)
/// IEEE's remainder: x - n y with n nearest to x / y, ties to even. Throws DTypeError for anything but floating-point
/// numbers.
CALQUE_PROMOTED(remainder)
/// The greatest common divisor, not negative; gcd(0, 0) = 0. Throws DTypeError for anything but integers.
CALQUE_PROMOTED(gcd)
/// The least common multiple, not negative; 0 if either is 0. Throws DTypeError for anything but integers.
CALQUE_PROMOTED(lcm)

/// The angle of the point (y, x) in [-pi, pi]: atan2(y, x) as in C. Integers and bool give f32. Throws DTypeError for
/// complex numbers.
CALQUE_INEXACT(atan2)
/// sqrt(x^2 + y^2) without intermediate overflow. Integers and bool give f32. Throws DTypeError for complex numbers.
CALQUE_INEXACT(hypot)
/// x with the sign of y. Integers and bool give f32. Throws DTypeError for complex numbers.
CALQUE_INEXACT(copysign)
/// The next representable number after x towards y. Integers and bool give f32. Throws DTypeError for complex numbers.
CALQUE_INEXACT(nextafter)
/// x log(y), and 0 where x is 0 (unless y is NaN). Integers and bool give f32. Throws DTypeError for complex numbers.
CALQUE_INEXACT(xlogy)
/// log(e^x + e^y) without overflow. Integers and bool give f32. Throws DTypeError for complex numbers.
CALQUE_INEXACT(logaddexp)

#undef CALQUE_M
#undef CALQUE_INEXACT
#undef CALQUE_PROMOTED
#undef CALQUE_PROMOTED_AS
#undef CALQUE_BINARY

/// x * 2^exponent, rounded once, of x's type (f32 for integers and bool). Throws DTypeError for complex x or an
/// exponent that is not of integers, ShapeError when shapes do not broadcast.
template <ArrayLike X, OperandLike Y>
out_t<inexact_t<elem_t<X>>, X, Y> ldexp(const X& x, const Y& exponent, Loc loc = Loc::current()) {
  return detail::apply_binary<out_t<inexact_t<elem_t<X>>, X, Y>>("ldexp", &detail::ops::ldexp, x, exponent, loc);
}

// ---- three operands

/// x * y + z, rounded once; for integers, bool and complex numbers computed as two operations. Of the promoted type.
/// Throws ShapeError when shapes do not broadcast.
template <OperandLike X, OperandLike Y, OperandLike Z>
  requires(ArrayLike<X> || ArrayLike<Y> || ArrayLike<Z>)
out_t<promoted_elem_t<X, Y, Z>, X, Y, Z> fma(const X& x, const Y& y, const Z& z, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::fma(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<promoted_elem_t<X, Y, Z>, X, Y, Z>>("fma", loc, f, x, y, z);
}

/// x limited to [low, high], of x's type; NaN stays NaN. Throws DTypeError when a bound does not promote to x's type or
/// x is of bool or complex numbers, ShapeError when shapes do not broadcast.
template <ArrayLike X, OperandLike L, OperandLike H>
out_t<elem_t<X>, X, L, H> clip(const X& x, const L& low, const H& high, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::clip(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<elem_t<X>, X, L, H>>("clip", loc, f, x, low, high);
}

/// The condition of `where`: bool, or an array or tracer of bool.
template <class P>
concept PredicateLike = std::same_as<P, bool> || std::same_as<P, Tracer<bool>> || std::same_as<P, Array<bool>>;

/// x where the condition holds, else y, of the promoted type of x and y. A NaN in the operand that is not selected does
/// not reach the value but reaches derivatives: guard its argument too, as in `where(x > 0, log(where(x > 0, x, 1)),
/// 0)`. Throws ShapeError when the three shapes do not broadcast.
template <PredicateLike P, OperandLike X, OperandLike Y>
  requires(ArrayLike<P> || ArrayLike<X> || ArrayLike<Y>)
out_t<promoted_elem_t<X, Y>, P, X, Y> where(const P& condition, const X& x, const Y& y, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::where(o[0], o[1], o[2], loc); };
  return detail::apply<out_t<promoted_elem_t<X, Y>, P, X, Y>>("where", loc, f, condition, x, y);
}

/// Rejects a condition that is not of bool at compile time.
template <ArrayLike P, OperandLike X, OperandLike Y>
  requires(!PredicateLike<P>)
out_t<promoted_elem_t<X, Y>, P, X, Y> where(const P& condition, const X&, const Y&) {
  static_assert(PredicateLike<P>,
                "calque: where: the condition must be of bool; compare it, as in where(x != 0, y, z)");
  return out_t<promoted_elem_t<X, Y>, P, X, Y>(condition);
}

// ---- casts

/// x converted to elements of U: integers wrap, floats round to nearest even; float to integer truncates and saturates,
/// with 0 for NaN; conversion to bool is x != 0; complex to real drops the imaginary part.
template <Elem U, ArrayLike X>
out_t<U, X> cast(const X& x, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::cast(o[0], dtype_of<U>, loc); };
  return detail::apply<out_t<U, X>>("cast", loc, f, x);
}

/// The bits of x read as elements of U, of the same width (else a compile error); neither may be bool or complex,
/// except that x's own type is allowed.
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
