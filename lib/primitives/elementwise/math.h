#pragma once
// Transcendental and special functions. The reference computes them in a wider type and rounds once, which is correctly
// rounded in all but extremely few cases; generated code uses the functions of lib/math.
#include <cmath>
#include <numbers>

#include "primitives/core/rule.h"
#include "primitives/elementwise/special.h"

namespace calque::primitives {

// Derivatives are written so that no intermediate value leaves the range of the dtype, 16-bit floats included, where
// the derivative itself is in it.

/// A power of two, 1 for ordinary sizes, which brings the squares of numbers of that size into the range. Scaling costs
/// less than a division.
inline Term scale_of_squares(Term size, bool also_of_small = false) {
  struct Exponents {
    int large, down, small, up;
  };
  Exponents e{60, 66, -50, 80};
  if (element_dtype(size) == DType::f64) e = {500, 530, -450, 600};
  if (element_dtype(size) == DType::f16) e = {7, 9, -5, 10};
  const auto power = [&](int exponent) { return constant(size, std::ldexp(1.0, exponent)); };
  const Term scale = also_of_small ? select(size < power(e.small), power(e.up), power(0)) : power(0);
  return select(size > power(e.large), power(-e.down), scale);
}

/// 1 / (x^2 + 1)
inline Term one_over_square_plus_one(Term x) {
  const Term scale = scale_of_squares(abs(x)), scaled = x * scale;
  return scale / (scaled * scaled + scale * scale) * scale;
}

/// 1 / sqrt(x^2 + 1)
inline Term rsqrt_of_square_plus_one(Term x) {
  const Term scale = scale_of_squares(abs(x)), scaled = x * scale;
  return rsqrt(scaled * scaled + scale * scale) * scale;
}

/// 1 / sqrt(x^2 - 1) of positive x
inline Term rsqrt_of_square_minus_one(Term x) {
  const Term scale = scale_of_squares(x);
  return rsqrt(((x - 1.0) * scale) * ((x + 1.0) * scale)) * scale;
}

/// 1 - x^2, whose terms or factors do not cancel, also in derivatives.
inline Term one_minus_square(Term x) { return select(abs(x) < constant(x, 0.5), 1.0 - x * x, (1.0 - x) * (1.0 + x)); }

/// Operand i of (x, y), divided by x^2 + y^2.
inline Term over_sum_of_squares(int i, Term x, Term y) {
  const Term scale = scale_of_squares(select(abs(x) < abs(y), abs(y), abs(x)), true);
  const Term u = x * scale, v = y * scale;
  return (i == 0 ? u : v) / (u * u + v * v) * scale;
}

/// Operand i of (x, y), divided by sqrt(x^2 + y^2); 0 at the origin.
inline Term over_root_of_squares(int i, Term x, Term y) {
  const Term most = select(abs(x) < abs(y), abs(y), abs(x)), scale = scale_of_squares(most, true);
  const Term u = x * scale, v = y * scale;
  return select(most == 0.0, constant(x, 0), (i == 0 ? u : v) * rsqrt(nonzero(u * u + v * v)));
}

/// The density of the standard normal distribution.
inline Term normal_density(Term x) { return std::numbers::inv_sqrtpi / std::numbers::sqrt2 * exp(-0.5 * (x * x)); }

/// The derivative of erfcx, 2 x erfcx(x) - 2 / sqrt(pi), and where that cancels, for large x, its asymptotic series.
inline Term slope_of_erfcx(Term x, Term result) {
  const Term bound = constant(x, element_dtype(x) == DType::f64 ? 8 : 5);
  const Term large = x > bound;
  const Term r = 1.0 / select(large, x, bound), z = 0.5 * (r * r);
  Term series = constant(x, 1);
  for (int k = 16; k > 0; --k) series = 1.0 - static_cast<double>(2 * k + 1) * z * series;
  const Term near = 2.0 * select(large, constant(x, 0), x) * result - 2 * std::numbers::inv_sqrtpi;
  return select(large, -std::numbers::inv_sqrtpi * (r * r) * series, near);
}

/// The derivative of log_ndtr: density over ndtr, and below zero, where both underflow, by erfcx.
inline Term slope_of_log_ndtr(Term x) {
  const Term below = x < constant(x, 0);
  const Term negative = where(below, x), positive = select(below, constant(x, 0), x);
  return select(below, std::numbers::sqrt2 * std::numbers::inv_sqrtpi / erfcx(-std::numbers::sqrt2 / 2 * negative),
                normal_density(positive) / ndtr(positive));
}

/// The derivative of i1 from its power series, for |x| <= 1.
inline Term slope_of_i1_near_zero(Term x) {
  const Term square = (0.5 * x) * (0.5 * x);
  Term series = constant(x, 1);
  for (int k = 10; k > 0; --k) series = 1.0 + (2.0 * k + 1) / ((2.0 * k - 1) * k * (k + 1)) * square * series;
  return 0.5 * series;
}

/// The derivative of i1: i0(x) - i1(x) / x.
inline Term slope_of_i1(Term x, Term result) {
  const Term small = abs(x) < constant(x, 1);
  return select(small, slope_of_i1_near_zero(where(small, x)), i0(x) - result / select(small, constant(x, 1), x));
}

/// The derivative of e^-x I0(x) or e^-x I1(x) for large x, of its asymptotic series (Abramowitz and Stegun 9.7.1).
inline Term slope_of_scaled_bessel_tail(int order, Term x) {
  double terms[11] = {1};
  for (int k = 1; k <= 10; ++k) terms[k] = terms[k - 1] * ((2 * k - 1) * (2 * k - 1) - 4 * order * order) / (8.0 * k);
  const Term r = 1.0 / x;
  Term series = constant(x, 10.5 * terms[10]);
  for (int k = 9; k >= 0; --k) series = series * r + (k + 0.5) * terms[k];
  return -std::numbers::inv_sqrtpi / std::numbers::sqrt2 * (r * sqrt(r) * series);
}

/// The derivative of i0e, i1e(x) - sign(x) i0e(x), or of i1e, i0e(x) - i1e(x) (sign(x) + 1 / x), and where these
/// cancel, for large |x|, of the asymptotic series.
inline Term slope_of_scaled_bessel(int order, Term x, Term result) {
  const Term bound = constant(x, element_dtype(x) == DType::f64 ? 64 : 16);
  const Term size = abs(x), large = size > bound, to_sign = sign(x);
  const Term tail = slope_of_scaled_bessel_tail(order, select(large, size, bound));
  if (order == 0) return select(large, to_sign * tail, i1e(x) - to_sign * result);
  const Term small = size < constant(x, 1), near = where(small, x);
  const Term around_zero = exp(-abs(near)) * slope_of_i1_near_zero(near) - to_sign * result;
  const Term middle = i0e(x) - result * (to_sign + 1.0 / select(small, constant(x, 1), x));
  return select(large, tail, select(small, around_zero, middle));
}

/// Defines a function of one float: name, doc sentence, value for x of a wide type W, and tangent for a tangent t of x
/// and the value `result`.
#define CALQUE_MATH_1(Struct, name_, doc_, value_, tangent_)                                                \
  struct Struct : MathFunction<Struct> {                                                                    \
    static constexpr std::string_view name = name_;                                                         \
    static constexpr std::string_view doc = doc_;                                                           \
    template <class W>                                                                                      \
    static W element(W x) {                                                                                 \
      return value_;                                                                                        \
    }                                                                                                       \
    static Term tangent(Term t, [[maybe_unused]] Term x, [[maybe_unused]] Term result) { return tangent_; } \
  }
/// Defines a function of two floats; in the tangent, t is the tangent of operand i.
#define CALQUE_MATH_2(Struct, name_, doc_, value_, tangent_)                             \
  struct Struct : MathFunction<Struct, 2> {                                              \
    static constexpr std::string_view name = name_;                                      \
    static constexpr std::string_view doc = doc_;                                        \
    template <class W>                                                                   \
    static W element(W x, W y) {                                                         \
      return value_;                                                                     \
    }                                                                                    \
    static Term tangent(int i, Term t, [[maybe_unused]] Term x, [[maybe_unused]] Term y, \
                        [[maybe_unused]] Term result) {                                  \
      return tangent_;                                                                   \
    }                                                                                    \
  }

// The formatter mistakes products in macro arguments for declarations.
// clang-format off
CALQUE_MATH_1(Rsqrt, "rsqrt", "1 / sqrt(x)", 1 / std::sqrt(x), t * ((-0.5 * result) * (result * result)));
CALQUE_MATH_1(Cbrt, "cbrt", "the cube root", std::cbrt(x), t * (1.0 / (3.0 * (result * result))));
CALQUE_MATH_1(Exp, "exp", "e to the power x", std::exp(x), t * result);
CALQUE_MATH_1(Exp2, "exp2", "2 to the power x", std::exp2(x), t * (std::numbers::ln2 * result));
CALQUE_MATH_1(Expm1, "expm1", "exp(x) - 1 without cancellation", std::expm1(x), t * exp(x));
CALQUE_MATH_1(Log, "log", "the natural logarithm; -inf at 0, NaN below", std::log(x), t / x);
CALQUE_MATH_1(Log2, "log2", "the logarithm to base 2", std::log2(x), t * (std::numbers::log2e / x));
CALQUE_MATH_1(Log10, "log10", "the logarithm to base 10", std::log10(x), t * (std::numbers::log10e / x));
CALQUE_MATH_1(Log1p, "log1p", "log(1 + x) without cancellation", std::log1p(x), t * (1.0 / (x + 1.0)));
CALQUE_MATH_1(Sin, "sin", "sine of x in radians, over the whole range", std::sin(x), t * cos(x));
CALQUE_MATH_1(Cos, "cos", "cosine of x in radians, over the whole range", std::cos(x), -(t * sin(x)));
CALQUE_MATH_1(Tan, "tan", "tangent of x in radians, over the whole range", std::tan(x), t * (1.0 + result * result));
CALQUE_MATH_1(Asin, "asin", "arc sine in [-pi/2, pi/2]; NaN outside [-1, 1]", std::asin(x), t * rsqrt(one_minus_square(x)));
CALQUE_MATH_1(Acos, "acos", "arc cosine in [0, pi]; NaN outside [-1, 1]", std::acos(x), -(t * rsqrt(one_minus_square(x))));
CALQUE_MATH_1(Atan, "atan", "arc tangent in [-pi/2, pi/2]", std::atan(x), t * one_over_square_plus_one(x));
CALQUE_MATH_1(Sinh, "sinh", "hyperbolic sine", std::sinh(x), t * cosh(x));
CALQUE_MATH_1(Cosh, "cosh", "hyperbolic cosine", std::cosh(x), t * sinh(x));
CALQUE_MATH_1(Tanh, "tanh", "hyperbolic tangent", std::tanh(x), t * (1.0 - result * result));
CALQUE_MATH_1(Asinh, "asinh", "inverse hyperbolic sine", std::asinh(x), t * rsqrt_of_square_plus_one(x));
CALQUE_MATH_1(Acosh, "acosh", "inverse hyperbolic cosine; NaN below 1", std::acosh(x), t * rsqrt_of_square_minus_one(x));
CALQUE_MATH_1(Atanh, "atanh", "inverse hyperbolic tangent; infinite at -1 and 1, NaN outside", std::atanh(x),
              t * (1.0 / one_minus_square(x)));
CALQUE_MATH_1(Logistic, "logistic", "1 / (1 + exp(-x))", 1 / (1 + std::exp(-x)), t * (result * (1.0 - result)));
CALQUE_MATH_1(Erf, "erf", "the error function", std::erf(x), t * (2 * std::numbers::inv_sqrtpi * exp(-(x * x))));
CALQUE_MATH_1(Erfc, "erfc", "1 - erf(x) without cancellation", std::erfc(x),
              -(t * (2 * std::numbers::inv_sqrtpi * exp(-(x * x)))));
CALQUE_MATH_1(ErfInv, "erf_inv", "the inverse of erf; infinite at -1 and 1, NaN outside", special::erf_inv(x),
              t * (0.5 / std::numbers::inv_sqrtpi * exp(result * result)));
CALQUE_MATH_1(Lgamma, "lgamma", "log |gamma(x)|; +inf at 0 and the negative integers", special::lgamma(x),
              t * digamma(x));
CALQUE_MATH_1(Tgamma, "tgamma", "gamma(x); NaN at the negative integers", std::tgamma(x), t * (result * digamma(x)));
CALQUE_MATH_1(Digamma, "digamma", "the derivative of lgamma; NaN at the negative integers", special::digamma(x),
              t * trigamma(x));
CALQUE_MATH_1(Trigamma, "trigamma", "the derivative of digamma; inf at 0 and the negative integers", special::trigamma(x),
              t * (-2.0 * zeta(constant(x, 3), x)));
CALQUE_MATH_1(Erfcx, "erfcx", "exp(x^2) erfc(x), which does not underflow", special::erfcx(x),
              t * slope_of_erfcx(x, result));
CALQUE_MATH_1(Ndtr, "ndtr", "the distribution function of the standard normal distribution", special::ndtr(x),
              t * normal_density(x));
CALQUE_MATH_1(LogNdtr, "log_ndtr", "log(ndtr(x)), which does not underflow", special::log_ndtr(x),
              t * slope_of_log_ndtr(x));
CALQUE_MATH_1(Ndtri, "ndtri", "the inverse of ndtr; infinite at 0 and 1, NaN outside", special::ndtri(x),
              t * (std::numbers::sqrt2 / std::numbers::inv_sqrtpi * exp(0.5 * (result * result))));
CALQUE_MATH_1(I0, "i0", "the modified Bessel function of the first kind of order 0", special::bessel_i(0, x, false),
              t * i1(x));
CALQUE_MATH_1(I0e, "i0e", "exp(-|x|) i0(x), which does not overflow", special::bessel_i(0, x, true),
              t * slope_of_scaled_bessel(0, x, result));
CALQUE_MATH_1(I1, "i1", "the modified Bessel function of the first kind of order 1", special::bessel_i(1, x, false),
              t * slope_of_i1(x, result));
CALQUE_MATH_1(I1e, "i1e", "exp(-|x|) i1(x), which does not overflow", special::bessel_i(1, x, true),
              t * slope_of_scaled_bessel(1, x, result));

CALQUE_MATH_2(Atan2, "atan2", "the angle of the point (y, x) in [-pi, pi]: atan2(y, x) as in C", std::atan2(x, y),
              i == 0 ? strong_mul(t, over_sum_of_squares(1, x, y)) : -strong_mul(t, over_sum_of_squares(0, x, y)));
CALQUE_MATH_2(Hypot, "hypot", "sqrt(x^2 + y^2) without overflow; inf if either is infinite", std::hypot(x, y),
              strong_mul(t, over_root_of_squares(i, x, y)));
CALQUE_MATH_2(Remainder, "remainder", "IEEE: x - n y, exact, with n nearest to x / y, ties to even",
              std::remainder(x, y), i == 0 ? t : -strong_mul(t, round(x / y - result / y)));
// clang-format on

#undef CALQUE_MATH_1
#undef CALQUE_MATH_2

struct Sinc : MathFunction<Sinc> {
  static constexpr std::string_view name = "sinc";
  static constexpr std::string_view doc = "sin(pi x) / (pi x), 1 at 0; NaN of infinities";
  template <class W>
  static W element(W x) {
    return special::sinc(x);
  }
  /// (cos(pi x) - sinc(x)) / x, and where that cancels, around 0, its series.
  static Term tangent(Term t, Term x, Term result) {
    constexpr double kPi = std::numbers::pi;
    const Term small = abs(x) < constant(x, 0.25);
    const Term near = where(small, x), far = select(small, constant(x, 1), x);
    const Term square = (kPi * near) * (kPi * near);
    Term series = constant(x, 1);
    for (int k = 7; k > 0; --k) series = 1.0 - square / (2.0 * k * (2 * k + 3)) * series;
    const Term turn = far - 2.0 * round(0.5 * far);  // exact: in [-1, 1]
    return t * select(small, (-kPi * kPi / 3) * near * series, (cos(kPi * turn) - result) / far);
  }
};

struct Zeta : MathFunction<Zeta, 2> {
  static constexpr std::string_view name = "zeta";
  static constexpr std::string_view doc =
      "the sum of (y + k)^-x for k from 0; inf at x = 1 and where y is 0 or a negative integer; NaN for x < 1, and for "
      "other negative y unless x is an integer";
  template <class W>
  static W element(W x, W y) {
    return special::zeta(x, y);
  }
  static void jvp(Jvp& j) {
    if (j.active(0)) refuse(j.equation, "has no derivative by x, its first operand; differentiate by q alone");
    const Term s = j.primal(0);
    j.add((j.tangent(1) * (-s * zeta(s + 1.0, j.primal(1)))).value);
  }
};

struct Nextafter : Elementwise<Nextafter, 2, kFloat> {
  static constexpr std::string_view name = "nextafter";
  static constexpr std::string_view doc =
      "the representable number of the operands' dtype next to x toward y; y where they are equal";
  static constexpr LowerKind kind = LowerKind::function;
  /// Neighbors of a 16-bit float are taken in its own type: `element` is called with that type.
  static constexpr bool computes_in_own_type = true;
  template <class T>
  static T element(T x, T y) {
    return special::nextafter(x, y);
  }
  using jvp = NotDifferentiable<"steps from number to number and has no derivative">;
};

using MathList =
    TypeList<Rsqrt, Cbrt, Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh,
             Asinh, Acosh, Atanh, Logistic, Erf, Erfc, ErfInv, Lgamma, Tgamma, Digamma, Atan2, Hypot, Remainder,
             Nextafter, Sinc, Trigamma, Erfcx, Ndtr, LogNdtr, Ndtri, I0, I0e, I1, I1e, Zeta>;

}  // namespace calque::primitives
