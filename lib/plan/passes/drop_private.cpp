// Which roots need no memory after all. Roots that share loops are formed while it is not known who else reads them;
// one that only its own loop reads stays in registers.
//
// A loop runs the pointwise operations and reductions of one stage: those that depend on a chain of as many reductions
// of their kernel. A pointwise root may be inlined if all its users are in its own stage.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "plan/analysis/equations.h"
#include "plan/passes/passes.h"

namespace calque::plan {
namespace {

constexpr int32_t kNowhere = -1, kSeveral = -2;

class PrivateRoots {
 public:
  PrivateRoots(const GraphAnalysis& analysis, MaterializedValues& values, std::vector<FusionGroup>& groups)
      : a_(analysis),
        g_(a_.graph),
        values_(values),
        groups_(groups),
        home_(g_.num_values(), kNowhere),
        stage_(g_.num_values(), 0) {}

  void run() {
    find_homes();
    find_stages();
    for (size_t k = 0; k < groups_.size(); ++k)
      if (!groups_[k].loops.empty()) drop(k);
  }

 private:
  void find_homes() {
    for (size_t k = 0; k < groups_.size(); ++k)
      for (const Value v : groups_[k].roots) home_[v.id()] = static_cast<int32_t>(k);
    for (size_t i = a_.order.size(); i-- > 0;)
      for (const Value v : a_.order[i].results())
        if (values_.is_inlined(v)) home_[v.id()] = home_of_users(v);
  }

  int32_t home_of_users(Value v) const {
    int32_t home = home_[v.id()];
    for (const Equation* user : a_.users(v)) {
      for (const Value r : user->results()) {
        const int32_t there = home_[r.id()];
        if (there == kNowhere) continue;
        home = home == kNowhere || home == there ? there : kSeveral;
      }
    }
    return home;
  }

  void find_stages() {
    for (size_t i = 0; i < a_.order.size(); ++i) {
      const Equation& e = a_.order[i];
      int deepest = 0;
      for (const Value o : e.operands()) {
        if (g_.kind(o) != ValueKind::result || e.results().empty()) continue;
        const int32_t here = home_[e.results()[0].id()];
        if (values_.is_inlined(o) || home_[o.id()] == here || here == kSeveral)
          deepest = std::max(deepest, stage_[o.id()]);
      }
      for (const Value v : e.results()) stage_[v.id()] = deepest + (a_.order.kind(i) == FusionKind::reduction);
    }
  }

  void drop(size_t k) {
    FusionGroup& group = groups_[k];
    std::vector<Value> kept;
    for (const Value v : group.roots) {
      if (is_private(v, static_cast<int32_t>(k))) {
        values_.make_inlined(v);
      } else {
        kept.push_back(v);
      }
    }
    group.roots = std::move(kept);
  }

  /// Whether only the loop of group k that computes v reads it.
  bool is_private(Value v, int32_t k) const {
    const auto& users = a_.users(v);
    if (values_.is_required(v) || users.empty()) return false;
    const bool pointwise = without_size_1_dims(g_.shape(v)) == groups_[static_cast<size_t>(k)].loops;
    return std::all_of(users.begin(), users.end(), [&](const Equation* user) {
      const FusionKind kind = a_.kind(*user);
      if (user->results().empty()) return false;
      if (pointwise && kind != FusionKind::reduction && kind != FusionKind::elementwise) return false;
      const int stage = stage_[v.id()] + (kind == FusionKind::reduction);
      return std::all_of(user->results().begin(), user->results().end(), [&](Value r) {
        if (home_[r.id()] == kNowhere) return true;  // unused
        return home_[r.id()] == k && (!pointwise || stage_[r.id()] == stage);
      });
    });
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  MaterializedValues& values_;
  std::vector<FusionGroup>& groups_;
  std::vector<int32_t> home_;  // by value id: the only group that computes it
  std::vector<int> stage_;     // by value id: reductions of its group that it depends on, in a chain
};

}  // namespace

void drop_private(const GraphAnalysis& analysis, MaterializedValues& values, std::vector<FusionGroup>& groups) {
  PrivateRoots(analysis, values, groups).run();
}

}  // namespace calque::plan
