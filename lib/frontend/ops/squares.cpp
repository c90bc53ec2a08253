// Squares of distances. The derivative of a distance at 0 is 0 by definition, and so would be the second derivative of
// its square, which is smooth: the square is recorded as the sum of squares that the distance is the root of.
#include "frontend/ops/common.h"
#include "trace/builder.h"

namespace calque::detail::ops {
namespace {

/// The sum under the root of `norm`: select(sum == 0, 0, sqrt(select(sum == 0, 1, sum))).
Value sum_of_norm(const Graph& g, const Equation& e) {
  const auto made_by = [&](Value v, PrimitiveId id) {
    const Equation* d = g.definition(v);
    return d != nullptr && d->id() == id ? d : nullptr;
  };
  if (e.id() != prim::id_of<prim::Select>) return {};
  const Equation* root = made_by(e.operand(2), prim::id_of<prim::Sqrt>);
  const Equation* under = root != nullptr ? made_by(root->operand(0), prim::id_of<prim::Select>) : nullptr;
  const Equation* none = made_by(e.operand(0), prim::id_of<prim::Eq>);
  if (under == nullptr || none == nullptr || under->operand(0) != e.operand(0)) return {};
  const Value sum = under->operand(2);
  const auto is_zero = [&](Value v) { return g.is_literal(v) && g.literal(v) == Literal{}; };
  return none->operand(0) == sum && is_zero(none->operand(1)) && is_zero(e.operand(1)) ? sum : Value();
}

}  // namespace

std::optional<Handle> square_of_distance(Handle v, const Site& s) {
  Builder* b = innermost();
  if (b == nullptr || v.trace != b->id() || !is_floating(dtype(v))) return std::nullopt;
  const Graph& g = b->graph();
  const Equation* e = g.definition(Value(v.value));
  const DType own = dtype(v);
  if (e != nullptr && e->id() == prim::id_of<prim::Convert>) e = g.definition(e->operand(0));
  if (e == nullptr) return std::nullopt;
  if (const Value sum = sum_of_norm(g, *e); sum.valid()) return convert(b->handle(sum), own, s);
  if (e->result() != Value(v.value)) return std::nullopt;
  const auto sum_of_squares = [&](Handle x, Handle y) {
    return emit<prim::Add>(s, {emit<prim::Mul>(s, {x, x}), emit<prim::Mul>(s, {y, y})});
  };
  const Handle x = b->handle(e->operand(0));
  if (e->id() == prim::id_of<prim::Hypot>) return sum_of_squares(x, b->handle(e->operand(1)));
  if (e->id() == prim::id_of<prim::Abs> && is_complex(dtype(x))) {
    return sum_of_squares(emit<prim::Real>(s, {x}), emit<prim::Imag>(s, {x}));
  }
  return std::nullopt;
}

}  // namespace calque::detail::ops
