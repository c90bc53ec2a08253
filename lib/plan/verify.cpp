// What lowering relies on: every value is computed before it is read, and what is not in memory can be computed where
// it is used.
#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "calque/ir/errors.h"

#include "ir/text/print.h"
#include "plan/analysis/update_reads.h"
#include "plan/planned_state.h"
#include "primitives/registry.h"

namespace calque::plan {

class PlanVerifier {
 public:
  explicit PlanVerifier(const PlannedGraph& planned)
      : planned_(planned),
        g_(planned.graph()),
        s_(*planned.state_),
        available_(g_.num_values(), false),
        overwritten_(g_.num_values(), false),
        seen_(g_.num_values(), 0),
        root_of_(g_.num_values(), 0) {
    for (uint32_t i = 0; i < g_.num_values(); ++i) available_[i] = g_.kind(Value(i)) != ValueKind::result;
  }

  void run() {
    for (const Value v : g_.outputs())
      if (!has_memory(v)) fail("output " + text(v) + " has no memory");
    if (!s_.plan.steps.empty() || !s_.plan.groups.empty()) steps();
    reuses();
    for (const Equation& e : g_.equations())
      for (const PlannedGraph& inner : planned_.subgraphs(e)) PlanVerifier(inner).run();
  }

 private:
  std::string text(Value v) const { return text::ValueNumbers(g_).text(v); }
  [[noreturn]] void fail(const std::string& rule) const {
    throw CompileError("plan " + (g_.name().empty() ? "graph" : g_.name()) + ": " + rule);
  }
  bool has_memory(Value v) const {
    return g_.kind(v) != ValueKind::result || s_.plan.values.is_materialized(v) ||
           s_.plan.values.shared_buffer(v).valid();
  }
  bool is_available(Value v) const {
    const Value whole = s_.plan.values.shared_buffer(v);
    return available_[(whole.valid() ? whole : v).id()];
  }

  void reuses() const {
    std::unordered_set<uint32_t> taken;  // ids
    for (uint32_t i = 0; i < g_.num_values(); ++i) {
      const Value v(i), operand = s_.plan.values.reused(v);
      if (!operand.valid()) continue;
      const auto& pairs = s_.analysis.in_place.overwritings;
      if (std::none_of(pairs.begin(), pairs.end(),
                       [&](const Overwriting& o) { return o.result == v && o.operand == operand; }))
        fail(text(v) + " cannot take over the memory of " + text(operand));
      if (!has_memory(v) || !has_memory(operand) || !taken.insert(operand.id()).second)
        fail(text(operand) + " has no memory that " + text(v) + " could take over");
    }
  }

  void steps() {
    std::vector<bool> ran(s_.plan.groups.size(), false);
    for (const Step& step : s_.plan.steps) {
      if (step.equation != nullptr) {
        equation(*step.equation);
        continue;
      }
      const auto n = static_cast<size_t>(step.group);
      if (ran[n]) fail("group " + std::to_string(n) + " is two steps");
      ran[n] = true;
      group(n);
    }
    for (size_t n = 0; n < ran.size(); ++n)
      if (!ran[n]) fail("group " + std::to_string(n) + " is no step");
    for (const Value v : g_.outputs()) {
      if (!is_available(v)) fail("output " + text(v) + " is computed by no step");
      if (overwritten_[v.id()]) fail("output " + text(v) + " is overwritten");
    }
    for (const Equation& e : g_.equations())
      if (e.results().empty() && !seen_effects_.contains(&e)) fail(e.primitive() + " has an effect and is no step");
  }

  void equation(const Equation& e) {
    if (!runs_as_step(g_, e, s_.analysis.kind(e))) fail(e.primitive() + " runs in a kernel and is no step");
    for (const Value v : e.operands()) {
      if (!has_memory(v) || !is_available(v))
        fail(e.primitive() + " is a step that reads " + text(v) + ", which has no memory yet");
      if (overwritten_[v.id()]) fail(e.primitive() + " is a step that reads " + text(v) + ", which is overwritten");
    }
    for (const Value v : e.results()) compute(v);
    for (const Value v : e.results()) overwrite(v);
    if (e.results().empty()) seen_effects_.insert(&e);
  }

