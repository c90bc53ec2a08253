#pragma once
// A hash table of the equations already in a graph, keyed by primitive, operands, attributes and sub-graphs.
#include <algorithm>
#include <bit>
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

/// A hash table of small items with open addressing, at most half full. T() marks an empty slot.
template <class T>
class FlatTable {
 public:
  void reserve(size_t items) {
    const size_t size = std::bit_ceil(std::max<size_t>(16, 2 * items));
    if (size <= slots_.size()) return;
    std::vector<Slot> old(size);
    old.swap(slots_);
    used_ = 0;
    for (const Slot& s : old) {
      if (s.item != T()) insert(s.hash, s.item);
    }
  }
  /// The item with that hash for which `is` returns true, or T().
  template <class Predicate>
  T find(uint64_t hash, Predicate&& is) const {
    if (slots_.empty()) return T();
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at].item != T(); at = (at + 1) & mask) {
      if (slots_[at].hash == hash && is(slots_[at].item)) return slots_[at].item;
    }
    return T();
  }
  void insert(uint64_t hash, T item) {
    if (2 * (used_ + 1) > slots_.size()) reserve(slots_.size());
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at].item != T()) at = (at + 1) & mask;
    slots_[at] = {hash, item};
    ++used_;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    T item = T();
  };
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

class EquationTable {
 public:
  /// Equations of commutative primitives have the same hash for both operand orders.
  static uint64_t hash(const Primitive& primitive, std::span<const Value> operands, const Attributes& attributes,
                       std::span<const Graph> subgraphs);
  void reserve(size_t equations) { table_.reserve(equations); }
  const Equation* find(uint64_t hash, const Primitive& primitive, std::span<const Value> operands,
                       const Attributes& attributes, std::span<const Graph> subgraphs) const;
  /// The equation's address must not change while the table is used.
  void insert(uint64_t hash, const Equation& equation) { table_.insert(hash, &equation); }

 private:
  FlatTable<const Equation*> table_;
};

}  // namespace calque::transform
