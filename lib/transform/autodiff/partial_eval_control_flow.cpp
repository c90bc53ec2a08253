#include "transform/autodiff/partial_eval_control_flow.h"

#include <algorithm>

#include "ir/graph/effects.h"
#include "ir/graph/rearrange.h"
#include "primitives/control/loop_parts.h"
#include "primitives/core/emit.h"
#include "primitives/registry.h"
#include "transform/autodiff/dependence.h"
#include "transform/autodiff/equation_copier.h"
#include "transform/autodiff/partition_known.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Mask = std::vector<bool>;

bool all_of(const Mask& mask, bool value) {
  return std::all_of(mask.begin(), mask.end(), [&](bool m) { return m == value; });
}

Mask inverted(Mask mask) {
  mask.flip();
  return mask;
}

/// Copies a graph and splits control flow whose results are partly known into a known and an unknown equation.
class ControlFlowPartialEval {
 public:
  ControlFlowPartialEval(const Graph& from, Graph& out, Mask unknown)
      : from_(from), out_(out), unknown_(std::move(unknown)), copier_(from, out) {}

  void run() {
    for (const Value v : from_.inputs()) copier_.bind(v, out_.add_input(from_.type(v)));
    for (const Equation& e : from_.equations()) equation(e);
    std::vector<Value> outputs;
    for (const Value v : from_.outputs()) outputs.push_back(copier_.value(v));
    out_.set_outputs(std::move(outputs));
  }

 private:
  void equation(const Equation& e) {
    Mask operands, results;
    for (const Value v : e.operands()) operands.push_back(unknown_[v.id()]);
    for (const Value v : e.results()) results.push_back(unknown_[v.id()]);
    // A loop or branch is split if some of its results, or parts of its body, are known.
    if (e.subgraphs().empty() || all_of(operands, false)) return copier_.copy(e);
    switch (e.id()) {
      case id_of<Cond>:
      case id_of<Switch>:
        return operands[0] ? copier_.copy(e) : branches(e, slice_of(operands, 1, operands.size() - 1), results);
      case id_of<Scan>:
        return scan(e, operands, results);
      case id_of<While>:
        return while_loop(e, operands, results);
      case id_of<Call>:
      case id_of<Checkpoint>:
        return recomputed(e, operands, results);
      default:
        return copier_.copy(e);
    }
  }

  ValueList mapped(const Equation& e) {
    ValueList operands;
    for (const Value v : e.operands()) operands.push_back(copier_.value(v));
    return operands;
  }

  void bind_unknown(const Equation& e, const Mask& results, const Equation& to) {
    size_t next = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) copier_.bind(e.result(i), to.result(next++));
    }
  }

  void branches(const Equation& e, const Mask& operands, const Mask& results);
  void scan(const Equation& e, const Mask& operands, const Mask& results);
  void while_loop(const Equation& e, const Mask& operands, const Mask& results);
  void recomputed(const Equation& e, const Mask& operands, const Mask& results);

  const Graph& from_;
  Graph& out_;
  Mask unknown_;  // by value
  EquationCopier copier_;
};

// ---- cond and switch

/// Residual slots common to all branches: as many of each type as the branch that needs the most.
struct Slots {
  std::vector<Type> types;
  std::vector<std::vector<size_t>> of_branch;

  void add(const std::vector<Type>& residuals) {
    std::vector<size_t> positions;
    std::vector<bool> taken(types.size());
    for (const Type& type : residuals) {
      size_t at = 0;
      while (at < types.size() && (taken[at] || types[at] != type)) ++at;
      if (at == types.size()) {
        types.push_back(type);
        taken.push_back(false);
      }
      taken[at] = true;
      positions.push_back(at);
    }
    of_branch.push_back(std::move(positions));
  }
};

/// The known part of a branch, with its residuals in their slots and zeros in the others.
Graph with_slots(Graph known, size_t num_known, const std::vector<size_t>& positions, const std::vector<Type>& types) {
  std::vector<Value> outputs(known.outputs().begin(), known.outputs().begin() + static_cast<std::ptrdiff_t>(num_known));
  std::vector<Value> slots(types.size());
  for (size_t i = 0; i < positions.size(); ++i) slots[positions[i]] = known.outputs()[num_known + i];
  const Writer w(known, {});
  for (size_t i = 0; i < slots.size(); ++i) outputs.push_back(slots[i].valid() ? slots[i] : w.zeros(types[i]));
  known.set_outputs(std::move(outputs));
  return known;
}

