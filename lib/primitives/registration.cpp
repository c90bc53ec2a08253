#include "primitives/registration.h"

#include <algorithm>

#include <fmt/format.h>

namespace calque::primitives {

void check_form(Typing& t, const TypingInput& input, const Primitive& primitive, std::span<const AttributeSpec> specs) {
  const auto count = static_cast<int64_t>(input.operands.size());
  if (count < primitive.min_operands || (primitive.max_operands >= 0 && count > primitive.max_operands)) {
    t.rule_error(fmt::format("expects {}{} operands, got {}", primitive.max_operands < 0 ? "at least " : "",
                             primitive.min_operands, count));
  }
  for (const Type* type : input.operands) {
    if (!indexable(type->shape)) t.shape_error(fmt::format("{} has too many elements", to_string(*type)));
  }
  const auto graphs = static_cast<int64_t>(input.subgraphs.size());
  if (graphs < primitive.min_subgraphs || (primitive.max_subgraphs >= 0 && graphs > primitive.max_subgraphs)) {
    t.rule_error(fmt::format("expects {}{} sub-graphs, got {}", primitive.max_subgraphs < 0 ? "at least " : "",
                             primitive.min_subgraphs, graphs));
  }
  static constexpr const char* kKinds[] = {"a bool",  "an integer",         "a float",         "a string",
                                           "a dtype", "a list of integers", "a list of types", "an object"};
  size_t absent = 0;
  for (const AttributeSpec& spec : specs) {
    const AttributeValue* value = input.attributes.find(spec.name);
    if (value == nullptr && spec.optional) {
      ++absent;
      continue;
    }
    if (value == nullptr || value->index() != static_cast<size_t>(spec.kind)) {
      t.rule_error(fmt::format("expects the attribute {}, {}, got {}", spec.name,
                               kKinds[static_cast<size_t>(spec.kind)], value ? to_string(*value) : "none"));
    }
  }
  if (input.attributes.size() + absent == specs.size()) return;
  for (const Attribute& a : input.attributes) {
    if (std::none_of(specs.begin(), specs.end(), [&](const AttributeSpec& s) { return s.name == a.name; })) {
      t.rule_error(fmt::format("has no attribute {}", a.name));
    }
  }
}

Scalar lower_elementwise(Lowering& lowering, const Equation& equation, size_t result, std::span<const Scalar> index) {
  calque::detail::InlineVector<Scalar, 3> operands;
  for (size_t i = 0; i < equation.operands().size(); ++i) operands.push_back(lowering.operand(i, index));
  if (const auto compose = rules(equation.id()).compose) return compose(lowering, operands);
  return lowering.op(equation.id(), lowering.graph().dtype(equation.result(result)), operands);
}

}  // namespace calque::primitives
