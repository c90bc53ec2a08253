// Each law is written above the line that applies it.
#include <algorithm>

#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Result = std::optional<Value>;

Value truth(Rewriter& rewriter, const PendingEquation& pending, bool value) {
  return rewriter.literal(Literal::of<bool>(value), pending.type);
}

Result simplify_bits(Rewriter& rewriter, const PendingEquation& pending) {
  const PrimitiveId id = pending.primitive.id;
  // x and x = x, x or x = x, x xor x = 0
  if (pending.operands[0] == pending.operands[1]) {
    return id == id_of<Xor> ? rewriter.literal(Literal{}, pending.type) : pending.operands[0];
  }
  for (const int i : {0, 1}) {
    const Value x = pending.operands[static_cast<size_t>(1 - i)], c = pending.operands[static_cast<size_t>(i)];
    // x and 0 = 0, x or 0 = x, x xor 0 = x
    if (is_number(rewriter, c, 0)) return id == id_of<And> ? c : x;
    if (!is_all_ones(rewriter, c)) continue;
    // x and ~0 = x, x or ~0 = ~0, x xor ~0 = not x
    if (id == id_of<And>) return x;
    if (id == id_of<Or>) return c;
    return rewriter.emit<Not>({x});
  }
  return std::nullopt;
}

/// A comparison of a value with itself; a float may be NaN.
Result simplify_comparison(Rewriter& rewriter, const PendingEquation& pending) {
  const Value x = pending.operands[0];
  if (x != pending.operands[1] || is_inexact(rewriter.dtype(x))) return std::nullopt;
  const PrimitiveId id = pending.primitive.id;
  // int, bool: x = x, x <= x, x >= x are true; x != x, x < x, x > x are false
  return truth(rewriter, pending, id == id_of<Eq> || id == id_of<Le> || id == id_of<Ge>);
}

Result simplify_select(Rewriter& rewriter, const PendingEquation& pending) {
  const Value p = pending.operands[0], x = pending.operands[1], y = pending.operands[2];
  // select(p, x, x) = x
  if (x == y) return x;
  // select(true, x, y) = x, select(false, x, y) = y
  if (rewriter.graph().is_literal(p)) return is_number(rewriter, p, 1) ? x : y;
  // select(not p, x, y) = select(p, y, x)
  if (const Equation* e = rewriter.definition<Not>(p)) return rewriter.emit<Select>({e->operand(0), y, x});
  if (is_bool(pending.type.dtype)) {
    // select(p, true, false) = p, select(p, false, true) = not p
    if (is_number(rewriter, x, 1) && is_number(rewriter, y, 0)) return p;
    if (is_number(rewriter, x, 0) && is_number(rewriter, y, 1)) return rewriter.emit<Not>({p});
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> simplify_logic(Rewriter& rewriter, const PendingEquation& pending) {
  switch (pending.primitive.id) {
    case id_of<And>:
    case id_of<Or>:
    case id_of<Xor>:
      return simplify_bits(rewriter, pending);
    case id_of<Not>:
      // not not x = x
      if (const Equation* e = rewriter.definition<Not>(pending.operands[0])) return e->operand(0);
      return std::nullopt;
    case id_of<Shl>:
    case id_of<ShrArithmetic>:
    case id_of<ShrLogical>:
      // x shifted by 0 = x
      if (is_number(rewriter, pending.operands[1], 0)) return pending.operands[0];
      return std::nullopt;
    case id_of<Eq>:
    case id_of<Ne>:
    case id_of<Lt>:
    case id_of<Le>:
    case id_of<Gt>:
    case id_of<Ge>:
      return simplify_comparison(rewriter, pending);
    case id_of<Select>:
      return simplify_select(rewriter, pending);
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
