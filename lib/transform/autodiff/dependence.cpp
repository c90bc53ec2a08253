#include "transform/autodiff/dependence.h"

#include <algorithm>

#include "primitives/control/loop_parts.h"
#include "primitives/registry.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Mask = std::vector<bool>;

/// Dependent outputs of a loop's body at the fixpoint of its carry, which starts as given.
Mask loop_outputs(const Graph& body, const Mask& consts, Mask carry, const Mask& xs, Dependence kind) {
  while (true) {
    Mask inputs = consts;
    append(inputs, carry);
    append(inputs, xs);
    Mask outputs = dependent_outputs(body, inputs, kind);
    bool grew = false;
    for (size_t i = 0; i < carry.size(); ++i) {
      if (outputs[i] && !carry[i]) carry[i] = grew = true;
      outputs[i] = carry[i];
    }
    if (!grew) return outputs;
  }
}

Mask while_results(const Equation& e, const Mask& operands, Dependence kind) {
  const WhileParts parts(e);
  const Mask consts = slice_of(operands, parts.cond_consts, parts.body_consts);
  Mask carry = slice_of(operands, parts.first_carry(), parts.carry);
  carry = loop_outputs(e.subgraphs()[1], consts, std::move(carry), {}, kind);
  if (kind == Dependence::tangents) return carry;
  Mask inputs = slice_of(operands, 0, parts.cond_consts);
  append(inputs, carry);
  // All results depend on the number of iterations.
  if (dependent_outputs(e.subgraphs()[0], inputs, kind)[0]) carry.assign(carry.size(), true);
  return carry;
}

/// Which results depend on the marked operands, of which there is at least one.
Mask dependent_results(const Equation& e, const Mask& operands, Dependence kind) {
  const size_t results = e.results().size();
  switch (e.id()) {
    case id_of<Cond>:
    case id_of<Switch>: {
      if (operands[0] && kind == Dependence::values) return Mask(results, true);
      const Mask inputs = slice_of(operands, 1, operands.size() - 1);
      Mask all(results);
      for (const Graph& g : e.subgraphs()) merge_into(all, dependent_outputs(g, inputs, kind));
      return all;
    }
    case id_of<Scan>: {
      const ScanParts parts(e);
      return loop_outputs(e.subgraphs()[0], slice_of(operands, 0, parts.consts),
                          slice_of(operands, parts.consts, parts.carry), slice_of(operands, parts.first_x(), parts.xs),
                          kind);
    }
    case id_of<While>:
      return while_results(e, operands, kind);
    case id_of<Call>:
    case id_of<Checkpoint>:
      return dependent_outputs(e.subgraphs()[0], operands, kind);
    default: {
      const Rules& rule = rules(e.id());
      const bool constant = kind == Dependence::tangents && rule.jvp == nullptr && rule.no_jvp.empty();
      return Mask(results, !constant);
    }
  }
}

}  // namespace

std::vector<bool> dependent_values(const Graph& graph, const std::vector<bool>& inputs, Dependence kind) {
  std::vector<bool> dependent(graph.num_values());
  const auto mark = [&](Value v, bool yes) {
    dependent[v.id()] = yes && (kind == Dependence::values || differentiable(graph.dtype(v)));
  };
  for (size_t i = 0; i < inputs.size(); ++i) mark(graph.inputs()[i], inputs[i]);
  Mask operands;
  for (const Equation& e : graph.equations()) {
    operands.clear();
    for (const Value v : e.operands()) operands.push_back(dependent[v.id()]);
    if (std::find(operands.begin(), operands.end(), true) == operands.end()) continue;
    const Mask results = dependent_results(e, operands, kind);
    for (size_t i = 0; i < results.size(); ++i) mark(e.result(i), results[i]);
  }
  return dependent;
}

std::vector<bool> dependent_values_of_partitioned(const Graph& graph, const std::vector<bool>& inputs) {
  std::vector<bool> dependent(graph.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) dependent[graph.inputs()[i].id()] = inputs[i];
  for (const Equation& e : graph.equations()) {
    const bool any = std::any_of(e.operands().begin(), e.operands().end(), [&](Value v) { return dependent[v.id()]; });
    for (const Value v : e.results()) dependent[v.id()] = any;
  }
  return dependent;
}

std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& inputs, Dependence kind) {
  const std::vector<bool> dependent = dependent_values(graph, inputs, kind);
  Mask outputs;
  for (const Value v : graph.outputs()) outputs.push_back(dependent[v.id()]);
  return outputs;
}

}  // namespace calque::transform
