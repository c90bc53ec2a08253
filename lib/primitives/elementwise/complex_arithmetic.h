#pragma once
// Arithmetic of complex numbers on their real and imaginary parts. Written once: R is a number in the reference
// evaluator and an expression of a graph where complex equations are split into real ones, so that in strict mode both
// give the same bits.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace calque::primitives::complex_numbers {

template <class R>
struct Parts {
  R re, im;
};

// ---- what the formulas need beyond operators, of numbers

inline double select(bool predicate, double on_true, double on_false) { return predicate ? on_true : on_false; }
inline double abs(double x) { return std::fabs(x); }
inline double copysign(double x, double y) { return std::copysign(x, y); }
inline double like(double, double number) { return number; }
inline bool is_nan(double x) { return std::isnan(x); }
inline bool both(bool p, bool q) { return p && q; }
inline bool either(bool p, bool q) { return p || q; }
/// A power of two whose product with |x| is in [2, 4), for normal numbers x; the largest one for zero and subnormal
/// numbers, the least normal one for infinities and NaN.
inline double scale_of(double x) {
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52, kOne = uint64_t{1} << 52;
  uint64_t exponent = std::bit_cast<uint64_t>(x) & kExponent;
  if (exponent < kOne) exponent = kOne;
  if (exponent > kExponent - kOne) exponent = kExponent - kOne;
  return std::bit_cast<double>(kExponent - exponent);
}

// ---- the formulas

/// (a + bi) (c + di) = (ac - bd) + (ad + bc) i. An infinite operand may give NaN parts, as in JAX and NumPy: the
/// products are not recovered as in C's Annex G.
template <class R>
Parts<R> product(const Parts<R>& x, const Parts<R>& y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/// The quotient by the formula of the textbook, with the recoveries of C's Annex G.5.1 where both parts are NaN:
/// division by zero, an infinite dividend, an infinite divisor. R has the precision of f64.
template <class R>
Parts<R> recovered_quotient(const Parts<R>& x, const Parts<R>& y) {
  const R denominator = y.re * y.re + y.im * y.im;
  const Parts<R> plain = {(x.re * y.re + x.im * y.im) / denominator, (x.im * y.re - x.re * y.im) / denominator};
  const R zero = like(x.re, 0), one = like(x.re, 1), infinite = like(x.re, std::numeric_limits<double>::infinity());
  const auto is_infinite = [&](const R& v) { return abs(v) == infinite; };
  const auto is_finite = [&](const R& v) { return abs(v) < infinite; };
  // An infinite part stands for a direction: one if infinite, zero if finite, with its sign.
  const auto direction = [&](const R& v) { return copysign(select(is_infinite(v), one, zero), v); };
  const auto by_zero = denominator == zero;
  const auto dividend = both(either(is_infinite(x.re), is_infinite(x.im)), both(is_finite(y.re), is_finite(y.im)));
  const auto divisor = both(either(is_infinite(y.re), is_infinite(y.im)), both(is_finite(x.re), is_finite(x.im)));
  const R a = select(dividend, direction(x.re), x.re), b = select(dividend, direction(x.im), x.im);
  const R c = select(divisor, direction(y.re), y.re), d = select(divisor, direction(y.im), y.im);
  const R factor = select(divisor, zero, infinite);
  const R signed_infinity = copysign(infinite, y.re);
  const R re = select(by_zero, signed_infinity * x.re, factor * (a * c + b * d));
  const R im = select(by_zero, signed_infinity * x.im, factor * (b * c - a * d));
  const auto lost = both(both(is_nan(plain.re), is_nan(plain.im)), either(by_zero, either(dividend, divisor)));
  return {select(lost, re, plain.re), select(lost, im, plain.im)};
}

/// The quotient in f64 of numbers that were f64 from the start. The divisor is scaled by a power of two, so that its
/// square neither overflows nor vanishes; the dividend where products with it would leave the range.
template <class R>
Parts<R> quotient(const Parts<R>& x, const Parts<R>& y) {
  const R size = select(abs(x.re) < abs(x.im), abs(x.im), abs(x.re));
  const auto huge = like(size, 0x1p+1020) <= size, tiny = size < like(size, 0x1p-900);
  const R there = select(huge, like(size, 0x1p-4), select(tiny, like(size, 0x1p+100), like(size, 1)));
  const R back = select(huge, like(size, 0x1p+4), select(tiny, like(size, 0x1p-100), like(size, 1)));
  const R scale = scale_of(select(abs(y.re) < abs(y.im), abs(y.im), abs(y.re)));
  const Parts<R> q = recovered_quotient<R>({x.re * there, x.im * there}, {y.re * scale, y.im * scale});
  return {q.re * scale * back, q.im * scale * back};
}

}  // namespace calque::primitives::complex_numbers
