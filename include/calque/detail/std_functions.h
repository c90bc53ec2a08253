#pragma once
// std::sin(x) of a tracer or array: one line that says what to write, in place of the compiler's list of overloads. The
// parameters convert from arrays by a constructor, so that every other function of the name is preferred: `using
// std::sin; sin(x)`, as templates over a scalar write, finds calque's.
#include "calque/detail/promotion.h"

namespace calque::detail {

#define CALQUE_X(f)                                                                                           \
  struct Qualified_##f {                                                                                      \
    template <ArrayLike X>                                                                                    \
    Qualified_##f(const X&) {                                                                                 \
      static_assert(sizeof(X) == 0, "calque: write " #f "(...), not std::" #f "(...), which is for numbers"); \
    }                                                                                                         \
  };                                                                                                          \
  struct QualifiedSecond_##f {                                                                                \
    template <OperandLike X>                                                                                  \
    QualifiedSecond_##f(const X&) {}                                                                          \
  };
// clang-format off
#define CALQUE_STD_UNARY(X)                                                                                      \
  X(abs) X(fabs) X(sqrt) X(cbrt) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p)                        \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) \
  X(lgamma) X(tgamma) X(fpclassify) X(isnormal) X(floor) X(ceil) X(trunc) X(round) X(rint) X(nearbyint) X(isnan) X(isinf) X(isfinite)      \
  X(signbit) X(real) X(imag) X(conj) X(norm) X(arg)
#define CALQUE_STD_BINARY(X)                                                                              \
  X(pow)                                                                                                  \
  X(atan2) X(hypot) X(fmod) X(remainder) X(copysign) X(nextafter) X(fmin) X(fmax) X(min) X(max) X(isless) \
      X(islessequal) X(isgreater) X(isgreaterequal) X(islessgreater) X(isunordered)
// clang-format on
CALQUE_STD_UNARY(CALQUE_X)
CALQUE_STD_BINARY(CALQUE_X)
#undef CALQUE_X

}  // namespace calque::detail

// Not specializations, which the standard would allow: there are none that could take every tracer. Never defined.
namespace std {
#define CALQUE_X(f) calque::Array<float> f(calque::detail::Qualified_##f);
CALQUE_STD_UNARY(CALQUE_X)
#undef CALQUE_X
#define CALQUE_X(f)                                                                           \
  calque::Array<float> f(calque::detail::Qualified_##f, calque::detail::QualifiedSecond_##f); \
  calque::Array<float> f(calque::detail::QualifiedSecond_##f, calque::detail::Qualified_##f);
CALQUE_STD_BINARY(CALQUE_X)
#undef CALQUE_X
}  // namespace std
#undef CALQUE_STD_UNARY
#undef CALQUE_STD_BINARY
