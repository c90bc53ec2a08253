// Forward mode of control flow: primals and tangents run through the same branch or loop. The set of carries with
// tangents is a fixpoint: a carry has a tangent if its initial value has one or the body produces one.
#include <fmt/format.h>

#include "ir/graph/rearrange.h"
#include "primitives/control/loop_parts.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

/// Takes over the results of an equation that returns all primal results, then the tangents of the active ones.
void take_results(Jvp& j, const Equation& e, const std::vector<bool>& active) {
  size_t next = active.size();
  for (size_t i = 0; i < active.size(); ++i) {
    j.results.push_back(e.result(i));
    if (active[i]) j.result_tangents[i] = e.result(next++);
  }
}

/// cond and switch: every branch returns a tangent for each result that has one in any branch.
void jvp_branches(Jvp& j) {
  const std::vector<Graph>& branches = j.equation.subgraphs();
  const std::vector<bool> active = j.active_from(1);
  std::vector<bool> wanted(j.equation.results().size());
  for (const Graph& g : branches) merge_into(wanted, j.subgraphs.active_outputs(g, active));
  ValueList operands;
  for (const Value v : j.primals) operands.push_back(v);
  for (size_t i = 1; i < j.tangents.size(); ++i) {
    if (j.active(i)) operands.push_back(j.tangents[i]);
  }
  std::vector<Graph> bodies;
  for (const Graph& g : branches) bodies.push_back(j.subgraphs.jvp(g, active, wanted));
  take_results(j, j.writer.append(j.equation.id(), std::move(operands), j.attributes(), std::move(bodies)), wanted);
}

/// Appends a tangent for each marked operand from `first` on, zero where the operand itself has none.
void append_tangents(const Jvp& j, ValueList& operands, size_t first, const std::vector<bool>& mask) {
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) operands.push_back(j.tangent_or_zero(first + i));
  }
}

void append_primals(const Jvp& j, ValueList& operands, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) operands.push_back(j.primals[first + i]);
}

/// Grows the set of active carries to a fixpoint, given the activity of the other inputs of the body. Returns the
/// activity of the body's outputs.
std::vector<bool> active_carry(const Jvp& j, const Graph& body, const std::vector<bool>& consts,
                               std::vector<bool>& carry, const std::vector<bool>& xs) {
  while (true) {
    std::vector<bool> active = consts;
    append(active, carry);
    append(active, xs);
    std::vector<bool> outputs = j.subgraphs.active_outputs(body, active);
    bool grew = false;
    for (size_t i = 0; i < carry.size(); ++i) {
      if (outputs[i] && !carry[i]) carry[i] = grew = true;
      outputs[i] = carry[i];
    }
    if (!grew) return outputs;
  }
}

}  // namespace

void Cond::jvp(Jvp& j) { jvp_branches(j); }
void Switch::jvp(Jvp& j) { jvp_branches(j); }

void Scan::jvp(Jvp& j) {
  const ScanParts parts(j.equation);
  const Graph& body = j.equation.subgraphs()[0];
  const std::vector<bool> all = j.active_from(0);
  const std::vector<bool> consts = slice_of(all, 0, parts.consts), xs = slice_of(all, parts.first_x(), parts.xs);
  std::vector<bool> carry = slice_of(all, parts.consts, parts.carry);
  const std::vector<bool> outputs = active_carry(j, body, consts, carry, xs);
  const size_t dc = count_true(consts, 0, parts.consts), dk = count_true(carry, 0, parts.carry),
               dx = count_true(xs, 0, parts.xs), dy = count_true(outputs, parts.carry, outputs.size());

  ValueList operands;
  append_primals(j, operands, 0, parts.consts);
  append_tangents(j, operands, 0, consts);
  append_primals(j, operands, parts.consts, parts.carry);
  append_tangents(j, operands, parts.consts, carry);
  append_primals(j, operands, parts.first_x(), parts.xs);
  append_tangents(j, operands, parts.first_x(), xs);

  std::vector<bool> active = consts;
  append(active, carry);
  append(active, xs);
  Graph both = j.subgraphs.jvp(body, active, outputs);
  const size_t primals = parts.first_x() + parts.xs;  // followed by tangents of consts, carry and xs
  permute_inputs(both, Positions()
                           .range(0, parts.consts)
                           .range(primals, dc)
                           .range(parts.consts, parts.carry)
                           .range(primals + dc, dk)
                           .range(parts.first_x(), parts.xs)
                           .range(primals + dc + dk, dx));
  const size_t results = parts.carry + parts.ys;
  select_outputs(
      both, Positions().range(0, parts.carry).range(results, dk).range(parts.carry, parts.ys).range(results + dk, dy));
  Attributes attributes = j.attributes();
  attributes.set("consts", static_cast<int64_t>(parts.consts + dc));
  attributes.set("carry", static_cast<int64_t>(parts.carry + dk));
  const Equation& e = j.writer.append(id_of<Scan>, std::move(operands), std::move(attributes), graphs(std::move(both)));
  size_t next_carry = parts.carry, next_y = parts.carry + dk + parts.ys;
  for (size_t i = 0; i < results; ++i) {
    const bool is_carry = i < parts.carry;
    j.results.push_back(e.result(is_carry ? i : i + dk));
    if (outputs[i]) j.result_tangents[i] = e.result(is_carry ? next_carry++ : next_y++);
  }
}

