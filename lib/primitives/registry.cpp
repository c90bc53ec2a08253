#include "primitives/registry.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "ir/fork.h"

namespace calque {
namespace primitives {
namespace {

struct Registry {
  std::array<Primitive, kPrimitiveCount> primitives;
  std::array<Rules, kPrimitiveCount> rules;
  std::unordered_map<std::string_view, const Primitive*> by_name;

  Registry() {
    std::array<Registration, kPrimitiveCount> table;
    for (size_t i = 0; i < kPrimitiveCount; ++i) table[i] = {&primitives[i], &rules[i]};
    register_arithmetic(table);
    register_compare_logic(table);
    register_math(table);
    register_random_bits(table);
    register_convert(table);
    register_indexing(table);
    register_structural(table);
    for (const Primitive& p : primitives) by_name.emplace(p.name, &p);
  }
};

const Registry& registry() {
  return process_wide([] { return new const Registry; });
}

}  // namespace

const Rules& rules(PrimitiveId id) { return registry().rules[id]; }

PrimitiveId primitive_of(ScalarOp op) {
  const std::vector<PrimitiveId>& table = process_wide([] {
    auto* t = new std::vector<PrimitiveId>(static_cast<size_t>(ScalarOp::bitcast) + 1, UINT16_MAX);
    for (PrimitiveId id = 0; id < kPrimitiveCount; ++id) (*t)[static_cast<size_t>(rules(id).scalar_op)] = id;
    return t;
  });
  return table[static_cast<size_t>(op)];
}

LowerKind lower_kind(const Graph& graph, const Equation& equation) {
  const bool has_operand = !equation.operands().empty();
  DType dtype = DType::f32;
  if (has_operand) {
    dtype = graph.dtype(equation.operand(0));
  } else if (!equation.results().empty()) {
    dtype = graph.dtype(equation.result());
  }
  return rules(equation.id()).kind(dtype);
}

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

}  // namespace primitives

const Primitive* find_primitive(std::string_view name) {
  const auto& names = primitives::registry().by_name;
  const auto it = names.find(name);
  return it == names.end() ? nullptr : it->second;
}

const Primitive& primitive(PrimitiveId id) { return primitives::registry().primitives[id]; }

size_t num_primitives() { return primitives::kPrimitiveCount; }

}  // namespace calque
