#include "kernel/build.h"

#include <algorithm>

#include "kernel/group.h"
#include "kernel/workspace.h"
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

Shape::Dims dense(const Shape& shape) { return row_major_strides(shape); }

/// The same memory, row-major, under another shape.
Binding reshaped(Binding b, const Type& type) {
  b.type = type;
  b.strides = dense(type.shape);
  return b;
}

int64_t bytes_of(const Type& t) { return t.shape.num_elements() * static_cast<int64_t>(size_of(t.dtype)); }

class ProgramBuilder {
 public:
  explicit ProgramBuilder(Program& program) : p_(program) {}

  Binding add_buffer(BufferKind kind, int32_t index, const Type& type, Shape::Dims strides) {
    ProgramBuffer b;
    b.kind = kind;
    b.index = index;
    b.type = type;
    b.strides = strides;
    p_.buffers.push_back(std::move(b));
    // Of memory that is not the workspace no more is known than that its elements are aligned.
    return {View{static_cast<int32_t>(p_.buffers.size()) - 1, 0, {}}, type, std::move(strides),
            static_cast<int64_t>(size_of(type.dtype)), true};
  }

  Binding workspace(const Type& type) {
    return {View{add_workspace(p_, type), 0, {}}, type, dense(type.shape), 64, true};
  }

  Binding constant(const AnyArray& array) {
    for (size_t i = 0; i < p_.constants.size(); ++i)
      if (p_.constants[i].storage() == array.storage() && p_.constants[i].type() == array.type()) return constants_[i];
    p_.constants.push_back(array);
    constants_.push_back(add_buffer(BufferKind::constant, static_cast<int32_t>(p_.constants.size()) - 1, array.type(),
                                    dense(array.shape())));
    return constants_.back();
  }

  /// Steps that compute `outputs` of a graph from `inputs`.
  void region(const Graph& g, std::span<const Binding> inputs, std::span<const Binding> outputs,
              std::vector<Step>& steps);

  void finish() { place_workspace(p_); }

 private:
  struct Scope {
    const Graph& g;
    plan::Plan plan;
    std::vector<Binding> bindings;
    std::vector<Step>& steps;
  };

  void control(Scope& s, const Equation& e);
  void while_loop(Scope& s, const Equation& e);
  void scan(Scope& s, const Equation& e);
  void branch(Scope& s, const Equation& e);
  void effect(Scope& s, const Equation& e);
  void kernel(BoundKernel bound, std::vector<Step>& steps);
  void copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to);
  void copy(const Binding& to, const Binding& from, std::vector<Step>& steps);
  Memory memory(Scope& s) {
    return {s.g, s.plan, s.bindings, [this](const AnyArray& a) { return constant(a); }};
  }
  /// Where an operand of control flow lives: literals and constants included.
  Binding operand(Scope& s, Value v, bool must_be_dense);

  Program& p_;
  std::vector<Binding> constants_;
};

void ProgramBuilder::kernel(BoundKernel bound, std::vector<Step>& steps) {
  Step step;
  step.kind = StepKind::kernel;
  step.kernel = static_cast<int32_t>(p_.kernels.size());
  step.views = std::move(bound.views);
  p_.kernels.push_back(std::move(bound.kernel));
  steps.push_back(std::move(step));
}

void ProgramBuilder::copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to) {
  if (!values.empty()) kernel(build_copy(memory(s), values, to), s.steps);
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
                            std::vector<Step>& steps) {
  Scope s{g, plan::make_plan(g), std::vector<Binding>(g.num_values()), steps};
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
    } else {
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

void ProgramBuilder::while_loop(Scope& s, const Equation& e) {
  const auto cond_consts = static_cast<size_t>(e.attributes().integer("cond_consts"));
  const auto body_consts = static_cast<size_t>(e.attributes().integer("body_consts"));
  const size_t first = cond_consts + body_consts;
  const Graph& cond = e.subgraphs()[0];
  const Graph& body = e.subgraphs()[1];
  if (cond.shape(cond.outputs()[0]).rank() != 0)
    throw CompileError("while: a condition for each element needs a body that works on elements alone");
  std::vector<Binding> consts, state, next;
  for (size_t i = 0; i < first; ++i) consts.push_back(operand(s, e.operand(i), false));
  std::vector<Value> initial;
  for (size_t i = first; i < e.operands().size(); ++i) {
    // The state lives where the result is wanted.
    state.push_back(s.bindings[e.result(i - first).id()]);
    initial.push_back(e.operand(i));
  }
  copy_values(s, initial, state);
  const Binding predicate = workspace({DType::bool_, Shape{}});
  for (const Binding& b : state) next.push_back(workspace(b.type));
  Step step;
  step.kind = StepKind::while_;
  step.views = {predicate.view};
  step.blocks.resize(2);
  const auto with = [&](size_t from, size_t count) {
    std::vector<Binding> in(consts.begin() + static_cast<std::ptrdiff_t>(from),
                            consts.begin() + static_cast<std::ptrdiff_t>(from + count));
    in.insert(in.end(), state.begin(), state.end());
    return in;
  };
  region(cond, with(0, cond_consts), std::array{predicate}, step.blocks[0]);
  region(body, with(cond_consts, body_consts), next, step.blocks[1]);
  for (size_t i = 0; i < state.size(); ++i) copy(state[i], next[i], step.blocks[1]);
  s.steps.push_back(std::move(step));
}

void ProgramBuilder::scan(Scope& s, const Equation& e) {
  const auto consts = static_cast<size_t>(e.attributes().integer("consts"));
  const auto carry = static_cast<size_t>(e.attributes().integer("carry"));
  const Graph& body = e.subgraphs()[0];
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
  std::vector<Binding> inputs, outputs, state, next;
  for (size_t i = 0; i < consts; ++i) inputs.push_back(operand(s, e.operand(i), false));
  std::vector<Value> initial;
  for (size_t i = 0; i < carry; ++i) {
    state.push_back(s.bindings[e.result(i).id()]);
    initial.push_back(e.operand(consts + i));
  }
  copy_values(s, initial, state);
  inputs.insert(inputs.end(), state.begin(), state.end());
  std::vector<Binding> whole;
  for (size_t i = consts + carry; i < e.operands().size(); ++i) {
    whole.push_back(operand(s, e.operand(i), false));
    inputs.push_back(slice(whole.back()));
  }
  for (const Binding& b : state) next.push_back(workspace(b.type));
  outputs = next;
  for (size_t i = carry; i < e.results().size(); ++i) outputs.push_back(slice(s.bindings[e.result(i).id()]));
  region(body, inputs, outputs, step.blocks[0]);
  for (size_t i = 0; i < carry; ++i) copy(state[i], next[i], step.blocks[0]);
  s.steps.push_back(std::move(step));
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

}  // namespace

Program build_program(const Graph& original, const BuildOptions& options) {
  refuse_complex(original);
  const Graph graph = canonicalize(plan::prepare(original));
  Program p;
  p.name = graph.name().empty() ? "graph" : graph.name();
  p.num_inputs = static_cast<int32_t>(graph.inputs().size());
  p.num_outputs = static_cast<int32_t>(graph.outputs().size());
  ProgramBuilder builder(p);
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
  builder.finish();
  return p;
}

}  // namespace calque::kernel
