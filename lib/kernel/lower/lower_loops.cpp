// Loops of the entry function.
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "kernel/lower/program_builder.h"
#include "kernel/lower/while_iterations.h"
#include "plan/analysis/in_place.h"
#include "plan/plan.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

/// The uses of a graph value: how many by equations and by outputs, and the last equation that uses it.
struct Uses {
  int in_equations = 0, in_outputs = 0;
  const Equation* last = nullptr;
};

/// By value.
std::vector<Uses> uses_of_values(const Graph& g) {
  std::vector<Uses> uses(g.num_values());
  for (const Equation& e : g.equations()) {
    for (const Value v : e.operands()) {
      ++uses[v.id()].in_equations;
      uses[v.id()].last = &e;
    }
  }
  for (const Value v : g.outputs()) ++uses[v.id()].in_outputs;
  return uses;
}

/// Whether sums of this dtype are independent of the order, or may be reordered.
bool may_reorder_sums(DType d, ParallelLoops loops) {
  if (is_integer(d)) return loops != ParallelLoops::none;
  return loops == ParallelLoops::sums && is_floating(d) && size_of(d) >= 4;
}

}  // namespace

/// A loop of the entry function while it is lowered. The body reads each carry from one temporary buffer and writes the
/// next value to another, or to the same one for a carry that never changes.
struct ProgramBuilder::Loop {
  Loop(const Equation& equation_, Step& step_, std::vector<Step>& block_, const plan::PlannedGraph& planned_)
      : equation(equation_), step(step_), block(block_), planned(planned_), body(planned_.graph()) {}
  const Equation& equation;
  Step& step;
  std::vector<Step>& block;  ///< of the step: the body
  const plan::PlannedGraph& planned;
  const Graph& body;
  std::vector<Binding> inputs;   ///< of the body: constants, then carries, then slices
  std::vector<Binding> outputs;  ///< of the body: next carries, then slices
  size_t first = 0;              ///< index of the first carry among the inputs
  std::vector<Binding> results;  ///< the destinations of the final carries
  std::vector<Value> initial;
  std::vector<Value> updated;             ///< by carry: the value that updates it in place, or invalid
  std::vector<int32_t> from;              ///< by carry: Carry::from
  std::vector<std::string> remarks = {};  ///< by carry: Carry::remark

  const Binding& before(size_t carry) const { return inputs[first + carry]; }
  const Binding& next(size_t carry) const { return outputs[carry]; }
  /// By carry: the dynamic_update_slice, scatter or the like that updates it, invalid when the carry is computed
  /// otherwise.
  std::vector<Value> updates() const {
    std::vector<Value> out(results.size());
    std::unordered_set<uint32_t> seen;  // ids
    for (size_t i = 0; i < body.outputs().size() && i < out.size(); ++i) {
      const Value v = body.outputs()[i];
      // A value that is several outputs is computed in the buffer of the first.
      if (body.kind(v) != ValueKind::result || !seen.insert(v.id()).second) continue;
      const Equation& e = *body.definition(v);
      if (planned.is_update_step(e)) continue;  // the carry is copied into its memory if that is another one
      const bool updates = rules(e.id()).update_operand >= 0;
      if (updates && e.operand(0) == body.inputs()[first + i]) out[i] = v;
    }
    return out;
  }
  /// By carry: another carry of the same type in whose memory its next value is, if no carry but this one takes over
  /// that memory, and if the next value of that one does not update it in place. Otherwise -1.
  std::vector<int32_t> takes_from() const {
    std::vector<int32_t> source(results.size(), -1), takers(results.size(), 0);
    for (size_t i = 0; i < results.size(); ++i) {
      const Value x = planned.plan().values.first_in_memory(body.outputs()[i]);
      if (body.kind(x) != ValueKind::input || body.input_index(x) < first) continue;
      const size_t j = body.input_index(x) - first;
      if (j >= results.size()) continue;
      source[i] = static_cast<int32_t>(j);
      ++takers[j];
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (source[i] < 0) continue;
      const auto j = static_cast<size_t>(source[i]);
      if (j == i || takers[j] > 1 || updated[j].valid() || results[i].type != results[j].type) source[i] = -1;
    }
    return source;
  }
  /// Whether each carry is a sum of terms that do not depend on it, so that the terms may be summed separately if the
  /// sums are computed in place: each value on the chain of additions from the carry to the next carry has one use; the
  /// next carry is used only as an output.
  bool carries_sums(ParallelLoops loops) const {
    if (loops == ParallelLoops::none) return false;
    const std::vector<Uses> uses = uses_of_values(body);
    for (size_t i = 0; i < results.size(); ++i) {
      Value sum = body.inputs()[first + i];
      if (!may_reorder_sums(body.dtype(sum), loops)) return false;
      while (sum != body.outputs()[i]) {
        const Uses& u = uses[sum.id()];
        if (u.in_equations != 1 || u.in_outputs != 0 || u.last->id() != id_of<Add>) return false;
        sum = u.last->result();
      }
      const Uses& u = uses[sum.id()];
      if (u.in_equations != 0 || u.in_outputs != 1 || sum == body.inputs()[first + i]) return false;
    }
    return !results.empty();
  }
};

