#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about intentionally undefined operands in its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include "math/routines.h"

namespace {

template <class T>
std::vector<Routine<T>> list() {
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  using From = Eigen::Map<const Array>;
  using To = Eigen::Map<Array>;
#define CALQUE_UNARY(name, method)                                                                                   \
  {                                                                                                                  \
    #name, "eigen",                                                                                                  \
        [](const T* x, const T*, T* out, size_t n) { To(out, Eigen::Index(n)) = From(x, Eigen::Index(n)).method(); } \
  }
  return {CALQUE_UNARY(exp, exp),
          CALQUE_UNARY(expm1, expm1),
          CALQUE_UNARY(log, log),
          CALQUE_UNARY(log2, log2),
          CALQUE_UNARY(log1p, log1p),
          CALQUE_UNARY(sin, sin),
          CALQUE_UNARY(cos, cos),
          CALQUE_UNARY(tan, tan),
          CALQUE_UNARY(asin, asin),
          CALQUE_UNARY(acos, acos),
          CALQUE_UNARY(atan, atan),
          CALQUE_UNARY(sinh, sinh),
          CALQUE_UNARY(cosh, cosh),
          CALQUE_UNARY(tanh, tanh),
          CALQUE_UNARY(erf, erf),
          CALQUE_UNARY(erfc, erfc),
          CALQUE_UNARY(sqrt, sqrt),
          CALQUE_UNARY(rsqrt, rsqrt),
          CALQUE_UNARY(lgamma, lgamma),
          CALQUE_UNARY(sigmoid, logistic),
          {"pow", "eigen", [](const T* x, const T* y, T* out, size_t n) {
             To(out, Eigen::Index(n)) = From(x, Eigen::Index(n)).pow(From(y, Eigen::Index(n)));
           }}};
#undef CALQUE_UNARY
}

}  // namespace

Routines eigen_routines() { return {list<float>(), list<double>()}; }
