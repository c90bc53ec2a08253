#include "primitives/registry.h"

#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/fork.h"

namespace calque {
namespace primitives {
namespace {

template <class... Family>
void register_families(TypeList<Family...>, std::span<const Registration> table) {
  (register_family<Family>(table), ...);
}

struct Registry {
  std::array<Primitive, kPrimitiveCount> primitives;
  std::array<Rules, kPrimitiveCount> rules;
  std::unordered_map<std::string_view, const Primitive*> by_name;

  Registry() {
    std::array<Registration, kPrimitiveCount> table;
    for (size_t i = 0; i < kPrimitiveCount; ++i) table[i] = {&primitives[i], &rules[i]};
    register_families(Families{}, table);
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

}  // namespace primitives

const Primitive* find_primitive(std::string_view name) {
  const auto& names = primitives::registry().by_name;
  const auto it = names.find(name);
  return it == names.end() ? nullptr : it->second;
}

const Primitive& primitive(PrimitiveId id) { return primitives::registry().primitives[id]; }

size_t num_primitives() { return primitives::kPrimitiveCount; }

}  // namespace calque
