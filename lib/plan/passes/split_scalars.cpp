// Where long straight-line scalar code is split into kernels: the time to compile a kernel grows faster than its size.
// Splits where few values are live, because these go through memory.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/analysis/equations.h"
#include "plan/passes/passes.h"
#include "plan/passes/split_points.h"

namespace calque::plan {
namespace {

/// Scalars are computed in kernels of about this many operations.
constexpr uint64_t kScalarChunk = 1500;

class ScalarSplitter {
 public:
  ScalarSplitter(const GraphAnalysis& analysis, MaterializedValues& values)
      : a_(analysis), values_(values), last_use_(a_.graph.num_values(), 0) {
    for (size_t i = 0; i < a_.order.size(); ++i)
      for (const Value v : a_.order[i].operands()) last_use_[v.id()] = i;
  }

  SplitPoints run() {
    const std::vector<size_t> positions = choose_split_points(weights(), live_values(), kScalarChunk);
    materialize_crossing(positions);
    SplitPoints out;
    for (const size_t position : positions) out.push_back({position, {}});
    return out;
  }

 private:
  /// A scalar that a later kernel would recompute.
  bool crosses(Value v) const { return values_.is_inlined(v) && a_.is_scalar(v) && !values_.is_plain_load(v); }

  /// By position: operations on scalars.
  std::vector<uint32_t> weights() const {
    std::vector<uint32_t> weight(a_.order.size(), 0);
    for (size_t i = 0; i < a_.order.size(); ++i) {
      const Equation& e = a_.order[i];
      if (a_.order.kind(i) == FusionKind::elementwise && a_.is_scalar(e.result())) weight[i] = operations(a_.graph, e);
    }
    return weight;
  }

  /// By position: how many scalars are live there.
  std::vector<uint32_t> live_values() const {
    std::vector<uint32_t> live(a_.order.size() + 1, 0);  // at first, the change of the number
    for (size_t i = 0; i < a_.order.size(); ++i) {
      for (const Value v : a_.order[i].results()) {
        if (!crosses(v) || last_use_[v.id()] <= i) continue;
        ++live[i + 1];
        --live[last_use_[v.id()] + 1];
      }
    }
    for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
    return live;
  }

  void materialize_crossing(const std::vector<size_t>& positions) {
    for (size_t i = 0; i < a_.order.size(); ++i) {
      const auto next = std::upper_bound(positions.begin(), positions.end(), i);
      if (next == positions.end()) return;
      for (const Value v : a_.order[i].results())
        if (last_use_[v.id()] >= *next && crosses(v)) values_.materialize(v);
    }
  }

  const GraphAnalysis& a_;
  MaterializedValues& values_;
  std::vector<size_t> last_use_;  // by value id
};

}  // namespace

SplitPoints split_scalars(const GraphAnalysis& analysis, MaterializedValues& values) {
  return ScalarSplitter(analysis, values).run();
}

}  // namespace calque::plan
