// The special functions that MPFR lacks, from those that it has, with more precision.
#pragma once

#include <cmath>
#include <type_traits>
#include <vector>

#include "oracle.h"

namespace calque::math::test {

/// An MPFR number of 512 bits with arithmetic.
class Real {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Real(T v) {  // NOLINT(google-explicit-constructor)
    mpfr_init2(value_, kBits);
    mpfr_set_d(value_, static_cast<double>(v), MPFR_RNDN);
  }
  explicit Real(mpfr_srcptr v) {
    mpfr_init2(value_, kBits);
    mpfr_set(value_, v, MPFR_RNDN);
  }
  Real(const Real& other) : Real(static_cast<mpfr_srcptr>(other.value_)) {}
  Real& operator=(const Real& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr raw() { return value_; }
  mpfr_srcptr raw() const { return value_; }
  int sign() const { return mpfr_sgn(value_); }
  bool is_infinite() const { return mpfr_inf_p(value_) != 0; }
  long exponent() const { return static_cast<long>(mpfr_get_exp(value_)); }

  /// f(a...) for a function of MPFR.
  template <class F, class... A>
  static Real of(F f, const A&... a) {
    Real r = 0;
    f(r.value_, a.value_..., MPFR_RNDN);
    return r;
  }
  static Real pi() {
    Real r = 0;
    mpfr_const_pi(r.raw(), MPFR_RNDN);
    return r;
  }

  friend Real operator+(const Real& a, const Real& b) { return of(mpfr_add, a, b); }
  friend Real operator-(const Real& a, const Real& b) { return of(mpfr_sub, a, b); }
  friend Real operator*(const Real& a, const Real& b) { return of(mpfr_mul, a, b); }
  friend Real operator/(const Real& a, const Real& b) { return of(mpfr_div, a, b); }
  friend Real operator-(const Real& a) { return of(mpfr_neg, a); }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.value_, b.value_) != 0; }

 private:
  static constexpr int kBits = 512;
  mpfr_t value_;
};

inline Real exp(const Real& x) { return Real::of(mpfr_exp, x); }
inline Real log(const Real& x) { return Real::of(mpfr_log, x); }
inline Real sqrt(const Real& x) { return Real::of(mpfr_sqrt, x); }
inline Real abs(const Real& x) { return Real::of(mpfr_abs, x); }

/// Calls f with the argument as a Real and stores its result, but NaN for NaN.
template <class F>
void store(mpfr_ptr y, mpfr_srcptr x, F f) {
  if (mpfr_nan_p(x)) {
    mpfr_set_nan(y);
  } else {
    const Real result = f(Real(x));
    mpfr_set(y, result.raw(), MPFR_RNDN);
  }
}

/// The recurrence up to 60, then the asymptotic series.
inline Real positive_trigamma(Real x) {
  constexpr int kTerms = 60;
  static const std::vector<Real> bernoulli = [] {
    // B_2k = (-1)^(k+1) 2 (2k)! zeta(2k) / (2 pi)^2k
    std::vector<Real> b;
    Real factor = 2;
    for (int k = 1; k <= kTerms; ++k) {
      factor = -(factor * Real(2 * k) * Real(2 * k - 1) / (Real(4) * Real::pi() * Real::pi()));
      Real zeta = 0;
      mpfr_zeta_ui(zeta.raw(), static_cast<unsigned long>(2 * k), MPFR_RNDN);
      b.push_back(-(factor * zeta));
    }
    return b;
  }();
  Real sum = 0;
  for (; x < 60; x = x + 1) sum = sum + Real(1) / (x * x);
  const Real r = Real(1) / x;
  Real series = 0;
  for (int k = kTerms; k-- > 0;) series = r * r * (bernoulli[static_cast<size_t>(k)] + series);
  return sum + r * (Real(1) + r * Real(0.5) + series);
}