/// Builds the body with two buffers for each carry, which alias-carries merges where possible. An update of a carry is
/// built as an in-place update that leaves the other elements alone: where it cannot be one, alias-carries copies them.
void ProgramBuilder::build_body(Loop& loop) {
  const size_t carries = loop.results.size();
  loop.updated = loop.updates();
  loop.from = loop.takes_from();
  int64_t alignment = INT64_MAX;  // carries may take turns in each other's memory
  for (const Binding& result : loop.results) alignment = std::min(alignment, result.alignment);
  for (size_t i = 0; i < carries; ++i) {
    const bool same =
        loop.planned.plan().values.first_in_memory(loop.body.outputs()[i]) == loop.body.inputs()[loop.first + i];
    for (std::vector<Binding>* list : {&loop.inputs, &loop.outputs}) {
      const bool input = list == &loop.inputs;
      Binding b = input || !same ? workspace(loop.results[i].type) : loop.before(i);
      b.alignment = std::min(b.alignment, alignment);
      list->insert(list->begin() + static_cast<std::ptrdiff_t>(input ? loop.first + i : i), b);
    }
  }
  for (size_t i = 0; i < carries; ++i)
    if (loop.from[i] >= 0) loop.outputs[i] = loop.before(static_cast<size_t>(loop.from[i]));
  std::vector<Value> updated;
  for (const Value v : loop.updated)
    if (v.valid()) updated.push_back(v);
  loops_.push_back(&loop.equation);
  const std::string outer = std::exchange(reason_in_branch_, {});
  for (size_t i = 0; i < carries; ++i) loop.remarks.push_back(remark_on_carry(loop, i));
  region(loop.planned, loop.inputs, loop.outputs, loop.block, updated);
  reason_in_branch_ = outer;
  loops_.pop_back();
}

/// What forces a copy of the carry if each iteration makes one.
std::string ProgramBuilder::remark_on_carry(const Loop& loop, size_t carry) const {
  const Type& type = loop.results[carry].type;
  if (loop.from[carry] >= 0) return copied(type, nullptr, "too many carries take the value of each other");
  const Value v = loop.updated[carry];
  if (!v.valid()) return {};
  const Equation& update = *loop.body.definition(v);
  for (const plan::KeptValue& k : loop.planned.plan().kept)
    if (k.result == v) return copied(type, nullptr, k.reason);
  const Equation* reader = nullptr;
  for (const Equation& e : loop.body.equations())
    if (&e != &update && std::find(e.operands().begin(), e.operands().end(), update.operand(0)) != e.operands().end())
      reader = &e;
  return copied(type, nullptr, plan::reason_against({&update, update.operand(0), v}, reader));
}

