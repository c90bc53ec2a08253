// The hook is called for the equations that the reference evaluator would evaluate, in the same order. A value is freed
// after its last use.
#include "calque/ir/interpreter.h"

#include <fmt/format.h>

#include "primitives/registry.h"
#include "reference/evaluate.h"

namespace calque {
namespace {

using Arrays = std::vector<AnyArray>;

void check_inputs(const Graph& graph, const Arrays& inputs, const Location& location) {
  const std::string where = where_text(location);
  if (inputs.size() != graph.inputs().size()) {
    throw ShapeError(
        fmt::format("interpreter: expects {} inputs, got {}{}", graph.inputs().size(), inputs.size(), where));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& want = graph.type(graph.inputs()[i]);
    if (inputs[i].empty()) throw ShapeError(fmt::format("interpreter: input {} is empty{}", i, where));
    if (inputs[i].type() == want) continue;
    const std::string text = fmt::format("interpreter: input {} expects {}, got {}{}", i, to_string(want),
                                         to_string(inputs[i].type()), where);
    if (inputs[i].dtype() != want.dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
}

void check_results(const Graph& graph, const Equation& e, const Arrays& results) {
  if (results.size() != e.results().size()) {
    throw CompileError(fmt::format("interpreter: {} has {} results, the hook gave {}{}", e.primitive(),
                                   e.results().size(), results.size(), where_text(e.location())));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Type& want = graph.type(e.result(i));
    if (results[i].empty() || results[i].type() != want) {
      throw CompileError(fmt::format("interpreter: result {} of {} is {}, the hook gave {}{}", i, e.primitive(),
                                     to_string(want), results[i].empty() ? "nothing" : to_string(results[i].type()),
                                     where_text(e.location())));
    }
  }
}

std::vector<uint32_t> count_uses(const Graph& graph) {
  std::vector<uint32_t> uses(graph.num_values(), 0);
  for (const Equation& e : graph.equations()) {
    for (const Value v : e.operands()) ++uses[v.id()];
  }
  for (const Value v : graph.outputs()) ++uses[v.id()];
  return uses;
}

/// Makes the graph current for the lifetime of this object.
class Current {
 public:
  Current(const Graph*& current, const Graph& graph) : current_(current), outer_(std::exchange(current, &graph)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current_ = outer_; }

 private:
  const Graph*& current_;
  const Graph* outer_;
};

}  // namespace

std::vector<AnyArray> Interpreter::run(const Graph& graph, std::vector<AnyArray> inputs, Location location) {
  check_inputs(graph, inputs, location);
  const Current current(graph_, graph);
  std::vector<uint32_t> left = count_uses(graph);
  Arrays values(graph.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i].id()] = std::move(inputs[i]);
  const auto read = [&](Value v) -> AnyArray {
    if (graph.is_literal(v)) return reference::materialize(graph.literal(v), graph.type(v));
    if (graph.kind(v) == ValueKind::constant) return graph.constant(v);
    if (--left[v.id()] == 0) return std::move(values[v.id()]);
    return values[v.id()];
  };
  for (const Equation& e : graph.equations()) {
    Arrays operands;
    operands.reserve(e.operands().size());
    for (const Value v : e.operands()) operands.push_back(read(v));
    Arrays results = equation(e, operands);
    check_results(graph, e, results);
    for (size_t i = 0; i < results.size(); ++i) {
      if (left[e.result(i).id()] != 0) values[e.result(i).id()] = std::move(results[i]);
    }
  }
  Arrays outputs;
  outputs.reserve(graph.outputs().size());
  for (const Value v : graph.outputs()) outputs.push_back(read(v));
  return outputs;
}

std::vector<AnyArray> Interpreter::equation(const Equation& equation, const std::vector<AnyArray>& operands) {
  const std::function<Arrays(const Graph&, std::span<const AnyArray>)> call = [&](const Graph& g,
                                                                                  std::span<const AnyArray> inputs) {
    return run(g, Arrays(inputs.begin(), inputs.end()), equation.location());
  };
  std::vector<Type> types;
  for (const Value v : equation.results()) types.push_back(graph().type(v));
  primitives::Evaluation evaluation{equation.attributes(), equation.subgraphs(), operands, types, call, {}};
  evaluation.results.reserve(types.size());
  primitives::rules(equation.id()).evaluate(evaluation);
  return std::move(evaluation.results);
}

}  // namespace calque
