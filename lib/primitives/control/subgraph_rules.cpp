#include "primitives/control/subgraph_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "primitives/core/emit.h"

namespace calque::primitives {

std::vector<Type> operand_types(const Typing& t, size_t first, size_t end) {
  std::vector<Type> types;
  for (size_t i = first; i < end; ++i) types.push_back(t.operand(i));
  return types;
}

std::vector<Type> operand_types(const Typing& t, size_t first) { return operand_types(t, first, t.num_operands()); }

std::vector<Type> concatenated(std::vector<Type> a, const std::vector<Type>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void add_results(Typing& t, const std::vector<Type>& types) {
  for (const Type& type : types) t.result(type);
}

void infer_call(Typing& t) {
  const Graph& body = t.subgraphs()[0];
  t.match("input", operand_types(t), body.input_types());
  add_results(t, body.output_types());
}

size_t count_attribute(const Typing& t, std::string_view attribute, size_t limit) {
  const int64_t value = t.integer(attribute);
  if (value < 0 || value > static_cast<int64_t>(limit)) {
    t.rule_error(fmt::format("{} is {}, expects 0 to {}", attribute, value, limit));
  }
  return static_cast<size_t>(value);
}

void match_carry(const Typing& t, std::span<const Type> in, std::span<const Type> out) {
  if (in.size() != out.size()) {
    t.rule_error(fmt::format("the carry has {} values and the body returns {}", in.size(), out.size()));
  }
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == out[i]) continue;
    const std::string text =
        fmt::format("carry changes type, {} in and {} out (carry {})", to_string(in[i]), to_string(out[i]), i);
    if (in[i].dtype != out[i].dtype) t.dtype_error(text);
    t.shape_error(text);
  }
}

void call_body(Evaluation& e) { e.results = e.call(e.subgraphs[0], e.operands); }

void take_results(Jvp& j, const Equation& e, const std::vector<bool>& active) {
  size_t next = active.size();
  for (size_t i = 0; i < active.size(); ++i) {
    j.results.push_back(e.result(i));
    if (active[i]) j.result_tangents[i] = e.result(next++);
  }
}

void append_tangents(const Jvp& j, ValueList& operands, size_t first, const std::vector<bool>& mask) {
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) operands.push_back(j.tangent_or_zero(first + i));
  }
}

void append_primals(const Jvp& j, ValueList& operands, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) operands.push_back(j.primals[first + i]);
}

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

std::vector<Graph> batched_branches(Batching& b, const std::vector<bool>& inputs, std::vector<bool>& outputs) {
  const std::vector<Graph>& branches = b.equation.subgraphs();
  for (const Graph& g : branches) merge_into(outputs, b.subgraphs.dependent_outputs(g, inputs));
  while (true) {
    const std::vector<bool> before = outputs;
    std::vector<Graph> batched;
    for (const Graph& g : branches) batched.push_back(b.subgraphs.batch(g, inputs, b.size, outputs));
    if (outputs == before) return batched;
  }
}

std::vector<bool> concatenated(std::vector<bool> a, const std::vector<bool>& b, const std::vector<bool>& c) {
  append(a, b);
  append(a, c);
  return a;
}

Graph batched_loop(const Batching& b, const Graph& body, const std::vector<bool>& consts, std::vector<bool>& carry,
                   const std::vector<bool>& xs, std::vector<bool>& outputs) {
  const auto grow = [&] {
    bool grew = false;
    for (size_t i = 0; i < carry.size(); ++i) {
      if (outputs[i] && !carry[i]) carry[i] = grew = true;
    }
    return grew;
  };
  while (true) {
    do {
      outputs = b.subgraphs.dependent_outputs(body, concatenated(consts, carry, xs));
    } while (grow());
    std::copy(carry.begin(), carry.end(), outputs.begin());
    Graph batched = b.subgraphs.batch(body, concatenated(consts, carry, xs), b.size, outputs);
    if (!grow()) return batched;
  }
}

void batch_one_by_one(Batching& b) {
  const Writer& w = b.writer;
  Graph body;
  ValueList inner, consts, xs;
  for (const bool sliced : {false, true}) {
    for (size_t i = 0; i < b.operands.size(); ++i) {
      if (b.batched[i] == sliced) (sliced ? xs : consts).push_back(b.operands[i]);
    }
  }
  std::vector<Value> of_const, of_x;
  for (size_t i = 0; i < b.operands.size(); ++i) {
    if (!b.batched[i]) of_const.push_back(body.add_input(b.operand_type(i)));
  }
  for (size_t i = 0; i < b.operands.size(); ++i) {
    if (b.batched[i]) of_x.push_back(body.add_input(b.operand_type(i)));
  }
  size_t next_const = 0, next_x = 0;
  for (size_t i = 0; i < b.operands.size(); ++i)
    inner.push_back(b.batched[i] ? of_x[next_x++] : of_const[next_const++]);
  const Equation& one =
      Writer(body, w.location())
          .append(b.equation.id(), std::move(inner), b.attributes(), std::vector<Graph>(b.equation.subgraphs()));
  body.set_outputs(std::vector<Value>(one.results().begin(), one.results().end()));
  ValueList operands = consts;
  for (const Value v : xs) operands.push_back(v);
  const Equation& e = w.append(id_of<Scan>, std::move(operands),
                               {{"carry", int64_t{0}},
                                {"consts", static_cast<int64_t>(consts.size())},
                                {"length", b.size},
                                {"reverse", false},
                                {"unroll", int64_t{1}}},
                               graphs(std::move(body)));
  for (const Value v : e.results()) b.result(v);
}

}  // namespace calque::primitives