/// The unknown part of a branch as a function of the inputs common to all branches.
Graph with_common_inputs(const KnownUnknown& partition, const std::vector<size_t>& forwarded,
                         const std::vector<Type>& types, const std::vector<size_t>& positions,
                         const std::vector<Type>& slots) {
  Graph out;
  std::vector<Value> mine(partition.unknown.inputs().size());
  for (size_t i = 0; i < forwarded.size(); ++i) {
    const Value v = out.add_input(types[i]);
    const auto at = std::find(partition.forwarded.begin(), partition.forwarded.end(), forwarded[i]);
    if (at != partition.forwarded.end()) mine[static_cast<size_t>(at - partition.forwarded.begin())] = v;
  }
  for (size_t s = 0; s < slots.size(); ++s) {
    const Value v = out.add_input(slots[s]);
    const auto at = std::find(positions.begin(), positions.end(), s);
    if (at != positions.end()) mine[partition.forwarded.size() + static_cast<size_t>(at - positions.begin())] = v;
  }
  for (size_t i = partition.forwarded.size() + partition.computed; i < mine.size(); ++i) {
    mine[i] = out.add_input(partition.unknown.type(partition.unknown.inputs()[i]));
  }
  out.set_outputs(Writer(out, {}).inline_graph(partition.unknown, mine));
  return out;
}

void ControlFlowPartialEval::branches(const Equation& e, const Mask& operands, const Mask& results) {
  std::vector<KnownUnknown> all;
  Slots slots;
  std::vector<size_t> forwarded;
  const size_t num_known = results.size() - count_true(results, 0, results.size());
  for (const Graph& g : e.subgraphs()) {
    const KnownUnknown& partition = all.emplace_back(partition_known(g, operands, results, Mask(operands.size())));
    std::vector<Type> residuals = partition.known.output_types();
    residuals.erase(residuals.begin(), residuals.begin() + static_cast<std::ptrdiff_t>(num_known));
    slots.add(residuals);
    forwarded.insert(forwarded.end(), partition.forwarded.begin(), partition.forwarded.end());
  }
  std::sort(forwarded.begin(), forwarded.end());
  forwarded.erase(std::unique(forwarded.begin(), forwarded.end()), forwarded.end());
  const ValueList values = mapped(e);
  std::vector<Type> forwarded_types;
  for (const size_t i : forwarded) forwarded_types.push_back(out_.type(values[i + 1]));

  ValueList known_operands{values[0]}, unknown_operands{values[0]};
  std::vector<Graph> known, unknown;
  for (size_t b = 0; b < all.size(); ++b) {
    unknown.push_back(with_common_inputs(all[b], forwarded, forwarded_types, slots.of_branch[b], slots.types));
    known.push_back(with_slots(std::move(all[b].known), num_known, slots.of_branch[b], slots.types));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) known_operands.push_back(values[i + 1]);
  }
  const Writer w(out_, e.location());
  const Equation& first = w.append(e.id(), std::move(known_operands), e.attributes(), std::move(known));
  bind_unknown(e, inverted(results), first);
  for (const size_t i : forwarded) unknown_operands.push_back(values[i + 1]);
  for (size_t s = 0; s < slots.types.size(); ++s) unknown_operands.push_back(first.result(num_known + s));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]) unknown_operands.push_back(values[i + 1]);
  }
  bind_unknown(e, results, w.append(e.id(), std::move(unknown_operands), e.attributes(), std::move(unknown)));
}

// ---- scan

