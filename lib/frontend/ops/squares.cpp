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

bool is_definition_of(const Graph& g, const Equation* e, PrimitiveId id) {
  return e != nullptr && e->id() == id && is_floating(real_of(g.dtype(e->operand(0))));
}

/// Whether both are sums of the squares of one array along the same axes.
bool are_equal_sums(const Graph& g, Value a, Value b) {
  if (a == b) return true;
  const Equation *x = g.definition(a), *y = g.definition(b);
  if (!is_definition_of(g, x, prim::id_of<prim::ReduceSum>) || !is_definition_of(g, y, prim::id_of<prim::ReduceSum>) ||
      x->attributes() != y->attributes()) {
    return false;
  }
  const Equation *u = g.definition(x->operand(0)), *v = g.definition(y->operand(0));
  return is_definition_of(g, u, prim::id_of<prim::Mul>) && is_definition_of(g, v, prim::id_of<prim::Mul>) &&
         u->operands() == v->operands();
}

/// A distance, as the equation that makes it says.
struct Distance {
  Value value, sum;  ///< of a norm: the sum under its root
  const Equation* equation = nullptr;
};

std::optional<Distance> distance(const Graph& g, Value v) {
  const Equation* e = g.definition(v);
  if (e == nullptr) return std::nullopt;
  const Equation* norm = e->id() == prim::id_of<prim::Convert> ? g.definition(e->operand(0)) : e;
  if (norm != nullptr)
    if (const Value sum = sum_of_norm(g, *norm); sum.valid()) return Distance{v, sum, e};
  const bool is_distance =
      e->id() == prim::id_of<prim::Hypot> || (e->id() == prim::id_of<prim::Abs> && is_complex(g.dtype(e->operand(0))));
  return is_distance ? std::optional(Distance{v, {}, e}) : std::nullopt;
}

bool are_equal(const Graph& g, const Distance& a, const Distance& b) {
  return a.value == b.value ||
         (a.sum.valid() && b.sum.valid() && g.dtype(a.value) == g.dtype(b.value) && are_equal_sums(g, a.sum, b.sum));
}

/// A factor of a product: a distance, or what it is multiplied with or divided by, or its negative.
struct Factor {
  Distance distance;
  Value scale = {};
  bool divides = false, negative = false;
};

std::optional<Factor> factor(const Graph& g, Value v) {
  if (const auto found = distance(g, v)) return Factor{*found};
  const Equation* e = g.definition(v);
  if (e == nullptr) return std::nullopt;
  if (e->id() == prim::id_of<prim::Neg>) {
    const auto found = distance(g, e->operand(0));
    return found ? std::optional(Factor{*found, {}, false, true}) : std::nullopt;
  }
  const bool product = e->id() == prim::id_of<prim::Mul>;
  if (!product && e->id() != prim::id_of<prim::Div>) return std::nullopt;
  if (const auto found = distance(g, e->operand(0))) return Factor{*found, e->operand(1), !product};
  if (!product) return std::nullopt;
  const auto found = distance(g, e->operand(1));
  return found ? std::optional(Factor{*found, e->operand(0)}) : std::nullopt;
}

/// The square of a distance, of its dtype.
Handle square(Builder& b, const Distance& d, const Site& s) {
  if (d.sum.valid()) return convert(b.handle(d.sum), b.graph().dtype(d.value), s);
  const auto sum_of_squares = [&](Handle x, Handle y) {
    return emit<prim::Add>(s, {emit<prim::Mul>(s, {x, x}), emit<prim::Mul>(s, {y, y})});
  };
  const Handle x = b.handle(d.equation->operand(0));
  if (d.equation->id() == prim::id_of<prim::Hypot>) return sum_of_squares(x, b.handle(d.equation->operand(1)));
  return sum_of_squares(emit<prim::Real>(s, {x}), emit<prim::Imag>(s, {x}));
}

}  // namespace

std::optional<Handle> product_of_distances(Handle x, Handle y, const Site& s) {
  Builder* b = innermost();
  if (b == nullptr || x.trace != b->id() || y.trace != b->id() || !is_floating(dtype(x))) return std::nullopt;
  const Graph& g = b->graph();
  const auto u = factor(g, Value(x.value));
  if (!u) return std::nullopt;
  const auto v = factor(g, Value(y.value));
  if (!v || !are_equal(g, u->distance, v->distance)) return std::nullopt;
  Handle product = square(*b, u->distance, s);
  for (const Factor& f : {*u, *v}) {
    if (f.negative) product = emit<prim::Neg>(s, {product});
    if (!f.scale.valid()) continue;
    const Handle scale = b->handle(f.scale);
    product = f.divides ? emit<prim::Div>(s, {product, scale}) : emit<prim::Mul>(s, {product, scale});
  }
  return product;
}

}  // namespace calque::detail::ops
