#include "reference/evaluate.h"

#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "math/evaluate.h"
#include "primitives/registry.h"

namespace calque::reference {
namespace {

using Arrays = std::vector<AnyArray>;

/// One evaluation; its limit is shared with sub-graphs.
class Evaluator {
 public:
  explicit Evaluator(const Options& options) : forms_(options.forms), left_(options.elements) {
    call_ = [this](const Graph& graph, std::span<const AnyArray> inputs) { return run(graph, inputs); };
  }
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  Arrays run(const Graph& graph, std::span<const AnyArray> inputs) {
    charge(1);  // so that a loop with an empty body also reaches the limit
    Arrays values(graph.num_values());
    for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i].id()] = inputs[i];
    const std::vector<uint32_t> uses = count_uses(graph);
    std::vector<uint32_t> left = uses;
    Arrays operands;
    for (const Equation& e : graph.equations()) {
      operands.clear();
      for (Value v : e.operands()) operands.push_back(read(graph, v, values));
      // A value is freed at its last use, so that memory is bounded by the live values.
      for (Value v : e.operands()) {
        if (--left[v.id()] == 0) values[v.id()] = AnyArray();
      }
      std::vector<Type> types;
      for (Value r : e.results()) types.push_back(graph.type(r));
      Arrays results = apply(e.definition(), operands, e.attributes(), e.subgraphs(), types);
      for (size_t i = 0; i < results.size(); ++i) {
        if (uses[e.result(i).id()] != 0) values[e.result(i).id()] = std::move(results[i]);
      }
    }
    Arrays outputs;
    for (Value v : graph.outputs()) outputs.push_back(read(graph, v, values));
    return outputs;
  }

  Arrays apply(const Primitive& primitive, std::span<const AnyArray> operands, const Attributes& attributes,
               std::span<const Graph> subgraphs, std::span<const Type> types) {
    for (const AnyArray& operand : operands) check_indexable(primitive.name, operand.type());
    for (const Type& type : types) {
      check_indexable(primitive.name, type);
      charge(type.shape.num_elements());
    }
    primitives::Evaluation evaluation{attributes, subgraphs, operands, types, call_, {}};
    evaluation.results.reserve(types.size());
    if (forms_ && !operands.empty() && math::can_evaluate(primitive.id, operands[0].dtype(), *forms_)) {
      math::evaluate(primitive.id, *forms_, evaluation);
    } else {
      primitives::rules(primitive.id).evaluate(evaluation);
    }
    return std::move(evaluation.results);
  }

 private:
  static std::vector<uint32_t> count_uses(const Graph& graph) {
    std::vector<uint32_t> uses(graph.num_values(), 0);
    for (const Equation& e : graph.equations()) {
      for (Value v : e.operands()) ++uses[v.id()];
    }
    for (Value v : graph.outputs()) ++uses[v.id()];
    return uses;
  }

  static void check_indexable(const std::string& name, const Type& type) {
    if (!primitives::indexable(type.shape)) {
      throw Error(fmt::format("{}: {} has too many elements", name, to_string(type)));
    }
  }

  void charge(int64_t elements) {
    left_ -= elements;
    if (left_ < 0) throw Error("evaluate: the limit of computed elements is passed");
  }

  AnyArray read(const Graph& graph, Value v, const Arrays& values) {
    switch (graph.kind(v)) {
      case ValueKind::literal: {
        check_indexable("evaluate", graph.type(v));
        charge(graph.shape(v).num_elements());
        return materialize(graph.literal(v), graph.type(v));
      }
      case ValueKind::constant:
        return graph.constant(v);
      default:
        return values[v.id()];
    }
  }

  std::function<Arrays(const Graph&, std::span<const AnyArray>)> call_;
  std::optional<math::MathForms> forms_;
  int64_t left_;
};

}  // namespace

AnyArray materialize(const Literal& literal, const Type& type) {
  AnyArray array = primitives::make_array(type);
  const size_t width = size_of(type.dtype);
  auto* to = static_cast<char*>(array.mutable_data());
  for (size_t i = 0, n = static_cast<size_t>(array.size()); i < n; ++i) {
    std::memcpy(to + i * width, literal.bytes, width);
  }
  return array;
}

std::vector<AnyArray> evaluate(const Graph& graph, std::span<const AnyArray> inputs, const Options& options) {
  if (inputs.size() != graph.inputs().size()) {
    throw ShapeError(fmt::format("evaluate: expects {} inputs, got {}", graph.inputs().size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& want = graph.type(graph.inputs()[i]);
    if (inputs[i].empty()) throw ShapeError(fmt::format("evaluate: input {} is empty, expects {}", i, to_string(want)));
    if (inputs[i].type() == want) continue;
    const std::string text =
        fmt::format("evaluate: input {} expects {}, got {}", i, to_string(want), to_string(inputs[i].type()));
    if (inputs[i].dtype() != want.dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
  return Evaluator(options).run(graph, inputs);
}

std::vector<AnyArray> evaluate_equation(const Graph& graph, const Equation& equation,
                                        std::span<const AnyArray> operands, const Options& options) {
  std::vector<Type> types;
  for (Value r : equation.results()) types.push_back(graph.type(r));
  return Evaluator(options).apply(equation.definition(), operands, equation.attributes(), equation.subgraphs(), types);
}

std::vector<AnyArray> evaluate_primitive(const Primitive& primitive, std::span<const AnyArray> operands,
                                         const Attributes& attributes, std::span<const Graph> subgraphs,
                                         const Options& options) {
  std::vector<const Type*> operand_types;
  for (const AnyArray& a : operands) operand_types.push_back(&a.type());
  std::vector<Type> types;
  primitive.infer({operand_types, attributes, subgraphs}, types);
  return Evaluator(options).apply(primitive, operands, attributes, subgraphs, types);
}

}  // namespace calque::reference
