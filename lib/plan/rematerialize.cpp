// Values that would be recomputed too often are materialized: expensive values that several kernels use, values behind
// many views, and values between the chunks of long straight-line scalar code.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "plan/equations.h"
#include "plan/planner.h"
#include "plan/split_points.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Recomputing a chain of this many operations costs about as much as a load and a store of its value.
constexpr double kExpensive = 8;
constexpr double kExpensiveScalar = 200;
/// Repeating this many operations in the loops before and after a reduction costs more than a pass over memory.
constexpr double kExpensiveTwice = 64;
/// A slice of this many elements still fills vectors when it is computed alone.
constexpr int64_t kLongSlice = 64;
/// Limits on the number of different indices at which a value is computed for one element of a root, and on the number
/// of index changes between them: beyond these, chains of views would grow code exponentially.
constexpr size_t kMaxIndices = 16;
constexpr int kMaxIndexChanges = 64;

/// Scalars are computed in kernels of about this many operations: the time to compile a kernel grows faster than its
/// size.
constexpr uint64_t kScalarChunk = 1500;

/// A use of a value: its index and condition, as hashes of the paths to it.
struct Use {
  uint64_t index = 0, condition = 0;
  friend bool operator==(const Use&, const Use&) = default;
};

}  // namespace

void Planner::materialize_expensive() {
  count_levels();
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    double c = fusion_kinds[i] == FusionKind::view ? 0 : 1;
    if (e.id() == id_of<Div> || e.id() == id_of<Sqrt> || e.id() == id_of<Rsqrt> || e.id() == id_of<Rem>) c = 4;
    if (fusion_kinds[i] == FusionKind::elementwise) c = std::max<double>(c, cost_of(g, e).operations);
    if ((fusion_kinds[i] == FusionKind::reduction && !is_short_reduction(e)) || has_loops_or_calls(g, e))
      c = std::max(c, 64.0);
    for (Value o : e.operands())
      if (inlined(o)) c += cost[o.id()];
    if (fusion_kinds[i] == FusionKind::reduction && is_short_reduction(e)) c *= 4;
    c = std::min(c, 1e12);
    count_repeated(e);
    for (Value v : e.results()) own_cost[v.id()] = c;
    for (Value v : e.results()) cost[v.id()] = plan.materialized[v.id()] ? 0 : c;
    for (Value v : e.results()) {
      searched[v.id()] = compared_with_extremum(v);
      if (searched[v.id()] && !plan.materialized[v.id()] && !reads_through(v)) materialize(v);
      if (!plan.materialized[v.id()]) materialize_if_expensive(v, c);
    }
  }
}

void Planner::count_levels() {
  for (size_t i = 0; i < order.size(); ++i) {
    int deepest = 0;
    for (const Value o : order[i]->operands()) deepest = std::max(deepest, level[o.id()]);
    for (const Value v : order[i]->results()) level[v.id()] = deepest + (fusion_kinds[i] == FusionKind::reduction);
  }
}

void Planner::count_repeated(const Equation& e) {
  constexpr double kMost = 1e12;
  std::vector<Value> operands;
  // Reductions and values with fewer elements are computed once for the loop.
  if (fusion_kind(e) != FusionKind::reduction && e.id() != id_of<While>)
    std::copy_if(e.operands().begin(), e.operands().end(), std::back_inserter(operands),
                 [&](Value o) { return inlined(o); });
  for (const Value v : e.results()) {
    double all = fusion_kind(e) == FusionKind::view ? 0 : cost_of(g, e).operations, elsewhere_too = 0;
    for (const Value o : operands) {
      if (g.shape(o).num_elements() < g.shape(v).num_elements()) continue;
      all += repeated_cost[o.id()];
      elsewhere_too += (uses[o.id()] > 1 ? repeated_cost : shared_cost)[o.id()];
    }
    repeated_cost[v.id()] = std::min(all, kMost);
    shared_cost[v.id()] = std::min(elsewhere_too, kMost);
  }
}

bool Planner::repeats_much(Value v) const {
  const double computed_before = uses[v.id()] > 1 ? repeated_cost[v.id()] : shared_cost[v.id()];
  if (computed_before < kExpensiveTwice || g.shape(v).num_elements() == 1) return false;
  return std::any_of(users[v.id()].begin(), users[v.id()].end(), [&](const Equation* user) {
    return fusion_kind(*user) != FusionKind::reduction && !user->results().empty() &&
           level[user->results()[0].id()] > level[v.id()];
  });
}

