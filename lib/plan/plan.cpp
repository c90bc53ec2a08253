// Decisions are taken in one backward pass (who must be in memory, which reductions join the kernel that uses them) and
// one forward pass (which roots share a kernel). Both look at each equation a bounded number of times.
#include "plan/plan.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "plan/contraction.h"
#include "plan/cuts.h"
#include "plan/epilogues.h"
#include "plan/equations.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Recomputing a chain of this many operations costs about as much as a load and a store of its value.
constexpr double kDear = 8;
constexpr double kDearScalar = 200;
/// Computed on its own, a slice of this many elements still fills vectors.
constexpr int64_t kLongSlice = 64;
/// More roots than this in a kernel over a large space would compete for registers and memory streams.
constexpr size_t kMaxLargeRoots = 8;
constexpr int64_t kSmallSpace = 4096;
/// Reductions of one kernel over a small space: each is a loop, and functions of very many loops compile slowly.
constexpr size_t kMaxReductions = 32;
/// A value is computed at no more than this many different indices of one element of a root, and behind no more than
/// this many changes of index: beyond, chains of views would grow code exponentially.
constexpr size_t kMaxIndices = 16;
constexpr int kMaxIndexChanges = 64;

/// Single elements are computed in kernels of about this many operations: time to compile one grows faster than its
/// size.
constexpr uint64_t kScalarPiece = 1500;

struct Planner {
  const Graph& g;
  Plan plan;
  std::vector<uint32_t> uses;  // by value
  std::vector<std::vector<const Equation*>> users;
  std::vector<const Equation*> order;  // equations in order
  std::vector<Role> roles;             // by position in `order`
  std::unordered_map<const Equation*, size_t> position;
  std::vector<double> cost;                              // by value: operations to recompute it from memory
  std::vector<char> fixed;                               // by value: must be in memory whatever fusion would like
  std::vector<Group> products;                           // kernels of tiled products
  std::unordered_map<uint32_t, size_t> product_of_root;  // by value id
  std::vector<size_t> cuts;                              // positions at which new kernels of single elements begin

  explicit Planner(const Graph& graph) : g(graph) {}

  bool inlined(Value v) const { return g.kind(v) == ValueKind::result && !plan.in_memory[v.id()]; }

  void collect() {
    plan.in_memory.assign(g.num_values(), false);
    plan.shares.assign(g.num_values(), Value());
    fixed.assign(g.num_values(), 0);
    uses.assign(g.num_values(), 0);
    users.resize(g.num_values());
    cost.assign(g.num_values(), 0);
    for (const Equation& e : g.equations()) {
      position[&e] = order.size();
      order.push_back(&e);
      roles.push_back(is_elementwise_loop(g, e) ? Role::elementwise : role_of(e));
      for (Value v : e.operands()) {
        ++uses[v.id()];
        if (users[v.id()].empty() || users[v.id()].back() != &e) users[v.id()].push_back(&e);
      }
    }
    for (uint32_t i = 0; i < g.num_values(); ++i) {
      const ValueKind k = g.kind(Value(i));
      plan.in_memory[i] = k == ValueKind::input || k == ValueKind::constant;
    }
  }

  void need(Value v) {
    if (g.kind(v) != ValueKind::result) return;
    store(v);
    fixed[v.id()] = 1;
  }

  /// Puts a value in memory. A reshaped concatenation lives where the concatenation does, which is written part by
  /// part; on its own index space every element would have to ask which part it comes from.
  void store(Value v) {
    plan.in_memory[v.id()] = true;
    const Value whole = reshaped_concatenation(v);
    if (!whole.valid()) return;
    plan.in_memory[whole.id()] = true;
    plan.shares[v.id()] = whole;
  }

