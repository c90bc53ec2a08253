// Transposition of control flow that is linear in its tangents: branches are transposed, scans run in reverse, with an
// accumulator in the carry for each linear constant.
#include "ir/graph/rearrange.h"
#include "primitives/control/loop_parts.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

std::vector<bool> linear_mask(const Transposition& t, size_t first, size_t count) {
  std::vector<bool> mask;
  for (size_t i = 0; i < count; ++i) mask.push_back(t.linear(first + i));
  return mask;
}

std::vector<bool> given_mask(const Transposition& t) {
  std::vector<bool> mask;
  for (const Value v : t.cotangents) mask.push_back(v.valid());
  return mask;
}

void transpose_branches(Transposition& t) {
  if (t.linear(0)) refuse(t.equation, NotLinear::reason);
  const std::vector<bool> linear = linear_mask(t, 1, t.operands.size() - 1), given = given_mask(t);
  ValueList operands;
  for (const Value v : t.operands) {
    if (v.valid()) operands.push_back(v);
  }
  for (const Value v : t.cotangents) {
    if (v.valid()) operands.push_back(v);
  }
  std::vector<Graph> branches;
  for (const Graph& g : t.equation.subgraphs()) branches.push_back(t.subgraphs.transpose_partitioned(g, linear, given));
  const Equation& e = t.writer.append(t.equation.id(), std::move(operands), t.attributes(), std::move(branches));
  size_t next = 0;
  for (size_t i = 0; i < linear.size(); ++i) {
    if (linear[i]) t.add(i + 1, e.result(next++));
  }
}

/// Makes the body accumulate the cotangents of its constants in carried sums.
void accumulate(const Location& location, Graph& body, size_t first_output, size_t first_input, size_t count) {
  std::vector<Value> outputs = body.outputs();
  const Writer w(body, location);
  for (size_t i = 0; i < count; ++i) {
    outputs[first_output + i] = w.add(body.inputs()[first_input + i], outputs[first_output + i]);
  }
  body.set_outputs(std::move(outputs));
}

}  // namespace

void Cond::transpose(Transposition& t) { transpose_branches(t); }
void Switch::transpose(Transposition& t) { transpose_branches(t); }

void Scan::transpose(Transposition& t) {
  const ScanParts parts(t.equation);
  const Graph& body = t.equation.subgraphs()[0];
  std::vector<bool> linear = linear_mask(t, 0, t.operands.size());
  // Partial evaluation has moved non-linear carries out: only constants and slices may be non-linear.
  for (size_t i = parts.consts; i < parts.first_x(); ++i) linear[i] = true;
  const size_t lc = count_true(linear, 0, parts.consts), lx = count_true(linear, parts.first_x(), linear.size());
  const size_t rc = parts.consts - lc, rx = parts.xs - lx;

  // ys without a cotangent are omitted; carries always have one.
  std::vector<bool> given(parts.carry, true);
  ValueList ct_ys;
  for (size_t i = 0; i < parts.ys; ++i) {
    given.push_back(t.cotangents[parts.carry + i].valid());
    if (given.back()) ct_ys.push_back(t.cotangents[parts.carry + i]);
  }
  const size_t gy = ct_ys.size();

  // Inputs: non-linear constants and slices, then cotangents of carry and ys. Outputs: cotangents of constants, carry
  // and slices.
  Graph backward = t.subgraphs.transpose_partitioned(body, linear, given);
  for (size_t i = 0; i < parts.consts; ++i) {
    if (linear[i]) backward.add_input(t.operand_type(i));
  }
  const size_t ct = rc + rx, sums = ct + parts.carry + gy;
  accumulate(t.writer.location(), backward, 0, sums, lc);
  permute_inputs(
      backward,
      Positions().range(0, rc).range(sums, lc).range(ct, parts.carry).range(rc, rx).range(ct + parts.carry, gy));

  ValueList operands;
  const auto keep = [&](size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      if (!linear[i]) operands.push_back(t.operands[i]);
    }
  };
  keep(0, parts.consts);
  for (size_t i = 0; i < parts.consts; ++i) {
    if (linear[i]) operands.push_back(t.writer.zeros(t.operand_type(i)));
  }
  for (size_t i = 0; i < parts.carry; ++i) operands.push_back(t.cotangent_or_zero(i));
  keep(parts.first_x(), parts.xs);
  for (const Value v : ct_ys) operands.push_back(v);

  Attributes attributes = t.attributes();
  attributes.set("consts", static_cast<int64_t>(rc));
  attributes.set("carry", static_cast<int64_t>(lc + parts.carry));
  attributes.set("reverse", !t.attributes().get<bool>("reverse"));
  const Equation& e =
      t.writer.append(id_of<Scan>, std::move(operands), std::move(attributes), graphs(std::move(backward)));
  size_t next = 0;
  for (size_t i = 0; i < linear.size(); ++i) {
    if (!linear[i]) continue;
    const Value result = e.result(next++);
    if (t.linear(i)) t.add(i, result);
  }
}