/// Appends the loop, after kernels that store the initial values of its carries.
void ProgramBuilder::carry(Scope& s, Loop& loop) {
  std::vector<Value> values;
  std::vector<Binding> first;
  std::vector<std::string> remarks;
  for (size_t i = 0; i < loop.results.size(); ++i) {
    const Value initial = loop.initial[i];
    const bool is_value = s.g.kind(initial) == ValueKind::result || s.g.kind(initial) == ValueKind::input;
    if (is_value && s.bindings[initial.id()].view == loop.results[i].view) {
      copy(loop.before(i), s.bindings[initial.id()], s.steps);  // within the same memory unless that is double-buffered
    } else {
      values.push_back(initial);
      remarks.push_back(copied(s, loop.equation, loop.equation.result(i), initial));
      first.push_back(loop.results[i]);
      first.back().view = loop.before(i).view;
    }
    Carry c{loop.before(i).view.buffer, loop.next(i).view.buffer,
            loop.results[i].view,       workspace(loop.results[i].type).view.buffer,
            loop.updated[i].valid(),    loop.from[i]};
    c.remark = std::move(loop.remarks[i]);
    loop.step.carries.push_back(std::move(c));
  }
  copy_values(s, values, first, remarks);
  s.steps.push_back(std::move(loop.step));
}

void ProgramBuilder::while_loop(Scope& s, const Equation& e) {
  const auto cond_consts = static_cast<size_t>(e.attributes().integer("cond_consts"));
  const auto body_consts = static_cast<size_t>(e.attributes().integer("body_consts"));
  const size_t first = cond_consts + body_consts;
  const std::span<const plan::PlannedGraph> subgraphs = s.planned.subgraphs(e);
  const Graph& cond = e.subgraphs()[0];
  if (cond.shape(cond.outputs()[0]).rank() != 0)
    throw CompileError("while: a condition for each element needs a body that is elementwise");
  Step step;
  step.kind = StepKind::while_;
  step.most_iterations = most_iterations(s.g, e);
  step.blocks.resize(2);
  Loop loop(e, step, step.blocks[1], subgraphs[1]);
  std::vector<Binding> of_condition;
  for (size_t i = 0; i < first; ++i)
    (i < cond_consts ? of_condition : loop.inputs).push_back(operand(s, e.operand(i), false));
  loop.first = body_consts;
  for (size_t i = first; i < e.operands().size(); ++i) {
    loop.results.push_back(s.bindings[e.result(i - first).id()]);
    loop.initial.push_back(e.operand(i));
  }
  build_body(loop);
  const Binding predicate = workspace({DType::bool_, Shape{}});
  step.views = {predicate.view};
  for (size_t i = 0; i < loop.results.size(); ++i) of_condition.push_back(loop.before(i));
  loops_.push_back(&e);
  region(subgraphs[0], of_condition, std::array{predicate}, step.blocks[0]);
  loops_.pop_back();
  carry(s, loop);
}

void ProgramBuilder::scan(Scope& s, const Equation& e) {
  const auto consts = static_cast<size_t>(e.attributes().integer("consts"));
  const auto carries = static_cast<size_t>(e.attributes().integer("carry"));
  Step step;
  step.kind = StepKind::repeat;
  step.count = e.attributes().integer("length");
  step.reverse = e.attributes().get<bool>("reverse");
  step.loop_id = p_.num_loops++;
  step.blocks.resize(1);

  const auto slice = [&](const Binding& whole) {
    Binding b = whole;
    const int64_t bytes = whole.strides[0] * static_cast<int64_t>(size_of(whole.type.dtype));
    b.view.terms.push_back({step.loop_id, bytes});
    b.type.shape = whole.type.shape.without(0);
    b.strides.erase(0);
    b.alignment = static_cast<int64_t>(size_of(whole.type.dtype));
    return b;
  };
  Loop loop(e, step, step.blocks[0], s.planned.subgraphs(e)[0]);
  loop.first = consts;
  for (size_t i = 0; i < consts; ++i) loop.inputs.push_back(operand(s, e.operand(i), false));
  for (size_t i = 0; i < carries; ++i) {
    loop.results.push_back(s.bindings[e.result(i).id()]);
    loop.initial.push_back(e.operand(consts + i));
  }
  for (size_t i = consts + carries; i < e.operands().size(); ++i)
    loop.inputs.push_back(slice(operand(s, e.operand(i), false)));
  for (size_t i = carries; i < e.results().size(); ++i) loop.outputs.push_back(slice(s.bindings[e.result(i).id()]));
  build_body(loop);
  if (loop.carries_sums(parallel_loops_)) {
    for (const Binding& sum : loop.results) {
      loop.step.views.push_back(sum.view);
      loop.step.sums.push_back(sum.type);
    }
  }
  carry(s, loop);
}

}  // namespace calque::kernel
