// Which results take over the memory of an operand. The order of the steps and what each reads are final here: an
// operand may be overwritten by a step if no later one reads it, and that step reads no element that it has
// overwritten.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/analysis/update_reads.h"
#include "plan/passes/passes.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

class MemoryReuse {
 public:
  MemoryReuse(const PlannedGraph& planned, const GraphAnalysis& analysis, const std::vector<FusionGroup>& groups,
              const std::vector<Step>& steps, MaterializedValues& values)
      : planned_(planned),
        a_(analysis),
        g_(a_.graph),
        groups_(groups),
        steps_(steps),
        values_(values),
        last_read_(g_.num_values(), -1),
        last_reader_(g_.num_values(), nullptr),
        seen_(g_.num_values(), -1),
        step_of_(g_.num_values(), -1),
        is_shared_(g_.num_values(), false),
        is_taken_(g_.num_values(), false) {}

  void run(std::vector<KeptValue>& kept) {
    find_reads();
    for (const Overwriting& o : a_.in_place.overwritings) {
      if (is_possible(o)) {
        values_.set_reused(o.result, o.operand);
        is_taken_[o.operand.id()] = true;
      } else {
        kept.push_back({o.result, reason_against(o, last_reader_[o.operand.id()])});
      }
    }
  }

 private:
  void find_reads() {
    for (uint32_t i = 0; i < g_.num_values(); ++i) {
      const Value whole = values_.shared_buffer(Value(i));
      if (whole.valid()) is_shared_[i] = is_shared_[whole.id()] = true;
    }
    for (size_t s = 0; s < steps_.size(); ++s) {
      const auto step = static_cast<int32_t>(s);
      if (steps_[s].equation != nullptr) {
        for (const Value v : steps_[s].equation->operands()) set_read(v, step, *steps_[s].equation);
        for (const Value v : steps_[s].equation->results()) step_of_[v.id()] = step;
        continue;
      }
      const FusionGroup& group = groups_[static_cast<size_t>(steps_[s].group)];
      for (const Value v : group.roots) step_of_[v.id()] = step;
      for_each_read(group, step, [&](Value v, const Equation& reader) { set_read(v, step, reader); });
    }
  }
  void set_read(Value v, int32_t step, const Equation& reader) {
    last_read_[v.id()] = step;
    last_reader_[v.id()] = &reader;
  }

  /// Calls `visit` with every value in memory that the kernel of a group reads, the operand of an update in place
  /// excepted, and the equation that reads it.
  template <class Visit>
  void for_each_read(const FusionGroup& group, int32_t stamp, const Visit& visit) {
    std::vector<const Equation*> pending;
    for (const Value v : group.roots) pending.push_back(g_.definition(v));
    if (group.anchor != nullptr) pending.push_back(group.anchor);
    for (const Value v : group.roots) seen_[v.id()] = stamp;
    while (!pending.empty()) {
      const Equation& e = *pending.back();
      pending.pop_back();
      for (size_t i = a_.in_place.is_update(e) ? 1 : 0; i < e.operands().size(); ++i) {
        const Value v = e.operand(i);
        if (std::exchange(seen_[v.id()], stamp) == stamp) continue;
        if (g_.kind(v) != ValueKind::result || values_.is_materialized(v)) visit(v, e);
        // A root that another one reads may be computed again.
        if (g_.kind(v) == ValueKind::result && (!values_.is_materialized(v) || step_of_[v.id()] == stamp))
          pending.push_back(g_.definition(v));
      }
    }
  }

  bool is_possible(const Overwriting& o) const {
    const Value x = o.operand;
    const int32_t at = step_of_[o.result.id()];
    if (at < 0 || a_.is_output(x) || is_taken_[x.id()] || is_shared_[x.id()] || is_shared_[o.result.id()]) return false;
    if (g_.kind(x) == ValueKind::result && !values_.is_materialized(x)) return false;
    const int update = rules(o.equation->id()).update_operand;
    if (update < 0) {
      // As the operand of a loop it is read by that step itself.
      const auto& operands = o.equation->operands();
      return last_read_[x.id()] == at && std::count(operands.begin(), operands.end(), x) == 1 && branches_agree(o);
    }
    if (!values_.is_materialized(o.result)) return false;
    const bool is_one_element = g_.shape(o.equation->operand(static_cast<size_t>(update))).num_elements() == 1;
    if (last_read_[x.id()] != at || is_one_element) return last_read_[x.id()] <= at;
    return UpdateReads(g_, *o.equation, [&](Value v) { return values_.is_materialized(v); }).all_in_step();
  }

  /// Whether every branch writes the result into the memory of the operand, or does not read the operand.
  bool branches_agree(const Overwriting& o) const {
    const Equation& e = *o.equation;
    if (e.id() != id_of<Cond> && e.id() != id_of<Switch>) return true;
    const auto position = [](const ValueList& list, Value v) {
      return static_cast<size_t>(std::find(list.begin(), list.end(), v) - list.begin());
    };
    const size_t k = position(e.operands(), o.operand) - 1, j = position(e.results(), o.result);
    const auto branches = planned_.subgraphs(e);
    return !branches.empty() && std::all_of(branches.begin(), branches.end(), [&](const PlannedGraph& branch) {
      const Graph& g = branch.graph();
      const Value input = g.inputs()[k], output = g.outputs()[j];
      const bool once = std::count(g.outputs().begin(), g.outputs().end(), output) == 1;
      return (once && branch.plan().values.first_in_memory(output) == input) || !is_used(g, input);
    });
  }

  const PlannedGraph& planned_;
  const GraphAnalysis& a_;
  const Graph& g_;
  const std::vector<FusionGroup>& groups_;
  const std::vector<Step>& steps_;
  MaterializedValues& values_;
  std::vector<int32_t> last_read_;            // by value id: the last step that reads it, -1 if none does
  std::vector<const Equation*> last_reader_;  // by value id: an equation of that step
  std::vector<int32_t> seen_;                 // by value id: the last step whose kernel was found to read it
  std::vector<int32_t> step_of_;              // by value id: the step that computes it
  std::vector<bool> is_shared_;               // by value id: reshapes have the same memory
  std::vector<bool> is_taken_;                // by value id: a result has its memory
};

}  // namespace

void reuse_memory(const PlannedGraph& planned, const GraphAnalysis& analysis, const std::vector<FusionGroup>& groups,
                  const std::vector<Step>& steps, MaterializedValues& values, std::vector<KeptValue>& kept) {
  kept = analysis.in_place.kept;
  if (!analysis.in_place.overwritings.empty()) MemoryReuse(planned, analysis, groups, steps, values).run(kept);
}

}  // namespace calque::plan
