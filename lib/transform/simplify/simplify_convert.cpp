// Each law stands above the line that applies it.
#include <limits>

#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;

/// Bits of an integer's magnitude, and of a float's significand.
int digits(DType d) {
  return visit_dtype(d, []<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return 1;
    } else if constexpr (is_complex(dtype_of<T>)) {
      return 0;
    } else {
      return std::numeric_limits<T>::digits;
    }
  });
}

/// Every value of `from` is a value of `to`, to which it converts.
bool keeps_every_value(DType from, DType to) {
  if (from == to) return true;
  if (is_complex(from) || is_complex(to) || is_bool(to)) return false;
  if (is_bool(from)) return true;
  if (is_integer(from) && is_integer(to)) {
    return digits(from) <= digits(to) && !(is_signed_integer(from) && is_unsigned_integer(to));
  }
  if (is_integer(from)) return digits(from) <= digits(to);
  // f16 and bf16 have values that the other lacks; all other pairs are in order of width.
  return is_floating(to) && size_of(from) < size_of(to);
}

/// Whether conversion to `to` gives the same for a value of `from` and for the equal value of `by`.
bool ignores_width(DType from, DType by, DType to) {
  // Integers wrap into integers, floats saturate.
  if (is_integer(from) && is_floating(by) && is_integer(to)) return keeps_every_value(from, to);
  return !is_complex(to);
}

std::optional<Value> simplify_conversion(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  const DType to = d.type.dtype;
  // convert[T](x: T) = x
  if (sweep.dtype(x) == to) return x;
  // convert[T](convert[U](x)) = convert[T](x) where U has every value of x
  if (const Equation* e = sweep.definition<Convert>(x)) {
    const DType from = sweep.dtype(e->operand(0)), by = sweep.dtype(x);
    if (keeps_every_value(from, by) && ignores_width(from, by, to)) {
      return sweep.emit<Convert>({e->operand(0)}, {{"dtype", to}});
    }
  }
  return std::nullopt;
}

/// bitcast[T](x: T) = x, bitcast[T](bitcast[U](x)) = bitcast[T](x).
std::optional<Value> simplify_bitcast(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  if (sweep.dtype(x) == d.type.dtype) return x;
  const Equation* e = sweep.definition<Bitcast>(x);
  if (e == nullptr) return std::nullopt;
  // The way through bits has no derivative, which the identity would have.
  const auto differentiable = [](DType dtype) { return is_floating(dtype) || is_complex(dtype); };
  const bool loses = differentiable(sweep.dtype(e->operand(0))) && differentiable(d.type.dtype);
  if (loses && !sweep.options().inline_rules) return std::nullopt;
  return sweep.emit<Bitcast>({e->operand(0)}, {{"dtype", d.type.dtype}});
}

}  // namespace

std::optional<Value> simplify_convert(Sweep& sweep, const Draft& d) {
  switch (d.primitive.id) {
    case id_of<Convert>:
      return simplify_conversion(sweep, d);
    case id_of<Bitcast>:
      return simplify_bitcast(sweep, d);
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
