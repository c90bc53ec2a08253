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

/// The slices of concatenations in memory that a value is written to, over its own space.
struct Slices {
  size_t count = 0;
  bool dense = true;  ///< its elements are contiguous in each of them
  int changes = 0;    ///< most concatenations on a path from a root
};

class RematerializationBound {
 public:
  RematerializationBound(const GraphAnalysis& analysis, MaterializedValues& values)
      : a_(analysis), g_(a_.graph), values_(values), demands_(g_.num_values()), slices_(g_.num_values()) {}

  void run() {
    for (size_t i = a_.order.size(); i-- > 0;) visit(i);
  }

 private:
  void visit(size_t i) {
    const Equation& e = a_.order[i];
    for (const Value v : e.results())
      if (exceeds_limits(v)) values_.materialize(v);
    Demand demand = demand_of_results(e);
    // A concatenation that has memory, or is a slice of one that has, is computed operand by operand. What else needs
    // it selects an operand for each element.
    if (e.id() == id_of<Concatenate> || e.id() == id_of<Reshape>) {
      const Value v = e.result();
      if (e.id() == id_of<Concatenate> && has_many_operands(e) && !demand.uses.empty() && values_.is_inlined(v)) {
        values_.materialize(v);
        demand = {};
      }
      const Slices slices = values_.is_materialized(v) ? Slices{.count = 1} : slices_[v.id()];
      if (slices.count > 0 && add_slices(e, slices)) {
        if (!values_.is_materialized(v)) demand_operands(i, demand);
        return;
      }
    }
    add_uses_over_own_space(e, demand);
    demand_operands(i, demand);
  }

  bool exceeds_limits(Value v) const {
    if (!values_.is_inlined(v)) return false;
    const Demand& demand = demands_[v.id()];
    const Slices& slices = slices_[v.id()];
    // Where v is itself written operand by operand, the number of slices multiplies with each step.
    if (slices.changes > kMaxIndexChanges || (slices.count > kMaxIndices && concatenation_of(v) != nullptr))
      return true;
    return (demand.uses.size() > kMaxIndices || demand.changes > kMaxIndexChanges) && !values_.is_plain_load(v);
  }

  /// The concatenation computed where v is, which v is or is a reshape of. Otherwise null.
  const Equation* concatenation_of(Value v) const {
    for (; values_.is_inlined(v); v = g_.definition(v)->operand(0)) {
      const Equation& e = *g_.definition(v);
      if (e.id() == id_of<Concatenate>) return &e;
      if (e.id() != id_of<Reshape>) break;
    }
    return nullptr;
  }

  /// The indices at which users compute the results.
  Demand demand_of_results(const Equation& e) const {
    Demand all;
    for (const Value v : e.results()) {
      if (values_.is_materialized(v)) continue;
      const Demand& demand = demands_[v.id()];
      all.changes = std::max(all.changes, demand.changes);
      for (const IndexedUse& use : demand.uses) all.uses.push_back(use);
    }
    return all;
  }

  /// Adds the loops over the results' own spaces, in which they are written to memory.
  void add_uses_over_own_space(const Equation& e, Demand& demand) const {
    for (const Value v : e.results()) {
      const Slices& slices = slices_[v.id()];
      if (!values_.is_materialized(v) && slices.count == 0) continue;
      demand.uses.push_back({hash_of_space(v), 0});
      if (!values_.is_materialized(v)) demand.changes = std::max(demand.changes, slices.changes);
    }
  }

  /// If the result is a concatenation, or a reshape of one, that is written operand by operand: adds the slices to
  /// which the operands are written.
  bool add_slices(const Equation& e, Slices slices) {
    const Shape& shape = g_.shape(e.result());
    if (e.id() == id_of<Reshape>) {
      if (concatenation_of(e.operand(0)) == nullptr || !(slices.dense || only_changes_size_1_dims(g_, e))) return false;
    } else {
      for (int64_t d = 0; d < e.attributes().integer("axis"); ++d)
        slices.dense = slices.dense && shape[static_cast<size_t>(d)] == 1;
      ++slices.changes;
    }
    for (const Value v : e.operands()) {
      if (!values_.is_inlined(v)) continue;
      Slices& all = slices_[v.id()];
      all = {std::min(all.count + slices.count, kMaxIndices + 1), all.dense && slices.dense,
             std::max(all.changes, slices.changes)};
    }
    return true;
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
  std::vector<Demand> demands_;  // by value id
  std::vector<Slices> slices_;   // by value id
};

}  // namespace

void bound_rematerialization(const GraphAnalysis& analysis, MaterializedValues& values) {
  RematerializationBound(analysis, values).run();
}

}  // namespace calque::plan
