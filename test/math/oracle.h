// The references for the functions of lib/math: MPFR for exact values, the C library in higher precision for speed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <mpfr.h>

namespace calque::math::test {

/// The number of representable values between two numbers; -0 equals +0, NaN equals NaN and is far from all others.
template <class T>
double representable_distance(T a, T b) {
  using I = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<double>::infinity();
  }
  const auto ordered = [](T v) {
    const I bits = std::bit_cast<I>(v);
    return bits < 0 ? std::numeric_limits<I>::min() - bits : bits;
  };
  const I x = std::max(ordered(a), ordered(b));
  const I y = std::min(ordered(a), ordered(b));
  return static_cast<double>(static_cast<std::make_unsigned_t<I>>(x) - static_cast<std::make_unsigned_t<I>>(y));
}

/// The distance of `got` from `exact` in ulp of `exact`, subnormals included.
/// Infinity is correct where `exact` rounds to infinity.
template <class T, class Wide>
double ulp_error(T got, Wide exact) {
  const T nearest = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(nearest) || std::isinf(nearest) || std::isinf(got)) {
    return representable_distance(got, nearest);
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int least = std::numeric_limits<T>::min_exponent;
  const int unit_exponent = std::max(exponent, least) - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs(std::ldexp(static_cast<Wide>(got) - exact, -unit_exponent)));
}

/// An MPFR number with the precision of the reference.
class Number {
 public:
  static constexpr int kPrecision = 160;
  Number() { mpfr_init2(value_, kPrecision); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }

 private:
  mpfr_t value_;
};

/// The error of `got` in ulp of the exact value.
template <class T>
double ulp_error_exact(T got, mpfr_srcptr exact) {
  const T nearest =
      sizeof(T) == 4 ? static_cast<T>(mpfr_get_flt(exact, MPFR_RNDN)) : static_cast<T>(mpfr_get_d(exact, MPFR_RNDN));
  if (std::isnan(got) || std::isnan(nearest) || std::isinf(nearest) || std::isinf(got)) {
    return representable_distance(got, nearest);
  }
  if (mpfr_zero_p(exact)) {
    return got == 0 ? 0 : std::fabs(static_cast<double>(got / std::numeric_limits<T>::denorm_min()));
  }
  const long exponent = static_cast<long>(mpfr_get_exp(exact));
  const long least = std::numeric_limits<T>::min_exponent;
  const long unit_exponent = std::max(exponent, least) - std::numeric_limits<T>::digits;
  Number difference;
  mpfr_set_d(difference, static_cast<double>(got), MPFR_RNDN);
  mpfr_sub(difference, difference, exact, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, -unit_exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference, MPFR_RNDN));
}

// MPFR's functions with a common signature.

using Unary = void (*)(mpfr_ptr, mpfr_srcptr);
using Binary = void (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr);

inline void exact_sigmoid(mpfr_ptr y, mpfr_srcptr x) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

/// 1 / sqrt(x), -inf at -0 as in IEEE 754.
inline void exact_rsqrt(mpfr_ptr y, mpfr_srcptr x) {
  mpfr_rec_sqrt(y, x, MPFR_RNDN);
  if (mpfr_zero_p(x)) {
    mpfr_copysign(y, y, x, MPFR_RNDN);
  }
}

/// sin(pi x) / (pi x); 1 at 0, +0 at the other integers.
inline void exact_sinc(mpfr_ptr y, mpfr_srcptr x) {
  if (mpfr_zero_p(x)) {
    mpfr_set_ui(y, 1, MPFR_RNDN);
    return;
  }
  Number divisor;
  mpfr_const_pi(divisor, MPFR_RNDN);
  mpfr_mul(divisor, divisor, x, MPFR_RNDN);
  mpfr_sinpi(y, x, MPFR_RNDN);
  mpfr_div(y, y, divisor, MPFR_RNDN);
  if (mpfr_zero_p(y)) mpfr_set_zero(y, 1);
}

inline void exact_lgamma(mpfr_ptr y, mpfr_srcptr x) {
  int sign = 0;
  mpfr_lgamma(y, &sign, x, MPFR_RNDN);
}

