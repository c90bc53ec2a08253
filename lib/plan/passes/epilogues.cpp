#include "plan/passes/epilogues.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// More results than this would compete for registers.
constexpr size_t kMaxRoots = 4;
/// Limit on the number of equations between a product and its roots that are analyzed.
constexpr size_t kMaxDistance = 4096;

class EpilogueFinder {
 public:
  EpilogueFinder(const GraphAnalysis& analysis, const MaterializedValues& values, const Equation& product,
                 const std::vector<bool>& claimed)
      : a_(analysis), g_(a_.graph), values_(values), product_(product), claimed_(claimed), result_(product.result()) {}

  Epilogue find() {
    std::vector<Value> roots = reach();
    std::sort(roots.begin(), roots.end(), [&](Value a, Value b) { return position(a) < position(b); });
    if (needed_ || roots.size() > kMaxRoots) return accept(roots, a_.order.position(product_), true);
    if (roots.empty()) return {};
    // If one of them needs the product's result in memory, the others may still be computed with the product.
    const Epilogue all = accept(roots, position(roots[0]), false);
    return all.roots.size() == roots.size() ? all : accept(roots, a_.order.position(product_), true);
  }

 private:
  size_t position(Value v) const { return a_.order.position(v); }

  /// An elementwise operation, with respect to row-major positions.
  bool keeps_position(const Equation& e, Value operand) const {
    if (e.id() == id_of<Reshape>) return true;
    return a_.kind(e) == FusionKind::elementwise && !has_loops_or_calls(g_, e) &&
           g_.shape(operand) == g_.shape(e.result());
  }

  /// The materialized values that the result reaches through such operations. Sets `needed_` if it has other uses.
  std::vector<Value> reach() {
    std::vector<Value> roots, stack{result_};
    std::unordered_set<uint32_t> seen;
    needed_ = needed_ || a_.is_output(result_);
    while (!stack.empty()) {
      const Value v = stack.back();
      stack.pop_back();
      for (const Equation* user : a_.users(v)) {
        const Value next = user->results().empty() ? Value() : user->result();
        const bool fits =
            next.valid() && keeps_position(*user, v) && !values_.shared_buffer(next).valid() && !claimed_[next.id()];
        if (!fits) {
          needed_ = true;
        } else if (seen.insert(next.id()).second) {
          if (values_.is_materialized(next)) {
            roots.push_back(next);
          } else {
            stack.push_back(next);
          }
        }
      }
    }
    return roots;
  }

  /// The roots that can be computed in a kernel that runs before the equation at `first`.
  Epilogue accept(const std::vector<Value>& roots, size_t first, bool result_materialized) {
    Epilogue out;
    out.result_materialized = result_materialized;
    for (const Value root : roots) {
      if (out.roots.size() < kMaxRoots && computable(root, first)) out.roots.push_back(root);
    }
    return out;
  }

  bool computable(Value root, size_t first) {
    struct Item {
      Value v;
      bool same;
    };
    std::vector<Item> stack;
    std::set<std::pair<uint32_t, bool>> seen;
    const auto operands = [&](const Equation& e, bool same) {
      for (const Value o : e.operands()) stack.push_back({o, same && keeps_position(e, o)});
    };
    operands(*g_.definition(root), true);
    while (!stack.empty()) {
      const auto [v, same] = stack.back();
      stack.pop_back();
      if (v == result_) {
        if (!same) return false;
        continue;
      }
      if (g_.kind(v) != ValueKind::result || !seen.emplace(v.id(), same).second) continue;
      const Equation& e = *g_.definition(v);
      if (values_.is_materialized(v)) {
        if (position(v) >= first || depends(v, first)) return false;
        continue;
      }
      const FusionKind kind = a_.kind(e);
      if ((kind != FusionKind::elementwise && kind != FusionKind::view) || has_loops_or_calls(g_, e)) return false;
      operands(e, same);
    }
    return true;
  }

  /// Whether a value computed between the product and `first` depends on the product's result.
  bool depends(Value v, size_t first) {
    const size_t from = a_.order.position(product_);
    if (position(v) < from) return false;
    if (first - from > kMaxDistance) return true;
    if (tainted_to_ < first) {
      tainted_.insert(result_.id());
      for (size_t i = std::max(from + 1, tainted_to_); i < first; ++i) {
        const Equation& e = a_.order[i];
        const bool any =
            std::any_of(e.operands().begin(), e.operands().end(), [&](Value o) { return tainted_.count(o.id()) != 0; });
        if (!any) continue;
        for (const Value r : e.results()) tainted_.insert(r.id());
      }
      tainted_to_ = first;
    }
    return tainted_.count(v.id()) != 0;
  }

  const GraphAnalysis& a_;
  const Graph& g_;
  const MaterializedValues& values_;
  const Equation& product_;
  const std::vector<bool>& claimed_;
  const Value result_;
  bool needed_ = false;
  size_t tainted_to_ = 0;
  std::unordered_set<uint32_t> tainted_;
};

}  // namespace

Epilogue find_epilogue(const GraphAnalysis& analysis, const MaterializedValues& values, const Equation& product,
                       const std::vector<bool>& claimed) {
  return EpilogueFinder(analysis, values, product, claimed).find();
}

}  // namespace calque::plan
