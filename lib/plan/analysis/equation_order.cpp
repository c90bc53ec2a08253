#include "plan/analysis/equation_order.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <utility>

namespace calque::plan {
namespace {

bool moves(FusionKind kind) {
  return kind == FusionKind::elementwise || kind == FusionKind::view || kind == FusionKind::reduction;
}

/// Equations that may be put in any order that their operands allow. Ready ones are queued by space, and within a space
/// in program order.
class Segment {
 public:
  Segment(const Graph& graph, std::vector<uint32_t>& defined_at) : g_(graph), defined_at_(defined_at) {}

  /// Appends `equations`, which begin at position `first`.
  void append(std::span<const Equation* const> equations, uint32_t first, std::vector<uint32_t>& out) {
    equations_ = equations;
    missing_.assign(equations.size(), 0);
    users_.assign(equations.size(), {});
    spaces_.clear();
    for (uint32_t i = 0; i < equations.size(); ++i) {
      for (const Value v : equations[i]->results()) defined_at_[v.id()] = first + i;
      for (const Value v : equations[i]->operands()) {
        if (g_.kind(v) != ValueKind::result || defined_at_[v.id()] < first) continue;
        users_[defined_at_[v.id()] - first].push_back(i);
        ++missing_[i];
      }
    }
    for (uint32_t i = 0; i < equations.size(); ++i)
      if (missing_[i] == 0) add_ready(i);
    while (!spaces_.empty()) {
      const auto space = spaces_.begin();
      const uint32_t i = space->second.top();
      space->second.pop();
      if (space->second.empty()) spaces_.erase(space);
      out.push_back(first + i);
      for (const uint32_t user : users_[i])
        if (--missing_[user] == 0) add_ready(user);
    }
  }

 private:
  using Ready = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;

  void add_ready(uint32_t i) {
    const Equation& e = *equations_[i];
    // A reduction loops over its operand.
    int64_t elements = 0;
    for (const Value v : e.results()) elements = std::max(elements, g_.shape(v).num_elements());
    if (fusion_kind_of(e) == FusionKind::reduction)
      elements = std::max(elements, g_.shape(e.operand(0)).num_elements());
    spaces_[elements].push(i);
  }

  const Graph& g_;
  std::vector<uint32_t>& defined_at_;  // by value id: position in the graph
  std::span<const Equation* const> equations_;
  std::vector<uint32_t> missing_;             // number of operands not yet computed
  std::vector<std::vector<uint32_t>> users_;  // once for each use
  std::map<int64_t, Ready> spaces_;
};

/// Positions of the equations in planning order. `separate`: by position, whether it is a separate step.
std::vector<uint32_t> planning_order(const Graph& graph, const std::vector<const Equation*>& all,
                                     const std::vector<bool>& separate) {
  std::vector<uint32_t> out;
  out.reserve(all.size());
  std::vector<uint32_t> defined_at(graph.num_values(), 0);
  Segment segment(graph, defined_at);
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && !separate[end]) ++end;
    segment.append(std::span(all).subspan(i, end - i), static_cast<uint32_t>(i), out);
    if (end < all.size()) {
      for (const Value v : all[end]->results()) defined_at[v.id()] = static_cast<uint32_t>(end);
      out.push_back(static_cast<uint32_t>(end++));
    }
    i = end;
  }
  return out;
}

}  // namespace

EquationOrder::EquationOrder(const Graph& graph, const InPlaceUpdates& updates)
    : position_of_result_(graph.num_values(), 0) {
  const std::vector<const Equation*>& all = updates.sequence;
  std::vector<FusionKind> kinds;
  std::vector<bool> separate;
  for (const Equation* e : all) {
    kinds.push_back(is_elementwise_loop(graph, *e) ? FusionKind::elementwise : fusion_kind_of(*e));
    separate.push_back(!moves(kinds.back()) || updates.is_update(*e));
  }
  for (const uint32_t at : planning_order(graph, all, separate)) {
    const Equation& e = *all[at];
    for (const Value v : e.results()) position_of_result_[v.id()] = static_cast<uint32_t>(equations_.size());
    if (e.results().empty()) position_of_effect_[&e] = equations_.size();
    equations_.push_back(&e);
    kinds_.push_back(kinds[at]);
  }
}

size_t EquationOrder::position(const Equation& e) const {
  return e.results().empty() ? position_of_effect_.at(&e) : position(e.results()[0]);
}

}  // namespace calque::plan
