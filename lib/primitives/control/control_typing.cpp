// Typing rules of control flow: operands must match the inputs of the sub-graphs; their outputs give the result types.
#include <fmt/format.h>

#include "primitives/control/control.h"

namespace calque::primitives {
namespace {

std::vector<Type> operand_types(const Typing& t, size_t first, size_t end) {
  std::vector<Type> types;
  for (size_t i = first; i < end; ++i) types.push_back(t.operand(i));
  return types;
}

std::vector<Type> operand_types(const Typing& t, size_t first = 0) { return operand_types(t, first, t.num_operands()); }

std::vector<Type> concatenated(std::vector<Type> a, const std::vector<Type>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void add_results(Typing& t, const std::vector<Type>& types) {
  for (const Type& type : types) t.result(type);
}

/// All branches take the operands from `first` on and return the same types.
void infer_branches(Typing& t, size_t first) {
  const std::vector<Type> operands = operand_types(t, first);
  const std::vector<Type> results = t.subgraphs()[0].output_types();
  for (size_t b = 0; b < t.subgraphs().size(); ++b) {
    t.match(fmt::format("branch {}, input", b), operands, t.subgraphs()[b].input_types());
    t.match(fmt::format("branches differ, result of branch {},", b), results, t.subgraphs()[b].output_types());
  }
  add_results(t, results);
}

void infer_call(Typing& t) {
  const Graph& body = t.subgraphs()[0];
  t.match("input", operand_types(t), body.input_types());
  add_results(t, body.output_types());
}

/// The integer attribute of that name, which must be in [0, limit].
size_t count(const Typing& t, std::string_view attribute, size_t limit) {
  const int64_t value = t.integer(attribute);
  if (value < 0 || value > static_cast<int64_t>(limit)) {
    t.rule_error(fmt::format("{} is {}, expects 0 to {}", attribute, value, limit));
  }
  return static_cast<size_t>(value);
}

/// The carry must have the same types as the body's input and output.
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

}  // namespace

void Cond::infer(Typing& t) {
  if (t.operand(0) != Type{DType::bool_, {}}) {
    t.dtype_error(fmt::format("expects a predicate bool[], got {}", to_string(t.operand(0))));
  }
  infer_branches(t, 1);
}

void Switch::infer(Typing& t) {
  if (t.operand(0) != Type{DType::i32, {}}) {
    t.dtype_error(fmt::format("expects an index i32[], got {}", to_string(t.operand(0))));
  }
  infer_branches(t, 1);
}

void While::infer(Typing& t) {
  const Graph& cond = t.subgraphs()[0];
  const Graph& body = t.subgraphs()[1];
  const size_t cond_consts = count(t, "cond_consts", t.num_operands());
  const size_t body_consts = count(t, "body_consts", t.num_operands() - cond_consts);
  const std::vector<Type> carry = operand_types(t, cond_consts + body_consts);
  t.match("input of the condition", concatenated(operand_types(t, 0, cond_consts), carry), cond.input_types());
  t.match("input of the body", concatenated(operand_types(t, cond_consts, cond_consts + body_consts), carry),
          body.input_types());
  match_carry(t, carry, body.output_types());
  const std::vector<Type> predicate = cond.output_types();
  if (predicate.size() != 1 || predicate[0].dtype != DType::bool_) {
    t.dtype_error(
        fmt::format("expects a condition that gives one bool, got {}",
                    predicate.size() == 1 ? to_string(predicate[0]) : fmt::format("{} values", predicate.size())));
  }
  const Shape& lanes = predicate[0].shape;
  for (const Type& type : carry) {
    bool fits = type.shape.size() >= lanes.size();
    for (size_t d = 0; fits && d < lanes.size(); ++d) fits = type.shape[d] == lanes[d];
    if (!fits) {
      t.shape_error(fmt::format("a condition {} expects carries whose shape starts with {}, got {}",
                                to_string(predicate[0]), to_string(lanes), to_string(type)));
    }
  }
  add_results(t, carry);
}

void Scan::infer(Typing& t) {
  const Graph& body = t.subgraphs()[0];
  const size_t consts = count(t, "consts", t.num_operands());
  const size_t carries = count(t, "carry", t.num_operands() - consts);
  const int64_t length = t.integer("length");
  if (length < 0) t.shape_error(fmt::format("expects a length that is not negative, got {}", length));
  if (t.integer("unroll") < 1) {
    t.rule_error(fmt::format("expects a positive unroll, got {}", t.integer("unroll")));
  }
  const std::vector<Type> carry = operand_types(t, consts, consts + carries);
  std::vector<Type> inputs = operand_types(t, 0, consts + carries);
  for (size_t i = consts + carries; i < t.num_operands(); ++i) {
    const Type& xs = t.operand(i);
    if (xs.shape.rank() == 0 || xs.shape[0] != length) {
      t.shape_error(fmt::format("expects xs of leading extent {}, got {}", length, to_string(xs)));
    }
    inputs.push_back({xs.dtype, xs.shape.without(0)});
  }
  t.match("input of the body", inputs, body.input_types());
  const std::vector<Type> outputs = body.output_types();
  if (outputs.size() < carries) {
    t.rule_error(fmt::format("the carry has {} values and the body returns {}", carries, outputs.size()));
  }
  match_carry(t, carry, std::span<const Type>(outputs).first(carries));
  add_results(t, carry);
  for (size_t i = carries; i < outputs.size(); ++i) {
    t.result({outputs[i].dtype, outputs[i].shape.with_inserted(0, length)});
  }
}

void Call::infer(Typing& t) { infer_call(t); }
void Checkpoint::infer(Typing& t) { infer_call(t); }

void CustomJvp::infer(Typing& t) {
  infer_call(t);
  const std::vector<Type> primals = operand_types(t);
  const std::vector<Type> results = t.subgraphs()[0].output_types();
  t.match("input of jvp", concatenated(primals, primals), t.subgraphs()[1].input_types());
  t.match("result of jvp", concatenated(results, results), t.subgraphs()[1].output_types());
}

void CustomVjp::infer(Typing& t) {
  infer_call(t);
  const Graph& forward = t.subgraphs()[1];
  const Graph& backward = t.subgraphs()[2];
  const std::vector<Type> operands = operand_types(t);
  const std::vector<Type> results = t.subgraphs()[0].output_types();
  t.match("input of fwd", operands, forward.input_types());
  const std::vector<Type> outputs = forward.output_types();
  if (outputs.size() < results.size()) {
    t.rule_error(
        fmt::format("fwd gives {} values, expects {} results before the residuals", outputs.size(), results.size()));
  }
  t.match("result of fwd", results, std::span<const Type>(outputs).first(results.size()));
  const std::vector<Type> residuals(outputs.begin() + static_cast<std::ptrdiff_t>(results.size()), outputs.end());
  t.match("input of bwd", concatenated(residuals, results), backward.input_types());
  t.match("result of bwd", operands, backward.output_types());
}

}  // namespace calque::primitives