  void compute(Value v) {
    if (g_.kind(v) != ValueKind::result) fail(text(v) + " is computed by no equation");
    if (available_[v.id()]) fail(text(v) + " is computed twice");
    available_[v.id()] = true;
  }

  void overwrite(Value v) {
    if (const Value operand = s_.plan.values.reused(v); operand.valid()) overwritten_[operand.id()] = true;
  }

  /// The operand of an update in place, if it reads elements that it may have overwritten.
  Value read_while_written(const FusionGroup& group) const {
    const Value v = group.roots[0], operand = s_.plan.values.reused(v);
    if (!operand.valid()) return {};
    const Equation& e = *g_.definition(v);
    const int update = primitives::rules(e.id()).update_operand;
    if (update < 0 || g_.shape(e.operand(static_cast<size_t>(update))).num_elements() == 1) return {};
    if (UpdateReads(g_, e, [&](Value o) { return available_[o.id()]; }).all_in_step()) return {};
    return operand;
  }

  void group(size_t n) {
    const FusionGroup& group = s_.plan.groups[n];
    if (group.roots.empty()) fail("group " + std::to_string(n) + " has no roots");
    for (const Value v : group.roots) {
      if (g_.kind(v) != ValueKind::result || !s_.plan.values.is_materialized(v) ||
          s_.plan.values.shared_buffer(v).valid())
        fail(text(v) + " is a root of group " + std::to_string(n) + " without memory of its own");
    }
    ++stamp_;
    std::vector<Value> pending(group.roots.begin(), group.roots.end());
    for (const Value v : group.roots) seen_[v.id()] = root_of_[v.id()] = stamp_;
    const Value written = read_while_written(group);
    while (!pending.empty()) {
      const Value v = pending.back();
      pending.pop_back();
      if (is_available(v)) {
        if (overwritten_[v.id()]) fail("group " + std::to_string(n) + " reads " + text(v) + ", which is overwritten");
        continue;
      }
      const bool root = root_of_[v.id()] == stamp_;
      if (has_memory(v) && !root)
        fail("group " + std::to_string(n) + " reads " + text(v) + ", which is computed later");
      const Equation& e = *g_.definition(v);
      if (&e != group.anchor && !is_computed_at_use(e))
        fail(e.primitive() + " " + text(v) + " cannot be computed where it is used");
      for (size_t i = 0; i < e.operands().size(); ++i) {
        const Value operand = e.operand(i);
        if (operand == written && (i > 0 || v != group.roots[0]))
          fail("group " + std::to_string(n) + " reads " + text(operand) + " while it writes to it");
        if (seen_[operand.id()] == stamp_) continue;
        seen_[operand.id()] = stamp_;
        pending.push_back(operand);
      }
    }
    for (const Value v : group.roots) compute(v);
    for (const Value v : group.roots) overwrite(v);
  }

  bool is_computed_at_use(const Equation& e) const {
    switch (s_.analysis.kind(e)) {
      case FusionKind::elementwise:
      case FusionKind::view:
      case FusionKind::reduction:
        return true;
      case FusionKind::contraction:
        return s_.analysis.product(e) == Product::dot_products;
      case FusionKind::loop:
      case FusionKind::branch:
        return runs_per_element(g_, e);
      case FusionKind::anchor:
      case FusionKind::routine:
      case FusionKind::call:
      case FusionKind::effect:
        return false;
    }
    return false;
  }

  const PlannedGraph& planned_;
  const Graph& g_;
  const PlannedGraph::State& s_;
  std::vector<bool> available_;    // by value id
  std::vector<bool> overwritten_;  // by value id: a result has its memory
  std::vector<uint32_t> seen_;     // by value id: the last group that needs it
  std::vector<uint32_t> root_of_;  // by value id: the last group that computes it
  uint32_t stamp_ = 0;
  std::unordered_set<const Equation*> seen_effects_;
};

void verify(const PlannedGraph& planned) { PlanVerifier(planned).run(); }

}  // namespace calque::plan
