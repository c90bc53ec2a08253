#pragma once
// Pointwise operations and reductions over one space in one kernel: a loss and its gradient, or row statistics and the
// normalized rows.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/analysis/graph_analysis.h"
#include "plan/analysis/loop_nest.h"
#include "plan/passes/passes.h"

namespace calque::plan {

/// Decides which roots may share loops. The analysis has a budget; once it is exhausted, no further loops are shared.
class LoopSharing {
 public:
  /// `step_of`, by value id: the step at which a materialized value is computed.
  LoopSharing(const GraphAnalysis& analysis, const MaterializedValues& values, const RecomputationCosts& costs,
              const std::vector<int32_t>& step_of);

  /// The loop nest of the reductions that are inlined into a root. Invalid when there are none; `mixed` is set when
  /// they have different nests.
  LoopNest loop_nest_of(Value root, bool& mixed);

  /// Whether the root can be computed in the loops of the kernel at `step`. If so, records the root's stage; if not,
  /// the reason.
  bool fits(Value root, const LoopNest& nest, int32_t step);
  const std::string& reason() const { return reason_; }

 private:
  enum class At : uint8_t { other, kept, full };
  struct Item {
    Value v;
    At at;
    int stage = 0;
    int latest = 0;  ///< the last stage whose loop uses it
  };
  bool collect(Value root, const LoopNest& nest, int32_t step);
  At operand(const Equation& e, Value o, At at, const LoopNest& nest) const;
  bool is_inlined(Value v, Value root) const { return v == root || values_.is_inlined(v); }
  /// The length of the longest chain of reductions that the loop of such a root depends on.
  int stage(Value root) const;
  void compute_stages(Value root, const LoopNest& nest);
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  const MaterializedValues& values_;
  const RecomputationCosts& costs_;
  const std::vector<int32_t>& step_of_;
  std::unordered_map<uint32_t, int> stages_;  // by value id, of roots that share loops
  std::vector<Item> items_;
  std::string reason_;
  bool any_reductions_;
  std::vector<uint32_t> seen_;  // by value id: the last walk that visited it
  uint32_t walk_ = 0;
  size_t budget_;
};

}  // namespace calque::plan
