// A backward walk finds the needed equations, a forward walk copies them. Results of control flow are live
// individually: a carry is live if its result is, or if another live part of the loop needs it.
#include "transform/simplify/eliminate_dead_code.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/graph/effects.h"
#include "primitives/control/loop_parts.h"
#include "primitives/registry.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Mask = std::vector<bool>;

struct Need {
  const Equation* equation;
  Mask results, operands;
};

/// Liveness of graphs by the set of live outputs. Loops query their bodies repeatedly, so answers are cached.
class Analysis {
 public:
  /// The needed equations from last to first; `values` receives the values that they and the outputs need.
  std::vector<Need> needs(const Graph& graph, const Mask& outputs, Mask& values);

 private:
  Mask needed_inputs(const Graph& graph, const Mask& outputs) {
    const auto [entry, fresh] = inputs_.try_emplace({&graph, outputs});
    if (!fresh) return entry->second;
    Mask values, inputs;
    needs(graph, outputs, values);
    for (const Value v : graph.inputs()) inputs.push_back(values[v.id()]);
    return entry->second = std::move(inputs);
  }
  Mask grow_carry(const Graph& body, size_t consts, size_t carries, Mask& outputs);
  Mask needed_operands(const Equation& e, Mask& results);

  std::map<std::pair<const Graph*, Mask>, Mask> inputs_;
};

/// Grows the mask of a scan's or while's carries until the body needs no more of them. Returns the inputs that the body
/// needs.
Mask Analysis::grow_carry(const Graph& body, size_t consts, size_t carries, Mask& outputs) {
  while (true) {
    const Mask inputs = needed_inputs(body, outputs);
    bool grew = false;
    for (size_t c = 0; c < carries; ++c) {
      if (!inputs[consts + c] || outputs[c]) continue;
      outputs[c] = grew = true;
    }
    if (!grew) return inputs;
  }
}

/// The operands that the needed results need; adds results that cannot be removed without the others.
Mask Analysis::needed_operands(const Equation& e, Mask& results) {
  Mask operands(e.operands().size(), true);
  switch (e.id()) {
    case id_of<Cond>:
    case id_of<Switch>: {
      std::fill(operands.begin() + 1, operands.end(), false);
      for (const Graph& g : e.subgraphs()) {
        const Mask inputs = needed_inputs(g, results);
        for (size_t i = 0; i < inputs.size(); ++i) operands[i + 1] = operands[i + 1] || inputs[i];
      }
      return operands;
    }
    case id_of<Scan>: {
      const ScanParts s(e);
      operands = grow_carry(e.subgraphs()[0], s.consts, s.carry, results);
      for (size_t c = 0; c < s.carry; ++c) operands[s.consts + c] = results[c];
      return operands;
    }
    case id_of<While>: {
      const WhileParts s(e);
      const Mask cond = needed_inputs(e.subgraphs()[0], {true});
      merge_into(results, slice_of(cond, s.cond_consts, s.carry));
      const Mask body = grow_carry(e.subgraphs()[1], s.body_consts, s.carry, results);
      operands = slice_of(cond, 0, s.cond_consts);
      append(operands, slice_of(body, 0, s.body_consts));
      append(operands, results);
      return operands;
    }
    case id_of<Call>:
    case id_of<Checkpoint>:
      return needed_inputs(e.subgraphs()[0], results);
    default:
      results.assign(results.size(), true);
      return operands;
  }
}

std::vector<Need> Analysis::needs(const Graph& graph, const Mask& outputs, Mask& values) {
  values.assign(graph.num_values(), false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) values[graph.outputs()[i].id()] = true;
  }
  std::vector<const Equation*> equations;
  equations.reserve(graph.num_equations());
  for (const Equation& e : graph.equations()) equations.push_back(&e);
  std::vector<Need> needed;
  for (size_t i = equations.size(); i-- > 0;) {
    const Equation& e = *equations[i];
    const bool used = std::any_of(e.results().begin(), e.results().end(), [&](Value v) { return values[v.id()]; });
    if (!used && !has_effect(e)) continue;
    if (e.subgraphs().empty()) {
      for (const Value v : e.operands()) values[v.id()] = true;
      needed.push_back({&e, {}, {}});
      continue;
    }
    Mask results;
    for (const Value v : e.results()) results.push_back(values[v.id()]);
    Mask operands = needed_operands(e, results);
    for (size_t o = 0; o < operands.size(); ++o) {
      if (operands[o]) values[e.operand(o).id()] = true;
    }
    needed.push_back({&e, std::move(results), std::move(operands)});
  }
  return needed;
}

Graph restricted_to(Analysis& analysis, const Graph& graph, const Mask& inputs, const Mask& outputs);

Mask all(size_t n) { return Mask(n, true); }