void ControlFlowPartialEval::scan(const Equation& e, const Mask& operands, const Mask& results) {
  const ScanParts s(e);
  const ValueList values = mapped(e);
  const Graph& body = e.subgraphs()[0];
  const Mask carry = slice_of(results, 0, s.carry);
  Mask inputs = slice_of(operands, 0, s.consts);
  append(inputs, carry);
  append(inputs, slice_of(operands, s.first_x(), s.xs));
  Mask expensive(inputs.size());
  for (size_t i = 0; i < s.carry; ++i) expensive[s.consts + i] = true;
  KnownUnknown partition = partition_known(body, inputs, results, expensive);

  const auto is_carry = [&](size_t i) { return i >= s.consts && i < s.first_x(); };
  const size_t known_carry = s.carry - count_true(carry, 0, s.carry);
  const size_t known_results = results.size() - count_true(results, 0, results.size());

  // The known scan stacks the residuals of each step and the carries that the unknown scan needs.
  std::vector<Value> outputs = partition.known.outputs();
  size_t known_input = 0, stacked = 0;
  std::vector<Value> carries;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) continue;
    const Value v = partition.known.inputs()[known_input++];
    if (is_carry(i) &&
        std::find(partition.forwarded.begin(), partition.forwarded.end(), i) != partition.forwarded.end()) {
      carries.push_back(v);
    }
  }
  stacked = carries.size();
  outputs.insert(outputs.end(), carries.begin(), carries.end());
  partition.known.set_outputs(std::move(outputs));

  ValueList known_operands, unknown_operands;
  size_t known_consts = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) continue;
    known_operands.push_back(values[i]);
    if (i < s.consts) ++known_consts;
  }
  const Writer w(out_, e.location());
  const auto with_counts = [&](size_t consts, size_t carried) {
    Attributes attributes = e.attributes();
    attributes.set("consts", static_cast<int64_t>(consts));
    attributes.set("carry", static_cast<int64_t>(carried));
    return attributes;
  };
  const Equation& first = w.append(id_of<Scan>, std::move(known_operands), with_counts(known_consts, known_carry),
                                   graphs(std::move(partition.known)));
  bind_unknown(e, inverted(results), first);

  // The unknown part's inputs are: forwarded consts, carries, xs; residuals; unknown consts, carries, xs.
  const auto forwarded_in = [&](size_t begin, size_t end) {
    return static_cast<size_t>(std::count_if(partition.forwarded.begin(), partition.forwarded.end(),
                                             [&](size_t i) { return i >= begin && i < end; }));
  };
  const size_t fc = forwarded_in(0, s.consts), fk = stacked, fx = forwarded_in(s.first_x(), inputs.size());
  const size_t uc = count_true(inputs, 0, s.consts), uk = s.carry - known_carry,
               ux = count_true(inputs, s.first_x(), inputs.size());
  const size_t rest = fc + fk + fx + partition.computed;
  permute_inputs(partition.unknown, Positions()
                                        .range(0, fc)
                                        .range(rest, uc)
                                        .range(rest + uc, uk)
                                        .range(fc, fk + fx + partition.computed)
                                        .range(rest + uc + uk, ux));
  const auto add_operands = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (inputs[i]) unknown_operands.push_back(values[i]);
    }
  };
  const auto add_forwarded = [&](size_t begin, size_t end) {
    for (const size_t i : partition.forwarded) {
      if (i >= begin && i < end) unknown_operands.push_back(values[i]);
    }
  };
  add_forwarded(0, s.consts);
  add_operands(0, s.consts);
  add_operands(s.consts, s.first_x());
  for (size_t i = 0; i < stacked; ++i) unknown_operands.push_back(first.result(known_results + partition.computed + i));
  add_forwarded(s.first_x(), inputs.size());
  for (size_t i = 0; i < partition.computed; ++i) unknown_operands.push_back(first.result(known_results + i));
  add_operands(s.first_x(), inputs.size());
  bind_unknown(e, results,
               w.append(id_of<Scan>, std::move(unknown_operands), with_counts(fc + uc, uk),
                        graphs(std::move(partition.unknown))));
}

// ---- equations recomputed as a whole

