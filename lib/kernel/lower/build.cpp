#include "kernel/lower/build.h"

#include <algorithm>
#include <array>

#include "ir/stopwatch.h"
#include "ir/values/bytes.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/lower/program_builder.h"
#include "kernel/lower/program_passes.h"
#include "plan/analysis/in_place.h"
#include "plan/analysis/update_reads.h"
#include "plan/prepare.h"
#include "primitives/control/collectives.h"
#include "primitives/linalg/paired.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;
using plan::fusion_kind_of;
using plan::FusionKind;

namespace {

/// The same memory, row-major, with another shape.
Binding reshaped(Binding b, const Type& type) {
  b.type = type;
  b.strides = dense(type.shape);
  return b;
}

/// A kernel stores a value to at most this many additional buffers; further ones are copied.
constexpr size_t kMostAdditionalStores = 8;

const char* const kMovesOn = "a carry becomes another one, which has memory of its own";

/// By value id: roots of fusion groups without an anchor op.
std::vector<bool> pointwise_roots(const Graph& g, const plan::Plan& plan) {
  std::vector<bool> roots(g.num_values(), false);
  for (const plan::FusionGroup& group : plan.groups) {
    if (group.anchor) continue;
    for (const Value v : group.roots) roots[v.id()] = true;
  }
  return roots;
}

}  // namespace

void ProgramBuilder::kernels(std::vector<BoundKernel> bound, std::vector<Step>& steps) {
  for (BoundKernel& one : bound) {
    Step step;
    step.kind = StepKind::kernel;
    step.kernel = static_cast<int32_t>(p_.kernels.size());
    step.views = std::move(one.views);
    p_.kernels.push_back(std::move(one.kernel));
    steps.push_back(std::move(step));
  }
}

void ProgramBuilder::copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to,
                                 std::span<const std::string> remarks) {
  if (values.empty()) return;
  Memory whole = memory(s);
  whole.updated = nullptr;
  const size_t first = s.steps.size();
  kernels(build_copy(whole, values, to), s.steps);
  for (size_t i = 0; i < remarks.size(); ++i)
    if (!remarks[i].empty())
      s.steps[first + i / kMostCopies].array_copies.push_back(
          {to[i].view, s.bindings[values[i].id()].view, remarks[i]});
}

std::string ProgramBuilder::copied(const Type& type, const Equation* before, const std::string& reason) const {
  constexpr int64_t kFewElements = 64;
  if (type.shape.num_elements() < kFewElements) return {};
  const auto loop = [](const Equation& e) {
    return "the loop" + (e.location().known() ? " at " + to_string(e.location()) : "");
  };
  std::string text = to_string(type);
  if (!loops_.empty()) {
    text += " in each iteration of " + loop(*loops_.back());
  } else if (before != nullptr) {
    const bool is_loop = before->id() == id_of<While> || before->id() == id_of<Scan>;
    text += " once, before " + (is_loop ? loop(*before) : plan::name_in_source(*before));
  } else {
    text += " once";
  }
  return text + ": " + reason;
}

std::string ProgramBuilder::copied(const Scope& s, const Equation& e, Value result, Value x) const {
  const ValueKind kind = s.g.kind(x);
  if ((kind != ValueKind::result && kind != ValueKind::input) || !s.bindings[x.id()].valid) return {};
  const ProgramBuffer& buffer = p_.buffers[static_cast<size_t>(s.bindings[x.id()].view.buffer)];
  std::string reason;
  for (const plan::KeptValue& k : s.plan.kept)
    if (k.result == result) reason = k.reason;
  if (reason.empty()) reason = reason_in_branch_;
  if (reason.empty() && buffer.kind == BufferKind::input) {
    reason = "input " + std::to_string(buffer.index);
    if (!buffer.donated)
      reason += " is not donated";
    else if (!is_dense(buffer.type.shape, buffer.strides))
      reason += " is not contiguous";
    else
      reason = "no result of the program has the memory of " + reason;
  }
  if (reason.empty() && buffer.kind == BufferKind::constant) reason = "constants are not overwritten";
  if (reason.empty()) reason = kind == ValueKind::input && !loops_.empty() ? kMovesOn : "the array is read later";
  return copied(s.g.type(x), &e, reason);
}

void ProgramBuilder::list_passes(const Scope& s) {
  for (const plan::KeptValue& k : s.plan.kept) {
    const Equation& e = *s.g.definition(k.result);
    if (rules(e.id()).update_operand < 0 || s.updated.contains(k.result.id())) continue;
    if (!s.plan.values.is_materialized(k.result)) continue;
    list_copy(p_, copied(s.g.type(k.result), nullptr, k.reason));
  }
}