/// Infinite at 0 and the negative integers.
inline void exact_trigamma(mpfr_ptr y, mpfr_srcptr argument) {
  store(y, argument, [](const Real& x) {
    if (x.is_infinite()) return x.sign() > 0 ? Real(0) : -x;
    if (x.sign() > 0) return positive_trigamma(x);
    if (mpfr_integer_p(x.raw())) return Real(HUGE_VAL);
    const Real ratio = Real::pi() / Real::of(mpfr_sinpi, x);
    return ratio * ratio - positive_trigamma(Real(1) - x);
  });
}

inline Real erfcx_of(const Real& x) {
  if (x.sign() < 0) return x < -1e3 ? Real(HUGE_VAL) : exp(x * x) * Real::of(mpfr_erfc, x);
  if (x < 200) return exp(x * x) * Real::of(mpfr_erfc, x);
  Real sum = 1;
  for (int k = 60; k > 0; --k) sum = Real(1) - Real(2 * k - 1) * sum / (Real(2) * x * x);
  return sum / (x * sqrt(Real::pi()));
}

inline void exact_erfcx(mpfr_ptr y, mpfr_srcptr argument) { store(y, argument, erfcx_of); }

inline Real ndtr_of(const Real& x) {
  if (x < -1e3) return 0;
  if (Real(1e3) < x) return 1;
  return Real::of(mpfr_erfc, -(x / sqrt(Real(2)))) * 0.5;
}

inline void exact_ndtr(mpfr_ptr y, mpfr_srcptr argument) { store(y, argument, ndtr_of); }

/// -0 where ndtr rounds to 1 in any precision.
inline void exact_log_ndtr(mpfr_ptr y, mpfr_srcptr argument) {
  store(y, argument, [](const Real& x) {
    if (x.sign() < 0) return log(erfcx_of(-(x / sqrt(Real(2)))) * 0.5) - x * x * 0.5;
    return Real::of(mpfr_log1p, -ndtr_of(-x));
  });
}

inline void exact_ndtri(mpfr_ptr y, mpfr_srcptr argument) {
  store(y, argument, [](const Real& p) {
    Real result = 0;
    if (p.sign() < 0 || Real(1) < p) {
      mpfr_set_nan(result.raw());
      return result;
    }
    const Real side = p < 0.5 ? p : Real(1) - p;
    if (side.sign() == 0) return p < 0.5 ? Real(-HUGE_VAL) : Real(HUGE_VAL);
    const Real c = side * 2;
    if (!(c < 1)) return Real(0);
    positive_erf_inv(result.raw(), (Real(1) - c).raw(), c.raw());
    return (p < 0.5 ? -result : result) * sqrt(Real(2));
  });
}

/// I0 or I1, times e^-|x| if kScaled: the power series, for large arguments the asymptotic series.
template <int kOrder, bool kScaled>
void exact_bessel_i(mpfr_ptr y, mpfr_srcptr argument) {
  store(y, argument, [](const Real& x) {
    const Real a = abs(x);
    Real sum = 0;
    if (a < 200) {
      Real term = kOrder == 0 ? Real(1) : a * 0.5;
      sum = term;
      for (int k = 1; term.sign() != 0 && term.exponent() > sum.exponent() - 250; ++k) {
        term = term * a * a / Real(4.0 * k * (k + kOrder));
        sum = sum + term;
      }
      if (kScaled) sum = sum * exp(-a);
    } else if (a.is_infinite()) {
      sum = kScaled ? Real(0) : a;
    } else {
      Real term = 1;
      sum = 1;
      for (int k = 1; k < 120; ++k) {
        term = term * Real((2 * k - 1) * (2 * k - 1) - 4 * kOrder * kOrder) / (Real(8 * k) * a);
        sum = sum + term;
      }
      sum = sum / sqrt(Real(2) * Real::pi() * a);
      if (!kScaled) sum = sum * exp(a);
    }
    if (kOrder == 1) mpfr_copysign(sum.raw(), sum.raw(), x.raw(), MPFR_RNDN);
    return sum;
  });
}

}  // namespace calque::math::test
