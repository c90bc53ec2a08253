#include "kernel/build.h"

#include <algorithm>

#include "ir/stopwatch.h"
#include "kernel/carries.h"
#include "kernel/program_builder.h"
#include "plan/prepare.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;
using plan::Role;
using plan::role_of;

namespace {

void refuse_complex(const Graph& g) {
  for (uint32_t i = 0; i < g.num_values(); ++i)
    if (is_complex(g.dtype(Value(i))))
      throw CompileError(std::string("compile: complex numbers are not supported on the CPU yet, got ") +
                         to_string(g.type(Value(i))));
  for (const Equation& e : g.equations())
    for (const Graph& s : e.subgraphs()) refuse_complex(s);
}

/// The same memory, row-major, under another shape.
Binding reshaped(Binding b, const Type& type) {
  b.type = type;
  b.strides = dense(type.shape);
  return b;
}

/// A root of a kernel that is built around no scan, scatter or cumulative operation.
bool computed_alone(const plan::Plan& plan, Value v) {
  return std::any_of(plan.groups.begin(), plan.groups.end(), [&](const plan::Group& group) {
    return !group.around && std::find(group.roots.begin(), group.roots.end(), v) != group.roots.end();
  });
}

/// Gives outputs the memory of donated inputs of their size, of their own type rather than of another, where nothing
/// reads the input after the output is written.
void reuse_donated(Program& p, const BuildOptions& options, std::span<const Binding> inputs,
                   std::span<const Binding> outputs) {
  const std::vector<bool>& donated = options.donated;
  if (std::find(donated.begin(), donated.end(), true) == donated.end()) return;
  p.in_place.assign(outputs.size(), -1);
  std::vector<bool> taken(inputs.size(), false);
  for (const bool alike : {true, false}) {
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Type& type = outputs[o].type;
      if (bytes_of(type) == 0) continue;
      for (size_t i = 0; i < inputs.size() && p.in_place[o] < 0; ++i) {
        const Binding& input = inputs[i];
        if (i >= donated.size() || !donated[i] || taken[i] || bytes_of(input.type) != bytes_of(type)) continue;
        if (input.type.dtype != type.dtype && !options.donates_across_dtypes) continue;
        if ((input.type == type) != alike || !is_dense(input.type.shape, input.strides)) continue;
        if (!merge_buffers(p, p.steps, input.view.buffer, outputs[o].view.buffer)) continue;
        p.in_place[o] = static_cast<int32_t>(i);
        taken[i] = true;
      }
    }
  }
}

}  // namespace

void ProgramBuilder::kernel(BoundKernel bound, std::vector<Step>& steps) {
  Step step;
  step.kind = StepKind::kernel;
  step.kernel = static_cast<int32_t>(p_.kernels.size());
  step.views = std::move(bound.views);
  p_.kernels.push_back(std::move(bound.kernel));
  steps.push_back(std::move(step));
}

void ProgramBuilder::copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to) {
  if (values.empty()) return;
  Memory whole = memory(s);
  whole.updated.clear();
  kernel(build_copy(whole, values, to), s.steps);
}

