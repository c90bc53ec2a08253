// Literals are matched by value, so that one form of a law serves every element type.
#include "transform/simplify/simplify_algebra.h"

#include <cmath>

namespace calque::transform {

using namespace primitives;

bool is_number(const Rewriter& rewriter, Value v, int k) {
  if (!rewriter.graph().is_literal(v)) return false;
  const Literal& literal = rewriter.graph().literal(v);
  return visit_dtype(rewriter.dtype(v), [&]<class T>() {
    if constexpr (is_complex(dtype_of<T>)) {
      return false;
    } else if constexpr (is_floating(dtype_of<T>)) {
      const auto x = static_cast<double>(literal.as<T>());
      return x == k && !(x == 0 && std::signbit(x));
    } else {
      return literal.as<T>() == static_cast<T>(k);
    }
  });
}

bool is_negative_zero(const Rewriter& rewriter, Value v) {
  if (!rewriter.graph().is_literal(v) || !is_floating(rewriter.dtype(v))) return false;
  return visit_dtype(rewriter.dtype(v), [&]<class T>() {
    if constexpr (is_floating(dtype_of<T>)) {
      const auto x = static_cast<double>(rewriter.graph().literal(v).template as<T>());
      return x == 0 && std::signbit(x);
    } else {
      return false;
    }
  });
}

bool is_all_ones(const Rewriter& rewriter, Value v) {
  if (!rewriter.graph().is_literal(v)) return false;
  return visit_dtype(rewriter.dtype(v), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return rewriter.graph().literal(v).template as<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      return rewriter.graph().literal(v).template as<T>() == static_cast<T>(-1);
    } else {
      return false;
    }
  });
}

std::optional<Value> simplify(Rewriter& rewriter, const PendingEquation& pending) {
  // An empty array is a literal.
  if (pending.type.shape.num_elements() == 0) return rewriter.literal(Literal{}, pending.type);
  if (const auto v = simplify_arithmetic(rewriter, pending)) return v;
  if (const auto v = simplify_logic(rewriter, pending)) return v;
  if (const auto v = simplify_convert(rewriter, pending)) return v;
  if (const auto v = simplify_parts(rewriter, pending)) return v;
  return simplify_views(rewriter, pending);
}

Graph simplify_algebra(const Graph& graph) { return Rewriter({.algebra = true}).run(graph); }

}  // namespace calque::transform
