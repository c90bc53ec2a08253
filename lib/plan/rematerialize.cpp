// What would be computed too often is stored: dear values that several kernels want, values behind many views, and the
// straight code of very many single elements.
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
constexpr double kDear = 8;
constexpr double kDearScalar = 200;
/// Computing as much in the loops before a reduction and again in those after it costs more than a pass over memory.
constexpr double kDearTwice = 64;
/// Computed on its own, a slice of this many elements still fills vectors.
constexpr int64_t kLongSlice = 64;
/// A value is computed at no more than this many different indices of one element of a root, and behind no more than
/// this many changes of index: beyond, chains of views would grow code exponentially.
constexpr size_t kMaxIndices = 16;
constexpr int kMaxIndexChanges = 64;

/// Single elements are computed in kernels of about this many operations: time to compile one grows faster than its
/// size.
constexpr uint64_t kScalarPiece = 1500;

/// Where a value is wanted: at which index and under which condition, as hashes of the ways there.
struct Wanted {
  uint64_t index = 0, condition = 0;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

}  // namespace

void Planner::store_dear() {
  count_levels();
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    double c = roles[i] == Role::view ? 0 : 1;
    if (e.id() == id_of<Div> || e.id() == id_of<Sqrt> || e.id() == id_of<Rsqrt> || e.id() == id_of<Rem>) c = 4;
    if (roles[i] == Role::elementwise) c = std::max<double>(c, cost_of(g, e).operations);
    if ((roles[i] == Role::reduction && !is_short_sum(e)) || is_involved(g, e)) c = std::max(c, 64.0);
    for (Value o : e.operands())
      if (inlined(o)) c += cost[o.id()];
    if (roles[i] == Role::reduction && is_short_sum(e)) c *= 4;
    c = std::min(c, 1e12);
    count_repeated(e);
    for (Value v : e.results()) own_cost[v.id()] = c;
    for (Value v : e.results()) cost[v.id()] = plan.in_memory[v.id()] ? 0 : c;
    for (Value v : e.results()) {
      searched[v.id()] = compared_with_extremum(v);
      if (searched[v.id()] && !plan.in_memory[v.id()] && !reads_through(v)) store(v);
      if (!plan.in_memory[v.id()]) store_if_dear(v, c);
    }
  }
}

void Planner::count_levels() {
  for (size_t i = 0; i < order.size(); ++i) {
    int deepest = 0;
    for (const Value o : order[i]->operands()) deepest = std::max(deepest, level[o.id()]);
    for (const Value v : order[i]->results()) level[v.id()] = deepest + (roles[i] == Role::reduction);
  }
}

void Planner::count_repeated(const Equation& e) {
  constexpr double kMost = 1e12;
  std::vector<Value> operands;
  // Reductions, and what has fewer elements, are computed once for the loop.
  if (role(e) != Role::reduction && e.id() != id_of<While>)
    std::copy_if(e.operands().begin(), e.operands().end(), std::back_inserter(operands),
                 [&](Value o) { return inlined(o); });
  for (const Value v : e.results()) {
    double all = role(e) == Role::view ? 0 : cost_of(g, e).operations, elsewhere_too = 0;
    for (const Value o : operands) {
      if (g.shape(o).num_elements() < g.shape(v).num_elements()) continue;
      all += again[o.id()];
      elsewhere_too += (uses[o.id()] > 1 ? again : common)[o.id()];
    }
    again[v.id()] = std::min(all, kMost);
    common[v.id()] = std::min(elsewhere_too, kMost);
  }
}

