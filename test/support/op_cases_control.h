#pragma once
// Cases of control flow and effects: small sub-graphs over values of the requested type.
#include <cstring>

#include "support/op_cases.h"

namespace calque::test::cases {

/// A graph with these inputs that returns its last `results` inputs, doubled if they are numeric, otherwise unchanged.
inline Graph body_graph(const std::vector<Type>& inputs, size_t results) {
  Graph g;
  std::vector<Value> values;
  for (const Type& t : inputs) values.push_back(g.add_input(t));
  std::vector<Value> outputs;
  for (size_t i = inputs.size() - results; i < inputs.size(); ++i) {
    Value v = values[i];
    if (!is_bool(inputs[i].dtype)) v = g.append(primitives::get<primitives::Add>(), {v, v}).result();
    outputs.push_back(v);
  }
  g.set_outputs(outputs);
  return g;
}

/// The identity.
inline Graph identity_graph(const std::vector<Type>& inputs) {
  Graph g;
  std::vector<Value> values;
  for (const Type& t : inputs) values.push_back(g.add_input(t));
  g.set_outputs(values);
  return g;
}

inline std::vector<Type> types_of(const std::vector<AnyArray>& arrays) {
  std::vector<Type> types;
  for (const AnyArray& a : arrays) types.push_back(a.type());
  return types;
}

inline std::optional<OpCase> cond(const OpRequest& r, Rng& rng) {
  OpCase c{{AnyArray::full(Shape{}, rng.chance(50)), main_operand(r, rng)}, {}, {}};
  const std::vector<Type> operands{c.operands[1].type()};
  c.subgraphs = {body_graph(operands, 1), identity_graph(operands)};
  return c;
}

inline std::optional<OpCase> switch_(const OpRequest& r, Rng& rng) {
  OpCase c{{AnyArray::full(Shape{}, static_cast<int32_t>(rng.between(-2, 4))), main_operand(r, rng)}, {}, {}};
  const std::vector<Type> operands{c.operands[1].type()};
  c.subgraphs = {body_graph(operands, 1), identity_graph(operands), body_graph(operands, 1)};
  return c;
}

/// Counts an i32 of shape S up to a bound while the other carry is doubled. S is [] or the leading dimension.
inline std::optional<OpCase> while_(const OpRequest& r, Rng& rng) {
  using namespace primitives;
  const Shape lanes = r.shape.rank() > 0 && rng.chance(50) ? Shape{r.shape[0]} : Shape{};
  const Type counter{DType::i32, lanes};
  const Type value{r.dtype, r.shape};
  OpCase c;
  c.operands = {sample_array(counter, rng, Domain::positive), sample_array(counter, rng, Domain::moderate),
                main_operand(r, rng)};
  c.attributes = {{"cond_consts", int64_t{1}}, {"body_consts", int64_t{0}}};
  Graph condition;
  const Value bound = condition.add_input(counter);
  const Value count = condition.add_input(counter);
  condition.add_input(value);
  condition.set_outputs({condition.append(get<Lt>(), {count, bound}).result()});
  Graph step;
  const Value i = step.add_input(counter);
  const Value v = step.add_input(value);
  const Value one = step.add_literal(make_literal(DType::i32, int64_t{1}), counter);
  const Value next = step.append(get<Add>(), {i, one}).result();
  const Value twice = is_bool(r.dtype) ? v : step.append(get<Add>(), {v, v}).result();
  step.set_outputs({next, twice});
  c.subgraphs = {condition, step};
  return c;
}

/// carry + x, with the carry stacked.
inline std::optional<OpCase> scan(const OpRequest& r, Rng& rng) {
  const int64_t length = rng.between(0, 4);
  const Type carry{r.dtype, r.shape};
  const Type xs{r.dtype, r.shape.with_inserted(0, length)};
  Graph body;
  const Value c = body.add_input(carry);
  const Value x = body.add_input(carry);
  const Value sum = is_bool(r.dtype) ? x : body.append(primitives::get<primitives::Add>(), {c, x}).result();
  body.set_outputs({sum, c});
  return OpCase{{main_operand(r, rng), sample_array(xs, rng, r.domain)},
                {{"consts", int64_t{0}},
                 {"carry", int64_t{1}},
                 {"length", length},
                 {"reverse", rng.chance(50)},
                 {"unroll", int64_t{1}}},
                {body}};
}

inline std::optional<OpCase> checkpoint(const OpRequest& r, Rng& rng) {
  OpCase c{{main_operand(r, rng), main_operand(r, rng)}, {}, {}};
  c.subgraphs = {body_graph(types_of(c.operands), 2)};
  return c;
}

inline std::optional<OpCase> call(const OpRequest& r, Rng& rng) {
  auto c = checkpoint(r, rng);
  c->attributes = {{"name", std::string("f")}};
  return c;
}

inline std::optional<OpCase> custom_jvp(const OpRequest& r, Rng& rng) {
  OpCase c{{main_operand(r, rng)}, {}, {}};
  const Type t = c.operands[0].type();
  c.subgraphs = {body_graph({t}, 1), body_graph({t, t}, 2)};
  return c;
}

inline std::optional<OpCase> custom_vjp(const OpRequest& r, Rng& rng) {
  OpCase c{{main_operand(r, rng)}, {}, {}};
  const Type t = c.operands[0].type();
  c.subgraphs = {body_graph({t}, 1), body_graph({t}, 1), body_graph({t}, 1)};
  return c;
}

/// A graph with inputs of type t, of which `combine` makes the output.
template <class Combine>
Graph graph_of(const Type& t, size_t inputs, const Combine& combine) {
  Graph g;
  std::vector<Value> values;
  for (size_t i = 0; i < inputs; ++i) values.push_back(g.add_input(t));
  g.set_outputs({combine(g, values)});
  return g;
}
inline Value sum_of(Graph& g, Value x, Value y) {
  if (is_bool(g.dtype(x))) return x;
  return g.append(primitives::get<primitives::Add>(), {x, y}).result();
}

/// The x with x - 2 p = 0.
inline std::optional<OpCase> custom_root(const OpRequest& r, Rng& rng) {
  OpCase c{{main_operand(r, rng)}, {}, {}};
  const Type t = c.operands[0].type();
  c.subgraphs = {graph_of(t, 1, [](Graph& g, const auto& v) { return sum_of(g, v[0], v[0]); }),
                 graph_of(t, 2,
                          [](Graph& g, const auto& v) {
                            const Value twice = sum_of(g, v[1], v[1]);
                            if (is_bool(g.dtype(twice))) return twice;
                            return g.append(primitives::get<primitives::Sub>(), {v[0], twice}).result();
                          }),
                 graph_of(t, 3, [](Graph&, const auto& v) { return v[0]; })};
  return c;
}

/// The x with x / 2 = b, where the division is a multiplication.
inline std::optional<OpCase> linear_solve(const OpRequest& r, Rng& rng) {
  OpCase c{{main_operand(r, rng)}, {}, {}};
  const Type t = c.operands[0].type();
  const Graph twice = graph_of(t, 1, [](Graph& g, const auto& v) { return sum_of(g, v[0], v[0]); });
  const Graph half = graph_of(t, 1, [](Graph& g, const auto& v) {
    const primitives::Writer w(g, {});
    return is_bool(g.dtype(v[0])) ? v[0] : w.mul(v[0], w.splat(0.5, g.type(v[0])));
  });
  c.subgraphs = {twice, half, half, twice};
  return c;
}

inline std::optional<OpCase> captured(const OpRequest& r, Rng& rng) {
  return OpCase{{main_operand(r, rng)}, {{"by", std::string("custom_jvp")}, {"value", std::string("argument 0")}}, {}};
}

inline std::optional<OpCase> debug_print(const OpRequest& r, Rng& rng) {
  return OpCase{{main_operand(r, rng)}, {{"format", std::string("x = {}")}}, {}};
}

/// Returns its operand.
struct Echo : HostFunction {
  std::string label() const override { return "echo"; }
  std::vector<AnyArray> call(std::span<const AnyArray> operands) const override {
    return {operands.begin(), operands.end()};
  }
};

inline std::optional<OpCase> host_call(const OpRequest& r, Rng& rng) {
  OpCase c{{main_operand(r, rng)}, {}, {}};
  c.attributes = {{"function", std::shared_ptr<const Opaque>(std::make_shared<Echo>())},
                  {"results", types_of(c.operands)}};
  return c;
}

/// A group of one process, to which every collective is a copy.
struct OneProcess final : ProcessGroup {
  OneProcess() : ProcessGroup("alone", 1, 0) {}
  void run(const CollectiveCall& call, const void* operand, void* result) const override {
    const auto bytes = static_cast<size_t>(call.result.shape.num_elements()) * size_of(call.result.dtype);
    if (bytes != 0 && operand != result) std::memcpy(result, operand, bytes);
  }
};

/// Collectives of one process, with a row for it where they have rows.
template <class P>
std::optional<OpCase> of_one_process(const OpRequest& r, Rng& rng) {
  constexpr bool kHasRows = P::collective == Collective::scatter || P::collective == Collective::reduce_scatter ||
                            P::collective == Collective::all_to_all;
  OpRequest request = r;
  if (kHasRows) request.shape = r.shape.with_inserted(0, 1);
  OpCase c{{main_operand(request, rng)}, {}, {}};
  c.attributes = {{"group", std::shared_ptr<const Opaque>(std::make_shared<OneProcess>())}, {"size", int64_t{1}}};
  for (const primitives::AttributeSpec& a : P::attributes) {
    if (a.name == "op") c.attributes.set("op", std::string(is_bool(r.dtype) ? "any" : "sum"));
    if (a.name == "root" || a.name == "dest" || a.name == "source") c.attributes.set(a.name, int64_t{0});
  }
  return c;
}

}  // namespace calque::test::cases
