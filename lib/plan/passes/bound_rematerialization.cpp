// Which values one element of a root would need at too many indices. Along chains of views that split and join, such as
// the steps of a Fourier transform, their number doubles with each step, and code would grow exponentially. Walks from
// the roots back to memory with the set of indices at which each value is used.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plan/analysis/concatenations.h"
#include "plan/analysis/equations.h"
#include "plan/passes/passes.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Limits on the number of different indices at which a value is computed for one element of a root, and on the number
/// of index changes between them.
constexpr size_t kMaxIndices = 16;
constexpr int kMaxIndexChanges = 64;

uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15ULL;
  return a ^ (a >> 29);
}

/// A use of a value: its index and condition, as hashes of the paths to it.
struct IndexedUse {
  uint64_t index = 0, condition = 0;
  friend bool operator==(const IndexedUse&, const IndexedUse&) = default;
};

/// The uses of one value.
struct Demand {
  ::calque::detail::InlineVector<IndexedUse, 2> uses;
  int changes = 0;  ///< most index changes on a path from a root
};

class RematerializationBound {
 public:
  RematerializationBound(const GraphAnalysis& analysis, MaterializedValues& values)
      : a_(analysis), g_(a_.graph), values_(values), demands_(g_.num_values()), concatenated_(g_.num_values(), false) {}

  void run() {
    for (size_t i = a_.order.size(); i-- > 0;) visit(i);
  }

 private:
  void visit(size_t i) {
    const Equation& e = a_.order[i];
    for (const Value v : e.results())
      if (exceeds_limits(v)) values_.materialize(v);
    bool written = false;
    Demand demand = demand_of_results(e, written);
    if (e.id() != id_of<Concatenate>) return demand_operands(i, demand);
    bool by_operands = written || destination(a_, values_, e.result()) != Destination::none;
    if (!by_operands && has_many_operands(e) && values_.is_inlined(e.result())) {
      values_.materialize(e.result());
      by_operands = true;
    }
    by_operands ? demand_slices(e, demand.changes) : demand_operands(i, demand);
  }

  bool exceeds_limits(Value v) const {
    const Demand& demand = demands_[v.id()];
    return values_.is_inlined(v) && (demand.uses.size() > kMaxIndices || demand.changes > kMaxIndexChanges) &&
           !values_.is_plain_load(v);
  }

  /// Where the results are computed. `written`: over their own space, into memory.
  Demand demand_of_results(const Equation& e, bool& written) const {
    Demand all;
    for (const Value v : e.results()) {
      if (values_.is_materialized(v)) {
        written = true;
        all.uses.push_back({hash_of_space(v), 0});
        continue;
      }
      const Demand& demand = demands_[v.id()];
      all.changes = std::max(all.changes, demand.changes);
      for (const IndexedUse& use : demand.uses) all.uses.push_back(use);
      written = written || concatenated_[v.id()];
    }
    return all;
  }

  /// Each operand of a concatenation is written to its slice of the result, over its own space.
  void demand_slices(const Equation& concatenation, int changes) {
    for (const Value v : concatenation.operands()) {
      if (!values_.is_inlined(v)) continue;
      concatenated_[v.id()] = true;
      add_use(v, {hash_of_space(v), 0}, changes + 1);
    }
  }

  void demand_operands(size_t i, const Demand& demand) {
    const Equation& e = a_.order[i];
    const FusionKind kind = a_.order.kind(i);
    const bool conditional = kind == FusionKind::view && !always_reads(e);
    for (size_t k = 0; k < e.operands().size(); ++k) {
      const Value v = e.operand(k);
      if (!values_.is_inlined(v)) continue;
      const bool same =
          (kind == FusionKind::elementwise && g_.shape(v) == g_.shape(e.result())) || only_changes_size_1_dims(g_, e);
      const uint64_t path = mix(i + 1, k + 1);
      for (IndexedUse use : demand.uses) {
        if (!same) use.index = a_.is_scalar(v) ? 0 : mix(use.index, path);
        if (conditional) use.condition = mix(mix(use.condition, use.index), path);
        add_use(v, use, demand.changes + (same ? 0 : 1));
      }
    }
  }

  void add_use(Value v, const IndexedUse& use, int changes) {
    Demand& demand = demands_[v.id()];
    demand.changes = std::max(demand.changes, changes);
    if (demand.uses.size() > kMaxIndices) return;
    if (std::find(demand.uses.begin(), demand.uses.end(), use) == demand.uses.end()) demand.uses.push_back(use);
  }

  /// The index of a root: roots over one space share their kernel's index. 0 for scalars.
  uint64_t hash_of_space(Value v) const {
    uint64_t space = 0;
    for (const int64_t extent : g_.shape(v))
      if (extent != 1) space = mix(space, static_cast<uint64_t>(extent) + 2);
    return space;
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  MaterializedValues& values_;
  std::vector<Demand> demands_;     // by value id
  std::vector<bool> concatenated_;  // by value id: operand of a concatenation that is written operand by operand
};

}  // namespace

void bound_rematerialization(const GraphAnalysis& analysis, MaterializedValues& values) {
  RematerializationBound(analysis, values).run();
}

}  // namespace calque::plan