void While::jvp(Jvp& j) {
  const WhileParts parts(j.equation);
  const Graph& body = j.equation.subgraphs()[1];
  const std::vector<bool> all = j.active_from(0);
  const std::vector<bool> consts = slice_of(all, parts.cond_consts, parts.body_consts);
  std::vector<bool> carry = slice_of(all, parts.first_carry(), parts.carry);
  const std::vector<bool> outputs = active_carry(j, body, consts, carry, {});
  const size_t dc = count_true(consts, 0, parts.body_consts), dk = count_true(carry, 0, parts.carry);

  ValueList operands;
  append_primals(j, operands, 0, parts.first_carry());
  append_tangents(j, operands, parts.cond_consts, consts);
  append_primals(j, operands, parts.first_carry(), parts.carry);
  append_tangents(j, operands, parts.first_carry(), carry);

  std::vector<bool> active = consts;
  append(active, carry);
  Graph both = j.subgraphs.jvp(body, active, outputs);
  const size_t primals = parts.body_consts + parts.carry;
  permute_inputs(both, Positions()
                           .range(0, parts.body_consts)
                           .range(primals, dc)
                           .range(parts.body_consts, parts.carry)
                           .range(primals + dc, dk));
  Graph condition = j.equation.subgraphs()[0];
  for (size_t i = 0; i < parts.carry; ++i) {
    if (carry[i]) condition.add_input(j.operand_type(parts.first_carry() + i));
  }
  const Equation& e = j.writer.append(id_of<While>, std::move(operands),
                                      {{"body_consts", static_cast<int64_t>(parts.body_consts + dc)},
                                       {"cond_consts", static_cast<int64_t>(parts.cond_consts)}},
                                      graphs(std::move(condition), std::move(both)));
  take_results(j, e, outputs);
}

void Call::jvp(Jvp& j) {
  const Graph& body = j.equation.subgraphs()[0];
  const std::vector<bool> active = j.active_from(0);
  const std::vector<bool> wanted = j.subgraphs.active_outputs(body, active);
  ValueList operands;
  append_primals(j, operands, 0, j.primals.size());
  append_tangents(j, operands, 0, active);
  take_results(j,
               j.writer.append(j.equation.id(), std::move(operands), j.attributes(),
                               graphs(j.subgraphs.jvp(body, active, wanted))),
               wanted);
}

/// A checkpoint of primals and tangents: both are rematerialized in reverse mode.
void Checkpoint::jvp(Jvp& j) { Call::jvp(j); }

/// Inlines the custom rule instead of the body. Tangents of integers are zeros of their type.
void CustomJvp::jvp(Jvp& j) {
  std::vector<Value> inputs(j.primals.begin(), j.primals.end());
  for (size_t i = 0; i < j.primals.size(); ++i) inputs.push_back(j.tangent_or_zero(i));
  const std::vector<Value> outputs = j.writer.inline_graph(j.equation.subgraphs()[1], inputs);
  const size_t results = j.equation.results().size();
  for (size_t i = 0; i < results; ++i) {
    j.results.push_back(outputs[i]);
    const DType dtype = j.result_type(i).dtype;
    if (is_floating(dtype) || is_complex(dtype)) j.result_tangents[i] = outputs[results + i];
  }
}

/// Inlines fwd instead of the body. The tangents become operands of custom_linear, which reverse mode transposes.
void CustomVjp::jvp(Jvp& j) {
  const std::vector<Value> inputs(j.primals.begin(), j.primals.end());
  const std::vector<Value> outputs = j.writer.inline_graph(j.equation.subgraphs()[1], inputs);
  const size_t results = j.equation.results().size();
  ValueList operands;
  for (size_t i = results; i < outputs.size(); ++i) operands.push_back(outputs[i]);
  const size_t residuals = operands.size();
  for (size_t i = 0; i < j.primals.size(); ++i) operands.push_back(j.tangent_or_zero(i));
  const Equation& e =
      j.writer.append(id_of<CustomLinear>, std::move(operands), {{"residuals", static_cast<int64_t>(residuals)}},
                      graphs(Graph(j.equation.subgraphs()[2])));
  for (size_t i = 0; i < results; ++i) {
    j.results.push_back(outputs[i]);
    const DType dtype = j.result_type(i).dtype;
    if (is_floating(dtype) || is_complex(dtype)) j.result_tangents[i] = e.result(i);
  }
}

// ---- captured

void Captured::infer(Typing& t) { t.result(t.operand(0)); }
void Captured::evaluate(Evaluation& e) { e.results.push_back(e.operands[0]); }
Scalar Captured::lower(Lowering& l, const Equation&, size_t, std::span<const Scalar> index) {
  return l.operand(0, index);
}

void Captured::jvp(Jvp& j) {
  const std::string line = to_string(j.equation.location());
  if (const auto& reason = j.attributes().get<std::string>("value"); j.attributes().get<std::string>("by").empty()) {
    throw GradError(reason + (line.empty() ? "" : " (" + line + ")"));
  }
  throw GradError(
      fmt::format("{}: the rule has no derivative by {}, which it or its function captures; pass it as an argument of "
                  "the function, "
                  "or capture stop_gradient of it{}",
                  j.attributes().get<std::string>("by"), j.attributes().get<std::string>("value"),
                  line.empty() ? "" : " (" + line + ")"));
}

}  // namespace calque::primitives
