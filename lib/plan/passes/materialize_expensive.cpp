// Which values cost more to recompute than to load: those that several kernels, or several elements of one kernel, use.
// A value is decided after its operands, so the cost of recomputing it is counted from the last materialized values on.
#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <vector>

#include "plan/analysis/concatenations.h"
#include "plan/analysis/equations.h"
#include "plan/analysis/loop_nest.h"
#include "plan/analysis/loop_prefix.h"
#include "plan/analysis/product_operands.h"
#include "plan/passes/passes.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Recomputing a chain of this many operations costs about as much as a load of its value from a cache.
constexpr double kExpensive = 8;
/// A scalar is computed once in each kernel that uses it, whatever the kernel's space.
constexpr double kExpensiveScalar = 200;
/// Repeating this many operations in the loops before and after a reduction costs more than a pass over memory.
constexpr double kExpensiveTwice = 64;
/// A slice of this many elements still fills vectors when it is computed alone.
constexpr int64_t kLongSlice = 64;
/// A loop of this many iterations around reductions, in another loop, is unrolled: they share what they have in common.
constexpr int64_t kUnrolled = 4;
/// Costs grow exponentially along chains of shared values.
constexpr double kMostCost = 1e12;

/// How the elements of a value are read.
struct Reads {
  size_t same = 0, elsewhere = 0;  ///< users that read it at the value's own index, and at other indices
  int64_t sliced = 0;              ///< elements that slices read
  bool repeated = false;           ///< an element is read more than twice
};

class ExpensiveValues {
 public:
  ExpensiveValues(const GraphAnalysis& analysis, const MachineLimits& limits, MaterializedValues& values,
                  Remarks& remarks)
      : a_(analysis),
        g_(a_.graph),
        limits_(limits),
        values_(values),
        remarks_(remarks),
        costs_{std::vector<double>(g_.num_values(), 0)},
        repeated_(g_.num_values(), 0),
        shared_(g_.num_values(), 0),
        is_reduced_(g_.num_values(), false) {}

  RecomputationCosts run() {
    find_reduced();
    for (size_t i = 0; i < a_.order.size(); ++i) visit(a_.order[i], a_.order.kind(i));
    return std::move(costs_);
  }

 private:
  void visit(const Equation& e, FusionKind kind) {
    const double cost = recomputation_cost(e, kind);
    count_repeated(e, kind);
    for (const Value v : e.results()) costs_.operations[v.id()] = cost;
    for (const Value v : e.results()) {
      if (values_.is_materialized(v)) continue;
      if (a_.is_compared_with_extremum(v) && !values_.is_plain_load(v)) {
        values_.materialize(v);
      } else if (is_expensive(v, cost)) {
        remarks_.add(g_.definition(v)->primitive() + " of " + to_string(g_.type(v)) +
                     " goes through memory: several loops use it, and it takes about " + operations_text(cost));
        values_.materialize(v);
      } else if (e.id() == id_of<Concatenate> && selects_expensively(costs_, e) && is_read_by_element(v)) {
        remarks_.add("concatenate of " + to_string(g_.type(v)) +
                     " goes through memory: to select one of its operands takes about " + operations_text(cost));
        values_.materialize(v);
      }
    }
  }

  static std::string operations_text(double cost) {
    return (cost < 1e9 ? std::to_string(std::llround(cost)) : "10^9 or more") + " operations";
  }

  /// Whether something needs elements of v that does not write its operands to slices of memory.
  bool is_read_by_element(Value v) const {
    return std::ranges::any_of(a_.users(v), [&](const Equation* user) {
      if (user->id() == id_of<Concatenate>) return false;
      return !only_changes_size_1_dims(g_, *user) || is_read_by_element(user->result());
    });
  }

  /// Operations to compute an element of the results from materialized values.
  double recomputation_cost(const Equation& e, FusionKind kind) const {
    double cost = kind == FusionKind::view ? 0 : 1;
    if (e.id() == id_of<Div> || e.id() == id_of<Sqrt> || e.id() == id_of<Rsqrt> || e.id() == id_of<Rem>) cost = 4;
    if (kind == FusionKind::elementwise) cost = std::max<double>(cost, cost_of(g_, e).operations);
    const bool is_short = kind == FusionKind::reduction && is_short_reduction(g_, e);
    if ((kind == FusionKind::reduction && !is_short) || has_loops_or_calls(g_, e)) cost = std::max(cost, 64.0);
    for (const Value o : e.operands())
      if (values_.is_inlined(o)) cost += costs_.operations[o.id()];
    if (is_short) cost *= 4;
    return std::min(cost, kMostCost);
  }

