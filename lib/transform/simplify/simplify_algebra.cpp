// Literals are recognised by value, so that one spelling of a law serves every element type.
#include "transform/simplify/simplify_algebra.h"

#include <cmath>

namespace calque::transform {

using namespace primitives;

bool is_number(const Sweep& sweep, Value v, int k) {
  if (!sweep.graph().is_literal(v)) return false;
  const Literal& literal = sweep.graph().literal(v);
  return visit_dtype(sweep.dtype(v), [&]<class T>() {
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

bool is_negative_zero(const Sweep& sweep, Value v) {
  if (!sweep.graph().is_literal(v) || !is_floating(sweep.dtype(v))) return false;
  return visit_dtype(sweep.dtype(v), [&]<class T>() {
    if constexpr (is_floating(dtype_of<T>)) {
      const auto x = static_cast<double>(sweep.graph().literal(v).template as<T>());
      return x == 0 && std::signbit(x);
    } else {
      return false;
    }
  });
}

bool is_all_ones(const Sweep& sweep, Value v) {
  if (!sweep.graph().is_literal(v)) return false;
  return visit_dtype(sweep.dtype(v), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return sweep.graph().literal(v).template as<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      return sweep.graph().literal(v).template as<T>() == static_cast<T>(-1);
    } else {
      return false;
    }
  });
}

std::optional<Value> simplify(Sweep& sweep, const Draft& draft) {
  // An array without elements is a literal.
  if (draft.type.shape.num_elements() == 0) return sweep.literal(Literal{}, draft.type);
  if (const auto v = simplify_arithmetic(sweep, draft)) return v;
  if (const auto v = simplify_logic(sweep, draft)) return v;
  if (const auto v = simplify_convert(sweep, draft)) return v;
  return simplify_views(sweep, draft);
}

Graph simplify_algebra(const Graph& graph) { return Sweep({.algebra = true}).run(graph); }

}  // namespace calque::transform