/// NaN at -1, -2, ... and -inf.
inline void exact_tgamma(mpfr_ptr y, mpfr_srcptr x) {
  if (mpfr_sgn(x) < 0 && (mpfr_inf_p(x) || mpfr_integer_p(x))) {
    mpfr_set_nan(y);
  } else {
    mpfr_gamma(y, x, MPFR_RNDN);
  }
}

/// -inf at 0, inf at -0, NaN at the other poles and at -inf.
inline void exact_digamma(mpfr_ptr y, mpfr_srcptr x) {
  if (mpfr_zero_p(x)) {
    mpfr_set_inf(y, mpfr_signbit(x) ? 1 : -1);
  } else if (mpfr_sgn(x) < 0 && (mpfr_inf_p(x) || mpfr_integer_p(x))) {
    mpfr_set_nan(y);
  } else {
    mpfr_digamma(y, x, MPFR_RNDN);
  }
}

/// erf^-1(a) for a = 1 - c in (0, 1), by Newton's iteration on erf or, near 1, on the logarithm of erfc.
inline void positive_erf_inv(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr c) {
  mpfr_t t, u, v, w;
  mpfr_inits2(400, t, u, v, w, static_cast<mpfr_ptr>(nullptr));
  // Start: sqrt(-log(c (1 + a))), within a factor of 1.2.
  mpfr_add_ui(t, a, 1, MPFR_RNDN);
  mpfr_mul(t, t, c, MPFR_RNDN);
  mpfr_log(t, t, MPFR_RNDN);
  mpfr_neg(t, t, MPFR_RNDN);
  mpfr_sqrt(t, t, MPFR_RNDN);
  const bool tail = mpfr_cmp_d(a, 0.5) > 0;
  for (int i = 0; i < 60; ++i) {
    if (tail) {
      mpfr_erfc(v, t, MPFR_RNDN);
      mpfr_div(u, c, v, MPFR_RNDN);
      mpfr_log(u, u, MPFR_RNDN);
      mpfr_mul(u, u, v, MPFR_RNDN);
    } else {
      mpfr_erf(u, t, MPFR_RNDN);
      mpfr_sub(u, u, a, MPFR_RNDN);
    }
    // u sqrt(pi) / 2 e^(t^2)
    mpfr_sqr(w, t, MPFR_RNDN);
    mpfr_exp(w, w, MPFR_RNDN);
    mpfr_mul(u, u, w, MPFR_RNDN);
    mpfr_const_pi(w, MPFR_RNDN);
    mpfr_sqrt(w, w, MPFR_RNDN);
    mpfr_mul(u, u, w, MPFR_RNDN);
    mpfr_div_2ui(u, u, 1, MPFR_RNDN);
    mpfr_sub(t, t, u, MPFR_RNDN);
    if (mpfr_zero_p(u) || mpfr_get_exp(u) < mpfr_get_exp(t) - 250) {
      break;
    }
  }
  mpfr_set(y, t, MPFR_RNDN);
  mpfr_clears(t, u, v, w, static_cast<mpfr_ptr>(nullptr));
}

/// erf^-1.
inline void exact_erf_inv(mpfr_ptr y, mpfr_srcptr x) {
  if (mpfr_nan_p(x) || mpfr_cmpabs_ui(x, 1) > 0) {
    mpfr_set_nan(y);
    return;
  }
  if (mpfr_cmpabs_ui(x, 1) == 0) {
    mpfr_set_inf(y, mpfr_sgn(x));
    return;
  }
  if (mpfr_zero_p(x)) {
    mpfr_set(y, x, MPFR_RNDN);
    return;
  }
  mpfr_t a, c;
  mpfr_inits2(400, a, c, static_cast<mpfr_ptr>(nullptr));
  mpfr_abs(a, x, MPFR_RNDN);
  mpfr_ui_sub(c, 1, a, MPFR_RNDN);
  positive_erf_inv(y, a, c);
  mpfr_copysign(y, y, x, MPFR_RNDN);
  mpfr_clears(a, c, static_cast<mpfr_ptr>(nullptr));
}

}  // namespace calque::math::test
