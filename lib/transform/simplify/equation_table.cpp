// Equal equations have equal hashes; `find` compares every component, so a collision costs time only.
#include "transform/simplify/equation_table.h"

#include "primitives/list.h"

namespace calque::transform {
namespace {

using namespace primitives;

bool is_commutative(const Primitive& p) {
  switch (p.id) {
    case id_of<Add>:
    case id_of<Mul>:
    case id_of<Max>:
    case id_of<Min>:
    case id_of<And>:
    case id_of<Or>:
    case id_of<Xor>:
    case id_of<Eq>:
    case id_of<Ne>:
      return true;
    default:
      return false;
  }
}

uint64_t hash_attribute(uint64_t h, const AttributeValue& value) {
  h = mix(h, value.index());
  std::visit(
      [&h]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, std::string>) {
          for (const char c : v) h = mix(h, static_cast<unsigned char>(c));
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          for (const int64_t item : v) h = mix(h, static_cast<uint64_t>(item));
        } else if constexpr (std::is_same_v<T, std::vector<Type>>) {
          h = mix(h, v.size());
        } else if constexpr (std::is_same_v<T, std::shared_ptr<const Opaque>>) {
          h = mix(h, v ? v->identity() : 0);
        } else if constexpr (std::is_same_v<T, double>) {
          h = mix(h, std::bit_cast<uint64_t>(v));
        } else {
          h = mix(h, static_cast<uint64_t>(v));
        }
      },
      value);
  return h;
}

bool same_operands(const Equation& e, std::span<const Value> operands) {
  if (std::equal(operands.begin(), operands.end(), e.operands().begin(), e.operands().end())) return true;
  return operands.size() == 2 && e.operands().size() == 2 && operands[0] == e.operand(1) &&
         operands[1] == e.operand(0) && is_commutative(e.definition());
}

}  // namespace

uint64_t EquationTable::hash(const Primitive& primitive, std::span<const Value> operands, const Attributes& attributes,
                             std::span<const Graph> subgraphs) {
  uint64_t h = mix(primitive.id, operands.size());
  if (operands.size() == 2 && is_commutative(primitive)) {
    const uint64_t a = operands[0].id(), b = operands[1].id();
    h = mix(h, std::max(a, b) << 32 | std::min(a, b));
  } else {
    for (const Value v : operands) h = mix(h, v.id());
  }
  for (const Attribute& a : attributes) h = hash_attribute(h, a.value);
  for (const Graph& g : subgraphs) h = mix(h, canonical_hash(g).low);
  return h;
}

const Equation* EquationTable::find(uint64_t hash, const Primitive& primitive, std::span<const Value> operands,
                                    const Attributes& attributes, std::span<const Graph> subgraphs) const {
  return table_.find(hash, [&](const Equation* e) {
    return e->id() == primitive.id && same_operands(*e, operands) && e->attributes() == attributes &&
           std::equal(subgraphs.begin(), subgraphs.end(), e->subgraphs().begin(), e->subgraphs().end());
  });
}

}  // namespace calque::transform
