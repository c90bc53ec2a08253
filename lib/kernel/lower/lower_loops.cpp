// Loops of the entry function, and the places of what they carry.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/merge_buffers.h"
#include "kernel/lower/program_builder.h"
#include "plan/plan.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;
using plan::Role;
using plan::role_of;

namespace {

/// Of a value of a graph: how often equations and outputs use it, and an equation that does.
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

/// Whether it does not show in which order numbers are added, or may show.
bool may_reorder_sums(DType d, ParallelLoops loops) {
  if (is_integer(d)) return loops != ParallelLoops::none;
  return loops == ParallelLoops::sums && is_floating(d) && size_of(d) >= 4;
}

}  // namespace

/// A loop of the entry function while its carries look for their places. Its body reads each carry from one buffer of
/// its own and writes the next value to another, the same one for a carry that never changes.
struct ProgramBuilder::Loop {
  Loop(Step& step_, std::vector<Step>& block_, const Graph& body_) : step(step_), block(block_), body(body_) {}
  Step& step;
  std::vector<Step>& block;  ///< of the step: the body
  const Graph& body;
  std::vector<Binding> inputs;   ///< of the body: constants, then carries, then slices
  std::vector<Binding> outputs;  ///< of the body: next carries, then slices
  size_t first = 0;              ///< position of the carries among the inputs
  std::vector<Binding> results;  ///< where the last carries are wanted
  std::vector<Value> initial;
  std::vector<bool> merged;  ///< by carry: its next value is written over the one before

