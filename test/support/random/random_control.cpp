// Control flow and calls. Loops count an i32 up to a small bound, so that every graph terminates.
#include <algorithm>

#include "support/random/random_generator.h"

namespace calque::test {

std::vector<Value> Generator::some_values(size_t min, size_t max) {
  std::vector<Value> values(min + rng_.below(max - min + 1));
  for (Value& v : values) v = any();
  return values;
}

std::vector<Type> Generator::types_of(const std::vector<Value>& values) const {
  std::vector<Type> types;
  for (const Value v : values) types.push_back(graph_.type(v));
  return types;
}

std::vector<Type> Generator::result_types(const std::vector<Type>& from) {
  std::vector<Type> types;
  const auto count = rng_.between(1, 2);
  for (int64_t i = 0; i < count; ++i) types.push_back(from.empty() || rng_.chance(25) ? type() : rng_.pick(from));
  return types;
}

Graph Generator::child(const std::vector<Type>& inputs, const std::vector<Type>& outputs) {
  const int size = static_cast<int>(rng_.between(0, 5));
  return Generator(rng_, options_, depth_ + 1).closed(inputs, outputs, size);
}

void Generator::control() {
  if (options_.effects && rng_.chance(20)) return debug_print();
  if (depth_ >= options_.max_depth) return;
  switch (rng_.below(6)) {
    case 0:
    case 1:
      return branches();
    case 2:
      return counted_while();
    case 3:
      return lanes_while();
    case 4:
      return scan();
    default:
      return call();
  }
}

void Generator::branches() {
  const bool is_cond = rng_.chance(50);
  if (!enabled(is_cond ? "cond" : "switch")) return;
  const std::vector<Value> values = some_values(0, 3);
  const std::vector<Type> inputs = types_of(values);
  const std::vector<Type> outputs = result_types(inputs);
  const auto count = is_cond ? 2 : rng_.between(1, 4);
  std::vector<Graph> graphs;
  for (int64_t i = 0; i < count; ++i) graphs.push_back(child(inputs, outputs));
  ValueList operands;
  operands.push_back(like({is_cond ? DType::bool_ : DType::i32, {}}));
  for (const Value v : values) operands.push_back(v);
  const Primitive& p = is_cond ? primitives::get<primitives::Cond>() : primitives::get<primitives::Switch>();
  emit(p, std::move(operands), {}, std::move(graphs));
}

namespace {

/// The body with a counter in front of its carry, which it increments.
Graph with_counter(const Graph& body, size_t body_consts, const Type& counter) {
  Graph g;
  std::vector<Value> inputs;
  for (size_t i = 0; i < body_consts; ++i) inputs.push_back(g.add_input(body.input_types()[i]));
  const Value i = g.add_input(Type(counter));
  const std::vector<Type> types = body.input_types();
  for (size_t k = body_consts; k < types.size(); ++k) inputs.push_back(g.add_input(Type(types[k])));
  const Value one = g.add_literal(Literal::of<int32_t>(1), Type(counter));
  std::vector<Value> outputs = {g.append(primitives::get<primitives::Add>(), {i, one}).result()};
  const Equation& call =
      g.append(primitives::get<primitives::Call>(), ValueList(inputs), {{"name", std::string("step")}}, {body});
  for (const Value v : call.results()) outputs.push_back(v);
  g.set_outputs(std::move(outputs));
  return g;
}

}  // namespace

void Generator::counted_while() {
  if (!enabled("while")) return;
  const std::vector<Value> consts = some_values(0, 1), carry = some_values(1, 2);
  const Type counter{DType::i32, {}};
  std::vector<Type> inputs = types_of(consts);
  const std::vector<Type> carries = types_of(carry);
  inputs.insert(inputs.end(), carries.begin(), carries.end());
  const Graph body = with_counter(child(inputs, carries), consts.size(), counter);
  Graph cond;
  const Value i = cond.add_input(Type(counter));
  for (const Type& t : carries) cond.add_input(Type(t));
  const Value bound = cond.add_literal(Literal::of<int32_t>(static_cast<int32_t>(rng_.between(0, 5))), Type(counter));
  cond.set_outputs({cond.append(primitives::get<primitives::Lt>(), {i, bound}).result()});
  ValueList operands;
  for (const Value v : consts) operands.push_back(v);
  operands.push_back(graph_.add_literal(Literal::of<int32_t>(0), Type(counter)));
  for (const Value v : carry) operands.push_back(v);
  emit<primitives::While>(std::move(operands),
                          {{"body_consts", static_cast<int64_t>(consts.size())}, {"cond_consts", int64_t{0}}},
                          {std::move(cond), body});
}

/// Each element has its own bound.
void Generator::lanes_while() {
  if (!enabled("while")) return;
  const Value first = any();
  const Shape lanes = graph_.shape(first);
  std::vector<Value> carry = {first};
  if (rng_.chance(50)) carry.push_back(like({dtype(), lanes}));
  const Type counter{DType::i32, lanes};
  const std::vector<Type> carries = types_of(carry);
  const Graph body = with_counter(child(carries, carries), 0, counter);
  Graph cond;
  const Value bound = cond.add_input(Type(counter));
  const Value i = cond.add_input(Type(counter));
  for (const Type& t : carries) cond.add_input(Type(t));
  cond.set_outputs({cond.append(primitives::get<primitives::Lt>(), {i, bound}).result()});
  AnyArray bounds = AnyArray::uninitialized(counter);
  for (int64_t k = 0; k < bounds.size(); ++k) {
    static_cast<int32_t*>(bounds.mutable_data())[k] = static_cast<int32_t>(rng_.between(0, 5));
  }
  ValueList operands = {graph_.add_constant(std::move(bounds))};
  operands.push_back(graph_.add_literal(Literal::of<int32_t>(0), Type(counter)));
  for (const Value v : carry) operands.push_back(v);
  emit<primitives::While>(std::move(operands), {{"body_consts", int64_t{0}}, {"cond_consts", int64_t{1}}},
                          {std::move(cond), body});
}

void Generator::scan() {
  if (!enabled("scan")) return;
  const int64_t length = rng_.between(0, 5);
  const std::vector<Value> consts = some_values(0, 1), carry = some_values(0, 2);
  std::vector<Type> inputs = types_of(consts);
  const std::vector<Type> carries = types_of(carry);
  inputs.insert(inputs.end(), carries.begin(), carries.end());
  ValueList operands;
  for (const Value v : consts) operands.push_back(v);
  for (const Value v : carry) operands.push_back(v);
  const auto xs = rng_.between(0, 2);
  for (int64_t i = 0; i < xs; ++i) {
    const Type slice{dtype(), shape(options_.max_rank - 1, options_.max_elements / 5)};
    operands.push_back(like({slice.dtype, slice.shape.with_inserted(0, length)}));
    inputs.push_back(slice);
  }
  std::vector<Type> outputs = carries;
  const auto ys = rng_.between(0, 2);
  for (int64_t i = 0; i < ys; ++i) {
    const DType d = dtype();
    outputs.push_back({d, shape(options_.max_rank - 1, options_.max_elements / 5)});
  }
  Graph body = child(inputs, outputs);
  std::vector<Graph> graphs;
  graphs.push_back(std::move(body));
  const bool reverse = rng_.chance(40);
  const int64_t unroll = rng_.between(1, 3);
  emit<primitives::Scan>(std::move(operands),
                         {{"carry", static_cast<int64_t>(carry.size())},
                          {"consts", static_cast<int64_t>(consts.size())},
                          {"length", length},
                          {"reverse", reverse},
                          {"unroll", unroll}},
                         std::move(graphs));
}

void Generator::call() {
  const std::vector<Value> values = some_values(0, 3);
  const std::vector<Type> inputs = types_of(values);
  const std::vector<Type> results = result_types(inputs);
  const auto joined = [](std::vector<Type> a, const std::vector<Type>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  std::vector<Graph> graphs;
  graphs.push_back(child(inputs, results));
  const ValueList operands(values);
  switch (rng_.below(4)) {
    case 0:
      if (enabled("call")) emit<primitives::Call>(operands, {{"name", std::string("f\"1")}}, std::move(graphs));
      return;
    case 1:
      if (enabled("checkpoint")) emit<primitives::Checkpoint>(operands, {}, std::move(graphs));
      return;
    case 2:
      if (!enabled("custom_jvp")) return;
      graphs.push_back(child(joined(inputs, inputs), joined(results, results)));
      emit<primitives::CustomJvp>(operands, {}, std::move(graphs));
      return;
    default:
      if (!enabled("custom_vjp")) return;
      const std::vector<Type> residuals = result_types(inputs);
      graphs.push_back(child(inputs, joined(results, residuals)));
      graphs.push_back(child(joined(residuals, results), inputs));
      emit<primitives::CustomVjp>(operands, {}, std::move(graphs));
  }
}

void Generator::debug_print() {
  const Value x = any();
  emit<primitives::DebugPrint>({x}, {{"format", std::string("x = {}")}});
}

}  // namespace calque::test