void ProgramBuilder::copy(const Binding& to, const Binding& from, std::vector<Step>& steps) {
  Step step;
  step.kind = StepKind::copy;
  step.views = {to.view, from.view};
  step.bytes = static_cast<int64_t>(bytes_of(to.type));
  steps.push_back(std::move(step));
}

Binding ProgramBuilder::operand(Scope& s, Value v, bool must_be_dense) {
  if (s.g.kind(v) == ValueKind::constant) return constant(s.g.constant(v));
  if (s.g.kind(v) != ValueKind::literal) {
    const Binding& b = s.bindings[v.id()];
    if (!must_be_dense || is_dense(b.type.shape, b.strides)) return b;
  }
  const Binding b = workspace(s.g.type(v));
  copy_values(s, std::array{v}, std::array{b});
  return b;
}

/// A result that is an output is computed in the output's buffer; other outputs are additional stores or copies.
void ProgramBuilder::assign_outputs(Scope& s, std::span<const Binding> outputs, std::vector<Value>& copied,
                                    std::vector<Binding>& copied_to) {
  const Graph& g = s.g;
  const std::vector<bool> pointwise = pointwise_roots(g, s.plan);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value v = g.outputs()[i];
    Binding& b = s.bindings[v.id()];
    const Value whole = s.plan.values.shared_buffer(v);
    const bool in_place =
        !whole.valid() || (!s.bindings[whole.id()].valid && is_dense(outputs[i].type.shape, outputs[i].strides));
    if (g.kind(v) == ValueKind::result && !b.valid && in_place) {
      b = outputs[i];
      if (whole.valid()) s.bindings[whole.id()] = reshaped(b, g.type(whole));
    } else if (pointwise[v.id()] && s.updated.count(v.id()) == 0 && s.also.count(v.id()) < kMostAdditionalStores) {
      s.also.emplace(v.id(), outputs[i]);  // stored again by the kernel that computes it
    } else if (!b.valid || b.view != outputs[i].view) {
      copied.push_back(v);
      copied_to.push_back(outputs[i]);
    }
  }
}

/// Outputs have their memory by now. The others of a chain have that of its last value, else of its first one.
void ProgramBuilder::share_memory(Scope& s) const {
  const plan::MaterializedValues& values = s.plan.values;
  for (uint32_t i = static_cast<uint32_t>(s.bindings.size()); i-- > 0;) {
    Value v(i);
    if (!s.bindings[i].valid) continue;
    for (Value x = values.reused(v); x.valid() && !s.bindings[x.id()].valid; x = values.reused(x))
      s.bindings[x.id()] = s.bindings[i];
  }
}

void ProgramBuilder::copy_before_update(Scope& s, const Equation& e) {
  const Value x = e.operand(0), v = e.result();
  Binding& from = s.bindings[x.id()];
  const Binding& to = s.bindings[v.id()];
  if (from.view == to.view) return;
  copy_values(s, std::array{x}, std::array{to}, std::array{copied(s, e, v, x)});
  if (s.plan.values.reused(v) == x) from = to;  // it is not read later, but by the update itself
}

std::optional<StoredWindow> ProgramBuilder::window_of_product(const Scope& s, size_t n) const {
  const auto& steps = s.plan.steps;
  if (n + 1 == steps.size() || steps[n].group < 0 || steps[n + 1].group < 0) return std::nullopt;
  const auto group = [&](size_t step) -> const plan::FusionGroup& {
    return s.plan.groups[static_cast<size_t>(steps[step].group)];
  };
  const plan::FusionGroup &product = group(n), &update = group(n + 1);
  if (product.anchor == nullptr || product.roots.size() != 1 || update.roots.size() != 1) return std::nullopt;
  const Value v = product.roots[0];
  const Equation& e = *s.g.definition(update.roots[0]);
  if (fusion_kind_of(*product.anchor) != FusionKind::contraction || e.id() != id_of<DynamicUpdateSlice> ||
      !s.planned.is_update_step(e) || e.operand(1) != v)
    return std::nullopt;
  StoredWindow window{v, e.result(), {}};
  const Shape &whole = s.g.shape(e.result()), &part = s.g.shape(v);
  for (size_t d = 0; d < whole.size(); ++d) {
    const std::optional<int64_t> start = plan::number_of(s.g, e.operand(2 + d));
    if (!start) return std::nullopt;
    window.starts.push_back(std::clamp<int64_t>(*start, 0, whole[d] - part[d]));
  }
  int64_t uses = std::count(s.g.outputs().begin(), s.g.outputs().end(), v);
  for (const Equation& user : s.g.equations()) uses += std::count(user.operands().begin(), user.operands().end(), v);
  const auto in_memory = [&](Value o) { return o != v && s.plan.values.is_materialized(o); };
  if (uses != 1 || !plan::UpdateReads(s.g, e, in_memory).all_in_step()) return std::nullopt;
  return window;
}

