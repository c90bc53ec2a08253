// Maps primitives to the functions of lib/math, for every backend.
#pragma once

#include <optional>

#include "math/forms.h"
#include "math/math.h"
#include "primitives/registry.h"

namespace calque::math {

/// The value of the function that implements a primitive, or nullopt. `y` is used by functions of two operands only.
template <FloatLane F>
std::optional<F> function_of(PrimitiveId id, const F& x, const F& y) {
  namespace p = primitives;
  switch (id) {
    case p::id_of<p::Rsqrt>:
      return rsqrt(x);
    case p::id_of<p::Cbrt>:
      return cbrt(x);
    case p::id_of<p::Exp>:
      return exp(x);
    case p::id_of<p::Exp2>:
      return exp2(x);
    case p::id_of<p::Expm1>:
      return expm1(x);
    case p::id_of<p::Log>:
      return log(x);
    case p::id_of<p::Log2>:
      return log2(x);
    case p::id_of<p::Log10>:
      return log10(x);
    case p::id_of<p::Log1p>:
      return log1p(x);
    case p::id_of<p::Sin>:
      return sin(x);
    case p::id_of<p::Cos>:
      return cos(x);
    case p::id_of<p::Tan>:
      return tan(x);
    case p::id_of<p::Sinc>:
      return sinc(x);
    case p::id_of<p::Asin>:
      return asin(x);
    case p::id_of<p::Acos>:
      return acos(x);
    case p::id_of<p::Atan>:
      return atan(x);
    case p::id_of<p::Sinh>:
      return sinh(x);
    case p::id_of<p::Cosh>:
      return cosh(x);
    case p::id_of<p::Tanh>:
      return tanh(x);
    case p::id_of<p::Asinh>:
      return asinh(x);
    case p::id_of<p::Acosh>:
      return acosh(x);
    case p::id_of<p::Atanh>:
      return atanh(x);
    case p::id_of<p::Logistic>:
      return sigmoid(x);
    case p::id_of<p::Erf>:
      return erf(x);
    case p::id_of<p::Erfc>:
      return erfc(x);
    case p::id_of<p::ErfInv>:
      return erf_inv(x);
    case p::id_of<p::Lgamma>:
      return lgamma(x);
    case p::id_of<p::Tgamma>:
      return tgamma(x);
    case p::id_of<p::Digamma>:
      return digamma(x);
    case p::id_of<p::Trigamma>:
      return trigamma(x);
    case p::id_of<p::Erfcx>:
      return erfcx(x);
    case p::id_of<p::Ndtr>:
      return ndtr(x);
    case p::id_of<p::LogNdtr>:
      return log_ndtr(x);
    case p::id_of<p::Ndtri>:
      return ndtri(x);
    case p::id_of<p::I0>:
      return i0(x);
    case p::id_of<p::I0e>:
      return i0e(x);
    case p::id_of<p::I1>:
      return i1(x);
    case p::id_of<p::I1e>:
      return i1e(x);
    case p::id_of<p::Pow>:
      return pow(x, y);
    case p::id_of<p::Atan2>:
      return atan2(x, y);
    case p::id_of<p::Hypot>:
      return hypot(x, y);
    case p::id_of<p::Zeta>:
      return zeta(x, y);
    case p::id_of<p::Nextafter>:
      return nextafter(x, y);
    case p::id_of<p::Rem>:
      return fmod(x, y);
    case p::id_of<p::Remainder>:
      return remainder(x, y);
    default:
      return std::nullopt;
  }
}

/// The fast_math form of the function that implements a primitive, or nullopt where there is no separate form.
template <FloatLane F>
  requires(kApproximate<F>)
std::optional<F> fast_function_of(PrimitiveId id, const F& x) {
  namespace p = primitives;
  switch (id) {
    case p::id_of<p::Exp>:
      return exp(x);
    case p::id_of<p::Sin>:
      return sin(x);
    case p::id_of<p::Cos>:
      return cos(x);
    case p::id_of<p::Tan>:
      return tan(x);
    case p::id_of<p::Tanh>:
      return tanh(x);
    case p::id_of<p::Logistic>:
      return sigmoid(x);
    case p::id_of<p::Erf>:
      return erf(x);
    case p::id_of<p::Rsqrt>:
      return rsqrt(x);
    default:
      break;
  }
  if constexpr (kFastLog<F>) {
    switch (id) {
      case p::id_of<p::Log>:
        return log(x);
      case p::id_of<p::Log2>:
        return log2(x);
      case p::id_of<p::Log10>:
        return log10(x);
      default:
        break;
    }
  }
  return std::nullopt;
}

/// The function that implements a primitive, in its fast_math form where requested and available.
template <class T, class B>
std::optional<Lane<T, B>> function_of(PrimitiveId id, bool fast_math, const Lane<T, B>& x, const Lane<T, B>& y) {
  if (fast_math) {
    const auto fast = fast_function_of(id, Lane<T, Fast<B>>::from_raw(x.raw()));
    if (fast) return Lane<T, B>::from_raw(fast->raw());
  }
  return function_of(id, x, y);
}

}  // namespace calque::math