void ControlFlowPartialEval::while_loop(const Equation& e, const Mask&, const Mask& results) {
  if (all_of(results, true)) return copier_.copy(e);
  const WhileParts s(e);
  const ValueList values = mapped(e);
  std::vector<size_t> cond_kept, body_kept;
  // Known carries depend on known inputs alone, and so does the condition.
  Graph condition = restricted(e.subgraphs()[0], {true}, cond_kept);
  Graph body = restricted(e.subgraphs()[1], inverted(results), body_kept);
  ValueList operands;
  std::vector<size_t> cond_order, body_order;
  // Each sub-graph keeps its own constants, followed by all known carries.
  Graph full_condition, full_body;
  std::vector<Value> cond_inputs(cond_kept.size()), body_inputs(body_kept.size());
  size_t cond_consts = 0, body_consts = 0;
  for (size_t i = 0; i < cond_kept.size(); ++i) {
    if (cond_kept[i] >= s.cond_consts) continue;
    operands.push_back(values[cond_kept[i]]);
    cond_inputs[i] = full_condition.add_input(condition.type(condition.inputs()[i]));
    ++cond_consts;
  }
  for (size_t i = 0; i < body_kept.size(); ++i) {
    if (body_kept[i] >= s.body_consts) continue;
    operands.push_back(values[s.cond_consts + body_kept[i]]);
    body_inputs[i] = full_body.add_input(body.type(body.inputs()[i]));
    ++body_consts;
  }
  for (size_t c = 0; c < s.carry; ++c) {
    if (results[c]) continue;
    operands.push_back(values[s.first_carry() + c]);
    const Type& type = out_.type(operands.back());
    const Value in_condition = full_condition.add_input(type), in_body = full_body.add_input(type);
    for (size_t i = 0; i < cond_kept.size(); ++i) {
      if (cond_kept[i] == s.cond_consts + c) cond_inputs[i] = in_condition;
    }
    for (size_t i = 0; i < body_kept.size(); ++i) {
      if (body_kept[i] == s.body_consts + c) body_inputs[i] = in_body;
    }
  }
  full_condition.set_outputs(Writer(full_condition, {}).inline_graph(condition, cond_inputs));
  full_body.set_outputs(Writer(full_body, {}).inline_graph(body, body_inputs));
  const Equation& first = Writer(out_, e.location())
                              .append(id_of<While>, std::move(operands),
                                      {{"body_consts", static_cast<int64_t>(body_consts)},
                                       {"cond_consts", static_cast<int64_t>(cond_consts)}},
                                      graphs(std::move(full_condition), std::move(full_body)));
  bind_unknown(e, inverted(results), first);
  copier_.copy(e);
}

/// The graph without the equations that depend on the unknown inputs, effects included.
Graph without_unknown(const Graph& graph, const Mask& unknown) {
  const Graph g = partial_eval_control_flow(graph, unknown);
  const Mask is_unknown = dependent_values_of_partitioned(g, unknown);
  Graph out;
  out.set_name(g.name());
  EquationCopier copier(g, out);
  for (const Value v : g.inputs()) copier.bind(v, out.add_input(g.type(v)));
  for (const Equation& e : g.equations()) {
    if (std::none_of(e.operands().begin(), e.operands().end(), [&](Value v) { return is_unknown[v.id()]; }))
      copier.copy(e);
  }
  const Writer w(out, {});
  std::vector<Value> outputs;
  for (const Value v : g.outputs()) outputs.push_back(is_unknown[v.id()] ? w.zeros(g.type(v)) : copier.value(v));
  out.set_outputs(std::move(outputs));
  return out;
}

void ControlFlowPartialEval::recomputed(const Equation& e, const Mask& operands, const Mask& results) {
  const Graph& whole = e.subgraphs()[0];
  const ValueList values = mapped(e);
  const Writer w(out_, e.location());
  const auto append_half = [&](const Graph& of, const Mask& outputs) {
    if (all_of(outputs, false)) return;
    std::vector<size_t> kept;
    Graph body = restricted(of, outputs, kept);
    ValueList inputs;
    for (const size_t i : kept) inputs.push_back(values[i]);
    bind_unknown(e, outputs, w.append(e.id(), std::move(inputs), e.attributes(), graphs(std::move(body))));
  };
  // Effects are not removed with what is not wanted: those of the unknown part would keep it in the known one.
  append_half(has_effect(whole) ? without_unknown(whole, operands) : whole, inverted(results));
  append_half(whole, results);
}

}  // namespace

Graph partial_eval_control_flow(const Graph& graph, const std::vector<bool>& unknown) {
  Graph out;
  out.set_name(graph.name());
  ControlFlowPartialEval(graph, out, dependent_values(graph, unknown, Dependence::values)).run();
  return out;
}

}  // namespace calque::transform
