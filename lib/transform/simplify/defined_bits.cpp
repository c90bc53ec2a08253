#include "transform/simplify/defined_bits.h"

#include "math/evaluate.h"
#include "primitives/registry.h"

namespace calque::transform {

namespace {

using namespace primitives;

/// What code generation may contract to one rounding.
struct Contractions {
  bool product = false;
  bool sum = false;

  void add(const Equation& e) {
    const AttributeValue* const exact = e.attributes().find("exact");
    if (exact && std::get<bool>(*exact)) return;
    product |= e.id() == id_of<Mul> || e.id() == id_of<StrongMul>;
    sum |= e.id() == id_of<Add> || e.id() == id_of<Sub>;
  }
};

/// Code generation rounds chains of 16-bit floats once, and computes complex numbers by their parts.
bool is_rounded_each_time(DType d) { return !is_complex(d) && d != DType::f16 && d != DType::bf16; }

}  // namespace

bool has_defined_bits(PrimitiveId id, DType dtype, const std::optional<math::MathForms>& forms) {
  if (forms && math::can_evaluate(id, dtype, *forms)) return true;
  const Rules& rule = rules(id);
  if (rule.kind(dtype) == LowerKind::function) return false;
  return rule.defined_bits == DefinedBits::always ||
         (rule.defined_bits == DefinedBits::exact_dtypes && !is_inexact(dtype));
}

bool has_defined_bits(const Graph& graph, const math::MathForms& forms) {
  Contractions contractions;
  for (const Equation& e : graph.equations()) {
    if (e.definition().has_effect || !e.subgraphs().empty() || e.results().empty()) return false;
    const DType dtype = graph.dtype(e.operands().empty() ? e.result() : e.operand(0));
    if (!has_defined_bits(e.id(), dtype, forms)) return false;
    for (const Value v : e.results())
      if (!is_rounded_each_time(graph.dtype(v))) return false;
    for (const Value v : e.operands())
      if (!is_rounded_each_time(graph.dtype(v))) return false;
    if (is_inexact(dtype)) contractions.add(e);
  }
  return !(contractions.product && contractions.sum);
}

}  // namespace calque::transform
