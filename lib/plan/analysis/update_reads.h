#pragma once
// How the value that an update writes reads the array that is updated.
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "calque/ir/graph.h"

namespace calque::plan {

/// The number of an integer literal, at most the greatest i64.
std::optional<int64_t> number_of(const Graph& graph, Value v);

/// For one equation, a dynamic_update_slice, whose value is computed while it is written. A value is in step with the
/// update if its elements, in row-major order, are computed of no other elements of the array than those that they
/// replace.
class UpdateReads {
 public:
  /// `in_memory`: values that were computed before.
  UpdateReads(const Graph& graph, const Equation& update, std::function<bool(Value)> in_memory);

  /// Whether the value reads the array and is in step.
  bool is_in_step(Value v) { return relation(v) == Relation::in_step; }
  /// Whether the update, with its indices, reads no elements of the array but in step.
  bool all_in_step();

 private:
  enum class Relation : uint8_t { independent, in_step, other };
  Relation relation(Value v);
  Relation compute(const Equation& e);
  /// Whether the equation reads the window that the update writes.
  bool reads_window(const Equation& e) const;

  const Graph& g_;
  const Equation& update_;
  const Value array_;
  const Shape window_;
  std::function<bool(Value)> in_memory_;
  std::unordered_map<uint32_t, Relation> known_;  // by value id
};

}  // namespace calque::plan