/// The sub-graphs restricted to the needed operands and results.
std::vector<Graph> restricted_subgraphs(Analysis& analysis, const Need& need) {
  const Equation& e = *need.equation;
  std::vector<Graph> subgraphs;
  subgraphs.reserve(e.subgraphs().size());
  for (size_t i = 0; i < e.subgraphs().size(); ++i) {
    const Graph& g = e.subgraphs()[i];
    switch (e.id()) {
      case id_of<Cond>:
      case id_of<Switch>:
        subgraphs.push_back(
            restricted_to(analysis, g, slice_of(need.operands, 1, need.operands.size() - 1), need.results));
        break;
      case id_of<While>: {
        const WhileParts s(e);
        Mask inputs =
            i == 0 ? slice_of(need.operands, 0, s.cond_consts) : slice_of(need.operands, s.cond_consts, s.body_consts);
        append(inputs, need.results);
        subgraphs.push_back(restricted_to(analysis, g, inputs, i == 0 ? Mask{true} : need.results));
        break;
      }
      case id_of<Scan>:
      case id_of<Call>:
      case id_of<Checkpoint>:
        subgraphs.push_back(restricted_to(analysis, g, need.operands, need.results));
        break;
      default:
        subgraphs.push_back(restricted_to(analysis, g, all(g.inputs().size()), all(g.outputs().size())));
    }
  }
  return subgraphs;
}

Attributes restricted_attributes(const Need& need) {
  Attributes attributes = need.equation->attributes();
  const auto count = [&](size_t first, size_t n) {
    return static_cast<int64_t>(count_true(need.operands, first, first + n));
  };
  if (need.equation->id() == id_of<Scan>) {
    const ScanParts s(*need.equation);
    attributes.set("consts", count(0, s.consts));
    attributes.set("carry", count(s.consts, s.carry));
  } else if (need.equation->id() == id_of<While>) {
    const WhileParts s(*need.equation);
    attributes.set("cond_consts", count(0, s.cond_consts));
    attributes.set("body_consts", count(s.cond_consts, s.body_consts));
  }
  return attributes;
}

class Copy {
 public:
  Copy(Analysis& analysis, const Graph& from, Graph& out)
      : analysis_(analysis), from_(from), out_(out), map_(from.num_values()) {}

  void bind(Value v, Value to) { map_[v.id()] = to; }
  Value value(Value v) {
    Value& to = map_[v.id()];
    if (!to.valid()) to = out_.add_copy(from_, v);
    return to;
  }

  void equation(const Need& need) {
    const Equation& e = *need.equation;
    ValueList operands;
    operands.reserve(e.operands().size());
    for (size_t i = 0; i < e.operands().size(); ++i) {
      if (need.operands.empty() || need.operands[i]) operands.push_back(value(e.operand(i)));
    }
    if (e.subgraphs().empty()) {
      const Equation& copy = out_.append_copy(from_, e, std::move(operands));
      for (size_t i = 0; i < e.results().size(); ++i) bind(e.result(i), copy.result(i));
      return;
    }
    const bool whole = count_true(need.results, 0, need.results.size()) == need.results.size() &&
                       count_true(need.operands, 0, need.operands.size()) == need.operands.size();
    std::vector<Graph> subgraphs = restricted_subgraphs(analysis_, need);
    const Equation& copy = whole ? out_.append_copy(from_, e, std::move(operands), std::move(subgraphs))
                                 : out_.append(e.definition(), std::move(operands), restricted_attributes(need),
                                               std::move(subgraphs), e.location());
    size_t next = 0;
    for (size_t i = 0; i < e.results().size(); ++i) {
      if (need.results[i]) bind(e.result(i), copy.result(next++));
    }
  }

 private:
  Analysis& analysis_;
  const Graph& from_;
  Graph& out_;
  std::vector<Value> map_;
};

Graph restricted_to(Analysis& analysis, const Graph& graph, const Mask& inputs, const Mask& outputs) {
  Mask values;
  const std::vector<Need> needed = analysis.needs(graph, outputs, values);
  Graph out;
  out.set_name(graph.name());
  Copy copy(analysis, graph, out);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) copy.bind(graph.inputs()[i], out.add_input(Type(graph.type(graph.inputs()[i]))));
  }
  for (size_t i = needed.size(); i-- > 0;) copy.equation(needed[i]);
  std::vector<Value> results;
  results.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) results.push_back(copy.value(graph.outputs()[i]));
  }
  out.set_outputs(std::move(results));
  return out;
}

}  // namespace

Graph eliminate_dead_code(const Graph& graph) {
  Analysis analysis;
  return restricted_to(analysis, graph, all(graph.inputs().size()), all(graph.outputs().size()));
}

}  // namespace calque::transform
