// Each law stands above the line that applies it.
#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Result = std::optional<Value>;

Value truth(Sweep& sweep, const Draft& d, bool value) { return sweep.literal(Literal::of<bool>(value), d.type); }

Result simplify_bits(Sweep& sweep, const Draft& d) {
  const PrimitiveId id = d.primitive.id;
  // x and x = x, x or x = x, x xor x = 0
  if (d.operands[0] == d.operands[1]) {
    return id == id_of<Xor> ? sweep.literal(Literal{}, d.type) : d.operands[0];
  }
  for (const int i : {0, 1}) {
    const Value x = d.operands[static_cast<size_t>(1 - i)], c = d.operands[static_cast<size_t>(i)];
    // x and 0 = 0, x or 0 = x, x xor 0 = x
    if (is_number(sweep, c, 0)) return id == id_of<And> ? c : x;
    if (!is_all_ones(sweep, c)) continue;
    // x and ~0 = x, x or ~0 = ~0, x xor ~0 = not x
    if (id == id_of<And>) return x;
    if (id == id_of<Or>) return c;
    return sweep.emit<Not>({x});
  }
  return std::nullopt;
}

/// A comparison of a value with itself; a float may be NaN.
Result simplify_comparison(Sweep& sweep, const Draft& d) {
  const Value x = d.operands[0];
  if (x != d.operands[1] || is_inexact(sweep.dtype(x))) return std::nullopt;
  const PrimitiveId id = d.primitive.id;
  // int, bool: x = x, x <= x, x >= x hold; x != x, x < x, x > x do not
  return truth(sweep, d, id == id_of<Eq> || id == id_of<Le> || id == id_of<Ge>);
}

Result simplify_select(Sweep& sweep, const Draft& d) {
  const Value p = d.operands[0], x = d.operands[1], y = d.operands[2];
  // select(p, x, x) = x
  if (x == y) return x;
  // select(true, x, y) = x, select(false, x, y) = y
  if (sweep.graph().is_literal(p)) return is_number(sweep, p, 1) ? x : y;
  // select(not p, x, y) = select(p, y, x)
  if (const Equation* e = sweep.definition<Not>(p)) return sweep.emit<Select>({e->operand(0), y, x});
  if (is_bool(d.type.dtype)) {
    // select(p, true, false) = p, select(p, false, true) = not p
    if (is_number(sweep, x, 1) && is_number(sweep, y, 0)) return p;
    if (is_number(sweep, x, 0) && is_number(sweep, y, 1)) return sweep.emit<Not>({p});
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> simplify_logic(Sweep& sweep, const Draft& d) {
  switch (d.primitive.id) {
    case id_of<And>:
    case id_of<Or>:
    case id_of<Xor>:
      return simplify_bits(sweep, d);
    case id_of<Not>:
      // not not x = x
      if (const Equation* e = sweep.definition<Not>(d.operands[0])) return e->operand(0);
      return std::nullopt;
    case id_of<Shl>:
    case id_of<ShrArithmetic>:
    case id_of<ShrLogical>:
      // x shifted by 0 = x
      if (is_number(sweep, d.operands[1], 0)) return d.operands[0];
      return std::nullopt;
    case id_of<Eq>:
    case id_of<Ne>:
    case id_of<Lt>:
    case id_of<Le>:
    case id_of<Gt>:
    case id_of<Ge>:
      return simplify_comparison(sweep, d);
    case id_of<Select>:
      return simplify_select(sweep, d);
    default:
      return std::nullopt;
  }
}

}  // namespace calque::transform