  /// The concatenation of several parts that v is a reshape of. Invalid when it is none.
  Value reshaped_concatenation(Value v) const {
    constexpr size_t kFewParts = 4;
    const Equation* e = g.definition(v);
    if (e->id() != id_of<Reshape>) return {};
    while (e->id() == id_of<Reshape> && g.kind(e->operand(0)) == ValueKind::result) {
      v = e->operand(0);
      e = g.definition(v);
    }
    return e->id() == id_of<Concatenate> && e->operands().size() >= kFewParts ? v : Value();
  }

  /// Nothing but views and conversions between it and memory: as cheap to read through as a copy would be.
  bool reads_through(Value v) const {
    for (int depth = 0; depth < 8; ++depth) {
      if (g.kind(v) != ValueKind::result || plan.in_memory[v.id()]) return true;
      const Equation* e = g.definition(v);
      if (!always_reads(*e) && e->id() != id_of<Convert>) return e->operands().empty();
      v = e->operand(0);
    }
    return false;
  }

  /// An elementwise operand of a tiled product, computed while it is packed. (Dear ones are stored all the same.)
  bool is_prologue(const Equation& product, Value v) const {
    if (g.kind(v) != ValueKind::result || users[v.id()].size() != 1 || uses[v.id()] != 1) return false;
    const Equation& e = *g.definition(v);
    return roles[position.at(&e)] == Role::elementwise && e.id() != id_of<While> &&
           product_of(g, product) != Product::sums;
  }

  /// An update of an input, as of a loop's carry, can be written into the input's own memory when it does not read the
  /// input on the way: computed from it, a small update goes through memory of its own.
  void store_updates(const Equation& e, Value updates) {
    constexpr size_t kFar = 256;
    const Value x = e.operand(0);
    const int64_t size = g.shape(updates).num_elements();
    if (g.kind(x) != ValueKind::input || g.kind(updates) != ValueKind::result || size <= 1) return;
    const auto& outputs = g.outputs();
    if (std::find(outputs.begin(), outputs.end(), e.result()) == outputs.end()) return;
    if (size > g.shape(x).num_elements() / 2) return;
    std::vector<Value> found{updates};
    for (size_t i = 0; i < found.size() && found.size() < kFar; ++i) {
      if (found[i] == x) return need(updates);
      if (!inlined(found[i])) continue;
      for (const Value o : g.definition(found[i])->operands())
        if (std::find(found.begin(), found.end(), o) == found.end()) found.push_back(o);
    }
  }

  /// A reduction of a few terms, as over the coordinates of a point: an operation on elements like others.
  bool is_short_sum(const Equation& e) const {
    constexpr int64_t kFewTerms = 4;
    const int64_t elements = g.shape(e.result()).num_elements();
    return elements > kSmallSpace && e.id() != id_of<Argmax> && e.id() != id_of<Argmin> &&
           g.shape(e.operand(0)).num_elements() <= kFewTerms * elements;
  }

  void fix_memory() {
    for (Value v : g.outputs()) need(v);
    for (size_t i = 0; i < order.size(); ++i) {
      const Equation& e = *order[i];
      switch (roles[i]) {
        case Role::elementwise:
          break;
        case Role::view:
          if (e.id() == id_of<DynamicUpdateSlice>) store_updates(e, e.operand(1));
          break;
        case Role::reduction:
          plan.in_memory[e.result().id()] = !is_short_sum(e);
          break;  // unless joined to its user below
        case Role::contraction:
          need(e.result());
          for (Value v : e.operands())
            if (!reads_through(v) && !is_prologue(e, v)) need(v);
          break;
        case Role::cumulative:
          need(e.result());
          break;
        case Role::scatter:
          need(e.result());
          need(e.operand(0));
          need(e.operand(1));
          store_updates(e, e.operand(2));
          break;
        case Role::loop:
        case Role::branch: {
          std::string reason;
          // A scan that runs per element still writes and reads along its steps; a while is elementwise by now.
          const bool inside = e.id() == id_of<Scan> && runs_per_element(g, e, &reason);
          if (!inside) {
            for (Value v : e.operands()) need(v);
            if (e.id() == id_of<While>) runs_per_element(g, e, &reason);
            if (roles[i] == Role::loop) plan.notes.push_back(e.primitive() + " runs in the entry function: " + reason);
          }
          for (Value v : e.results()) need(v);
          break;
        }
        case Role::effect:
          for (Value v : e.operands()) need(v);
          for (Value v : e.results()) need(v);
          break;
      }
    }
  }

