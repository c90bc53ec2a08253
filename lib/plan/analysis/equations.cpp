#include "plan/analysis/equations.h"

#include <algorithm>
#include <optional>

#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

Extents without_size_1_dims(const Shape& shape) {
  Extents e;
  for (int64_t d : shape)
    if (d != 1) e.push_back(d);
  return e;
}

Shape reduced_extents(const Equation& e, const Shape& operand) {
  std::vector<int64_t> extents;
  if (const AttributeValue* axes = e.attributes().find("axes")) {
    for (int64_t a : std::get<std::vector<int64_t>>(*axes)) extents.push_back(operand[static_cast<size_t>(a)]);
  } else {
    extents.push_back(operand[static_cast<size_t>(e.attributes().integer("axis"))]);
  }
  return Shape(extents);
}

bool always_reads(const Equation& e) { return rules(e.id()).always_reads; }

bool only_changes_size_1_dims(const Graph& graph, const Equation& e) {
  return e.id() == id_of<Reshape> &&
         without_size_1_dims(graph.shape(e.operand(0))) == without_size_1_dims(graph.shape(e.result()));
}

bool is_short_reduction(const Graph& graph, const Equation& e) {
  constexpr int64_t kFewElements = 4;
  const int64_t elements = graph.shape(e.result()).num_elements();
  return elements > kSmallSpace && e.id() != id_of<Argmax> && e.id() != id_of<Argmin> &&
         graph.shape(e.operand(0)).num_elements() <= kFewElements * elements;
}

math::FunctionCost cost_of(const Graph& graph, const Equation& e) {
  return e.operands().empty() ? math::FunctionCost{} : math::cost_of(e.id(), graph.dtype(e.operand(0)));
}

bool has_loops_or_calls(const Graph& graph, const Equation& e) {
  const math::FunctionCost cost = cost_of(graph, e);
  return e.id() == id_of<While> || cost.cold != 0 || cost.loops;
}

uint32_t operations(const Graph& graph, const Equation& e) {
  auto n = static_cast<size_t>(cost_of(graph, e).operations);
  for (const Graph& body : e.subgraphs()) {
    for (const Equation& inner : body.equations()) n += operations(body, inner);
  }
  return static_cast<uint32_t>(std::min<size_t>(n, 1'000'000));
}

bool takes_extremum(const Equation& e) {
  const std::optional<Combiner> combiner = rules(e.id()).combiner;
  return combiner && is_extremum(*combiner);
}

bool compares(const Equation& e) {
  switch (e.id()) {
    case id_of<Eq>:
    case id_of<Ne>:
    case id_of<Lt>:
    case id_of<Le>:
    case id_of<Gt>:
    case id_of<Ge>:
      return true;
    default:
      return false;
  }
}

}  // namespace calque::plan
