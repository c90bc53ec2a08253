#include "transform/autodiff/partition_known.h"

#include <algorithm>

#include "ir/graph/effects.h"
#include "transform/autodiff/dependence.h"
#include "transform/autodiff/equation_copier.h"
#include "transform/autodiff/partial_eval_control_flow.h"
#include "transform/autodiff/residuals.h"
#include "transform/simplify/eliminate_dead_code.h"

namespace calque::transform {

using Mask = std::vector<bool>;

Graph restricted(const Graph& graph, const std::vector<bool>& outputs, std::vector<size_t>& kept) {
  Graph chosen = graph;
  std::vector<Value> wanted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) wanted.push_back(graph.outputs()[i]);
  }
  chosen.set_outputs(std::move(wanted));
  chosen = eliminate_dead_code(chosen);
  std::vector<bool> used(chosen.num_values());
  for (const Equation& e : std::as_const(chosen).equations()) {
    for (const Value v : e.operands()) used[v.id()] = true;
  }
  for (const Value v : chosen.outputs()) used[v.id()] = true;
  Graph out;
  out.set_name(graph.name());
  EquationCopier copier(chosen, out);
  kept.clear();
  for (size_t i = 0; i < chosen.inputs().size(); ++i) {
    const Value v = chosen.inputs()[i];
    if (!used[v.id()]) continue;
    copier.bind(v, out.add_input(chosen.type(v)));
    kept.push_back(i);
  }
  for (const Equation& e : std::as_const(chosen).equations()) copier.copy(e);
  std::vector<Value> results;
  for (const Value v : chosen.outputs()) results.push_back(copier.value(v));
  out.set_outputs(std::move(results));
  return out;
}

namespace {

/// The equations of the unknown part and the known values that they use.
struct Needs {
  std::vector<bool> wanted;                // known values, by id
  std::vector<const Equation*> equations;  // of the unknown part, in order
};

Needs needs_of_unknown(const Graph& g, const Mask& unknown, const Mask& unknown_outputs) {
  Needs needs{std::vector<bool>(g.num_values()), {}};
  std::vector<bool> needed(g.num_values());
  const auto need = [&](Value v) { (unknown[v.id()] ? needed : needs.wanted)[v.id()] = true; };
  for (size_t i = 0; i < unknown_outputs.size(); ++i) {
    if (unknown_outputs[i]) need(g.outputs()[i]);
  }
  std::vector<const Equation*> all;
  for (const Equation& e : g.equations()) all.push_back(&e);
  for (size_t i = all.size(); i-- > 0;) {
    const Equation& e = *all[i];
    const auto is_unknown = [&](Value v) { return unknown[v.id()]; };
    const auto is_needed = [&](Value v) { return needed[v.id()]; };
    if (std::none_of(e.operands().begin(), e.operands().end(), is_unknown)) continue;
    if (std::none_of(e.results().begin(), e.results().end(), is_needed) && !has_effect(e)) continue;
    for (const Value v : e.operands()) need(v);
    needs.equations.push_back(&e);
  }
  std::reverse(needs.equations.begin(), needs.equations.end());
  return needs;
}

}  // namespace

KnownUnknown partition_known(const Graph& graph, const std::vector<bool>& unknown,
                             const std::vector<bool>& unknown_outputs, const std::vector<bool>& expensive) {
  const Graph g = partial_eval_control_flow(graph, unknown);
  const Mask is_unknown = dependent_values_of_partitioned(g, unknown);
  const Needs needs = needs_of_unknown(g, is_unknown, unknown_outputs);
  const std::vector<bool> kept = choose_residuals(g, needs.wanted, expensive);

  KnownUnknown partition;
  partition.known.set_name(graph.name());
  partition.unknown.set_name(graph.name());
  EquationCopier known(g, partition.known), later(g, partition.unknown);
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (!unknown[i]) known.bind(g.inputs()[i], partition.known.add_input(g.type(g.inputs()[i])));
  }
  std::vector<Value> outputs;
  std::vector<Value> computed;
  for (size_t i = 0; i < unknown.size(); ++i) {
    const Value v = g.inputs()[i];
    if (!kept[v.id()]) continue;
    partition.forwarded.push_back(i);
    later.bind(v, partition.unknown.add_input(g.type(v)));
  }
  for (const Equation& e : g.equations()) {
    if (std::any_of(e.operands().begin(), e.operands().end(), [&](Value v) { return is_unknown[v.id()]; })) continue;
    known.copy(e);
    for (const Value v : e.results()) {
      if (kept[v.id()]) computed.push_back(v);
    }
  }
  for (const Value v : computed) later.bind(v, partition.unknown.add_input(g.type(v)));
  partition.computed = computed.size();
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (unknown[i]) later.bind(g.inputs()[i], partition.unknown.add_input(g.type(g.inputs()[i])));
  }
  for (size_t i = 0; i < unknown_outputs.size(); ++i) {
    if (!unknown_outputs[i]) outputs.push_back(known.value(g.outputs()[i]));
  }
  for (const Value v : computed) outputs.push_back(known.value(v));
  partition.known.set_outputs(std::move(outputs));

  // Needed known values that are not residuals are recomputed, in order.
  std::vector<bool> recomputed(g.num_values());
  std::vector<Value> work;
  for (uint32_t id = 0; id < g.num_values(); ++id) {
    if (needs.wanted[id]) work.push_back(Value(id));
  }
  while (!work.empty()) {
    const Value v = work.back();
    work.pop_back();
    const Equation* e = g.definition(v);
    if (kept[v.id()] || recomputed[v.id()] || e == nullptr) continue;
    recomputed[v.id()] = true;
    for (const Value operand : e->operands()) work.push_back(operand);
  }
  for (const Equation& e : g.equations()) {
    if (e.results().size() == 1 && recomputed[e.result().id()]) later.copy(e);
  }
  for (const Equation* e : needs.equations) later.copy(*e);
  std::vector<Value> results;
  for (size_t i = 0; i < unknown_outputs.size(); ++i) {
    if (unknown_outputs[i]) results.push_back(later.value(g.outputs()[i]));
  }
  partition.unknown.set_outputs(std::move(results));
  return partition;
}

}  // namespace calque::transform
