#pragma once
// The order in which equations are planned.
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "calque/ir/graph.h"

#include "plan/analysis/in_place.h"
#include "plan/plan.h"

namespace calque::plan {

/// A graph's equations, reordered within their dependences so that equations over small spaces come before those over
/// large ones: kernels fuse neighbouring equations, and a per-row value computed between two operations on all elements
/// would separate them. No equation moves across a loop, a product, an update in place or another separate step, so
/// that live ranges do not extend beyond the next of these.
class EquationOrder {
 public:
  EquationOrder(const Graph& graph, const InPlaceUpdates& updates);

  size_t size() const { return equations_.size(); }
  const Equation& operator[](size_t position) const { return *equations_[position]; }
  /// While loops over elements are elementwise.
  FusionKind kind(size_t position) const { return kinds_[position]; }
  size_t position(const Equation& e) const;
  /// Of the equation whose result this is.
  size_t position(Value result) const { return position_of_result_[result.id()]; }

 private:
  std::vector<const Equation*> equations_;
  std::vector<FusionKind> kinds_;
  std::vector<uint32_t> position_of_result_;                        // by value id
  std::unordered_map<const Equation*, size_t> position_of_effect_;  // equations without results
};

}  // namespace calque::plan