  /// Counts the operations that every loop over results of the equation repeats.
  void count_repeated(const Equation& e, FusionKind kind) {
    // Reductions and values with fewer elements are computed once for the loop.
    const bool starts_anew = kind == FusionKind::reduction || e.id() == id_of<While>;
    for (const Value v : e.results()) {
      double all = kind == FusionKind::view ? 0 : cost_of(g_, e).operations, elsewhere_too = 0;
      for (const Value o : e.operands()) {
        if (starts_anew || !values_.is_inlined(o)) continue;
        if (g_.shape(o).num_elements() < g_.shape(v).num_elements()) continue;
        all += repeated_[o.id()];
        elsewhere_too += repeated_by_others(o);
      }
      repeated_[v.id()] = std::min(all, kMostCost);
      shared_[v.id()] = std::min(elsewhere_too, kMostCost);
    }
  }

  /// Of the operations that a loop over v repeats, those that a loop of a reduction repeats too.
  double repeated_by_others(Value v) const {
    return a_.num_uses(v) > 1 && is_reduced_[v.id()] ? repeated_[v.id()] : shared_[v.id()];
  }

  /// Marks the values that reductions use, other than by way of materialized ones, or of a broadcast: those are
  /// computed in outer loops, where they are available after the reduction.
  void find_reduced() {
    for (size_t i = a_.order.size(); i-- > 0;) {
      const Equation& e = a_.order[i];
      const bool reduces = a_.order.kind(i) == FusionKind::reduction;
      const bool reduced = std::any_of(e.results().begin(), e.results().end(),
                                       [&](Value v) { return is_reduced_[v.id()] && !values_.is_materialized(v); });
      if (!reduces && !reduced) continue;
      for (const Value o : e.operands()) {
        const bool in_outer_loop =
            !reduces && !e.results().empty() && g_.shape(o).num_elements() < g_.shape(e.result()).num_elements();
        if (!in_outer_loop) is_reduced_[o.id()] = true;
      }
    }
  }

  bool is_expensive(Value v, double cost) const {
    const int64_t elements = g_.shape(v).num_elements();
    if (cost < (elements == 1 ? kExpensiveScalar : kExpensive) || is_faster_recomputed(a_, values_, v)) return false;
    Reads reads;
    count_reads(v, reads);
    // Disjoint slices count as one reader.
    if (reads.sliced > 0) ++reads.elsewhere;
    if (repeats_much(v) || reads.repeated || reads.sliced > elements) return true;
    // Once for each reader.
    if (elements > 1 && cost < limits_.operations_per_pass) return false;
    return reads.elsewhere > 1 || (reads.elsewhere == 1 && reads.same > 0);
  }

  /// Whether v is computed in the loops before a reduction and used in those after it, so that much of the computation
  /// in the earlier loops would be repeated.
  bool repeats_much(Value v) const {
    if (repeated_by_others(v) < kExpensiveTwice || a_.is_scalar(v)) return false;
    const auto& users = a_.users(v);
    return std::any_of(users.begin(), users.end(), [&](const Equation* user) {
      return a_.kind(*user) != FusionKind::reduction && !user->results().empty() &&
             a_.reduction_depth(user->results()[0]) > a_.reduction_depth(v);
    });
  }

  void count_reads(Value v, Reads& reads) const {
    for (const Equation* user : a_.users(v)) count_reads_by(*user, v, reads);
  }