void ProgramBuilder::copy(const Binding& to, const Binding& from, std::vector<Step>& steps) {
  Step step;
  step.kind = StepKind::copy;
  step.views = {to.view, from.view};
  step.bytes = bytes_of(to.type);
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

void ProgramBuilder::region(const Graph& g, std::span<const Binding> inputs, std::span<const Binding> outputs,
                            std::vector<Step>& steps, std::vector<Value> updated) {
  Stopwatch stopwatch;
  Scope s{g, plan::make_plan(g), std::vector<Binding>(g.num_values()), steps, std::move(updated)};
  p_.plan_seconds += stopwatch.lap();
  for (size_t i = 0; i < inputs.size(); ++i) s.bindings[g.inputs()[i].id()] = inputs[i];
  p_.notes.insert(p_.notes.end(), s.plan.notes.begin(), s.plan.notes.end());
  // A result that is an output is computed in its place; every other output is a copy.
  std::vector<Value> copied;
  std::vector<Binding> copied_to;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value v = g.outputs()[i];
    Binding& b = s.bindings[v.id()];
    const Value whole = s.plan.shares[v.id()];
    const bool in_place =
        !whole.valid() || (!s.bindings[whole.id()].valid && is_dense(outputs[i].type.shape, outputs[i].strides));
    if (g.kind(v) == ValueKind::result && !b.valid && in_place) {
      b = outputs[i];
      if (whole.valid()) s.bindings[whole.id()] = reshaped(b, g.type(whole));
    } else if (g.kind(v) == ValueKind::result && computed_alone(s.plan, v) &&
               std::find(s.updated.begin(), s.updated.end(), v) == s.updated.end()) {
      s.also.emplace_back(v, outputs[i]);  // the kernel that computes it stores it twice
    } else if (!b.valid || b.view != outputs[i].view) {
      copied.push_back(v);
      copied_to.push_back(outputs[i]);
    }
  }
  std::vector<std::vector<Value>> sharers(g.num_values());
  for (uint32_t i = 0; i < g.num_values(); ++i) {
    if (s.plan.shares[i].valid()) sharers[s.plan.shares[i].id()].push_back(Value(i));
  }
  for (const plan::Step& step : s.plan.steps) {
    const auto allocate = [&](Value v) {
      if (!s.bindings[v.id()].valid) s.bindings[v.id()] = workspace(g.type(v));
      for (const Value sharer : sharers[v.id()]) {
        if (!s.bindings[sharer.id()].valid) s.bindings[sharer.id()] = reshaped(s.bindings[v.id()], g.type(sharer));
      }
    };
    if (step.group >= 0) {
      const plan::Group& group = s.plan.groups[static_cast<size_t>(step.group)];
      for (Value v : group.roots) allocate(v);
      kernel(build_group(memory(s), group), steps);
    } else {
      for (Value v : step.equation->results()) allocate(v);
      control(s, *step.equation);
    }
  }
  copy_values(s, copied, copied_to);
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
      return effect(s, e);
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
  for (const Graph& g : e.subgraphs()) {
    step.blocks.emplace_back();
    region(g, inputs, outputs, step.blocks.back());
  }
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
  step.host_function = static_cast<int32_t>(p_.host_functions.size());
  p_.host_functions.push_back(std::move(f));
  s.steps.push_back(std::move(step));
}

void ProgramBuilder::finish() {
  drop_unused(p_);
  place_workspace(p_);
}

Program build_program(const Graph& original, const BuildOptions& options) {
  refuse_complex(original);
  Stopwatch stopwatch;
  const Graph graph = canonicalize(plan::prepare(original));
  Program p;
  p.plan_seconds = stopwatch.lap();
  p.name = graph.name().empty() ? "graph" : graph.name();
  p.num_inputs = static_cast<int32_t>(graph.inputs().size());
  p.num_outputs = static_cast<int32_t>(graph.outputs().size());
  ProgramBuilder builder(p, options.alignment);
  std::vector<Binding> inputs, outputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& t = graph.type(graph.inputs()[i]);
    Shape::Dims strides = i < options.input_strides.size() && !options.input_strides[i].empty()
                              ? options.input_strides[i]
                              : dense(t.shape);
    inputs.push_back(builder.add_buffer(BufferKind::input, static_cast<int32_t>(i), t, std::move(strides)));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Type& t = graph.type(graph.outputs()[i]);
    outputs.push_back(builder.add_buffer(BufferKind::output, static_cast<int32_t>(i), t, dense(t.shape)));
  }
  builder.region(graph, inputs, outputs, p.steps);
  reuse_donated(p, options, inputs, outputs);
  builder.finish();
  return p;
}

}  // namespace calque::kernel
