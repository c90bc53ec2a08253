// Open addressing, at most half full; sizes are powers of two.
#include "transform/equation_table.h"

#include <algorithm>
#include <bit>

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

void EquationTable::reserve(size_t equations) {
  const size_t size = std::bit_ceil(std::max<size_t>(16, 2 * equations));
  if (size <= slots_.size()) return;
  std::vector<Slot> old(size);
  old.swap(slots_);
  used_ = 0;
  for (const Slot& s : old) {
    if (s.equation != nullptr) insert(s.hash, *s.equation);
  }
}

const Equation* EquationTable::find(uint64_t hash, const Primitive& primitive, std::span<const Value> operands,
                                    const Attributes& attributes, std::span<const Graph> subgraphs) const {
  if (slots_.empty()) return nullptr;
  for (size_t at = hash & (slots_.size() - 1); slots_[at].equation != nullptr; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash != hash) continue;
    const Equation& e = *slots_[at].equation;
    if (e.id() == primitive.id && same_operands(e, operands) && e.attributes() == attributes &&
        std::equal(subgraphs.begin(), subgraphs.end(), e.subgraphs().begin(), e.subgraphs().end())) {
      return &e;
    }
  }
  return nullptr;
}

void EquationTable::insert(uint64_t hash, const Equation& equation) {
  if (2 * (used_ + 1) > slots_.size()) reserve(slots_.size() + 8);
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].equation != nullptr) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {hash, &equation};
  ++used_;
}

}  // namespace calque::transform