bool Planner::repeats_much(Value v) const {
  const double computed_before = uses[v.id()] > 1 ? again[v.id()] : common[v.id()];
  if (computed_before < kDearTwice || g.shape(v).num_elements() == 1) return false;
  return std::any_of(users[v.id()].begin(), users[v.id()].end(), [&](const Equation* user) {
    return role(*user) != Role::reduction && !user->results().empty() && level[user->results()[0].id()] > level[v.id()];
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

bool Planner::is_renaming(const Equation& e) const {
  return e.id() == id_of<Reshape> && without_units(g.shape(e.operand(0))) == without_units(g.shape(e.result()));
}

Planner::Destination Planner::destination(Value v, int depth) const {
  constexpr int kMost = 16;
  if (plan.in_memory[v.id()]) return Destination::dense;
  if (users[v.id()].size() != 1 || uses[v.id()] != 1 || depth == kMost) return Destination::none;
  const Equation& user = *users[v.id()][0];
  if (user.id() != id_of<Reshape> && user.id() != id_of<Concatenate>) return Destination::none;
  const Destination whole = destination(user.result(), depth + 1);
  if (whole == Destination::none || is_renaming(user)) return whole;
  if (user.id() == id_of<Reshape>) return whole == Destination::dense ? whole : Destination::none;
  const Shape& shape = g.shape(user.result());
  for (int64_t d = 0; d < user.attributes().integer("axis"); ++d)
    if (shape[static_cast<size_t>(d)] != 1) return Destination::strided;
  return whole;
}

void Planner::count_reads(Value v, Reads& reads) const {
  const int64_t elements = g.shape(v).num_elements();
  for (const Equation* user : users[v.id()]) {
    const Role role = roles[position.at(user)];
    if (role == Role::elementwise) {
      ++reads.same;
    } else if (role == Role::reduction) {
      plan.in_memory[user->result().id()] ? ++reads.elsewhere : ++reads.same;
    } else if (elements > 1 && is_renaming(*user)) {
      plan.in_memory[user->result().id()] ? void(++reads.same) : count_reads(user->result(), reads);
    } else if (user->id() == id_of<Slice> && g.shape(user->result()).num_elements() >= kLongSlice) {
      reads.sliced += g.shape(user->result()).num_elements();
    } else if (elements > 1 && user->id() == id_of<Concatenate> && destination(user->result()) != Destination::none) {
      ++reads.same;
    } else {
      if (elements == 1 && role == Role::view && g.shape(user->result()).num_elements() <= kSmallSpace) {
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

void Planner::store_if_dear(Value v, double c) {
  const int64_t elements = g.shape(v).num_elements();
  // A scalar is computed once in each kernel that wants it, whatever the kernel's space.
  if (c < (elements == 1 ? kDearScalar : kDear) || is_read_sooner(v)) return;
  Reads reads;
  count_reads(v, reads);
  // Slices that share no element are one reader.
  if (reads.sliced > 0) ++reads.elsewhere;
  if (repeats_much(v) || reads.repeated || reads.sliced > elements || reads.elsewhere > 1 ||
      (reads.elsewhere == 1 && reads.same > 0)) {
    note(g.definition(v)->primitive() + " of " + to_string(g.type(v)) +
         " goes through memory: several loops want it, and it takes about " +
         (c < 1e9 ? std::to_string(std::llround(c)) : "10^9 or more") + " operations");
    store(v);
    cost[v.id()] = 0;
  }
}

void Planner::bound_expansion() {
  struct Demand {
    ::calque::detail::InlineVector<Wanted, 2> at;
    int changes = 0;
  };
  std::vector<Demand> demands(g.num_values());
  const auto want = [&](Value v, const Wanted& place, int changes) {
    Demand& d = demands[v.id()];
    d.changes = std::max(d.changes, changes);
    if (d.at.size() <= kMaxIndices && std::find(d.at.begin(), d.at.end(), place) == d.at.end()) d.at.push_back(place);
  };
  const auto mixed = [](uint64_t a, uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15ULL;
    return a ^ (a >> 29);
  };
  // The roots of one space share their kernel's index.
  const auto space_of = [&](Value v) {
    uint64_t space = 0;  // of single elements
    for (const int64_t extent : g.shape(v))
      if (extent != 1) space = mixed(space, static_cast<uint64_t>(extent) + 2);
    return space;
  };
  std::vector<char> part(g.num_values(), 0);  // by value: part of a concatenation that is a root
  for (size_t i = order.size(); i-- > 0;) {
    const Equation& e = *order[i];
    Demand wanted;
    bool written_whole = false;
    for (Value v : e.results()) {
      const Demand& d = demands[v.id()];
      if (inlined(v) && (d.at.size() > kMaxIndices || d.changes > kMaxIndexChanges) && !reads_through(v)) store(v);
      if (plan.in_memory[v.id()]) {
        written_whole = true;
        wanted.at.push_back({space_of(v), 0});
      } else {
        wanted.changes = std::max(wanted.changes, d.changes);
        for (const Wanted& place : d.at) wanted.at.push_back(place);
        written_whole = written_whole || part[v.id()];
      }
    }
    if (e.id() == id_of<Concatenate> && !written_whole && has_many_parts(e) &&
        destination(e.result()) == Destination::none && inlined(e.result())) {
      store(e.result());
      written_whole = true;
      wanted.at.clear();
    }
    if (e.id() == id_of<Concatenate> && (written_whole || destination(e.result()) != Destination::none)) {
      // Each operand is written into its part of the result, over its own space.
      for (const Value v : e.operands()) {
        if (!inlined(v)) continue;
        part[v.id()] = 1;
        want(v, {space_of(v), 0}, wanted.changes + 1);
      }
      continue;
    }
    const bool conditional = roles[i] == Role::view && !always_reads(e);
    for (size_t k = 0; k < e.operands().size(); ++k) {
      const Value v = e.operand(k);
      if (!inlined(v)) continue;
      const bool same = (roles[i] == Role::elementwise && g.shape(v) == g.shape(e.result())) || is_renaming(e);
      const uint64_t way = mixed(i + 1, k + 1);
      for (Wanted place : wanted.at) {
        if (!same) place.index = g.shape(v).num_elements() == 1 ? 0 : mixed(place.index, way);
        if (conditional) place.condition = mixed(mixed(place.condition, place.index), way);
        want(v, place, wanted.changes + (same ? 0 : 1));
      }
    }
  }
}

void Planner::cut_scalars() {
  std::vector<uint32_t> weight(order.size(), 0), live(order.size() + 1, 0);
  std::vector<size_t> last(g.num_values(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    if (roles[i] == Role::elementwise && is_scalar(e.result())) weight[i] = operations(g, e);
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
  const std::vector<size_t> at = choose_cuts(weight, live, kScalarPiece);
  for (const size_t position : at) cuts.push_back({position, {}});
  for (size_t i = 0; i < order.size() && !at.empty(); ++i) {
    const auto next = std::upper_bound(at.begin(), at.end(), i);
    if (next == at.end()) break;
    for (const Value v : order[i]->results()) {
      if (last[v.id()] >= *next && crosses(v)) plan.in_memory[v.id()] = true;
    }
  }
}

}  // namespace calque::plan
