#include <cmath>

#include "math/routines.h"

namespace {

template <class T>
std::vector<Routine<T>> list() {
#define CALQUE_UNARY(name, expression)                                        \
  {                                                                           \
    #name, "libmvec", [](const T* x, const T*, T* __restrict out, size_t n) { \
      for (size_t i = 0; i < n; ++i) {                                        \
        const T v = x[i];                                                     \
        out[i] = expression;                                                  \
      }                                                                       \
    }                                                                         \
  }
#define CALQUE_BINARY(name)                                                     \
  {                                                                             \
    #name, "libmvec", [](const T* x, const T* y, T* __restrict out, size_t n) { \
      for (size_t i = 0; i < n; ++i) out[i] = std::name(x[i], y[i]);            \
    }                                                                           \
  }
#define CALQUE_STD(name) CALQUE_UNARY(name, std::name(v))
  return {CALQUE_STD(exp),
          CALQUE_STD(exp2),
          CALQUE_STD(expm1),
          CALQUE_STD(log),
          CALQUE_STD(log2),
          CALQUE_STD(log10),
          CALQUE_STD(log1p),
          CALQUE_STD(sin),
          CALQUE_STD(cos),
          CALQUE_STD(tan),
          CALQUE_STD(asin),
          CALQUE_STD(acos),
          CALQUE_STD(atan),
          CALQUE_STD(sinh),
          CALQUE_STD(cosh),
          CALQUE_STD(tanh),
          CALQUE_STD(asinh),
          CALQUE_STD(acosh),
          CALQUE_STD(atanh),
          CALQUE_STD(erf),
          CALQUE_STD(erfc),
          CALQUE_STD(sqrt),
          CALQUE_STD(cbrt),
          CALQUE_STD(lgamma),
          CALQUE_STD(tgamma),
          CALQUE_UNARY(rsqrt, 1 / std::sqrt(v)),
          CALQUE_UNARY(sigmoid, 1 / (1 + std::exp(-v))),
          CALQUE_BINARY(pow),
          CALQUE_BINARY(atan2),
          CALQUE_BINARY(hypot)};
#undef CALQUE_UNARY
#undef CALQUE_BINARY
#undef CALQUE_STD
}

}  // namespace

Routines fast_math_routines() { return {list<float>(), list<double>()}; }