void ProgramBuilder::region(const plan::PlannedGraph& planned, std::span<const Binding> inputs,
                            std::span<const Binding> outputs, std::vector<Step>& steps,
                            std::span<const Value> updated) {
  const Graph& g = planned.graph();
  Scope s{planned, g, planned.plan(), std::vector<Binding>(g.num_values()), steps, {}};
  for (const Value v : updated) s.updated.insert(v.id());
  for (const Equation& e : g.equations())
    if (planned.is_update_step(e)) s.updated.insert(e.result().id());
  for (size_t i = 0; i < inputs.size(); ++i) s.bindings[g.inputs()[i].id()] = inputs[i];
  p_.remarks.insert(p_.remarks.end(), s.plan.remarks.begin(), s.plan.remarks.end());
  list_passes(s);
  std::vector<Value> copied_values;
  std::vector<Binding> copied_to;
  assign_outputs(s, outputs, copied_values, copied_to);
  share_memory(s);
  std::vector<std::vector<Value>> sharers(g.num_values());
  for (uint32_t i = 0; i < g.num_values(); ++i) {
    const Value shared = s.plan.values.shared_buffer(Value(i));
    if (shared.valid()) sharers[shared.id()].push_back(Value(i));
  }
  for (size_t n = 0; n < s.plan.steps.size(); ++n) {
    const plan::Step& step = s.plan.steps[n];
    const auto allocate = [&](Value v) {
      const Value reused = s.plan.values.reused(v);
      // An input may be the caller's.
      if (!s.bindings[v.id()].valid && reused.valid() && g.kind(reused) == ValueKind::result)
        s.bindings[v.id()] = s.bindings[reused.id()];
      if (!s.bindings[v.id()].valid) s.bindings[v.id()] = workspace(g.type(v));
      for (const Value sharer : sharers[v.id()]) {
        if (!s.bindings[sharer.id()].valid) s.bindings[sharer.id()] = reshaped(s.bindings[v.id()], g.type(sharer));
      }
    };
    if (step.group >= 0) {
      const plan::FusionGroup& group = s.plan.groups[static_cast<size_t>(step.group)];
      if (const std::optional<StoredWindow> window = window_of_product(s, n)) {
        allocate(window->result);
        copy_before_update(s, *g.definition(window->result));
        Memory all = memory(s);
        all.window = &*window;
        kernels(build_group(all, group), steps);
        ++n;
        continue;
      }
      for (Value v : group.roots) allocate(v);
      if (const Equation& e = *g.definition(group.roots[0]); planned.is_update_step(e)) copy_before_update(s, e);
      kernels(build_group(memory(s), group), steps);
    } else {
      for (Value v : step.equation->results()) allocate(v);
      control(s, *step.equation);
    }
  }
  std::vector<std::string> remarks(loops_.empty() ? 0 : copied_values.size());
  for (size_t i = 0; i < remarks.size(); ++i) {
    const Value v = copied_values[i];
    const bool is_input = g.kind(v) == ValueKind::input;
    if (is_input || (g.kind(v) == ValueKind::result && s.bindings[v.id()].valid))
      remarks[i] = copied(g.type(v), nullptr,
                          !reason_in_branch_.empty() ? reason_in_branch_
                          : is_input                 ? kMovesOn
                                                     : "one value is two of the results");
  }
  copy_values(s, copied_values, copied_to, remarks);
}

void ProgramBuilder::control(Scope& s, const Equation& e) {
  switch (e.id()) {
    case id_of<While>:
      return while_loop(s, e);
    case id_of<Scan>:
      return scan(s, e);
    case id_of<Cond>:
    case id_of<Switch>:
      return branch(s, e);
    default:
      return fusion_kind_of(e) == FusionKind::routine ? routine(s, e) : effect(s, e);
  }
}

