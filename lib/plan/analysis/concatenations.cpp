#include "plan/analysis/concatenations.h"

#include <cstddef>

#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

Destination destination_of(const GraphAnalysis& a, const MaterializedValues& values, Value v, int depth) {
  constexpr int kDeepest = 16;
  if (values.is_materialized(v)) return Destination::dense;
  if (!a.has_one_use(v) || depth == kDeepest) return Destination::none;
  const Equation& user = *a.users(v)[0];
  if (user.id() != id_of<Reshape> && user.id() != id_of<Concatenate>) return Destination::none;
  const Destination whole = destination_of(a, values, user.result(), depth + 1);
  if (whole == Destination::none || only_changes_size_1_dims(a.graph, user)) return whole;
  if (user.id() == id_of<Reshape>) return whole == Destination::dense ? whole : Destination::none;
  const Shape& shape = a.graph.shape(user.result());
  for (int64_t d = 0; d < user.attributes().integer("axis"); ++d)
    if (shape[static_cast<size_t>(d)] != 1) return Destination::strided;
  return whole;
}

}  // namespace

Destination destination(const GraphAnalysis& a, const MaterializedValues& values, Value v) {
  return destination_of(a, values, v, 0);
}

bool is_concatenation_operand(const GraphAnalysis& a, const MaterializedValues& values, Value v) {
  if (a.users(v).size() != 1 || a.users(v)[0]->id() != id_of<Concatenate>) return false;
  return destination(a, values, a.users(v)[0]->result()) != Destination::none;
}

bool has_many_operands(const Equation& concatenation) {
  constexpr size_t kFewOperands = 64;
  return concatenation.operands().size() > kFewOperands;
}

}  // namespace calque::plan