  void count_reads_by(const Equation& user, Value v, Reads& reads) const {
    const FusionKind kind = a_.kind(user);
    const int64_t elements = g_.shape(v).num_elements();
    if (kind == FusionKind::elementwise || reads_in_step(user, v)) {
      ++reads.same;
    } else if (kind == FusionKind::reduction) {
      ++(values_.is_materialized(user.result()) ? reads.elsewhere : reads.same);
    } else if (elements > 1 && only_changes_size_1_dims(g_, user)) {
      values_.is_materialized(user.result()) ? void(++reads.same) : count_reads(user.result(), reads);
    } else if (user.id() == id_of<Slice> && g_.shape(user.result()).num_elements() >= kLongSlice) {
      reads.sliced += g_.shape(user.result()).num_elements();
    } else if (elements > 1 && user.id() == id_of<Concatenate> &&
               destination(a_, values_, user.result()) != Destination::none) {
      ++reads.same;
    } else if (elements == 1 && kind == FusionKind::view && g_.shape(user.result()).num_elements() <= kSmallSpace) {
      ++reads.same;
    } else {
      ++reads.elsewhere;
      reads.repeated = reads.repeated || reads_repeatedly(user, v);
    }
  }

  /// Whether the user looks up one element of another array for each element of v.
  bool reads_in_step(const Equation& user, Value v) const {
    return user.id() == id_of<Gather> && user.operand(1) == v && user.operand(0) != v &&
           g_.shape(user.result()).num_elements() == g_.shape(v).num_elements();
  }

  /// Whether a user that reads v at other indices reads its elements more than twice.
  bool reads_repeatedly(const Equation& user, Value v) const {
    const int64_t elements = g_.shape(v).num_elements();
    if (user.results().empty() || elements <= 1) return false;
    const Shape& result = g_.shape(user.result());
    if (result.num_elements() <= 2 * elements) return false;
    const int prefix = user.id() == id_of<Broadcast> ? operand_prefix(a_, user, v, result.rank()) : -1;
    return prefix < 0 || is_reduced_over_prefix(user.result(), prefix);
  }

  /// Whether elementwise equations take v to a reduction whose loops over some of the `prefix` outermost dimensions
  /// (extents other than 1) are inside of a long one over dimensions that are kept.
  bool is_reduced_over_prefix(Value v, int prefix) const {
    std::vector<Value> stack = {v};
    std::unordered_set<uint32_t> seen = {v.id()};
    while (!stack.empty()) {
      const Value next = stack.back();
      stack.pop_back();
      if (values_.is_materialized(next)) continue;
      for (const Equation* user : a_.users(next)) {
        if (a_.kind(*user) == FusionKind::reduction && has_prefix_inside(*user, prefix)) return true;
        if (a_.kind(*user) != FusionKind::elementwise) continue;
        for (const Value result : user->results())
          if (seen.insert(result.id()).second) stack.push_back(result);
      }
    }
    return false;
  }

  bool has_prefix_inside(const Equation& reduction, int prefix) const {
    const LoopNest nest = loop_nest_of_reduction(g_, reduction);
    if (!nest.valid() || nest.reduced.front() >= prefix) return false;
    int64_t kept_inside = 1;
    for (auto d = static_cast<size_t>(nest.reduced.front()); d < nest.full.size(); ++d)
      if (std::ranges::find(nest.reduced, static_cast<int64_t>(d)) == nest.reduced.end()) kept_inside *= nest.full[d];
    const bool in_outer_loop = nest.reduced.front() > 0;
    return kept_inside > (in_outer_loop ? kUnrolled : 1);
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  const MachineLimits& limits_;
  MaterializedValues& values_;
  Remarks& remarks_;
  RecomputationCosts costs_;
  std::vector<double> repeated_;  // by value id: operations that every loop over its elements repeats
  std::vector<double> shared_;    // by value id: those of them that a reduction needs too
  std::vector<bool> is_reduced_;  // by value id: whether a reduction needs it
};

}  // namespace

bool selects_expensively(const RecomputationCosts& costs, const Equation& concatenation) {
  double all = 0, most = 0;
  for (const Value v : concatenation.operands()) {
    all += costs.operations[v.id()];
    most = std::max(most, costs.operations[v.id()]);
  }
  return all - most >= kExpensiveTwice;
}

RecomputationCosts materialize_expensive(const GraphAnalysis& analysis, const MachineLimits& limits,
                                         MaterializedValues& values, Remarks& remarks) {
  return ExpensiveValues(analysis, limits, values, remarks).run();
}

}  // namespace calque::plan