  const Binding& before(size_t carry) const { return inputs[first + carry]; }
  const Binding& next(size_t carry) const { return outputs[carry]; }
  /// By carry: a dynamic_update_slice or scatter of the carry itself. Invalid when the carry is computed otherwise.
  std::vector<Value> updates() const {
    std::vector<Value> out(results.size());
    std::unordered_set<uint32_t> wanted;  // ids
    for (size_t i = 0; i < body.outputs().size() && i < out.size(); ++i) {
      const Value v = body.outputs()[i];
      // A value that several outputs want lives where the first one does.
      if (body.kind(v) != ValueKind::result || !wanted.insert(v.id()).second) continue;
      const Equation& e = *body.definition(v);
      const bool updates = e.id() == id_of<DynamicUpdateSlice> || role_of(e) == Role::scatter;
      if (updates && e.operand(0) == body.inputs()[first + i]) out[i] = v;
    }
    return out;
  }
  /// Whether each carry does nothing but grow by terms that do not depend on it, so that terms may be summed apart:
  /// each value from the carry to the next one has one use, the next carry as an output alone.
  bool carries_sums(ParallelLoops loops) const {
    if (loops == ParallelLoops::none) return false;
    const std::vector<Uses> uses = uses_of_values(body);
    for (size_t i = 0; i < results.size(); ++i) {
      Value sum = body.inputs()[first + i];
      if (!merged[i] || !may_reorder_sums(body.dtype(sum), loops)) return false;
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

void ProgramBuilder::return_to(const Mark& mark) {
  const auto cut = [](auto& list, size_t size) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
  };
  cut(p_.buffers, mark.buffers);
  cut(p_.kernels, mark.kernels);
  cut(p_.host_functions, mark.host_functions);
  cut(p_.constants, mark.constants);
  cut(constants_, mark.constants);
  std::erase_if(constant_at_, [&](const auto& entry) { return entry.second >= mark.constants; });
  cut(p_.notes, mark.notes);
  p_.num_loops = mark.loops;
}

void ProgramBuilder::merge_carries(Loop& loop) {
  loop.merged.assign(loop.results.size(), false);
  BufferMerger merger(p_, loop.block);
  for (size_t i = 0; i < loop.merged.size(); ++i) {
    const int32_t from = loop.before(i).view.buffer, to = loop.next(i).view.buffer;
    loop.merged[i] = from == to || merger.merge(from, to);
  }
}

/// Builds the body and makes one of the two buffers of each carry wherever that is possible. An update of a carry is
/// first built as one that leaves the rest of its place alone; where the places cannot be one after all, once more.
void ProgramBuilder::build_body(Loop& loop) {
  const size_t carries = loop.results.size();
  for (size_t i = 0; i < carries; ++i) {
    const bool same = loop.body.outputs()[i] == loop.body.inputs()[loop.first + i];
    for (std::vector<Binding>* list : {&loop.inputs, &loop.outputs}) {
      const bool input = list == &loop.inputs;
      Binding b = input || !same ? workspace(loop.results[i].type) : loop.before(i);
      b.alignment = std::min<int64_t>(b.alignment, loop.results[i].alignment);
      list->insert(list->begin() + static_cast<std::ptrdiff_t>(input ? loop.first + i : i), b);
    }
  }
  std::vector<Value> updates = loop.updates();
  for (bool again = true; again;) {
    again = false;
    std::vector<Value> updated;
    for (const Value v : updates)
      if (v.valid()) updated.push_back(v);
    const Mark before = mark();
    region(loop.body, loop.inputs, loop.outputs, loop.block, updated);
    merge_carries(loop);
    for (size_t i = 0; i < carries; ++i) {
      if (loop.merged[i] || !updates[i].valid()) continue;
      updates[i] = {};
      again = true;
    }
    if (!again) return;
    return_to(before);
    loop.block.clear();
  }
}

/// Puts the carries in their places: where the last ones are wanted, or in turn there and in a second place.
void ProgramBuilder::carry(Scope& s, Loop& loop) {
  const bool counted = loop.step.kind == StepKind::repeat;
  // Of a counted loop the last iteration writes to where the carry is wanted.
  const int64_t phase = !counted ? 0 : loop.step.reverse ? 1 : loop.step.count % 2;
  std::vector<Binding> first;
  std::vector<Step> after;
  std::unordered_map<int32_t, View> moved;  // by buffer of the body
  for (size_t i = 0; i < loop.results.size(); ++i) {
    const Binding& wanted = loop.results[i];
    first.push_back(wanted);
    View before = wanted.view;
    if (!loop.merged[i]) {
      const Binding spare = workspace(wanted.type);
      if (loop.step.loop_id < 0) loop.step.loop_id = p_.num_loops++;
      before = alternating(wanted.view, spare.view, loop.step.loop_id, phase);
      moved.emplace(loop.next(i).view.buffer, alternating(wanted.view, spare.view, loop.step.loop_id, phase + 1));
      if (counted && loop.step.count % 2 == 1) first.back().view = spare.view;
      Binding last = wanted;
      last.view = before;
      if (!counted) copy(wanted, last, after);
    }
    moved.emplace(loop.before(i).view.buffer, std::move(before));
  }
  for (auto& block : loop.step.blocks) place_buffers(block, moved);
  copy_values(s, loop.initial, first);
  s.steps.push_back(std::move(loop.step));
  s.steps.insert(s.steps.end(), after.begin(), after.end());
}

void ProgramBuilder::while_loop(Scope& s, const Equation& e) {
  const auto cond_consts = static_cast<size_t>(e.attributes().integer("cond_consts"));
  const auto body_consts = static_cast<size_t>(e.attributes().integer("body_consts"));
  const size_t first = cond_consts + body_consts;
  const Graph& cond = e.subgraphs()[0];
  if (cond.shape(cond.outputs()[0]).rank() != 0)
    throw CompileError("while: a condition for each element needs a body that works on elements alone");
  Step step;
  step.kind = StepKind::while_;
  step.blocks.resize(2);
  Loop loop(step, step.blocks[1], e.subgraphs()[1]);
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
  region(cond, of_condition, std::array{predicate}, step.blocks[0]);
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
  Loop loop(step, step.blocks[0], e.subgraphs()[0]);
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
