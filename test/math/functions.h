// The functions under test, on plain numbers, with their oracles and allowed errors.
#pragma once

#include <vector>

#include "math/math.h"
#include "math/scalar_backend.h"
#include "oracle.h"
#include "oracle_special.h"
#include "primitives/elementwise/special.h"

namespace calque::math::test {

template <class T>
using Scalar = Lane<T, ScalarBackend>;

/// A function of one argument.
struct UnaryFunction {
  const char* name;
  float (*single)(float);
  double (*twice)(double);
  /// More precise than the results under test; null where the C library has none.
  double (*library)(double);
  long double (*long_library)(long double);
  Unary exact;
  /// Largest error allowed, in ulp of the exact value.
  double single_ulp;
  double double_ulp;
  /// Additional absolute error in units of the type's epsilon, where terms cancel (at the zeros of reflected
  /// functions).
  double (*slack)(double) = [](double) { return 0.0; };
};

/// A function of two arguments.
struct BinaryFunction {
  const char* name;
  float (*single)(float, float);
  double (*twice)(double, double);
  double (*library)(double, double);
  long double (*long_library)(long double, long double);
  Binary exact;
  double single_ulp;
  double double_ulp;
};

#define CALQUE_SINGLE(f) [](float v) { return f(Scalar<float>(v)).raw(); }
#define CALQUE_DOUBLE(f) [](double v) { return f(Scalar<double>(v)).raw(); }
#define CALQUE_EXACT(f) [](mpfr_ptr r, mpfr_srcptr v) { f(r, v, MPFR_RNDN); }
#define CALQUE_LIBM(f) [](double v) { return std::f(v); }, [](long double v) { return std::f(v); }
#define CALQUE_UNARY(f, m, l, s, d) \
  UnaryFunction { #f, CALQUE_SINGLE(math::f), CALQUE_DOUBLE(math::f), CALQUE_LIBM(l), CALQUE_EXACT(m), s, d }

#define CALQUE_BINARY(f, m, l, s, d)                                                                                \
  BinaryFunction {                                                                                                  \
    #f, [](float a, float b) { return math::f(Scalar<float>(a), Scalar<float>(b)).raw(); },                         \
        [](double a, double b) { return math::f(Scalar<double>(a), Scalar<double>(b)).raw(); },                     \
        [](double a, double b) { return std::l(a, b); }, [](long double a, long double b) { return std::l(a, b); }, \
        [](mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b) { m(r, a, b, MPFR_RNDN); }, s, d                               \
  }

/// Functions that the C library lacks: those of the reference evaluator instead.
#define CALQUE_SPECIAL(f, s, d)                                                                             \
  UnaryFunction {                                                                                           \
    #f, CALQUE_SINGLE(math::f), CALQUE_DOUBLE(math::f), [](double v) { return primitives::special::f(v); }, \
        [](long double v) { return primitives::special::f(v); }, exact_##f, s, d                            \
  }
#define CALQUE_BESSEL(f, order, scaled, s, d)                                                                         \
  UnaryFunction {                                                                                                     \
    #f, CALQUE_SINGLE(math::f), CALQUE_DOUBLE(math::f),                                                               \
        [](double v) { return primitives::special::bessel_i(order, v, scaled); },                                     \
        [](long double v) { return primitives::special::bessel_i(order, v, scaled); }, exact_bessel_i<order, scaled>, \
        s, d                                                                                                          \
  }

template <class T>
T library_sigmoid(T v) {
  return v > 0 ? 1 / (1 + std::exp(-v)) : std::exp(v) / (1 + std::exp(v));
}

template <class T>
T library_lgamma(T v) {
  int sign = 0;
  return sizeof(T) == 8 ? static_cast<T>(::lgamma_r(static_cast<double>(v), &sign))
                        : static_cast<T>(::lgammal_r(v, &sign));
}

template <class T>
T library_tgamma(T v) {
  return v < 0 && std::trunc(v) == v ? std::numeric_limits<T>::quiet_NaN() : std::tgamma(v);
}

/// The terms of the reflection formulas of lgamma and digamma for negative x, whose rounding errors remain where they
/// cancel.
inline double reflected_slack(double x) {
  return x < 0 && x > -1e15 ? 4 * (4 + std::fabs(std::lgamma(1 - x)) + 1 / std::fabs(x - std::nearbyint(x))) : 0;
}

inline const std::vector<UnaryFunction>& unary_functions() {
  static const std::vector<UnaryFunction> list = {
      CALQUE_UNARY(exp, mpfr_exp, exp, 1, 1),
      CALQUE_UNARY(exp2, mpfr_exp2, exp2, 1, 1),
      CALQUE_UNARY(expm1, mpfr_expm1, expm1, 1, 1.1),
      UnaryFunction{"sigmoid", CALQUE_SINGLE(math::sigmoid), CALQUE_DOUBLE(math::sigmoid), library_sigmoid<double>,
                    library_sigmoid<long double>, exact_sigmoid, 1, 1},
      CALQUE_UNARY(log, mpfr_log, log, 1, 1),
      CALQUE_UNARY(log2, mpfr_log2, log2, 1, 1),
      CALQUE_UNARY(log10, mpfr_log10, log10, 1, 1),
      CALQUE_UNARY(log1p, mpfr_log1p, log1p, 1, 1),
      CALQUE_UNARY(sin, mpfr_sin, sin, 1, 1),
      CALQUE_UNARY(cos, mpfr_cos, cos, 1, 1),
      CALQUE_UNARY(tan, mpfr_tan, tan, 1, 1),
      UnaryFunction{"sinc", CALQUE_SINGLE(math::sinc), CALQUE_DOUBLE(math::sinc), primitives::special::sinc<double>,
                    primitives::special::sinc<long double>, exact_sinc, 1, 1},
      CALQUE_UNARY(asin, mpfr_asin, asin, 1, 1),
      CALQUE_UNARY(acos, mpfr_acos, acos, 1, 1),
      CALQUE_UNARY(atan, mpfr_atan, atan, 1, 1.1),
      CALQUE_UNARY(sinh, mpfr_sinh, sinh, 1, 1),
      CALQUE_UNARY(cosh, mpfr_cosh, cosh, 1, 1),
      CALQUE_UNARY(tanh, mpfr_tanh, tanh, 1, 1),
      CALQUE_UNARY(asinh, mpfr_asinh, asinh, 1, 1),
      CALQUE_UNARY(acosh, mpfr_acosh, acosh, 1, 1),
      CALQUE_UNARY(atanh, mpfr_atanh, atanh, 1, 1),
      CALQUE_UNARY(cbrt, mpfr_cbrt, cbrt, 1, 1),
      UnaryFunction{"rsqrt", CALQUE_SINGLE(math::rsqrt), CALQUE_DOUBLE(math::rsqrt),
                    [](double v) { return 1 / std::sqrt(v); }, [](long double v) { return 1 / std::sqrt(v); },
                    exact_rsqrt, 1, 1},
      CALQUE_UNARY(erf, mpfr_erf, erf, 1, 1.2),
      CALQUE_UNARY(erfc, mpfr_erfc, erfc, 2, 2),
      UnaryFunction{"erf_inv", CALQUE_SINGLE(math::erf_inv), CALQUE_DOUBLE(math::erf_inv),
                    [](double v) { return math::erf_inv(Scalar<double>(v)).raw(); }, nullptr, exact_erf_inv, 4, 4},
      UnaryFunction{"lgamma", CALQUE_SINGLE(math::lgamma), CALQUE_DOUBLE(math::lgamma), library_lgamma<double>,
                    library_lgamma<long double>, exact_lgamma, 4, 4, reflected_slack},
      UnaryFunction{"tgamma", CALQUE_SINGLE(math::tgamma), CALQUE_DOUBLE(math::tgamma), library_tgamma<double>,
                    library_tgamma<long double>, exact_tgamma, 4, 4},
      UnaryFunction{"digamma", CALQUE_SINGLE(math::digamma), CALQUE_DOUBLE(math::digamma),
                    [](double v) { return math::digamma(Scalar<double>(v)).raw(); }, nullptr, exact_digamma, 4, 4,
                    reflected_slack},
      CALQUE_SPECIAL(trigamma, 1, 4),
      CALQUE_SPECIAL(erfcx, 1.5, 2),
      CALQUE_SPECIAL(ndtr, 1.5, 1.5),
      CALQUE_SPECIAL(log_ndtr, 1.5, 1.5),
      CALQUE_SPECIAL(ndtri, 2.5, 3),
      CALQUE_BESSEL(i0, 0, false, 3, 4),
      CALQUE_BESSEL(i0e, 0, true, 3.5, 4),
      CALQUE_BESSEL(i1, 1, false, 3, 4),
      CALQUE_BESSEL(i1e, 1, true, 3.5, 4),
  };
  return list;
}

inline const std::vector<BinaryFunction>& binary_functions() {
  static const std::vector<BinaryFunction> list = {
      CALQUE_BINARY(pow, mpfr_pow, pow, 1, 1),
      CALQUE_BINARY(atan2, mpfr_atan2, atan2, 1, 1.1),
      CALQUE_BINARY(hypot, mpfr_hypot, hypot, 1, 1),
      CALQUE_BINARY(fmod, mpfr_fmod, fmod, 0, 0),
      CALQUE_BINARY(remainder, mpfr_remainder, remainder, 0, 0),
  };
  return list;
}

}  // namespace calque::math::test
