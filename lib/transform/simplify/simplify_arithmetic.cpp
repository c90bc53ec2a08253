// Each law is written above the line that applies it.
#include <cmath>
#include <limits>

#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Result = std::optional<Value>;

/// The float literal 1 / c when c is a power of two whose reciprocal is a normal number, so that multiplying by it
/// rounds the same real number as dividing by c.
std::optional<Literal> exact_reciprocal(const Rewriter& rewriter, Value c) {
  if (!rewriter.graph().is_literal(c)) return std::nullopt;
  return visit_dtype(rewriter.dtype(c), [&]<class T>() -> std::optional<Literal> {
    if constexpr (is_floating(dtype_of<T>)) {
      const auto x = static_cast<double>(rewriter.graph().literal(c).template as<T>());
      int exponent = 0;
      if (x == 0 || !std::isfinite(x) || std::abs(std::frexp(x, &exponent)) != 0.5) return std::nullopt;
      const double reciprocal = 1.0 / x;
      const auto least = static_cast<double>(std::numeric_limits<T>::min());
      const auto greatest = static_cast<double>(std::numeric_limits<T>::max());
      if (std::abs(reciprocal) < least || std::abs(reciprocal) > greatest) return std::nullopt;
      return make_literal(dtype_of<T>, reciprocal);
    } else {
      return std::nullopt;
    }
  });
}

Result simplify_add(const Rewriter& rewriter, const PendingEquation& pending, bool is_float) {
  for (const int i : {0, 1}) {
    const Value x = pending.operands[static_cast<size_t>(1 - i)], c = pending.operands[static_cast<size_t>(i)];
    // x + -0 = x: also for x = +0, where x + +0 = x fails for x = -0.
    if (is_float && is_negative_zero(rewriter, c)) return x;
    // int: x + 0 = x
    if (!is_float && is_number(rewriter, c, 0)) return x;
  }
  return std::nullopt;
}

Result simplify_sub(Rewriter& rewriter, const PendingEquation& pending, bool is_float) {
  const Value x = pending.operands[0], y = pending.operands[1];
  // x - +0 = x
  if (is_number(rewriter, y, 0)) return x;
  // int: x - x = 0 (a float may be NaN or infinite)
  if (!is_float && x == y) return rewriter.literal(Literal{}, pending.type);
  return std::nullopt;
}

Result simplify_mul(Rewriter& rewriter, const PendingEquation& pending, bool is_float) {
  for (const int i : {0, 1}) {
    const Value x = pending.operands[static_cast<size_t>(1 - i)], c = pending.operands[static_cast<size_t>(i)];
    // x * 1 = x
    if (is_number(rewriter, c, 1)) return x;
    // int: x * 0 = 0
    if (!is_float && is_number(rewriter, c, 0)) return c;
  }
  return std::nullopt;
}

Result simplify_strong_mul(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0], y = pending.operands[1];
  if (!rewriter.graph().is_literal(x)) {
    // strong_mul(x, 1) = x
    if (is_number(rewriter, y, 1)) return x;
    return std::nullopt;
  }
  // strong_mul(0, y) = 0, strong_mul(c, y) = c * y for other numbers c
  if (is_number(rewriter, x, 0) || is_negative_zero(rewriter, x)) return x;
  return rewriter.emit<Mul>({x, y});
}

Result simplify_div(Rewriter& rewriter, const PendingEquation& pending, bool is_float) {
  const Value x = pending.operands[0], c = pending.operands[1];
  // x / 1 = x
  if (is_number(rewriter, c, 1)) return x;
  // float: x / 2^k = x * 2^-k
  if (is_float) {
    if (const auto r = exact_reciprocal(rewriter, c))
      return rewriter.emit<Mul>({x, rewriter.literal(*r, pending.type)});
  }
  return std::nullopt;
}

Result simplify_abs(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  // | |x| | = |x|
  if (rewriter.definition<Abs>(x) != nullptr) return x;
  // signed: |-x| = |x|
  if (is_unsigned_integer(rewriter.dtype(x))) return std::nullopt;
  if (const Equation* e = rewriter.definition<Neg>(x)) return rewriter.emit<Abs>({e->operand(0)});
  return std::nullopt;
}

}  // namespace

std::optional<Value> simplify_arithmetic(Rewriter& rewriter, const PendingEquation& pending) {
  if (pending.operands.empty()) return std::nullopt;
  const Value x = pending.operands[0];
  const DType dtype = rewriter.dtype(x);
  if (is_complex(dtype)) return std::nullopt;
  const bool is_float = is_floating(dtype);
  switch (pending.primitive.id) {
    case id_of<Add>:
      return simplify_add(rewriter, pending, is_float);
    case id_of<Sub>:
      return simplify_sub(rewriter, pending, is_float);
    case id_of<Mul>:
      return simplify_mul(rewriter, pending, is_float);
    case id_of<StrongMul>:
      return simplify_strong_mul(rewriter, pending);
    case id_of<Div>:
      return simplify_div(rewriter, pending, is_float);
    case id_of<Abs>:
      return simplify_abs(rewriter, pending);
    case id_of<Neg>:
      // -(-x) = x
      if (const Equation* e = rewriter.definition<Neg>(x)) return e->operand(0);
      return std::nullopt;
    case id_of<Rem>:
      // int: x rem 1 = 0
      if (!is_float && is_number(rewriter, pending.operands[1], 1)) return rewriter.literal(Literal{}, pending.type);
      return std::nullopt;
    case id_of<Max>:
    case id_of<Min>:
      // max(x, x) = x, min(x, x) = x
      if (x == pending.operands[1]) return x;
      return std::nullopt;
    case id_of<Floor>:
    case id_of<Ceil>:
    case id_of<Trunc>:
    case id_of<Round>:
    case id_of<RoundHalfAway>:
      // int: rounding is the identity; rounding a rounded value is, too
      if (!is_float) return x;
      if (rewriter.definition<Floor>(x) || rewriter.definition<Ceil>(x) || rewriter.definition<Trunc>(x) ||
          rewriter.definition<Round>(x) || rewriter.definition<RoundHalfAway>(x)) {
        return x;
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
