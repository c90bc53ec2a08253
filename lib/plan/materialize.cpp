// Which values must be materialized regardless of fusion.
#include <algorithm>

#include "plan/equations.h"
#include "plan/planner.h"
#include "plan/product_queries.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

void Planner::require_materialized(Value v) {
  if (g.kind(v) != ValueKind::result) return;
  materialize(v);
  fixed[v.id()] = 1;
}

void Planner::materialize(Value v) {
  plan.materialized[v.id()] = true;
  const Value whole = reshaped_concatenation(v);
  if (!whole.valid()) return;
  plan.materialized[whole.id()] = true;
  plan.shares[v.id()] = whole;
}

Value Planner::reshaped_concatenation(Value v) const {
  constexpr size_t kFewOperands = 4;
  const Equation* e = g.definition(v);
  if (e->id() != id_of<Reshape>) return {};
  while (e->id() == id_of<Reshape> && g.kind(e->operand(0)) == ValueKind::result) {
    v = e->operand(0);
    e = g.definition(v);
  }
  return e->id() == id_of<Concatenate> && e->operands().size() >= kFewOperands ? v : Value();
}

bool Planner::reads_through(Value v) const {
  for (int depth = 0; depth < 8; ++depth) {
    if (g.kind(v) != ValueKind::result || plan.materialized[v.id()]) return true;
    const Equation* e = g.definition(v);
    if (!always_reads(*e) && e->id() != id_of<Convert>) return e->operands().empty();
    v = e->operand(0);
  }
  return false;
}

bool Planner::is_prologue(const Equation& product, Value v) const {
  if (g.kind(v) != ValueKind::result || this->product(product) == Product::dot_products) return false;
  const Equation& e = *g.definition(v);
  if (fusion_kinds[position.at(&e)] != FusionKind::elementwise || has_loops_or_calls(g, e)) return false;
  return (users[v.id()].size() == 1 && uses[v.id()] == 1) || is_faster_recomputed(v);
}

bool Planner::reads_once(const Equation& e, Value v) const {
  constexpr int64_t kFewRows = 14;
  if (e.operand(0) == e.operand(1)) return false;
  const Contraction c = contraction_of(g, e);
  const Product how = product(e);
  return (how == Product::tiled && v == e.operand(1) && c.rows <= kFewRows) ||
         (how == Product::tiled_swapped && v == e.operand(0) && c.columns <= kFewRows);
}

bool Planner::is_faster_recomputed(Value v) const {
  constexpr size_t kFewProducts = 4, kFewOperations = 12, kMost = 48;
  const size_t products = uses[v.id()];
  if (products > kFewProducts) return false;
  for (const Equation* user : users[v.id()])
    if (fusion_kind(*user) != FusionKind::contraction || !reads_once(*user, v)) return false;
  size_t count = 0;
  int64_t read = 0;
  std::vector<Value> found{v};
  for (size_t i = 0; i < found.size(); ++i) {
    if (g.kind(found[i]) != ValueKind::result || plan.materialized[found[i].id()]) {
      read += g.shape(found[i]).num_elements();
      continue;
    }
    const Equation& e = *g.definition(found[i]);
    const bool computed = fusion_kind(e) == FusionKind::elementwise && e.id() != id_of<While>;
    if (!computed && (fusion_kind(e) != FusionKind::view || e.operands().size() != 1)) return false;
    count += computed ? operations(g, e) : 0;
    for (const Value o : e.operands())
      if (std::find(found.begin(), found.end(), o) == found.end()) found.push_back(o);
    if (count > kFewOperations || found.size() > kMost) return false;
  }
  // Materialized, the sources are read once, and the value is written once and read by each product.
  const auto times = static_cast<int64_t>(products);
  return times * read <= read + (times + 1) * g.shape(v).num_elements();
}

void Planner::remark_operand(const Equation& e, Value v) {
  const Equation& operand = *g.definition(v);
  const std::string what = operand.primitive() + " is not computed as " + e.primitive() + " reads it: ";
  if (product(e) == Product::dot_products) {
    remark(what + "each element is read for several elements of the result");
  } else if (uses[v.id()] != 1) {
    remark(what + "it is used more than once");
  } else if (fusion_kind(operand) != FusionKind::elementwise || operand.id() == id_of<While>) {
    remark(what + "it is not a function of single elements");
  } else if (has_loops_or_calls(g, operand)) {
    remark(what + "some arguments need a call");
  }
}

void Planner::materialize_updates(const Equation& e, Value updates) {
  constexpr size_t kFar = 256;
  const Value x = e.operand(0);
  const int64_t size = g.shape(updates).num_elements();
  if (g.kind(x) != ValueKind::input || g.kind(updates) != ValueKind::result || size <= 1) return;
  if (!is_output[e.result().id()] || size > g.shape(x).num_elements() / 2) return;
  std::vector<Value> found{updates};
  for (size_t i = 0; i < found.size() && found.size() < kFar; ++i) {
    if (found[i] == x) return require_materialized(updates);
    if (!inlined(found[i])) continue;
    for (const Value o : g.definition(found[i])->operands())
      if (std::find(found.begin(), found.end(), o) == found.end()) found.push_back(o);
  }
}

bool Planner::is_short_reduction(const Equation& e) const {
  constexpr int64_t kFewElements = 4;
  const int64_t elements = g.shape(e.result()).num_elements();
  return elements > kSmallSpace && e.id() != id_of<Argmax> && e.id() != id_of<Argmin> &&
         g.shape(e.operand(0)).num_elements() <= kFewElements * elements;
}

void Planner::materialize_required() {
  for (Value v : g.outputs()) require_materialized(v);
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    switch (fusion_kinds[i]) {
      case FusionKind::elementwise:
        break;
      case FusionKind::view:
        if (e.id() == id_of<DynamicUpdateSlice>) materialize_updates(e, e.operand(1));
        break;
      case FusionKind::reduction:
        if (!is_short_reduction(e)) plan.materialized[e.result().id()] = true;
        break;  // unless fused with its user later
      case FusionKind::contraction:
        require_materialized(e.result());
        for (Value v : e.operands()) {
          if (reads_through(v) || is_prologue(e, v)) continue;
          require_materialized(v);
          remark_operand(e, v);
        }
        break;
      case FusionKind::cumulative:
        require_materialized(e.result());
        break;
      case FusionKind::scatter:
        require_materialized(e.result());
        require_materialized(e.operand(0));
        require_materialized(e.operand(1));
        materialize_updates(e, e.operand(2));
        break;
      case FusionKind::loop:
      case FusionKind::branch: {
        std::string reason;
        // A scan that runs per element still reads and writes memory in its steps; a while is elementwise by now.
        const bool inside = e.id() == id_of<Scan> && runs_per_element(g, e, &reason);
        if (!inside) {
          for (Value v : e.operands()) require_materialized(v);
          if (e.id() == id_of<While>) runs_per_element(g, e, &reason);
          if (fusion_kinds[i] == FusionKind::loop) remark(e.primitive() + " runs in the entry function: " + reason);
        }
        for (Value v : e.results()) require_materialized(v);
        break;
      }
      case FusionKind::effect:
        for (Value v : e.operands()) require_materialized(v);
        for (Value v : e.results()) require_materialized(v);
        break;
    }
  }
}

}  // namespace calque::plan
