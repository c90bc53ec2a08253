#pragma once
// Equations by what they compute: a hash table over those already in a graph.
#include <cstdint>
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// One step of a 64-bit hash (the finaliser of MurmurHash3 over the sum).
inline uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  return h ^ (h >> 29);
}

class EquationTable {
 public:
  /// Equations of commutative primitives hash alike in both orders.
  static uint64_t hash(const Primitive& primitive, std::span<const Value> operands, const Attributes& attributes,
                       std::span<const Graph> subgraphs);
  void reserve(size_t equations);
  const Equation* find(uint64_t hash, const Primitive& primitive, std::span<const Value> operands,
                       const Attributes& attributes, std::span<const Graph> subgraphs) const;
  /// The equation stays where it is as long as the table is used.
  void insert(uint64_t hash, const Equation& equation);

 private:
  struct Slot {
    uint64_t hash = 0;
    const Equation* equation = nullptr;
  };
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace calque::transform
