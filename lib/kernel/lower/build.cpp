#include "kernel/lower/build.h"

#include <algorithm>
#include <map>

#include "ir/stopwatch.h"
#include "ir/values/bytes.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/merge_buffers.h"
#include "kernel/lower/parallel_loops.h"
#include "kernel/lower/program_builder.h"
#include "kernel/schedule/passes.h"
#include "plan/prepare.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;
using plan::fusion_kind_of;
using plan::FusionKind;

namespace {

constexpr std::string_view kPrepare = "prepare", kCanonicalize = "canonicalize", kReuseDonated = "reuse-donated",
                           kDropUnused = "drop-unused", kRunLoopsOnThreads = "run-loops-on-threads",
                           kAssignWorkspace = "assign-workspace";

void refuse_complex(const Graph& g) {
  for (uint32_t i = 0; i < g.num_values(); ++i)
    if (is_complex(g.dtype(Value(i))))
      throw CompileError(std::string("compile: complex numbers are not supported on the CPU yet, got ") +
                         to_string(g.type(Value(i))));
  for (const Equation& e : g.equations())
    for (const Graph& s : e.subgraphs()) refuse_complex(s);
}

/// The same memory, row-major, with another shape.
Binding reshaped(Binding b, const Type& type) {
  b.type = type;
  b.strides = dense(type.shape);
  return b;
}

/// A kernel stores a value to at most this many additional buffers; further ones are copied.
constexpr size_t kMostAdditionalStores = 8;

/// By value id: roots of fusion groups without an anchor op.
std::vector<bool> pointwise_roots(const Graph& g, const plan::Plan& plan) {
  std::vector<bool> roots(g.num_values(), false);
  for (const plan::FusionGroup& group : plan.groups) {
    if (group.anchor) continue;
    for (const Value v : group.roots) roots[v.id()] = true;
  }
  return roots;
}

/// All donated inputs are tried for each output until this many steps have been visited per buffer and step of the
/// program; after that only kTries: thousands of outputs that fit no input would take quadratic time.
constexpr size_t kVisitsOfAll = 200;
constexpr int kTries = 4;

/// Gives outputs the memory of donated inputs of the same size, preferably of the same type, where nothing reads the
/// input after the output is written.
void reuse_donated(Program& p, const BuildOptions& options, std::span<const Binding> inputs,
                   std::span<const Binding> outputs) {
  const std::vector<bool>& donated = options.donated;
  if (std::find(donated.begin(), donated.end(), true) == donated.end()) return;
  p.in_place.assign(outputs.size(), -1);
  std::map<size_t, std::vector<size_t>> by_size;  // donated inputs that no output reuses yet
  for (size_t i = 0; i < inputs.size() && i < donated.size(); ++i)
    if (donated[i] && is_dense(inputs[i].type.shape, inputs[i].strides)) by_size[bytes_of(inputs[i].type)].push_back(i);
  BufferMerger merger(p, p.steps);
  const size_t budget = kVisitsOfAll * (p.buffers.size() + p.steps.size());
  for (const bool alike : {true, false}) {
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Type& type = outputs[o].type;
      if (bytes_of(type) == 0 || p.in_place[o] >= 0) continue;
      std::vector<size_t>& candidates = by_size[bytes_of(type)];
      int tries = 0;
      const auto taken = std::find_if(candidates.begin(), candidates.end(), [&](size_t i) {
        const Type& from = inputs[i].type;
        if ((from == type) != alike || (from.dtype != type.dtype && !options.donates_across_dtypes)) return false;
        if (++tries > kTries && merger.steps_visited() > budget) return false;
        return merger.merge(inputs[i].view.buffer, outputs[o].view.buffer);
      });
      if (taken == candidates.end()) continue;
      p.in_place[o] = static_cast<int32_t>(*taken);
      candidates.erase(taken);
    }
  }
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

void ProgramBuilder::copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to) {
  if (values.empty()) return;
  Memory whole = memory(s);
  whole.updated = nullptr;
  kernels(build_copy(whole, values, to), s.steps);
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

void ProgramBuilder::region(const Graph& g, std::span<const Binding> inputs, std::span<const Binding> outputs,
                            std::vector<Step>& steps, std::span<const Value> updated) {
  Scope s{g, plan::make_plan(g, most_buffers_, log_), std::vector<Binding>(g.num_values()), steps, {}};
  for (const Value v : updated) s.updated.insert(v.id());
  for (size_t i = 0; i < inputs.size(); ++i) s.bindings[g.inputs()[i].id()] = inputs[i];
  p_.remarks.insert(p_.remarks.end(), s.plan.remarks.begin(), s.plan.remarks.end());
  std::vector<Value> copied;
  std::vector<Binding> copied_to;
  assign_outputs(s, outputs, copied, copied_to);
  std::vector<std::vector<Value>> sharers(g.num_values());
  for (uint32_t i = 0; i < g.num_values(); ++i) {
    const Value shared = s.plan.values.shared_buffer(Value(i));
    if (shared.valid()) sharers[shared.id()].push_back(Value(i));
  }
  for (const plan::Step& step : s.plan.steps) {
    const auto allocate = [&](Value v) {
      if (!s.bindings[v.id()].valid) s.bindings[v.id()] = workspace(g.type(v));
      for (const Value sharer : sharers[v.id()]) {
        if (!s.bindings[sharer.id()].valid) s.bindings[sharer.id()] = reshaped(s.bindings[v.id()], g.type(sharer));
      }
    };
    if (step.group >= 0) {
      const plan::FusionGroup& group = s.plan.groups[static_cast<size_t>(step.group)];
      for (Value v : group.roots) allocate(v);
      kernels(build_group(memory(s), group), steps);
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
  run_logged(log_, kDropUnused, PassLog::Over::whole, p_, [&] { drop_unused(p_); });
  if (parallel_loops_ != ParallelLoops::none)
    run_logged(log_, kRunLoopsOnThreads, PassLog::Over::whole, p_, [&] { run_loops_on_threads(p_); });
  run_logged(log_, kAssignWorkspace, PassLog::Over::whole, p_, [&] { assign_workspace_offsets(p_); });
}

std::vector<PassInfo> program_passes(ParallelLoops parallel_loops) {
  std::vector<PassInfo> passes = {
      {kPrepare, "rewrites what kernels and steps have no form for"},
      {kCanonicalize, "puts equations into canonical order"},
  };
  for (const PassInfo& pass : plan::plan_passes()) passes.push_back(pass);
  passes.push_back({kLower, "lowers a fusion group to the loops of a kernel"});
  for (const KernelPass& pass : kernel_passes()) passes.push_back(pass.info);
  passes.push_back({kReuseDonated, "computes outputs in the memory of donated inputs"});
  passes.push_back({kDropUnused, "removes buffers and kernels that no step uses"});
  if (parallel_loops != ParallelLoops::none)
    passes.push_back({kRunLoopsOnThreads, "marks the loops of the entry whose iterations run on several threads"});
  passes.push_back({kAssignWorkspace, "assigns workspace offsets by live range"});
  return passes;
}

Program build_program(const Graph& original, const BuildOptions& options) {
  refuse_complex(original);
  const Graph prepared = logged(options.log, kPrepare, [&] { return plan::prepare(original); });
  const Graph graph = logged(options.log, kCanonicalize, [&] { return canonicalize(prepared); });
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
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Type& t = graph.type(graph.outputs()[i]);
    outputs.push_back(builder.add_buffer(BufferKind::output, static_cast<int32_t>(i), t, dense(t.shape)));
  }
  builder.region(graph, inputs, outputs, p.steps);
  run_logged(options.log, kReuseDonated, PassLog::Over::whole, p, [&] { reuse_donated(p, options, inputs, outputs); });
  builder.finish();
  return p;
}

}  // namespace calque::kernel
