#pragma once
// The table from primitives to functions of lib/math, for one precision.
#include "math/expand_rules.h"
#include "math/exponential.h"
#include "math/hyperbolic.h"
#include "math/inverse_trigonometric.h"
#include "math/logarithm.h"
#include "math/power.h"
#include "math/remainder.h"
#include "math/trigonometric.h"

#if __has_include("math/error_function.h")
#include "math/error_function.h"
#define CALQUE_HAS_ERF
#endif
#if __has_include("math/gamma.h")
#include "math/gamma.h"
#define CALQUE_HAS_GAMMA
#endif

namespace calque::math {

template <class T>
Value expand_float(PrimitiveId id, const ValueList& operands) {
  using F = Lane<T, GraphBackend>;
  namespace p = primitives;
  const F x = F::from_raw(operands[0]);
  const auto y = [&] { return F::from_raw(operands[1]); };
  switch (id) {
    case p::id_of<p::Rsqrt>:
      return rsqrt(x).raw();
    case p::id_of<p::Cbrt>:
      return cbrt(x).raw();
    case p::id_of<p::Exp>:
      return exp(x).raw();
    case p::id_of<p::Exp2>:
      return exp2(x).raw();
    case p::id_of<p::Expm1>:
      return expm1(x).raw();
    case p::id_of<p::Log>:
      return log(x).raw();
    case p::id_of<p::Log2>:
      return log2(x).raw();
    case p::id_of<p::Log10>:
      return log10(x).raw();
    case p::id_of<p::Log1p>:
      return log1p(x).raw();
    case p::id_of<p::Sin>:
      return sin(x).raw();
    case p::id_of<p::Cos>:
      return cos(x).raw();
    case p::id_of<p::Tan>:
      return tan(x).raw();
    case p::id_of<p::Asin>:
      return asin(x).raw();
    case p::id_of<p::Acos>:
      return acos(x).raw();
    case p::id_of<p::Atan>:
      return atan(x).raw();
    case p::id_of<p::Sinh>:
      return sinh(x).raw();
    case p::id_of<p::Cosh>:
      return cosh(x).raw();
    case p::id_of<p::Tanh>:
      return tanh(x).raw();
    case p::id_of<p::Asinh>:
      return asinh(x).raw();
    case p::id_of<p::Acosh>:
      return acosh(x).raw();
    case p::id_of<p::Atanh>:
      return atanh(x).raw();
    case p::id_of<p::Logistic>:
      return sigmoid(x).raw();
#ifdef CALQUE_HAS_ERF
    case p::id_of<p::Erf>:
      return erf(x).raw();
    case p::id_of<p::Erfc>:
      return erfc(x).raw();
    case p::id_of<p::ErfInv>:
      return erf_inv(x).raw();
#endif
#ifdef CALQUE_HAS_GAMMA
    case p::id_of<p::Lgamma>:
      return lgamma(x).raw();
    case p::id_of<p::Tgamma>:
      return tgamma(x).raw();
    case p::id_of<p::Digamma>:
      return digamma(x).raw();
#endif
    case p::id_of<p::Pow>:
      return pow(x, y()).raw();
    case p::id_of<p::Atan2>:
      return atan2(x, y()).raw();
    case p::id_of<p::Hypot>:
      return hypot(x, y()).raw();
    case p::id_of<p::Nextafter>:
      return nextafter(x, y()).raw();
    case p::id_of<p::Rem>:
      return fmod(x, y()).raw();
    case p::id_of<p::Remainder>:
      return remainder(x, y()).raw();
    default:
      return {};
  }
}

}  // namespace calque::math
