// Which values in memory share a kernel.
#include <algorithm>
#include <map>

#include "plan/equations.h"
#include "plan/sharing.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// More roots than this in a kernel over a large space would compete for registers and memory streams.
constexpr size_t kMaxLargeRoots = 8;
/// Reductions of one kernel over a small space: each is a loop, and functions of very many loops compile slowly.
constexpr size_t kMaxReductions = 32;

}  // namespace

void Planner::fuse_epilogues() {
  const Surroundings around{g, order, roles, position, users, is_output, plan.in_memory, plan.shares};
  std::vector<bool> claimed(g.num_values(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    if (roles[i] != Role::contraction || product(e) == Product::sums || plan.shares[e.result().id()].valid()) {
      continue;
    }
    const Epilogue epilogue = find_epilogue(around, e, claimed);
    Group group{g.shape(e.result()), epilogue.roots, &e};
    for (Value v : group.roots) claimed[v.id()] = true;
    if (epilogue.result_in_memory) group.roots.insert(group.roots.begin(), e.result());
    plan.in_memory[e.result().id()] = epilogue.result_in_memory;
    if (epilogue.result_in_memory) note_epilogue(e, epilogue);
    for (Value v : group.roots) product_of_root[v.id()] = products.size();
    products.push_back(std::move(group));
  }
}

void Planner::note_epilogue(const Equation& e, const Epilogue& epilogue) {
  for (const Equation* user : users[e.result().id()]) {
    const auto& roots = epilogue.roots;
    const bool fused = std::any_of(user->results().begin(), user->results().end(), [&](Value v) {
      return inlined(v) || std::find(roots.begin(), roots.end(), v) != roots.end();
    });
    const Role as = role(*user);
    const std::string what = user->primitive() + " is not computed with " + e.primitive() + ": ";
    if (as == Role::reduction || as == Role::cumulative) {
      note(what + "it works across elements, which are made tile by tile");
    } else if (as == Role::contraction) {
      note(what + "products do not fuse with products");
    } else if (as == Role::view && user->id() != id_of<Reshape>) {
      note(what + "it moves elements");
    } else if (as != Role::elementwise && as != Role::view) {
      note(what + "it runs by itself");
    } else if (!fused) {
      note(what + "it needs what is computed later, or there are too many results");
    }
  }
}

namespace {

/// Places every root, in order, in the newest kernel that can take it, or in one of its own.
class Former {
 public:
  explicit Former(Planner& planner)
      : p_(planner), g_(p_.g), same_(g_.num_values(), -1), other_(g_.num_values(), -1), sharing_(p_, same_) {}

  void run() {
    auto next_cut = p_.cuts.begin();
    for (size_t i = 0; i < p_.order.size(); ++i) {
      for (; next_cut != p_.cuts.end() && next_cut->position == i; ++next_cut) close(next_cut->space);
      const std::vector<Value> roots = begin(i);
      if (!roots.empty() || p_.order[i]->results().empty()) put(*p_.order[i], roots, step_for(i, roots));
    }
  }

 private:
  /// Kernels over the space take no further roots.
  void close(const Extents& space) {
    std::erase_if(open_, [&](const auto& entry) {
      const bool closes = without_units(Shape(entry.first)) == space;
      if (closes) kernels_[entry.second].closed = true;
      return closes;
    });
  }

  /// Kernels that may take further roots.
  struct Open {
    int32_t step;
    Frame frame;          ///< of the reductions in it
    bool mixed = false;   ///< they have several
    bool shares = false;  ///< maps and reductions share loops
    size_t reductions = 0;
    bool closed = false;  ///< a cut ended it
  };

  /// Notes what the equation's results read; returns those that are roots.
  std::vector<Value> begin(size_t i) {
    const Equation& e = *p_.order[i];
    s_ = o_ = -1;
    for (Value v : e.operands()) {
      o_ = std::max(o_, other_[v.id()]);
      int32_t& read = p_.roles[i] == Role::elementwise ? s_ : o_;
      read = std::max(read, same_[v.id()]);
    }
    std::vector<Value> roots;
    for (Value v : e.results()) {
      same_[v.id()] = s_;
      other_[v.id()] = o_;
      if (p_.plan.in_memory[v.id()] && !p_.plan.shares[v.id()].valid()) roots.push_back(v);
    }
    return roots;
  }

  void put(const Equation& e, const std::vector<Value>& roots, int32_t at) {
    const bool by_parts = e.id() == id_of<Concatenate> && Planner::has_many_parts(e);
    for (Value v : roots) {
      same_[v.id()] = by_parts ? -1 : at;
      other_[v.id()] = by_parts ? at : -1;
    }
  }

  int32_t add_step(Step s) {
    p_.plan.steps.push_back(s);
    return static_cast<int32_t>(p_.plan.steps.size()) - 1;
  }
  int32_t add_group(Group group) {
    p_.plan.groups.push_back(std::move(group));
    return add_step({static_cast<int32_t>(p_.plan.groups.size()) - 1, nullptr});
  }
  Group& group_at(int32_t step) {
    return p_.plan.groups[static_cast<size_t>(p_.plan.steps[static_cast<size_t>(step)].group)];
  }

  int32_t step_for(size_t i, const std::vector<Value>& roots) {
    const Equation& e = *p_.order[i];
    if (const int32_t at = product_step(roots); at >= 0) return at;
    switch (p_.roles[i]) {
      case Role::elementwise:
      case Role::view:
      case Role::reduction:
        return join(i, roots);
      case Role::contraction:
        return add_group({g_.shape(e.result()), {e.result()}, nullptr});
      case Role::cumulative:
      case Role::scatter:
        return add_group({g_.shape(e.result()), {e.result()}, &e});
      case Role::loop:
        if (e.id() == id_of<Scan> && runs_per_element(g_, e)) {
          const Graph& body = e.subgraphs().back();
          return add_group({body.shape(body.outputs()[0]), {e.results().begin(), e.results().end()}, &e});
        }
        [[fallthrough]];
      default:
        return add_step({-1, &e});
    }
  }

  /// The step that computes the roots with a tiled product; it is added where the first of them is.
  int32_t product_step(const std::vector<Value>& roots) {
    const auto product = roots.empty() ? p_.product_of_root.end() : p_.product_of_root.find(roots[0].id());
    if (product == p_.product_of_root.end()) return -1;
    const auto [at, first] = at_product_.try_emplace(product->second, -1);
    if (first) at->second = add_group(std::move(p_.products[product->second]));
    return at->second;
  }

  int32_t join(size_t i, const std::vector<Value>& roots) {
    bool mixed = false;
    const Frame frame = sharing_.frame_of(roots[0], mixed);
    const Role role = p_.roles[i];
    // A reduction rather shares the loops of the maps that it reads than those of other reductions.
    int32_t at = role == Role::reduction ? share(i, roots, frame, mixed) : -1;
    if (at < 0) at = join_alike(i, roots, frame, mixed);
    if (at < 0 && role != Role::reduction) at = share(i, roots, frame, mixed);
    if (at >= 0) return at;
    const Shape& space = g_.shape(roots[0]);
    at = add_group({space, roots, nullptr});
    kernels_.push_back({at, frame, mixed, false, role == Role::reduction ? size_t{1} : 0});
    open_[key_of(space)] = kernels_.size() - 1;
    return at;
  }

  static std::vector<int64_t> key_of(const Shape& space) { return {space.begin(), space.end()}; }

  /// Into the newest kernel whose roots have the same shape, when what it reads of them is at its own index.
  int32_t join_alike(size_t i, const std::vector<Value>& roots, const Frame& frame, bool mixed) {
    const Shape& space = g_.shape(roots[0]);
    const auto it = open_.find(key_of(space));
    if (it == open_.end()) return -1;
    Open& open = kernels_[it->second];
    if (open.step < s_ || open.step <= o_) return -1;
    const bool agree = !mixed && (!frame.valid() || !open.frame.valid() || frame == open.frame);
    if (open.shares && !agree) return -1;
    // A kernel that shares columns has its loops the other way round.
    if (open.shares && !sharing_.fits(roots[0], open.frame, open.step)) return -1;
    const Equation& e = *p_.order[i];
    const bool reduces = p_.roles[i] == Role::reduction;
    if (reduces && open.reductions >= kMaxReductions) {
      note(e, open, "would be one reduction too many");
      return -1;
    }
    if (!has_room(open, space.num_elements())) {
      note(e, open, "would be one result too many over a large space");
      return -1;
    }
    open.reductions += reduces;
    open.mixed = open.mixed || !agree || mixed;
    if (!open.frame.valid()) open.frame = frame;
    return add_to(open, roots);
  }

  bool has_room(const Open& open, int64_t elements) {
    return elements <= kSmallSpace || group_at(open.step).roots.size() < kMaxLargeRoots;
  }
  int32_t add_to(const Open& open, const std::vector<Value>& roots) {
    Group& group = group_at(open.step);
    group.roots.insert(group.roots.end(), roots.begin(), roots.end());
    return open.step;
  }

  /// Into a kernel of maps or reductions over the same loops.
  int32_t share(size_t i, const std::vector<Value>& roots, const Frame& own, bool mixed) {
    constexpr size_t kNewest = 6;
    const Equation& e = *p_.order[i];
    const bool map = p_.roles[i] == Role::elementwise || always_reads(e);
    if (mixed || !(map || p_.roles[i] == Role::reduction)) return -1;
    const Extents extents = without_units(g_.shape(roots[0]));
    for (size_t k = kernels_.size(), n = 0; k-- > 0 && n < kNewest; ++n) {
      Open& open = kernels_[k];
      if (open.step < s_ || open.step < o_) return -1;
      if (open.mixed || open.closed) continue;
      if (own.valid() && open.frame.valid() && !(own == open.frame)) {
        if (own.full == open.frame.full) note(e, open, "reduces other dimensions");
        continue;
      }
      const Frame& frame = own.valid() ? own : open.frame;
      if (!frame.valid() || (extents != frame.full && extents != frame.kept)) continue;
      if (!takes(open, frame)) continue;
      if (!sharing_.fits(roots[0], frame, open.step)) {
        note(e, open, sharing_.reason());
        continue;
      }
      const Shape space(std::vector<int64_t>(frame.full.begin(), frame.full.end()));
      if (!has_room(open, space.num_elements()) || open.reductions >= kMaxReductions) {
        note(e, open, "would be one result too many");
        continue;
      }
      open.frame = frame;
      open.shares = true;
      open.reductions += p_.roles[i] == Role::reduction;
      Group& group = group_at(open.step);
      group.loops = frame.full;
      group.reduced = frame.reduced;
      auto& newest = open_.try_emplace(key_of(g_.shape(roots[0])), k).first->second;
      newest = std::max(newest, k);
      return add_to(open, roots);
    }
    return -1;
  }

  /// Whether the loops of the frame are those of all roots of an open kernel.
  bool takes(const Open& open, const Frame& frame) {
    if (open.shares) return open.frame == frame;
    const Group& group = group_at(open.step);
    for (const Value v : group.roots) {
      const Equation& e = *g_.definition(v);
      const Role role = p_.role(e);
      if (role != Role::reduction && role != Role::elementwise && !always_reads(e)) return false;
      if (!sharing_.fits(v, frame, open.step)) return false;
    }
    return true;
  }

  void note(const Equation& e, const Open& open, const std::string& reason) {
    const Equation& first = *g_.definition(group_at(open.step).roots[0]);
    p_.note(e.primitive() + " is not computed in the kernel of " + first.primitive() + ": it " + reason);
  }

  Planner& p_;
  const Graph& g_;
  // By value id: the last step whose results it reads at its own index, and at any other index.
  std::vector<int32_t> same_, other_;
  int32_t s_ = -1, o_ = -1;  // of the equation at hand
  Sharing sharing_;
  std::vector<Open> kernels_;
  std::map<std::vector<int64_t>, size_t> open_;     // by space: the last kernel with roots of it
  std::unordered_map<size_t, int32_t> at_product_;  // the step of each product
};

}  // namespace

void Planner::form_groups() { Former(*this).run(); }

void Planner::drop_private() {
  constexpr int32_t kNowhere = -1, kSeveral = -2;
  // By value: the group that computes it; of what is computed in several, none.
  std::vector<int32_t> home(g.num_values(), kNowhere);
  std::vector<int> stage(g.num_values(), 0);
  for (size_t k = 0; k < plan.groups.size(); ++k)
    for (const Value v : plan.groups[k].roots) home[v.id()] = static_cast<int32_t>(k);
  for (size_t i = order.size(); i-- > 0;) {
    for (const Value v : order[i]->results()) {
      if (!inlined(v)) continue;
      for (const Equation* user : users[v.id()]) {
        for (const Value r : user->results()) {
          if (home[r.id()] == kNowhere) continue;
          home[v.id()] = home[v.id()] == kNowhere || home[v.id()] == home[r.id()] ? home[r.id()] : kSeveral;
        }
      }
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    int deepest = 0;
    for (const Value o : e.operands()) {
      if (g.kind(o) != ValueKind::result || e.results().empty()) continue;
      const int32_t here = home[e.results()[0].id()];
      if (inlined(o) || home[o.id()] == here || here == kSeveral) deepest = std::max(deepest, stage[o.id()]);
    }
    for (const Value v : e.results()) stage[v.id()] = deepest + (roles[i] == Role::reduction);
  }
  for (Group& group : plan.groups) {
    if (group.loops.empty()) continue;
    const auto k = static_cast<int32_t>(&group - plan.groups.data());
    const auto is_private = [&](Value v) {
      if (fixed[v.id()] || users[v.id()].empty()) return false;
      const bool map = without_units(g.shape(v)) == group.loops;
      return std::all_of(users[v.id()].begin(), users[v.id()].end(), [&](const Equation* user) {
        const Role as = role(*user);
        const int later = as == Role::reduction;
        if (user->results().empty() || (map && as != Role::reduction && as != Role::elementwise)) return false;
        return std::all_of(user->results().begin(), user->results().end(), [&](Value r) {
          if (home[r.id()] == kNowhere) return true;  // nobody wants it
          return home[r.id()] == k && (!map || stage[r.id()] == stage[v.id()] + later);
        });
      });
    };
    // The last ones first: whether a value is in memory decides where what it reads is computed.
    std::vector<Value> kept;
    for (const Value v : group.roots) {
      if (is_private(v)) {
        plan.in_memory[v.id()] = false;
      } else {
        kept.push_back(v);
      }
    }
    group.roots = std::move(kept);
  }
}

}  // namespace calque::plan
