#pragma once
// The table from primitives to the fast forms of lib/math, for one precision.
#include "math/error_function.h"
#include "math/expand_rules.h"
#include "math/exponential.h"
#include "math/hyperbolic.h"
#include "math/logarithm.h"
#include "math/power.h"
#include "math/trigonometric.h"

namespace calque::math {

template <class T>
Value expand_fast(PrimitiveId id, const ValueList& operands) {
  using F = Lane<T, FastGraphBackend>;
  namespace p = primitives;
  const F x = F::from_raw(operands[0]);
  switch (id) {
    case p::id_of<p::Exp>:
      return exp(x).raw();
    case p::id_of<p::Sin>:
      return sin(x).raw();
    case p::id_of<p::Cos>:
      return cos(x).raw();
    case p::id_of<p::Tan>:
      return tan(x).raw();
    case p::id_of<p::Tanh>:
      return tanh(x).raw();
    case p::id_of<p::Logistic>:
      return sigmoid(x).raw();
    case p::id_of<p::Erf>:
      return erf(x).raw();
    case p::id_of<p::Rsqrt>:
      return rsqrt(x).raw();
    default:
      break;
  }
  if constexpr (kFastLog<F>) {
    switch (id) {
      case p::id_of<p::Log>:
        return log(x).raw();
      case p::id_of<p::Log2>:
        return log2(x).raw();
      case p::id_of<p::Log10>:
        return log10(x).raw();
      default:
        break;
    }
  }
  return {};
}

}  // namespace calque::math