bool Planner::compared_with_extremum(Value v) const {
  bool extremum = false, compared = false;
  for (const Equation* user : users[v.id()]) {
    extremum = extremum || takes_extremum(*user);
    compared = compared || compares(*user);
  }
  return extremum && compared;
}

bool Planner::only_changes_size_1_dims(const Equation& e) const {
  return e.id() == id_of<Reshape> &&
         without_size_1_dims(g.shape(e.operand(0))) == without_size_1_dims(g.shape(e.result()));
}

Planner::Destination Planner::destination(Value v, int depth) const {
  constexpr int kMost = 16;
  if (plan.materialized[v.id()]) return Destination::dense;
  if (users[v.id()].size() != 1 || uses[v.id()] != 1 || depth == kMost) return Destination::none;
  const Equation& user = *users[v.id()][0];
  if (user.id() != id_of<Reshape> && user.id() != id_of<Concatenate>) return Destination::none;
  const Destination whole = destination(user.result(), depth + 1);
  if (whole == Destination::none || only_changes_size_1_dims(user)) return whole;
  if (user.id() == id_of<Reshape>) return whole == Destination::dense ? whole : Destination::none;
  const Shape& shape = g.shape(user.result());
  for (int64_t d = 0; d < user.attributes().integer("axis"); ++d)
    if (shape[static_cast<size_t>(d)] != 1) return Destination::strided;
  return whole;
}

void Planner::count_reads(Value v, Reads& reads) const {
  const int64_t elements = g.shape(v).num_elements();
  for (const Equation* user : users[v.id()]) {
    const FusionKind kind = fusion_kinds[position.at(user)];
    if (kind == FusionKind::elementwise) {
      ++reads.same;
    } else if (kind == FusionKind::reduction) {
      plan.materialized[user->result().id()] ? ++reads.elsewhere : ++reads.same;
    } else if (elements > 1 && only_changes_size_1_dims(*user)) {
      plan.materialized[user->result().id()] ? void(++reads.same) : count_reads(user->result(), reads);
    } else if (user->id() == id_of<Slice> && g.shape(user->result()).num_elements() >= kLongSlice) {
      reads.sliced += g.shape(user->result()).num_elements();
    } else if (elements > 1 && user->id() == id_of<Concatenate> && destination(user->result()) != Destination::none) {
      ++reads.same;
    } else {
      if (elements == 1 && kind == FusionKind::view && g.shape(user->result()).num_elements() <= kSmallSpace) {
        ++reads.same;
        continue;
      }
      ++reads.elsewhere;
      if (user->results().empty()) continue;
      const int64_t count = g.shape(user->result()).num_elements();
      const bool outer_loop =
          user->id() == id_of<Broadcast> && operand_prefix(*user, v, g.shape(user->result()).rank()) >= 0;
      if (count > 2 * elements && elements > 1 && !outer_loop) reads.repeated = true;
    }
  }
}

void Planner::materialize_if_expensive(Value v, double c) {
  const int64_t elements = g.shape(v).num_elements();
  // A scalar is computed once in each kernel that uses it, whatever the kernel's space.
  if (c < (elements == 1 ? kExpensiveScalar : kExpensive) || is_faster_recomputed(v)) return;
  Reads reads;
  count_reads(v, reads);
  // Disjoint slices count as one reader.
  if (reads.sliced > 0) ++reads.elsewhere;
  if (repeats_much(v) || reads.repeated || reads.sliced > elements || reads.elsewhere > 1 ||
      (reads.elsewhere == 1 && reads.same > 0)) {
    remark(g.definition(v)->primitive() + " of " + to_string(g.type(v)) +
           " goes through memory: several loops use it, and it takes about " +
           (c < 1e9 ? std::to_string(std::llround(c)) : "10^9 or more") + " operations");
    materialize(v);
    cost[v.id()] = 0;
  }
}

