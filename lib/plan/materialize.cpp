// Which values must be in memory whatever fusion would like.
#include <algorithm>

#include "plan/equations.h"
#include "plan/planner.h"
#include "plan/product_queries.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

void Planner::need(Value v) {
  if (g.kind(v) != ValueKind::result) return;
  store(v);
  fixed[v.id()] = 1;
}

void Planner::store(Value v) {
  plan.in_memory[v.id()] = true;
  const Value whole = reshaped_concatenation(v);
  if (!whole.valid()) return;
  plan.in_memory[whole.id()] = true;
  plan.shares[v.id()] = whole;
}

Value Planner::reshaped_concatenation(Value v) const {
  constexpr size_t kFewParts = 4;
  const Equation* e = g.definition(v);
  if (e->id() != id_of<Reshape>) return {};
  while (e->id() == id_of<Reshape> && g.kind(e->operand(0)) == ValueKind::result) {
    v = e->operand(0);
    e = g.definition(v);
  }
  return e->id() == id_of<Concatenate> && e->operands().size() >= kFewParts ? v : Value();
}

bool Planner::reads_through(Value v) const {
  for (int depth = 0; depth < 8; ++depth) {
    if (g.kind(v) != ValueKind::result || plan.in_memory[v.id()]) return true;
    const Equation* e = g.definition(v);
    if (!always_reads(*e) && e->id() != id_of<Convert>) return e->operands().empty();
    v = e->operand(0);
  }
  return false;
}

bool Planner::is_prologue(const Equation& product, Value v) const {
  if (g.kind(v) != ValueKind::result || this->product(product) == Product::sums) return false;
  const Equation& e = *g.definition(v);
  if (roles[position.at(&e)] != Role::elementwise || is_involved(g, e)) return false;
  return (users[v.id()].size() == 1 && uses[v.id()] == 1) || is_read_sooner(v);
}

bool Planner::reads_once(const Equation& e, Value v) const {
  constexpr int64_t kFewRows = 14;
  if (e.operand(0) == e.operand(1)) return false;
  const Contraction c = contraction_of(g, e);
  const Product how = product(e);
  return (how == Product::tiled && v == e.operand(1) && c.rows <= kFewRows) ||
         (how == Product::tiled_swapped && v == e.operand(0) && c.columns <= kFewRows);
}

bool Planner::is_read_sooner(Value v) const {
  constexpr size_t kFewProducts = 4, kFewOperations = 12, kMost = 48;
  const size_t products = uses[v.id()];
  if (products > kFewProducts) return false;
  for (const Equation* user : users[v.id()])
    if (role(*user) != Role::contraction || !reads_once(*user, v)) return false;
  size_t count = 0;
  int64_t read = 0;
  std::vector<Value> found{v};
  for (size_t i = 0; i < found.size(); ++i) {
    if (g.kind(found[i]) != ValueKind::result || plan.in_memory[found[i].id()]) {
      read += g.shape(found[i]).num_elements();
      continue;
    }
    const Equation& e = *g.definition(found[i]);
    const bool computed = role(e) == Role::elementwise && e.id() != id_of<While>;
    if (!computed && (role(e) != Role::view || e.operands().size() != 1)) return false;
    count += computed ? operations(g, e) : 0;
    for (const Value o : e.operands())
      if (std::find(found.begin(), found.end(), o) == found.end()) found.push_back(o);
    if (count > kFewOperations || found.size() > kMost) return false;
  }
  // It would be read from there, written once, and read by each.
  const auto times = static_cast<int64_t>(products);
  return times * read <= read + (times + 1) * g.shape(v).num_elements();
}

void Planner::note_operand(const Equation& e, Value v) {
  const Equation& operand = *g.definition(v);
  const std::string what = operand.primitive() + " is not computed as " + e.primitive() + " reads it: ";
  if (product(e) == Product::sums) {
    note(what + "each element is read for several elements of the result");
  } else if (uses[v.id()] != 1) {
    note(what + "it is used more than once");
  } else if (role(operand) != Role::elementwise || operand.id() == id_of<While>) {
    note(what + "it is not a function of single elements");
  } else if (is_involved(g, operand)) {
    note(what + "some arguments need a call");
  }
}

void Planner::store_updates(const Equation& e, Value updates) {
  constexpr size_t kFar = 256;
  const Value x = e.operand(0);
  const int64_t size = g.shape(updates).num_elements();
  if (g.kind(x) != ValueKind::input || g.kind(updates) != ValueKind::result || size <= 1) return;
  if (!is_output[e.result().id()] || size > g.shape(x).num_elements() / 2) return;
  std::vector<Value> found{updates};
  for (size_t i = 0; i < found.size() && found.size() < kFar; ++i) {
    if (found[i] == x) return need(updates);
    if (!inlined(found[i])) continue;
    for (const Value o : g.definition(found[i])->operands())
      if (std::find(found.begin(), found.end(), o) == found.end()) found.push_back(o);
  }
}

bool Planner::is_short_sum(const Equation& e) const {
  constexpr int64_t kFewTerms = 4;
  const int64_t elements = g.shape(e.result()).num_elements();
  return elements > kSmallSpace && e.id() != id_of<Argmax> && e.id() != id_of<Argmin> &&
         g.shape(e.operand(0)).num_elements() <= kFewTerms * elements;
}

void Planner::fix_memory() {
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
        if (!is_short_sum(e)) plan.in_memory[e.result().id()] = true;
        break;  // unless joined to its user below
      case Role::contraction:
        need(e.result());
        for (Value v : e.operands()) {
          if (reads_through(v) || is_prologue(e, v)) continue;
          need(v);
          note_operand(e, v);
        }
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
          if (roles[i] == Role::loop) note(e.primitive() + " runs in the entry function: " + reason);
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

}  // namespace calque::plan