  /// The kernel a value would be computed in, seen from one root: the loops around it (extents other than 1) and how
  /// many of them, from the outside, index the value. -1: not a prefix of the loops.
  struct Place {
    Value root;
    Extents loops;
    int prefix = -1;
    bool conflict = false;  ///< reached from several roots or in several ways
  };

  /// Walks what is computed inside the kernel of `root` from `start` on and tells candidates where they are used.
  void walk(Value start, const Place& place, std::vector<Place>& places, std::vector<char>& reached) {
    struct Item {
      Value v;
      int prefix;
    };
    std::vector<Item> stack{{start, place.prefix}};
    std::map<std::pair<uint32_t, int>, bool> seen;
    while (!stack.empty()) {
      auto [v, prefix] = stack.back();
      stack.pop_back();
      if (g.kind(v) != ValueKind::result || !seen.emplace(std::pair{v.id(), prefix}, true).second) continue;
      const Equation& e = *g.definition(v);
      if (plan.in_memory[v.id()]) {
        if (fixed[v.id()] || roles[position.at(&e)] != Role::reduction) continue;
        Place& p = places[v.id()];
        if (!reached[v.id()]) {
          reached[v.id()] = 1;
          p = place;
          p.prefix = prefix;
        } else if (p.root != place.root || p.prefix != prefix || !(p.loops == place.loops)) {
          // The same loops around it from the outside are enough: it is computed once, outside the inner ones.
          const bool same = p.root == place.root && p.prefix == prefix && prefix >= 0 &&
                            std::equal(p.loops.begin(), p.loops.begin() + prefix, place.loops.begin());
          if (!same) p.conflict = true;
        }
        continue;
      }
      for (Value o : e.operands()) stack.push_back({o, operand_prefix(e, o, prefix)});
    }
  }

  int operand_prefix(const Equation& e, Value operand, int prefix) const {
    if (g.shape(operand).num_elements() == 1) return 0;
    if (prefix < 0) return -1;
    switch (e.id()) {
      case id_of<Broadcast>: {
        const auto& axes = e.attributes().ints("axes");
        const Shape& to = g.shape(e.result());
        const Shape& from = g.shape(operand);
        // The operand's dimensions must be the outermost ones of the result.
        int next = 0;
        size_t i = 0;
        for (int axis = 0; axis < to.rank(); ++axis) {
          const bool mapped = i < axes.size() && axes[i] == axis;
          const int64_t extent = mapped ? from[i] : 1;
          if (mapped) ++i;
          if (to[static_cast<size_t>(axis)] == 1) continue;
          if (extent == 1) break;
          ++next;
        }
        return without_units(from).size() == static_cast<size_t>(next) && next <= prefix ? next : -1;
      }
      case id_of<Reshape>:
        return without_units(g.shape(operand)) == without_units(g.shape(e.result())) ? prefix : -1;
      default:
        break;
    }
    if (roles[position.at(&e)] != Role::elementwise) return -1;
    // A loop over elements reads tables besides the elements of its own index.
    return g.shape(operand) == g.shape(e.result()) ? prefix : -1;
  }

