// Which materialized values share a kernel. Goes through the equations in order and adds each root to the newest kernel
// that can take it, or to a new one: a kernel can take a root if it comes after every step whose results the root reads
// at other indices, and if their loops agree.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "plan/analysis/concatenations.h"
#include "plan/analysis/equations.h"
#include "plan/passes/loop_sharing.h"
#include "plan/passes/passes.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// More roots than this in a kernel over a large space would compete for registers and hardware prefetch streams.
constexpr size_t kMaxLargeRoots = 8;
/// Repeating this many operations in another kernel costs more than further roots in one kernel.
constexpr double kMostRepeated = 64;
/// Limit on the reductions of one kernel over a small space: each is a loop, and functions of many loops compile
/// slowly.
constexpr size_t kMaxReductions = 32;

/// Assigns every root, in order, to the newest kernel that can take it, or to a new one.
class KernelFormation {
 public:
  KernelFormation(const GraphAnalysis& analysis, const MaterializedValues& values, const RecomputationCosts& costs,
                  const ProductKernels& products, Remarks& remarks)
      : a_(analysis),
        g_(a_.graph),
        values_(values),
        costs_(costs),
        products_(products),
        remarks_(remarks),
        same_(g_.num_values(), -1),
        other_(g_.num_values(), -1),
        computed_by_(g_.num_values(), -1),
        seen_(g_.num_values(), 0),
        sharing_(a_, values_, costs, same_) {}

  FusionGroups run(const SplitPoints& split_points) {
    auto next_split = split_points.begin();
    for (size_t i = 0; i < a_.order.size(); ++i) {
      for (; next_split != split_points.end() && next_split->position == i; ++next_split) close(next_split->space);
      const std::vector<Value> roots = visit(i);
      if (!roots.empty() || a_.order[i].results().empty()) record(a_.order[i], roots, step_for(i, roots));
    }
    return std::move(formed_);
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
  std::vector<Value> visit(size_t i) {
    const Equation& e = a_.order[i];
    read_same_ = read_other_ = -1;
    for (Value v : e.operands()) {
      read_other_ = std::max(read_other_, other_[v.id()]);
      int32_t& read = a_.order.kind(i) == FusionKind::elementwise ? read_same_ : read_other_;
      read = std::max(read, same_[v.id()]);
    }
    std::vector<Value> roots;
    for (Value v : e.results()) {
      same_[v.id()] = read_same_;
      other_[v.id()] = read_other_;
      if (values_.is_materialized(v) && !values_.shared_buffer(v).valid()) roots.push_back(v);
    }
    return roots;
  }

  /// Users of the roots read step `at`: a concatenation of many or expensive operands at other indices than its own.
  void record(const Equation& e, const std::vector<Value>& roots, int32_t at) {
    const bool by_operands = e.id() == id_of<Concatenate> && (has_many_operands(e) || selects_expensively(costs_, e));
    for (Value v : roots) {
      same_[v.id()] = by_operands ? -1 : at;
      other_[v.id()] = by_operands ? at : -1;
    }
  }

  int32_t add_step(Step s) {
    formed_.steps.push_back(s);
    return static_cast<int32_t>(formed_.steps.size()) - 1;
  }
  int32_t add_group(FusionGroup group) {
    formed_.groups.push_back(std::move(group));
    return add_step({static_cast<int32_t>(formed_.groups.size()) - 1, nullptr});
  }
  FusionGroup& group_at(int32_t step) {
    return formed_.groups[static_cast<size_t>(formed_.steps[static_cast<size_t>(step)].group)];
  }

  int32_t step_for(size_t i, const std::vector<Value>& roots) {
    const Equation& e = a_.order[i];
    const FusionKind kind = a_.order.kind(i);
    if (const int32_t at = product_step(roots); at >= 0) return at;
    if (runs_as_step(g_, e, kind)) return add_step({-1, &e});
    switch (kind) {
      case FusionKind::elementwise:
      case FusionKind::view:
      case FusionKind::reduction:
        if (a_.in_place.is_update(e)) return add_group({g_.shape(e.result()), {e.result()}, nullptr});
        return assign(i, roots);
      case FusionKind::contraction:
        return add_group({g_.shape(e.result()), {e.result()}, nullptr});
      case FusionKind::anchor:
        return add_group({g_.shape(e.result()), {e.results().begin(), e.results().end()}, &e});
      case FusionKind::loop: {  // a scan over elements
        const Graph& body = e.subgraphs().back();
        return add_group({body.shape(body.outputs()[0]), {e.results().begin(), e.results().end()}, &e});
      }
      case FusionKind::routine:
      case FusionKind::branch:
      case FusionKind::effect:
      case FusionKind::call:
        break;
    }
    throw CompileError("form-fusion-groups: " + e.primitive() + " is no kernel");
  }

  /// The step that computes the roots with a tiled product; it is added at the first of them.
  int32_t product_step(const std::vector<Value>& roots) {
    const auto& group_of_root = products_.group_of_root;
    const auto product = roots.empty() ? group_of_root.end() : group_of_root.find(roots[0].id());
    if (product == group_of_root.end()) return -1;
    const auto [at, first] = at_product_.try_emplace(product->second, -1);
    if (first) at->second = add_group(products_.groups[product->second]);
    return at->second;
  }

  int32_t assign(size_t i, const std::vector<Value>& roots) {
    bool mixed = false;
    const LoopNest nest = sharing_.loop_nest_of(roots[0], mixed);
    const FusionKind kind = a_.order.kind(i);
    // A reduction prefers to share the loops of the pointwise operations that it reads over those of other reductions.
    int32_t at = kind == FusionKind::reduction ? share(i, roots, nest, mixed) : -1;
    if (at < 0) at = add_to_alike(i, roots, nest, mixed);
    if (at < 0 && kind != FusionKind::reduction) at = share(i, roots, nest, mixed);
    if (at >= 0) return at;
    const Shape& space = g_.shape(roots[0]);
    at = add_group({space, roots, nullptr});
    mark_computed(roots, at);
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
    const Equation& e = a_.order[i];
    const bool reduces = a_.order.kind(i) == FusionKind::reduction;
    if (reduces && open.reductions >= kMaxReductions) {
      remark(e, open, "would be one reduction too many");
      return -1;
    }
    if (!has_room(open, space.num_elements(), roots)) {
      remark(e, open, "would be one result too many over a large space");
      return -1;
    }
    open.reductions += reduces;
    open.mixed = open.mixed || !agree || mixed;
    if (!open.nest.valid()) open.nest = nest;
    return add_to(open, roots);
  }

  bool has_room(const Open& open, int64_t elements, const std::vector<Value>& roots) {
    return elements <= kSmallSpace || group_at(open.step).roots.size() < kMaxLargeRoots ||
           repeats_much(roots, open.step);
  }

  /// Calls `visit` for the inlined values that the roots are computed from, as long as it returns true.
  template <class Visit>
  void walk(const std::vector<Value>& roots, const Visit& visit) {
    ++walk_;
    std::vector<Value> stack = roots;
    while (!stack.empty()) {
      const Value v = stack.back();
      stack.pop_back();
      for (const Value o : g_.definition(v)->operands()) {
        if (!values_.is_inlined(o) || std::exchange(seen_[o.id()], walk_) == walk_) continue;
        if (!visit(o)) return;
        stack.push_back(o);
      }
    }
  }

  /// Whether another kernel of these roots would repeat many operations of the kernel at `step`, other than in outer
  /// loops.
  bool repeats_much(const std::vector<Value>& roots, int32_t step) {
    const int64_t elements = g_.shape(roots[0]).num_elements();
    double repeated = 0;
    walk(roots, [&](Value v) {
      const Equation& e = *g_.definition(v);
      if (computed_by_[v.id()] == step && a_.kind(e) == FusionKind::elementwise &&
          g_.shape(v).num_elements() >= elements)
        repeated += cost_of(g_, e).operations;
      return repeated <= kMostRepeated;
    });
    return repeated > kMostRepeated;
  }

  void mark_computed(const std::vector<Value>& roots, int32_t step) {
    if (g_.shape(roots[0]).num_elements() <= kSmallSpace) return;
    // What a marked value is computed from is marked too.
    std::vector<Value> stack = roots;
    while (!stack.empty()) {
      const Value v = stack.back();
      stack.pop_back();
      for (const Value o : g_.definition(v)->operands())
        if (values_.is_inlined(o) && std::exchange(computed_by_[o.id()], step) != step) stack.push_back(o);
    }
  }

  int32_t add_to(const Open& open, const std::vector<Value>& roots) {
    FusionGroup& group = group_at(open.step);
    group.roots.insert(group.roots.end(), roots.begin(), roots.end());
    mark_computed(roots, open.step);
    return open.step;
  }

  /// Adds the roots to a kernel of pointwise operations or reductions over the same loops.
  int32_t share(size_t i, const std::vector<Value>& roots, const LoopNest& own, bool mixed) {
    constexpr size_t kNewest = 6;
    const Equation& e = a_.order[i];
    const bool pointwise = a_.order.kind(i) == FusionKind::elementwise || always_reads(e);
    if (mixed || !(pointwise || a_.order.kind(i) == FusionKind::reduction)) return -1;
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
      if (!has_room(open, space.num_elements(), roots) || open.reductions >= kMaxReductions) {
        remark(e, open, "would be one result too many");
        continue;
      }
      open.nest = nest;
      open.shares = true;
      open.reductions += a_.order.kind(i) == FusionKind::reduction;
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
      const FusionKind kind = a_.kind(e);
      if (kind != FusionKind::reduction && kind != FusionKind::elementwise && !always_reads(e)) return false;
      if (!sharing_.fits(v, nest, open.step)) return false;
    }
    return true;
  }

