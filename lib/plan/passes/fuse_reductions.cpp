// Which reductions are computed inside the kernels of their users, so that softmax becomes one kernel. Walks backwards
// from each root: all uses of a reduction are known before it is decided, and then sets the loops in which its own
// operands are computed.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/analysis/equations.h"
#include "plan/analysis/loop_prefix.h"
#include "plan/passes/passes.h"

namespace calque::plan {
namespace {

/// Where a value would be computed, seen from one root: the enclosing loops (extents other than 1) and how many of
/// them, outermost first, index the value. -1: its index is not a prefix of the loops.
struct FusionContext {
  Value root;
  Extents loops = {};
  int prefix = -1;
};

/// What the walks have found of a reduction's uses.
struct ReductionUses {
  FusionContext context;
  bool found = false;
  bool conflict = false;  ///< in several roots or in several ways
};

class ReductionFusion {
 public:
  ReductionFusion(const GraphAnalysis& analysis, MaterializedValues& values)
      : a_(analysis), g_(a_.graph), values_(values), uses_(g_.num_values()), visits_(g_.num_values()) {}

  void run() {
    for (size_t i = a_.order.size(); i-- > 0;) {
      const Equation& e = a_.order[i];
      for (const Value v : e.results())
        if (values_.is_materialized(v)) visit(e, a_.order.kind(i), v);
      if (e.results().empty())
        for (const Value o : e.operands()) walk(o, FusionContext{});
    }
  }

 private:
  void visit(const Equation& e, FusionKind kind, Value v) {
    if (kind == FusionKind::reduction) return reduction(e, v);
    FusionContext context{v};
    const bool indexed = kind == FusionKind::elementwise || kind == FusionKind::view;
    if (indexed) context.loops = without_size_1_dims(g_.shape(v));
    // Starts at the operands: the root itself is materialized, where the walk would stop.
    for (const Value o : e.operands()) {
      if (indexed) context.prefix = operand_prefix(a_, e, o, static_cast<int>(context.loops.size()));
      walk(o, context);
    }
  }

  void reduction(const Equation& e, Value v) {
    const Extents kept = without_size_1_dims(g_.shape(v));
    const bool fuse = fits(v, kept);
    FusionContext inner{fuse ? uses_[v.id()].context.root : v, kept};
    const Shape& operand = g_.shape(e.operand(0));
    for (const int64_t d : without_size_1_dims(reduced_extents(e, operand))) inner.loops.push_back(d);
    // Nested values are indexed by a prefix of the loops only if the reduced dimensions are the last ones.
    if (inner.loops == without_size_1_dims(operand)) inner.prefix = static_cast<int>(inner.loops.size());
    if (fuse) values_.make_inlined(v);
    walk(e.operand(0), inner);
  }

  /// Whether all uses of the reduction are in one kernel, in loops that run once for each of its elements.
  bool fits(Value v, const Extents& kept) const {
    const ReductionUses& uses = uses_[v.id()];
    const FusionContext& at = uses.context;
    return !values_.is_required(v) && uses.found && !uses.conflict && at.prefix >= 0 &&
           kept.size() == static_cast<size_t>(at.prefix) && at.prefix <= static_cast<int>(at.loops.size()) &&
           std::equal(kept.begin(), kept.end(), at.loops.begin());
  }

  /// Walks the values computed inside the kernel of `context.root`, from `start` on, and records for each candidate the
  /// context of its uses.
  void walk(Value start, const FusionContext& context) {
    struct Item {
      Value v;
      int prefix;
    };
    std::vector<Item> stack{{start, context.prefix}};
    ++walks_;
    while (!stack.empty()) {
      const auto [v, prefix] = stack.back();
      stack.pop_back();
      if (g_.kind(v) != ValueKind::result || !is_first_visit(v, prefix)) continue;
      const Equation& e = *g_.definition(v);
      if (values_.is_materialized(v)) {
        if (!values_.is_required(v) && a_.kind(e) == FusionKind::reduction)
          record({context.root, context.loops, prefix}, uses_[v.id()]);
        continue;
      }
      for (const Value o : e.operands()) stack.push_back({o, operand_prefix(a_, e, o, prefix)});
    }
  }

  /// Whether the walk that runs comes to the value with this prefix for the first time.
  bool is_first_visit(Value v, int prefix) {
    Visits& visits = visits_[v.id()];
    if (visits.walk != walks_) visits = {walks_, 0};
    // More loops of extents other than 1 have no iterations, or too many for any array.
    const uint64_t bit = uint64_t{1} << std::min(prefix + 1, 63);
    const bool is_first = (visits.prefixes & bit) == 0;
    visits.prefixes |= bit;
    return is_first;
  }

  static void record(FusionContext context, ReductionUses& uses) {
    if (!uses.found) {
      uses.found = true;
      uses.context = std::move(context);
      return;
    }
    const FusionContext& first = uses.context;
    const bool same_prefix = first.root == context.root && first.prefix == context.prefix;
    if (same_prefix && first.loops == context.loops) return;
    // The same outer loops suffice: it is computed once, outside the inner ones.
    const bool same = same_prefix && context.prefix >= 0 &&
                      std::equal(first.loops.begin(), first.loops.begin() + context.prefix, context.loops.begin());
    if (!same) uses.conflict = true;
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  MaterializedValues& values_;
  std::vector<ReductionUses> uses_;  // by value id
  struct Visits {
    uint64_t walk = 0, prefixes = 0;
  };
  std::vector<Visits> visits_;  // by value id
  uint64_t walks_ = 0;
};

/// The walks take time in proportion to roots times values: too much for graphs with very many of both.
bool takes_too_long(const GraphAnalysis& a, const MaterializedValues& values) {
  constexpr size_t kMost = 4'000'000;
  size_t candidates = 0, roots = 0;
  for (size_t i = 0; i < a.order.size(); ++i) {
    candidates += a.order.kind(i) == FusionKind::reduction;
    for (const Value v : a.order[i].results()) roots += values.is_materialized(v);
  }
  return candidates == 0 || candidates * roots > kMost / std::max<size_t>(1, a.order.size() / 64);
}

}  // namespace

void fuse_reductions(const GraphAnalysis& analysis, MaterializedValues& values) {
  if (!takes_too_long(analysis, values)) ReductionFusion(analysis, values).run();
}

}  // namespace calque::plan