  /// Reductions whose every use is inside one kernel, under loops that run once for each of their elements, are
  /// computed there: softmax becomes one kernel.
  void join_reductions() {
    size_t candidates = 0;
    size_t roots = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      candidates += roles[i] == Role::reduction;
      for (Value v : order[i]->results()) roots += plan.in_memory[v.id()];
    }
    if (candidates == 0 || candidates * roots > 4'000'000 / std::max<size_t>(1, order.size() / 64)) return;
    std::vector<Place> places(g.num_values());
    std::vector<char> reached(g.num_values(), 0);
    for (size_t i = order.size(); i-- > 0;) {
      const Equation& e = *order[i];
      for (Value v : e.results()) {
        if (!plan.in_memory[v.id()]) continue;
        if (roles[i] == Role::reduction) {
          const Extents kept = without_units(g.shape(v));
          const Place& p = places[v.id()];
          const bool join = !fixed[v.id()] && reached[v.id()] && !p.conflict && p.prefix >= 0 &&
                            kept.size() == static_cast<size_t>(p.prefix) &&
                            p.prefix <= static_cast<int>(p.loops.size()) &&
                            std::equal(kept.begin(), kept.end(), p.loops.begin());
          Place inner;
          inner.root = join ? p.root : v;
          inner.loops = kept;
          const Shape& operand = g.shape(e.operand(0));
          for (int64_t d : without_units(reduced_extents(e, operand))) inner.loops.push_back(d);
          // Nested values are on a prefix of the loops only when the reduced dimensions are the last ones.
          inner.prefix = inner.loops == without_units(operand) ? static_cast<int>(inner.loops.size()) : -1;
          if (join) plan.in_memory[v.id()] = false;
          walk(e.operand(0), inner, places, reached);
          continue;
        }
        Place at;
        at.root = v;
        if (roles[i] == Role::elementwise || roles[i] == Role::view) {
          at.loops = without_units(g.shape(v));
          at.prefix = static_cast<int>(at.loops.size());
          // From the operands on: the root itself is in memory, where the walk would stop.
          for (Value o : e.operands()) {
            Place from = at;
            from.prefix = operand_prefix(e, o, at.prefix);
            walk(o, from, places, reached);
          }
        } else {
          for (Value o : e.operands()) walk(o, at, places, reached);  // prefix -1: nothing joins
        }
      }
      if (e.results().empty())
        for (Value o : e.operands()) walk(o, Place{}, places, reached);
    }
  }

  /// Elementwise values that several kernels, or several elements of one, would compute again are stored when that is
  /// cheaper.
  void store_dear() {
    for (size_t i = 0; i < order.size(); ++i) {
      const Equation& e = *order[i];
      double c = roles[i] == Role::view ? 0 : 1;
      if (e.id() == id_of<Div> || e.id() == id_of<Sqrt> || e.id() == id_of<Rsqrt> || e.id() == id_of<Rem>) c = 4;
      if ((roles[i] == Role::reduction && !is_short_sum(e)) || e.id() == id_of<While>) c = 64;
      for (Value o : e.operands())
        if (inlined(o)) c += cost[o.id()];
      if (roles[i] == Role::reduction && is_short_sum(e)) c *= 4;
      c = std::min(c, 1e12);
      for (Value v : e.results()) cost[v.id()] = plan.in_memory[v.id()] ? 0 : c;
      for (Value v : e.results()) {
        if (!plan.in_memory[v.id()] && compared_with_extremum(v)) store(v);
        if (!plan.in_memory[v.id()]) store_if_dear(v, c);
      }
    }
  }

  /// An extremum is taken of the value, which is then searched for it, as the extremum's derivative does: it must be
  /// the same to the last bit in both places, hence computed once. Computed twice, a product and a sum may be rounded
  /// together in one place alone, and a 16-bit float in none.
  bool compared_with_extremum(Value v) const {
    bool extremum = false, compared = false;
    for (const Equation* user : users[v.id()]) {
      extremum = extremum || takes_extremum(*user);
      compared = compared || compares(*user);
    }
    return extremum && compared && !reads_through(v);
  }

  /// A reshape that only adds or removes dimensions of extent 1: its elements are those of its operand, in the same
  /// loops.
  bool is_renaming(const Equation& e) const {
    return e.id() == id_of<Reshape> && without_units(g.shape(e.operand(0))) == without_units(g.shape(e.result()));
  }

  /// Whether a value, were it a concatenation, would be written part by part: it is in memory, or a part of what is.
  /// Reshapes on the way are possible where its elements follow each other there.
  enum class Destination : uint8_t { none, strided, dense };
  Destination destination(Value v, int depth = 0) const {
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

  /// How a value's elements are read: by kernels over its own index, and otherwise.
  struct Reads {
    size_t same = 0, elsewhere = 0;
    int64_t sliced = 0;     ///< elements that slices read
    bool repeated = false;  ///< an element is read more than twice
  };
  void count_reads(Value v, Reads& reads) const {
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

  void store_if_dear(Value v, double c) {
    const int64_t elements = g.shape(v).num_elements();
    // A scalar is computed once in each kernel that wants it, whatever the kernel's space.
    if (c < (elements == 1 ? kDearScalar : kDear)) return;
    Reads reads;
    count_reads(v, reads);
    // Slices that share no element are one reader.
    if (reads.sliced > 0) ++reads.elsewhere;
    const bool again =
        reads.repeated || reads.sliced > elements || reads.elsewhere > 1 || (reads.elsewhere == 1 && reads.same > 0);
    if (again) {
      store(v);
      cost[v.id()] = 0;
    }
  }

  /// Where a value is wanted: at which index and under which condition, as hashes of the ways there.
  struct Wanted {
    uint64_t index = 0, condition = 0;
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };

  /// Follows every root back to memory, keeping for each value the places at which it is wanted, and stores what is
  /// wanted at too many or too far from its root.
  void bound_expansion() {
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

  bool is_scalar(Value v) const { return g.shape(v).num_elements() == 1; }

  /// Long straight code of single elements is cut into several kernels; what crosses a cut goes through memory.
  void cut_scalars() {
    std::vector<uint32_t> weight(order.size(), 0), live(order.size() + 1, 0);
    std::vector<size_t> last(g.num_values(), 0);
    for (size_t i = 0; i < order.size(); ++i) {
      const Equation& e = *order[i];
      if (roles[i] == Role::elementwise && is_scalar(e.result())) weight[i] = operations(e);
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
    cuts = choose_cuts(weight, live, kScalarPiece);
    for (size_t i = 0; i < order.size() && !cuts.empty(); ++i) {
      const auto next = std::upper_bound(cuts.begin(), cuts.end(), i);
      if (next == cuts.end()) break;
      for (const Value v : order[i]->results()) {
        if (last[v.id()] >= *next && crosses(v)) plan.in_memory[v.id()] = true;
      }
    }
  }

  /// Finds what is computed together with tiled products. Such a product's group is formed where its first root is.
  void fuse_epilogues() {
    const Surroundings around{g, order, roles, position, users, plan.in_memory, plan.shares};
    std::vector<bool> claimed(g.num_values(), false);
    for (size_t i = 0; i < order.size(); ++i) {
      const Equation& e = *order[i];
      if (roles[i] != Role::contraction || product_of(g, e) == Product::sums || plan.shares[e.result().id()].valid()) {
        continue;
      }
      const Epilogue epilogue = find_epilogue(around, e, claimed);
      Group group{g.shape(e.result()), epilogue.roots, &e};
      for (Value v : group.roots) claimed[v.id()] = true;
      if (epilogue.result_in_memory) group.roots.insert(group.roots.begin(), e.result());
      plan.in_memory[e.result().id()] = epilogue.result_in_memory;
      for (Value v : group.roots) product_of_root[v.id()] = products.size();
      products.push_back(std::move(group));
    }
  }

  void form_groups() {
    // The last step whose results a value reads at its own index, and at any other index.
    std::vector<int32_t> same(g.num_values(), -1), other(g.num_values(), -1);
    std::map<std::vector<int64_t>, int32_t> open;    // space -> step of the last map kernel
    std::unordered_map<int32_t, size_t> reductions;  // by step
    std::unordered_map<size_t, int32_t> at_product;  // the step of each product
    const auto add_step = [&](Step s) {
      plan.steps.push_back(s);
      return static_cast<int32_t>(plan.steps.size()) - 1;
    };
    const auto place = [&](const std::vector<Value>& roots, int32_t at) {
      for (Value v : roots) {
        same[v.id()] = at;
        other[v.id()] = -1;
      }
    };
    // The step that computes the roots with a tiled product; it is added where the first of them is.
    const auto product_step = [&](const std::vector<Value>& roots) {
      const auto product = roots.empty() ? product_of_root.end() : product_of_root.find(roots[0].id());
      if (product == product_of_root.end()) return -1;
      const auto [at, first] = at_product.try_emplace(product->second, -1);
      if (first) {
        at->second = add_step({static_cast<int32_t>(plan.groups.size()), nullptr});
        plan.groups.push_back(std::move(products[product->second]));
      }
      return at->second;
    };
    auto next_cut = cuts.begin();
    for (size_t i = 0; i < order.size(); ++i) {
      if (next_cut != cuts.end() && *next_cut == i) {
        ++next_cut;
        std::erase_if(open, [](const auto& entry) { return Shape(entry.first).num_elements() == 1; });
      }
      const Equation& e = *order[i];
      int32_t s = -1, o = -1;
      for (Value v : e.operands()) {
        const bool aligned = roles[i] == Role::elementwise;
        if (aligned) {
          s = std::max(s, same[v.id()]);
          o = std::max(o, other[v.id()]);
        } else {
          o = std::max({o, same[v.id()], other[v.id()]});
        }
      }
      bool any_root = e.results().empty();
      std::vector<Value> roots;
      for (Value v : e.results()) {
        same[v.id()] = s;
        other[v.id()] = o;
        if (!plan.in_memory[v.id()] || plan.shares[v.id()].valid()) continue;
        any_root = true;
        roots.push_back(v);
      }
      if (!any_root) continue;
      int32_t at = -1;
      if (at = product_step(roots); at >= 0) {
        place(roots, at);
        continue;
      }
      switch (roles[i]) {
        case Role::elementwise:
        case Role::view:
        case Role::reduction: {
          const Shape& space = g.shape(e.result());
          const std::vector<int64_t> key(space.begin(), space.end());
          const auto it = open.find(key);
          if (it != open.end() && it->second >= s && it->second > o) {
            Group& group = plan.groups[static_cast<size_t>(plan.steps[static_cast<size_t>(it->second)].group)];
            size_t& loops = reductions[it->second];
            if (roles[i] == Role::reduction && ++loops > kMaxReductions) {
              // A kernel of its own, which the next ones may join.
            } else if (space.num_elements() <= kSmallSpace || group.roots.size() < kMaxLargeRoots) {
              group.roots.insert(group.roots.end(), roots.begin(), roots.end());
              at = it->second;
            }
          }
          if (at < 0) {
            plan.groups.push_back({space, roots, nullptr});
            at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
            open[key] = at;
          }
          break;
        }
        case Role::contraction:
          plan.groups.push_back({g.shape(e.result()), {e.result()}, nullptr});
          at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
          break;
        case Role::cumulative:
        case Role::scatter:
          plan.groups.push_back({g.shape(e.result()), {e.result()}, &e});
          at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
          break;
        case Role::loop:
          if (e.id() == id_of<Scan> && runs_per_element(g, e)) {
            const Graph& body = e.subgraphs().back();
            plan.groups.push_back({body.shape(body.outputs()[0]), {e.results().begin(), e.results().end()}, &e});
            at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
            break;
          }
          [[fallthrough]];
        case Role::branch:
        case Role::effect:
          at = add_step({-1, &e});
          break;
      }
      place(roots, at);
    }
  }

  Plan run() {
    collect();
    fix_memory();
    join_reductions();
    store_dear();
    bound_expansion();
    cut_scalars();
    fuse_epilogues();
    form_groups();
    return std::move(plan);
  }
};

}  // namespace

Plan make_plan(const Graph& graph) { return Planner(graph).run(); }

}  // namespace calque::plan
