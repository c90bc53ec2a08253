#include "plan/materialized_values.h"

#include <algorithm>

#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// The concatenation of several operands that v is a reshape of. Invalid when v is no such reshape.
Value reshaped_concatenation(const Graph& g, Value v) {
  constexpr size_t kFewOperands = 4;
  const Equation* e = g.definition(v);
  if (e->id() != id_of<Reshape>) return {};
  while (e->id() == id_of<Reshape> && g.kind(e->operand(0)) == ValueKind::result) {
    v = e->operand(0);
    e = g.definition(v);
  }
  return e->id() == id_of<Concatenate> && e->operands().size() >= kFewOperands ? v : Value();
}

}  // namespace

MaterializedValues::MaterializedValues(const Graph& graph)
    : graph_(&graph),
      materialized_(graph.num_values(), false),
      required_(graph.num_values(), false),
      shares_(graph.num_values()),
      reuses_(graph.num_values()) {
  for (uint32_t i = 0; i < graph.num_values(); ++i) {
    const ValueKind kind = graph.kind(Value(i));
    materialized_[i] = kind == ValueKind::input || kind == ValueKind::constant;
  }
}

size_t MaterializedValues::num_materialized() const {
  return static_cast<size_t>(std::count(materialized_.begin(), materialized_.end(), true));
}

bool MaterializedValues::is_plain_load(Value v) const {
  constexpr int kMostViews = 8;
  for (int depth = 0; depth < kMostViews; ++depth) {
    if (!is_inlined(v)) return true;
    const Equation& e = *graph_->definition(v);
    if (!always_reads(e) && e.id() != id_of<Convert>) return e.operands().empty();
    v = e.operand(0);
  }
  return false;
}

void MaterializedValues::materialize(Value v) {
  materialized_[v.id()] = true;
  const Value concatenation = reshaped_concatenation(*graph_, v);
  if (!concatenation.valid()) return;
  materialized_[concatenation.id()] = true;
  shares_[v.id()] = concatenation;
}

void MaterializedValues::require(Value v) {
  if (graph_->kind(v) != ValueKind::result) return;
  materialize(v);
  required_[v.id()] = true;
}

}  // namespace calque::plan