  void remark(const Equation& e, const Open& open, const std::string& reason) {
    const Equation& first = *g_.definition(group_at(open.step).roots[0]);
    remarks_.add(e.primitive() + " is not computed in the kernel of " + first.primitive() + ": it " + reason);
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  const MaterializedValues& values_;
  const RecomputationCosts& costs_;
  const ProductKernels& products_;
  Remarks& remarks_;
  FusionGroups formed_;
  // By value id: the last step whose results it reads at its own index, and at any other index.
  std::vector<int32_t> same_, other_;
  int32_t read_same_ = -1, read_other_ = -1;  // of the current equation
  std::vector<int32_t> computed_by_;          // by value id: the last step over a large space that computes it
  std::vector<uint32_t> seen_;                // by value id: the last walk that visited it
  uint32_t walk_ = 0;
  LoopSharing sharing_;
  std::vector<Open> kernels_;
  std::map<std::vector<int64_t>, size_t> open_;     // by space: the last kernel with roots of it
  std::unordered_map<size_t, int32_t> at_product_;  // the step of each product
};

}  // namespace

FusionGroups form_fusion_groups(const GraphAnalysis& analysis, const MaterializedValues& values,
                                const RecomputationCosts& costs, const SplitPoints& split_points,
                                const ProductKernels& products, Remarks& remarks) {
  return KernelFormation(analysis, values, costs, products, remarks).run(split_points);
}

}  // namespace calque::plan
