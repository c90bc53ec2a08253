// A kernel of thousands of buffers is not worth its compile time: every load and store is compared with every other
// one, and a pointer for each has to be in a register. Kernels over one space are formed of equations that follow each
// other, so they are cut where enough buffers have been seen and few values cross.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "plan/planner.h"
#include "plan/split_points.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

constexpr size_t kBuffers = 128;
// What crosses a cut is stored and loaded again: no more than this part of what is loaded anyway.
constexpr double kCrossing = 1.0 / 16;

/// Cuts the equations of one space.
class BufferCutter {
 public:
  BufferCutter(Planner& planner, const std::vector<size_t>& last_use) : p_(planner), last_use_(last_use) {}

  void cut(const std::vector<size_t>& positions) {
    const Shape& shape = p_.g.shape(p_.order[positions[0]]->result());
    const auto elements = static_cast<double>(std::max<int64_t>(shape.num_elements(), 1));
    space_ = without_units(shape);
    seen_.clear();
    seen_elements_ = 0;
    const std::vector<uint32_t> live = live_values(positions);
    CutChooser chooser(kBuffers, p_.plan.most_buffers);
    std::vector<size_t> found;
    for (size_t k = 0; k < positions.size(); ++k) {
      if (const auto at = chooser.reach(k, live[k], static_cast<uint32_t>(kCrossing * seen_elements_ / elements))) {
        found.push_back(positions[*at]);
        // The new piece may begin before this position: what it reads up to here is counted again, as its own.
        seen_.clear();
        seen_elements_ = 0;
        chooser.restart();
        for (size_t n = *at; n < k; ++n) chooser.add(count_buffers(*p_.order[positions[n]]));
      }
      chooser.add(count_buffers(*p_.order[positions[k]]));
    }
    if (found.empty()) return;
    store_crossing(positions, found);
    for (const size_t position : found) p_.cuts.push_back({position, space_});
  }

 private:
  bool in_space(Value v) const { return without_units(p_.g.shape(v)) == space_; }

  /// By position in the list: how many values wait there to be used.
  std::vector<uint32_t> live_values(const std::vector<size_t>& positions) const {
    std::vector<uint32_t> live(positions.size() + 1, 0);  // first: how the number changes
    for (size_t k = 0; k < positions.size(); ++k) {
      for (const Value v : p_.order[positions[k]]->results()) {
        if (!crosses(v)) continue;
        const auto end = std::upper_bound(positions.begin(), positions.end(), last_use_[v.id()]) - positions.begin();
        if (static_cast<size_t>(end) <= k + 1) continue;
        ++live[k + 1];
        --live[static_cast<size_t>(end)];
      }
    }
    for (size_t k = 1; k < live.size(); ++k) live[k] += live[k - 1];
    return live;
  }

  bool crosses(Value v) const { return p_.inlined(v) && !p_.reads_through(v); }

  /// Buffers of the equation that its kernel does not have yet.
  size_t count_buffers(const Equation& e) {
    size_t count = 0;
    const auto add = [&](Value v) {
      ++count;
      seen_elements_ += static_cast<double>(p_.g.shape(v).num_elements());
    };
    for (const Value v : e.results())
      if (p_.plan.in_memory[v.id()] && seen_.insert(v.id()).second) add(v);
    // The parts of a concatenation are distributed over kernels when these are built.
    if (e.id() == id_of<Concatenate>) return count;
    std::vector<Value> stack(e.operands().begin(), e.operands().end());
    while (!stack.empty()) {
      const Value v = stack.back();
      stack.pop_back();
      const bool inlined = p_.inlined(v);
      if (p_.g.is_literal(v) || (inlined && in_space(v)) || !seen_.insert(v.id()).second) continue;
      if (!inlined) {
        add(v);
      } else {
        const auto& operands = p_.g.definition(v)->operands();
        stack.insert(stack.end(), operands.begin(), operands.end());
      }
    }
    return count;
  }

  void store_crossing(const std::vector<size_t>& positions, const std::vector<size_t>& found) {
    for (const size_t i : positions) {
      const auto next = std::upper_bound(found.begin(), found.end(), i);
      if (next == found.end()) return;
      for (const Value v : p_.order[i]->results())
        if (last_use_[v.id()] >= *next && crosses(v)) p_.store(v);
    }
  }

  Planner& p_;
  const std::vector<size_t>& last_use_;  // by value id
  Extents space_;
  std::unordered_set<uint32_t> seen_;  // ids of values that the current piece has looked at
  double seen_elements_ = 0;           // of its buffers
};

}  // namespace

bool Planner::is_part(Value v) const {
  if (users[v.id()].size() != 1 || users[v.id()][0]->id() != id_of<Concatenate>) return false;
  return destination(users[v.id()][0]->result()) != Destination::none;
}

void Planner::bound_buffers() {
  const auto in_memory = std::count(plan.in_memory.begin(), plan.in_memory.end(), true);
  if (static_cast<size_t>(in_memory) <= kBuffers) return;
  std::vector<size_t> last_use(g.num_values(), 0);
  std::map<std::vector<int64_t>, std::vector<size_t>> positions;  // by space
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    for (const Value v : e.operands()) last_use[v.id()] = i;
    if (roles[i] != Role::elementwise && roles[i] != Role::view && roles[i] != Role::reduction) continue;
    if (inlined(e.result()) && is_part(e.result())) continue;
    const Extents space = without_units(g.shape(e.result()));
    positions[{space.begin(), space.end()}].push_back(i);
  }
  BufferCutter cutter(*this, last_use);
  for (const auto& [space, list] : positions)
    if (list.size() > kBuffers / 4) cutter.cut(list);
  std::multimap<size_t, Cut> sorted;  // those of one position in their order
  for (Cut& cut : cuts) sorted.emplace(cut.position, std::move(cut));
  cuts.clear();
  for (auto& [position, cut] : sorted) cuts.push_back(std::move(cut));
}

}  // namespace calque::plan
