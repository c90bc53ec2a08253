// Where straight-line code over very many arrays is split into kernels. A kernel of thousands of buffers is not worth
// its compile time: alias analysis compares every load and store with every other one, and each buffer's pointer needs
// a register. Kernels over one space are formed from consecutive equations, so they are split where enough buffers have
// been seen and few values are live.
#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_set>

#include "plan/analysis/concatenations.h"
#include "plan/analysis/equations.h"
#include "plan/passes/passes.h"
#include "plan/passes/split_points.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// A kernel has about this many buffers, if few values are live where it can end.
constexpr size_t kBuffers = 128;
/// Values live across a split point are stored and reloaded: at most this fraction of what is loaded anyway.
constexpr double kCrossing = 1.0 / 16;
/// Over so few elements what is stored and reloaded stays in the first-level cache, where the stack frame of one long
/// kernel would be too: any number of values may be live across a split point.
constexpr int64_t kFewElements = 64;

/// Splits the equations of one space at a time.
class BufferSplitter {
 public:
  BufferSplitter(const GraphAnalysis& analysis, size_t most_buffers, MaterializedValues& values,
                 SplitPoints& split_points)
      : a_(analysis),
        g_(a_.graph),
        most_buffers_(most_buffers),
        values_(values),
        split_points_(split_points),
        last_use_(g_.num_values(), 0) {
    for (size_t i = 0; i < a_.order.size(); ++i)
      for (const Value v : a_.order[i].operands()) last_use_[v.id()] = i;
  }

  /// `positions`: of all equations of the space.
  void split(const std::vector<size_t>& positions) {
    const Shape& shape = g_.shape(a_.order[positions[0]].result());
    const auto elements = static_cast<double>(std::max<int64_t>(shape.num_elements(), 1));
    const bool any_number_crosses = shape.num_elements() <= kFewElements;
    space_ = without_size_1_dims(shape);
    seen_.clear();
    seen_elements_ = 0;
    begin_ = 0;
    const std::vector<uint32_t> live = live_values(positions);
    SplitPointChooser chooser(kBuffers, most_buffers_);
    std::vector<size_t> found;
    for (size_t k = 0; k < positions.size(); ++k) {
      const auto few = any_number_crosses ? UINT32_MAX : static_cast<uint32_t>(kCrossing * seen_elements_ / elements);
      if (const auto at = chooser.reach(k, live[k], few)) {
        found.push_back(positions[*at]);
        begin_ = positions[*at];
        // The new chunk may begin before this position: the buffers that it uses up to here are counted for it.
        seen_.clear();
        seen_elements_ = 0;
        chooser.restart();
        for (size_t n = *at; n < k; ++n) chooser.add(count_buffers(a_.order[positions[n]]));
      }
      chooser.add(count_buffers(a_.order[positions[k]]));
    }
    if (found.empty()) return;
    materialize_crossing(positions, found);
    for (const size_t position : found) split_points_.push_back({position, space_});
  }

 private:
  bool in_space(Value v) const { return without_size_1_dims(g_.shape(v)) == space_; }

  /// By position in the list: how many values are live there.
  std::vector<uint32_t> live_values(const std::vector<size_t>& positions) const {
    std::vector<uint32_t> live(positions.size() + 1, 0);  // at first, the change of the number
    for (size_t k = 0; k < positions.size(); ++k) {
      for (const Value v : a_.order[positions[k]].results()) {
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

  bool crosses(Value v) const { return values_.is_inlined(v) && !values_.is_plain_load(v); }

  /// The number of buffers of the equation that its kernel does not have yet. What only reads memory, such as a
  /// broadcast of an array, is done in the kernels of its users and has its buffers there.
  size_t count_buffers(const Equation& e) {
    size_t count = 0;
    if (values_.is_inlined(e.result()) && values_.is_plain_load(e.result())) return count;
    const auto add = [&](Value v) {
      ++count;
      seen_elements_ += static_cast<double>(g_.shape(v).num_elements());
    };
    for (const Value v : e.results())
      if (values_.is_materialized(v) && seen_.insert(v.id()).second) add(v);
    // The operands of a concatenation are distributed over kernels when these are built.
    if (e.id() == id_of<Concatenate>) return count;
    std::vector<Value> stack(e.operands().begin(), e.operands().end());
    while (!stack.empty()) {
      const Value v = stack.back();
      stack.pop_back();
      if (g_.is_literal(v) || (crosses(v) && in_space(v) && !is_of_earlier_chunk(v))) continue;
      if (!seen_.insert(v.id()).second) continue;
      if (!values_.is_inlined(v) || (crosses(v) && in_space(v))) {
        add(v);
      } else {
        const auto& operands = g_.definition(v)->operands();
        stack.insert(stack.end(), operands.begin(), operands.end());
      }
    }
    return count;
  }

  bool is_of_earlier_chunk(Value v) const { return a_.order.position(*g_.definition(v)) < begin_; }

  void materialize_crossing(const std::vector<size_t>& positions, const std::vector<size_t>& found) {
    for (const size_t i : positions) {
      const auto next = std::upper_bound(found.begin(), found.end(), i);
      if (next == found.end()) return;
      for (const Value v : a_.order[i].results())
        if (last_use_[v.id()] >= *next && crosses(v)) values_.materialize(v);
    }
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  const size_t most_buffers_;
  MaterializedValues& values_;
  SplitPoints& split_points_;
  std::vector<size_t> last_use_;  // by value id
  Extents space_;
  std::unordered_set<uint32_t> seen_;  // ids of values visited for the current chunk
  double seen_elements_ = 0;           // of the chunk's buffers
  size_t begin_ = 0;                   // the position of the chunk's first equation
};

/// The positions of equations whose kernels can be split, by the space that they compute.
std::map<std::vector<int64_t>, std::vector<size_t>> positions_by_space(const GraphAnalysis& a,
                                                                       const MaterializedValues& values) {
  std::map<std::vector<int64_t>, std::vector<size_t>> positions;
  for (size_t i = 0; i < a.order.size(); ++i) {
    const FusionKind kind = a.order.kind(i);
    if (kind != FusionKind::elementwise && kind != FusionKind::view && kind != FusionKind::reduction) continue;
    const Value v = a.order[i].result();
    if (values.is_inlined(v) && is_concatenation_operand(a, values, v)) continue;
    const Extents space = without_size_1_dims(a.graph.shape(v));
    positions[{space.begin(), space.end()}].push_back(i);
  }
  return positions;
}

}  // namespace

void bound_buffers(const GraphAnalysis& analysis, size_t most_buffers, MaterializedValues& values,
                   SplitPoints& split_points) {
  if (values.num_materialized() <= kBuffers) return;
  const auto positions = positions_by_space(analysis, values);
  BufferSplitter splitter(analysis, most_buffers, values, split_points);
  for (const auto& [space, list] : positions)
    if (list.size() > kBuffers / 4) splitter.split(list);
  std::multimap<size_t, SplitPoint> sorted;  // those at one position stay in order
  for (SplitPoint& split_point : split_points) sorted.emplace(split_point.position, std::move(split_point));
  split_points.clear();
  for (auto& [position, split_point] : sorted) split_points.push_back(std::move(split_point));
}

}  // namespace calque::plan
