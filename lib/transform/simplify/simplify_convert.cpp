// Each law is written above the line that applies it.
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

/// Conversion to `to` preserves every value of `from`.
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

/// Whether a value of `from` and the equal value of `by` convert to the same value of `to`.
bool ignores_width(DType from, DType by, DType to) {
  // Integers wrap into integers, floats saturate.
  if (is_integer(from) && is_floating(by) && is_integer(to)) return keeps_every_value(from, to);
  return !is_complex(to);
}

/// Conversion to the dtype that x has is x. Of floats it is a rounding: outside strict mode a 16-bit result may be kept
/// in f32 and a product fused into a sum, but not behind it.
bool is_identity(const Rewriter& rewriter, Value x) {
  const Equation* e = rewriter.graph().definition(x);
  return !is_floating(rewriter.dtype(x)) || e == nullptr || e->id() == id_of<Convert>;
}

std::optional<Value> simplify_conversion(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  const DType to = pending.type.dtype;
  // convert[T](x: T) = x if x is an integer, an input, or converted
  if (rewriter.dtype(x) == to && is_identity(rewriter, x)) return x;
  // convert[T](convert[U](x)) = convert[T](x) if U represents every value of x
  if (const Equation* e = rewriter.definition<Convert>(x)) {
    const DType from = rewriter.dtype(e->operand(0)), by = rewriter.dtype(x);
    if (keeps_every_value(from, by) && ignores_width(from, by, to)) {
      return rewriter.emit<Convert>({e->operand(0)}, {{"dtype", to}});
    }
  }
  return std::nullopt;
}

/// bitcast[T](x: T) = x, bitcast[T](bitcast[U](x)) = bitcast[T](x).
std::optional<Value> simplify_bitcast(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  if (rewriter.dtype(x) == pending.type.dtype) return x;
  const Equation* e = rewriter.definition<Bitcast>(x);
  if (e == nullptr) return std::nullopt;
  // The conversion through bits has no derivative, but the identity would have one.
  const auto differentiable = [](DType dtype) { return is_floating(dtype) || is_complex(dtype); };
  const bool loses = differentiable(rewriter.dtype(e->operand(0))) && differentiable(pending.type.dtype);
  if (loses && !rewriter.options().inline_rules) return std::nullopt;
  return rewriter.emit<Bitcast>({e->operand(0)}, {{"dtype", pending.type.dtype}});
}

}  // namespace

std::optional<Value> simplify_convert(Rewriter& rewriter, const PendingEquation& pending) {
  switch (pending.primitive.id) {
    case id_of<Convert>:
      return simplify_conversion(rewriter, pending);
    case id_of<Bitcast>:
      return simplify_bitcast(rewriter, pending);
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