void ProgramBuilder::branch(Scope& s, const Equation& e) {
  std::vector<Binding> inputs, outputs;
  const Binding selector = operand(s, e.operand(0), false);
  for (size_t i = 1; i < e.operands().size(); ++i) inputs.push_back(operand(s, e.operand(i), false));
  for (Value v : e.results()) outputs.push_back(s.bindings[v.id()]);
  Step step;
  step.kind = StepKind::branch;
  step.views = {selector.view};
  const std::string outer = reason_in_branch_;
  for (const plan::KeptValue& k : s.plan.kept)
    if (s.g.definition(k.result) == &e && !k.reason.empty()) reason_in_branch_ = k.reason;
  for (const plan::PlannedGraph& g : s.planned.subgraphs(e)) {
    step.blocks.emplace_back();
    region(g, inputs, outputs, step.blocks.back());
  }
  reason_in_branch_ = outer;
  s.steps.push_back(std::move(step));
}

void ProgramBuilder::effect(Scope& s, const Equation& e) {
  Step step;
  step.kind = StepKind::host_call;
  HostFunctionRef f;
  f.equation_attributes = e.attributes();
  f.primitive = e.primitive();
  if (const AttributeValue* function = e.attributes().find("function"))
    f.function = std::get<std::shared_ptr<const Opaque>>(*function);
  if (const AttributeValue* group = e.attributes().find("group"))
    f.function = std::get<std::shared_ptr<const Opaque>>(*group);
  f.location = e.location();
  std::vector<Binding> arguments;
  for (Value v : e.operands()) {
    arguments.push_back(operand(s, v, true));
    f.arguments.push_back(arguments.back().type);
    step.views.push_back(arguments.back().view);
  }
  for (Value v : e.results()) {
    // Host functions write dense arrays.
    f.results.push_back(s.g.type(v));
    step.views.push_back(s.bindings[v.id()].view);
  }
  f.collective = primitives::collective_call(e.id(), e.attributes(), f.arguments, f.results, f.location);
  step.host_function = static_cast<int32_t>(p_.host_functions.size());
  p_.host_functions.push_back(std::move(f));
  s.steps.push_back(std::move(step));
}

void ProgramBuilder::routine(Scope& s, const Equation& e) {
  const Rules& rule = rules(e.id());
  Step step;
  step.kind = StepKind::routine;
  RoutineRef call;
  call.routine = *rule.routine;
  if (rule.routine_flags != nullptr) call.flags = rule.routine_flags(e.attributes());
  call.location = e.location();
  for (const Value v : e.operands()) {
    const Binding argument = operand(s, v, true);
    call.arguments.push_back(argument.type);
    step.views.push_back(argument.view);
  }
  for (const Value v : e.results()) {
    // Routines write dense arrays.
    call.results.push_back(s.g.type(v));
    step.views.push_back(s.bindings[v.id()].view);
  }
  if (is_paired(e.attributes())) {  // routines know complex numbers
    call.results = primitives::unpaired_results(e.id(), call.arguments, e.attributes());
    for (Type& type : call.arguments) type = unpaired(type);
  }
  step.routine = static_cast<int32_t>(p_.routines.size());
  p_.routines.push_back(std::move(call));
  s.steps.push_back(std::move(step));
}

std::vector<bool> owned_inputs(const Graph& graph, const BuildOptions& options) {
  std::vector<bool> owned(graph.inputs().size(), false);
  for (size_t i = 0; i < owned.size(); ++i) {
    const bool strided = i < options.input_strides.size() && !options.input_strides[i].empty();
    owned[i] = i < options.donated.size() && options.donated[i] &&
               (!strided || is_dense(graph.shape(graph.inputs()[i]), options.input_strides[i]));
  }
  return owned;
}

Program lower(const plan::PlannedGraph& planned, const BuildOptions& options) {
  const Graph& graph = planned.graph();
  Program p;
  p.name = graph.name().empty() ? "graph" : graph.name();
  p.num_inputs = static_cast<int32_t>(graph.inputs().size());
  p.num_outputs = static_cast<int32_t>(graph.outputs().size());
  ProgramBuilder builder(p, options);
  std::vector<Binding> inputs, outputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& t = graph.type(graph.inputs()[i]);
    Shape::Dims strides = i < options.input_strides.size() && !options.input_strides[i].empty()
                              ? options.input_strides[i]
                              : dense(t.shape);
    inputs.push_back(builder.add_buffer(BufferKind::input, static_cast<int32_t>(i), t, std::move(strides)));
    p.buffers.back().donated = i < options.donated.size() && options.donated[i];
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Type& t = graph.type(graph.outputs()[i]);
    outputs.push_back(builder.add_buffer(BufferKind::output, static_cast<int32_t>(i), t, dense(t.shape)));
  }
  builder.region(planned, inputs, outputs, p.steps);
  return p;
}

}  // namespace calque::kernel