void Planner::bound_rematerialization() {
  struct Demand {
    ::calque::detail::InlineVector<Use, 2> at;
    int changes = 0;
  };
  std::vector<Demand> demands(g.num_values());
  const auto want = [&](Value v, const Use& use, int changes) {
    Demand& d = demands[v.id()];
    d.changes = std::max(d.changes, changes);
    if (d.at.size() <= kMaxIndices && std::find(d.at.begin(), d.at.end(), use) == d.at.end()) d.at.push_back(use);
  };
  const auto mixed = [](uint64_t a, uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15ULL;
    return a ^ (a >> 29);
  };
  // Roots over one space share their kernel's index.
  const auto space_of = [&](Value v) {
    uint64_t space = 0;  // that of scalars
    for (const int64_t extent : g.shape(v))
      if (extent != 1) space = mixed(space, static_cast<uint64_t>(extent) + 2);
    return space;
  };
  std::vector<char> part(g.num_values(), 0);  // by value: operand of a concatenation that is a root
  for (size_t i = order.size(); i-- > 0;) {
    const Equation& e = *order[i];
    Demand wanted;
    bool written_whole = false;
    for (Value v : e.results()) {
      const Demand& d = demands[v.id()];
      if (inlined(v) && (d.at.size() > kMaxIndices || d.changes > kMaxIndexChanges) && !reads_through(v))
        materialize(v);
      if (plan.materialized[v.id()]) {
        written_whole = true;
        wanted.at.push_back({space_of(v), 0});
      } else {
        wanted.changes = std::max(wanted.changes, d.changes);
        for (const Use& use : d.at) wanted.at.push_back(use);
        written_whole = written_whole || part[v.id()];
      }
    }
    if (e.id() == id_of<Concatenate> && !written_whole && has_many_operands(e) &&
        destination(e.result()) == Destination::none && inlined(e.result())) {
      materialize(e.result());
      written_whole = true;
      wanted.at.clear();
    }
    if (e.id() == id_of<Concatenate> && (written_whole || destination(e.result()) != Destination::none)) {
      // Each operand is written to its slice of the result, over its own space.
      for (const Value v : e.operands()) {
        if (!inlined(v)) continue;
        part[v.id()] = 1;
        want(v, {space_of(v), 0}, wanted.changes + 1);
      }
      continue;
    }
    const bool conditional = fusion_kinds[i] == FusionKind::view && !always_reads(e);
    for (size_t k = 0; k < e.operands().size(); ++k) {
      const Value v = e.operand(k);
      if (!inlined(v)) continue;
      const bool same = (fusion_kinds[i] == FusionKind::elementwise && g.shape(v) == g.shape(e.result())) ||
                        only_changes_size_1_dims(e);
      const uint64_t way = mixed(i + 1, k + 1);
      for (Use use : wanted.at) {
        if (!same) use.index = g.shape(v).num_elements() == 1 ? 0 : mixed(use.index, way);
        if (conditional) use.condition = mixed(mixed(use.condition, use.index), way);
        want(v, use, wanted.changes + (same ? 0 : 1));
      }
    }
  }
}

void Planner::split_scalars() {
  std::vector<uint32_t> weight(order.size(), 0), live(order.size() + 1, 0);
  std::vector<size_t> last(g.num_values(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    if (fusion_kinds[i] == FusionKind::elementwise && is_scalar(e.result())) weight[i] = operations(g, e);
    for (const Value v : e.operands()) last[v.id()] = i;
  }
  const auto crosses = [&](Value v) { return inlined(v) && is_scalar(v) && !reads_through(v); };
  int64_t now = 0;
  std::vector<int64_t> change(order.size() + 1, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Value v : order[i]->results()) {
      if (!crosses(v) || last[v.id()] <= i) continue;
      ++change[i + 1];
      --change[last[v.id()] + 1];
    }
  }
  for (size_t i = 0; i < order.size(); ++i) live[i] = static_cast<uint32_t>(now += change[i]);
  const std::vector<size_t> at = choose_split_points(weight, live, kScalarChunk);
  for (const size_t position : at) split_points.push_back({position, {}});
  for (size_t i = 0; i < order.size() && !at.empty(); ++i) {
    const auto next = std::upper_bound(at.begin(), at.end(), i);
    if (next == at.end()) break;
    for (const Value v : order[i]->results()) {
      if (last[v.id()] >= *next && crosses(v)) plan.materialized[v.id()] = true;
    }
  }
}

}  // namespace calque::plan
