// Which materialized values share a kernel.
#include <algorithm>
#include <map>

#include "plan/equations.h"
#include "plan/sharing.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// More roots than this in a kernel over a large space would compete for registers and hardware prefetch streams.
constexpr size_t kMaxLargeRoots = 8;
/// Limit on the reductions of one kernel over a small space: each is a loop, and functions of many loops compile
/// slowly.
constexpr size_t kMaxReductions = 32;

}  // namespace

void Planner::fuse_epilogues() {
  const EpilogueContext context{g, order, fusion_kinds, position, users, is_output, plan.materialized, plan.shares};
  std::vector<bool> claimed(g.num_values(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    if (fusion_kinds[i] != FusionKind::contraction || product(e) == Product::dot_products ||
        plan.shares[e.result().id()].valid()) {
      continue;
    }
    const Epilogue epilogue = find_epilogue(context, e, claimed);
    FusionGroup group{g.shape(e.result()), epilogue.roots, &e};
    for (Value v : group.roots) claimed[v.id()] = true;
    if (epilogue.result_materialized) group.roots.insert(group.roots.begin(), e.result());
    plan.materialized[e.result().id()] = epilogue.result_materialized;
    if (epilogue.result_materialized) remark_epilogue(e, epilogue);
    for (Value v : group.roots) product_of_root[v.id()] = products.size();
    products.push_back(std::move(group));
  }
}

void Planner::remark_epilogue(const Equation& e, const Epilogue& epilogue) {
  for (const Equation* user : users[e.result().id()]) {
    const auto& roots = epilogue.roots;
    const bool fused = std::any_of(user->results().begin(), user->results().end(), [&](Value v) {
      return inlined(v) || std::find(roots.begin(), roots.end(), v) != roots.end();
    });
    const FusionKind as = fusion_kind(*user);
    const std::string what = user->primitive() + " is not computed with " + e.primitive() + ": ";
    if (as == FusionKind::reduction || as == FusionKind::cumulative) {
      remark(what + "it works across elements, which are computed tile by tile");
    } else if (as == FusionKind::contraction) {
      remark(what + "products do not fuse with products");
    } else if (as == FusionKind::view && user->id() != id_of<Reshape>) {
      remark(what + "it moves elements");
    } else if (as != FusionKind::elementwise && as != FusionKind::view) {
      remark(what + "it runs by itself");
    } else if (!fused) {
      remark(what + "it needs values that are computed later, or there are too many results");
    }
  }
}

namespace {

/// Assigns every root, in order, to the newest kernel that can take it, or to a new one.
class KernelFormation {
 public:
  explicit KernelFormation(Planner& planner)
      : p_(planner), g_(p_.g), same_(g_.num_values(), -1), other_(g_.num_values(), -1), sharing_(p_, same_) {}

  void run() {
    auto next_split = p_.split_points.begin();
    for (size_t i = 0; i < p_.order.size(); ++i) {
      for (; next_split != p_.split_points.end() && next_split->position == i; ++next_split) close(next_split->space);
      const std::vector<Value> roots = begin(i);
      if (!roots.empty() || p_.order[i]->results().empty()) put(*p_.order[i], roots, step_for(i, roots));
    }
  }

 private:
  /// Kernels over the space take no further roots.
  void close(const Extents& space) {
    std::erase_if(open_, [&](const auto& entry) {
      const bool closes = without_size_1_dims(Shape(entry.first)) == space;
      if (closes) kernels_[entry.second].closed = true;
      return closes;
    });
  }

  /// Kernels that may take further roots.
  struct Open {
    int32_t step;
    LoopNest nest;        ///< of the reductions in it
    bool mixed = false;   ///< they have different nests
    bool shares = false;  ///< pointwise operations and reductions share loops
    size_t reductions = 0;
    bool closed = false;  ///< ended by a split point
  };

  /// Records which steps the equation's results read; returns the results that are roots.
  std::vector<Value> begin(size_t i) {
    const Equation& e = *p_.order[i];
    read_same_ = read_other_ = -1;
    for (Value v : e.operands()) {
      read_other_ = std::max(read_other_, other_[v.id()]);
      int32_t& read = p_.fusion_kinds[i] == FusionKind::elementwise ? read_same_ : read_other_;
      read = std::max(read, same_[v.id()]);
    }
    std::vector<Value> roots;
    for (Value v : e.results()) {
      same_[v.id()] = read_same_;
      other_[v.id()] = read_other_;
      if (p_.plan.materialized[v.id()] && !p_.plan.shares[v.id()].valid()) roots.push_back(v);
    }
    return roots;
  }

  void put(const Equation& e, const std::vector<Value>& roots, int32_t at) {
    const bool by_operands = e.id() == id_of<Concatenate> && Planner::has_many_operands(e);
    for (Value v : roots) {
      same_[v.id()] = by_operands ? -1 : at;
      other_[v.id()] = by_operands ? at : -1;
    }
  }

  int32_t add_step(Step s) {
    p_.plan.steps.push_back(s);
    return static_cast<int32_t>(p_.plan.steps.size()) - 1;
  }
  int32_t add_group(FusionGroup group) {
    p_.plan.groups.push_back(std::move(group));
    return add_step({static_cast<int32_t>(p_.plan.groups.size()) - 1, nullptr});
  }
  FusionGroup& group_at(int32_t step) {
    return p_.plan.groups[static_cast<size_t>(p_.plan.steps[static_cast<size_t>(step)].group)];
  }

  int32_t step_for(size_t i, const std::vector<Value>& roots) {
    const Equation& e = *p_.order[i];
    if (const int32_t at = product_step(roots); at >= 0) return at;
    switch (p_.fusion_kinds[i]) {
      case FusionKind::elementwise:
      case FusionKind::view:
      case FusionKind::reduction:
        return assign(i, roots);
      case FusionKind::contraction:
        return add_group({g_.shape(e.result()), {e.result()}, nullptr});
      case FusionKind::cumulative:
      case FusionKind::scatter:
        return add_group({g_.shape(e.result()), {e.result()}, &e});
      case FusionKind::loop:
        if (e.id() == id_of<Scan> && runs_per_element(g_, e)) {
          const Graph& body = e.subgraphs().back();
          return add_group({body.shape(body.outputs()[0]), {e.results().begin(), e.results().end()}, &e});
        }
        [[fallthrough]];
      default:
        return add_step({-1, &e});
    }
  }

  /// The step that computes the roots with a tiled product; it is added at the first of them.
  int32_t product_step(const std::vector<Value>& roots) {
    const auto product = roots.empty() ? p_.product_of_root.end() : p_.product_of_root.find(roots[0].id());
    if (product == p_.product_of_root.end()) return -1;
    const auto [at, first] = at_product_.try_emplace(product->second, -1);
    if (first) at->second = add_group(std::move(p_.products[product->second]));
    return at->second;
  }

  int32_t assign(size_t i, const std::vector<Value>& roots) {
    bool mixed = false;
    const LoopNest nest = sharing_.loop_nest_of(roots[0], mixed);
    const FusionKind kind = p_.fusion_kinds[i];
    // A reduction prefers to share the loops of the pointwise operations that it reads over those of other reductions.
    int32_t at = kind == FusionKind::reduction ? share(i, roots, nest, mixed) : -1;
    if (at < 0) at = add_to_alike(i, roots, nest, mixed);
    if (at < 0 && kind != FusionKind::reduction) at = share(i, roots, nest, mixed);
    if (at >= 0) return at;
    const Shape& space = g_.shape(roots[0]);
    at = add_group({space, roots, nullptr});
    kernels_.push_back({at, nest, mixed, false, kind == FusionKind::reduction ? size_t{1} : 0});
    open_[key_of(space)] = kernels_.size() - 1;
    return at;
  }

  static std::vector<int64_t> key_of(const Shape& space) { return {space.begin(), space.end()}; }

  /// Adds the roots to the newest kernel whose roots have the same shape, if they read those at their own index.
  int32_t add_to_alike(size_t i, const std::vector<Value>& roots, const LoopNest& nest, bool mixed) {
    const Shape& space = g_.shape(roots[0]);
    const auto it = open_.find(key_of(space));
    if (it == open_.end()) return -1;
    Open& open = kernels_[it->second];
    if (open.step < read_same_ || open.step <= read_other_) return -1;
    const bool agree = !mixed && (!nest.valid() || !open.nest.valid() || nest == open.nest);
    if (open.shares && !agree) return -1;
    // A kernel that shares columns has its loops in the opposite order.
    if (open.shares && !sharing_.fits(roots[0], open.nest, open.step)) return -1;
    const Equation& e = *p_.order[i];
    const bool reduces = p_.fusion_kinds[i] == FusionKind::reduction;
    if (reduces && open.reductions >= kMaxReductions) {
      remark(e, open, "would be one reduction too many");
      return -1;
    }
    if (!has_room(open, space.num_elements())) {
      remark(e, open, "would be one result too many over a large space");
      return -1;
    }
    open.reductions += reduces;
    open.mixed = open.mixed || !agree || mixed;
    if (!open.nest.valid()) open.nest = nest;
    return add_to(open, roots);
  }

  bool has_room(const Open& open, int64_t elements) {
    return elements <= kSmallSpace || group_at(open.step).roots.size() < kMaxLargeRoots;
  }
  int32_t add_to(const Open& open, const std::vector<Value>& roots) {
    FusionGroup& group = group_at(open.step);
    group.roots.insert(group.roots.end(), roots.begin(), roots.end());
    return open.step;
  }

  /// Adds the roots to a kernel of pointwise operations or reductions over the same loops.
  int32_t share(size_t i, const std::vector<Value>& roots, const LoopNest& own, bool mixed) {
    constexpr size_t kNewest = 6;
    const Equation& e = *p_.order[i];
    const bool pointwise = p_.fusion_kinds[i] == FusionKind::elementwise || always_reads(e);
    if (mixed || !(pointwise || p_.fusion_kinds[i] == FusionKind::reduction)) return -1;
    const Extents extents = without_size_1_dims(g_.shape(roots[0]));
    for (size_t k = kernels_.size(), n = 0; k-- > 0 && n < kNewest; ++n) {
      Open& open = kernels_[k];
      if (open.step < read_same_ || open.step < read_other_) return -1;
      if (open.mixed || open.closed) continue;
      if (own.valid() && open.nest.valid() && !(own == open.nest)) {
        if (own.full == open.nest.full) remark(e, open, "reduces other dimensions");
        continue;
      }
      const LoopNest& nest = own.valid() ? own : open.nest;
      if (!nest.valid() || (extents != nest.full && extents != nest.kept)) continue;
      if (!takes(open, nest)) continue;
      if (!sharing_.fits(roots[0], nest, open.step)) {
        remark(e, open, sharing_.reason());
        continue;
      }
      const Shape space(std::vector<int64_t>(nest.full.begin(), nest.full.end()));
      if (!has_room(open, space.num_elements()) || open.reductions >= kMaxReductions) {
        remark(e, open, "would be one result too many");
        continue;
      }
      open.nest = nest;
      open.shares = true;
      open.reductions += p_.fusion_kinds[i] == FusionKind::reduction;
      FusionGroup& group = group_at(open.step);
      group.loops = nest.full;
      group.reduced = nest.reduced;
      auto& newest = open_.try_emplace(key_of(g_.shape(roots[0])), k).first->second;
      newest = std::max(newest, k);
      return add_to(open, roots);
    }
    return -1;
  }

  /// Whether all roots of an open kernel can be computed in the loops of the nest.
  bool takes(const Open& open, const LoopNest& nest) {
    if (open.shares) return open.nest == nest;
    const FusionGroup& group = group_at(open.step);
    for (const Value v : group.roots) {
      const Equation& e = *g_.definition(v);
      const FusionKind kind = p_.fusion_kind(e);
      if (kind != FusionKind::reduction && kind != FusionKind::elementwise && !always_reads(e)) return false;
      if (!sharing_.fits(v, nest, open.step)) return false;
    }
    return true;
  }

  void remark(const Equation& e, const Open& open, const std::string& reason) {
    const Equation& first = *g_.definition(group_at(open.step).roots[0]);
    p_.remark(e.primitive() + " is not computed in the kernel of " + first.primitive() + ": it " + reason);
  }

  Planner& p_;
  const Graph& g_;
  // By value id: the last step whose results it reads at its own index, and at any other index.
  std::vector<int32_t> same_, other_;
  int32_t read_same_ = -1, read_other_ = -1;  // of the current equation
  Sharing sharing_;
  std::vector<Open> kernels_;
  std::map<std::vector<int64_t>, size_t> open_;     // by space: the last kernel with roots of it
  std::unordered_map<size_t, int32_t> at_product_;  // the step of each product
};

}  // namespace

void Planner::form_fusion_groups() { KernelFormation(*this).run(); }

void Planner::drop_private() {
  constexpr int32_t kNowhere = -1, kSeveral = -2;
  // By value: the fusion group that computes it, if it is the only one.
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
    for (const Value v : e.results()) stage[v.id()] = deepest + (fusion_kinds[i] == FusionKind::reduction);
  }
  for (FusionGroup& group : plan.groups) {
    if (group.loops.empty()) continue;
    const auto k = static_cast<int32_t>(&group - plan.groups.data());
    const auto is_private = [&](Value v) {
      if (fixed[v.id()] || users[v.id()].empty()) return false;
      const bool pointwise = without_size_1_dims(g.shape(v)) == group.loops;
      return std::all_of(users[v.id()].begin(), users[v.id()].end(), [&](const Equation* user) {
        const FusionKind as = fusion_kind(*user);
        const int later = as == FusionKind::reduction;
        if (user->results().empty() || (pointwise && as != FusionKind::reduction && as != FusionKind::elementwise))
          return false;
        return std::all_of(user->results().begin(), user->results().end(), [&](Value r) {
          if (home[r.id()] == kNowhere) return true;  // unused
          return home[r.id()] == k && (!pointwise || stage[r.id()] == stage[v.id()] + later);
        });
      });
    };
    // Last ones first: whether a value is materialized decides where its operands are computed.
    std::vector<Value> kept;
    for (const Value v : group.roots) {
      if (is_private(v)) {
        plan.materialized[v.id()] = false;
      } else {
        kept.push_back(v);
      }
    }
    group.roots = std::move(kept);
  }
}

}  // namespace calque::plan