/// Rematerializes the body when its cotangents are known, so that none of its values are residuals. Optimization
/// barriers on the operands prevent CSE with the first computation.
void Checkpoint::transpose(Transposition& t) {
  const Graph& body = t.equation.subgraphs()[0];
  const std::vector<bool> linear = linear_mask(t, 0, t.operands.size()), given = given_mask(t);
  ValueList cotangents;
  for (const Value v : t.cotangents) {
    if (v.valid()) cotangents.push_back(v);
  }
  std::vector<Value> inputs;
  for (const Value v : t.operands) {
    if (!v.valid()) continue;
    ValueList tied{v};
    for (const Value ct : cotangents) tied.push_back(ct);
    inputs.push_back(t.writer.graph().is_literal(v) ? v : t.writer.emit(id_of<OptimizationBarrier>, std::move(tied)));
  }
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  const std::vector<Value> outputs = t.writer.inline_graph(t.subgraphs.transpose(body, linear, given), inputs);
  size_t next = 0;
  for (size_t i = 0; i < linear.size(); ++i) {
    if (linear[i]) t.add(i, outputs[next++]);
  }
}

/// Inlines the user's rule on the residuals and cotangents.
void CustomLinear::transpose(Transposition& t) {
  const auto residuals = static_cast<size_t>(t.attributes().integer("residuals"));
  std::vector<Value> inputs;
  for (size_t i = 0; i < residuals; ++i) {
    if (t.linear(i)) refuse(t.equation, reason);
    inputs.push_back(t.operands[i]);
  }
  for (size_t i = 0; i < t.cotangents.size(); ++i) inputs.push_back(t.cotangent_or_zero(i));
  const std::vector<Value> outputs = t.writer.inline_graph(t.equation.subgraphs()[0], inputs);
  for (size_t i = residuals; i < t.operands.size(); ++i) {
    if (t.linear(i)) t.add(i, outputs[i - residuals]);
  }
}

void CustomLinear::infer(Typing& t) {
  const Graph& backward = t.subgraphs()[0];
  const int64_t residuals = t.integer("residuals");
  const std::vector<Type> inputs = backward.input_types();
  const std::vector<Type> outputs = backward.output_types();
  if (residuals < 0 || static_cast<size_t>(residuals) > std::min(t.num_operands(), inputs.size())) {
    t.rule_error("has more residuals than operands or inputs of bwd");
  }
  const auto count = static_cast<size_t>(residuals);
  std::vector<Type> kept, tangents;
  for (size_t i = 0; i < t.num_operands(); ++i) (i < count ? kept : tangents).push_back(t.operand(i));
  t.match("residual", kept, std::span<const Type>(inputs).first(count));
  t.match("result of bwd", tangents, outputs);
  for (size_t i = count; i < inputs.size(); ++i) t.result(inputs[i]);
}

void CustomLinear::evaluate(Evaluation&) { throw GradError("custom_linear: " + std::string(reason)); }

}  // namespace calque::primitives
