#include "kernel/build.h"

#include <algorithm>

#include "kernel/carries.h"
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

/// A root of a kernel that is built around no scan, scatter or cumulative operation.
bool computed_alone(const plan::Plan& plan, Value v) {
  return std::any_of(plan.groups.begin(), plan.groups.end(), [&](const plan::Group& group) {
    return !group.around && std::find(group.roots.begin(), group.roots.end(), v) != group.roots.end();
  });
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
    return {View{static_cast<int32_t>(p_.buffers.size()) - 1, 0, {}, {}}, type, std::move(strides),
            static_cast<int64_t>(size_of(type.dtype)), true};
  }

  Binding workspace(const Type& type) {
    return {View{add_workspace(p_, type), 0, {}, {}}, type, dense(type.shape), 64, true};
  }

  Binding constant(const AnyArray& array) {
    for (size_t i = 0; i < p_.constants.size(); ++i)
      if (p_.constants[i].storage() == array.storage() && p_.constants[i].type() == array.type()) return constants_[i];
    p_.constants.push_back(array);
    constants_.push_back(add_buffer(BufferKind::constant, static_cast<int32_t>(p_.constants.size()) - 1, array.type(),
                                    dense(array.shape())));
    return constants_.back();
  }

  /// Steps that compute `outputs` of a graph from `inputs`. The places of the values `updated` hold their operands.
  void region(const Graph& g, std::span<const Binding> inputs, std::span<const Binding> outputs,
              std::vector<Step>& steps, std::vector<Value> updated = {});

  void finish() {
    drop_unused(p_);
    place_workspace(p_);
  }

 private:
  struct Scope {
    const Graph& g;
    plan::Plan plan;
    std::vector<Binding> bindings;
    std::vector<Step>& steps;
    std::vector<Value> updated;
    std::vector<std::pair<Value, Binding>> also = {};
  };

  void control(Scope& s, const Equation& e);
  /// How much of the program there is, to return to.
  struct Mark {
    size_t buffers, kernels, host_functions, constants, notes;
    int32_t loops;
  };
  Mark mark() const {
    return {p_.buffers.size(),   p_.kernels.size(), p_.host_functions.size(),
            p_.constants.size(), p_.notes.size(),   p_.num_loops};
  }
  void return_to(const Mark& mark);
  struct Loop;
  void build_body(Loop& loop);
  void carry(Scope& s, Loop& loop);
  void while_loop(Scope& s, const Equation& e);
  void scan(Scope& s, const Equation& e);
  void branch(Scope& s, const Equation& e);
  void effect(Scope& s, const Equation& e);
  void kernel(BoundKernel bound, std::vector<Step>& steps);
  void copy_values(Scope& s, std::span<const Value> values, std::span<const Binding> to);
  void copy(const Binding& to, const Binding& from, std::vector<Step>& steps);
  Memory memory(Scope& s) {
    return {s.g, s.plan, s.bindings, [this](const AnyArray& a) { return constant(a); }, s.updated, s.also};
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
  Scope s{g, plan::make_plan(g), std::vector<Binding>(g.num_values()), steps, std::move(updated)};
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
  /// A dynamic_update_slice or scatter of the carry itself. Invalid when the carry is computed otherwise.
  Value update(size_t carry) const {
    const Value v = body.outputs()[carry];
    if (body.kind(v) != ValueKind::result) return {};
    // A value that several outputs want lives where the first one does.
    const auto& wanted = body.outputs();
    if (std::find(wanted.begin(), wanted.end(), v) - wanted.begin() != static_cast<std::ptrdiff_t>(carry)) return {};
    const Equation& e = *body.definition(v);
    const bool updates = e.id() == id_of<DynamicUpdateSlice> || role_of(e) == Role::scatter;
    return updates && e.operand(0) == body.inputs()[first + carry] ? v : Value();
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
  cut(p_.notes, mark.notes);
  p_.num_loops = mark.loops;
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
  std::vector<bool> tried(carries, true);
  for (bool again = true; again;) {
    again = false;
    std::vector<Value> updated;
    for (size_t i = 0; i < carries; ++i)
      if (tried[i] && loop.update(i).valid()) updated.push_back(loop.update(i));
    const Mark before = mark();
    region(loop.body, loop.inputs, loop.outputs, loop.block, updated);
    loop.merged.assign(carries, false);
    for (size_t i = 0; i < carries; ++i) {
      const int32_t from = loop.before(i).view.buffer, to = loop.next(i).view.buffer;
      loop.merged[i] = from == to || merge_buffers(p_, loop.block, from, to);
      if (loop.merged[i] || !tried[i] || !loop.update(i).valid()) continue;
      tried[i] = false;
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
  for (size_t i = 0; i < loop.results.size(); ++i) {
    const Binding& wanted = loop.results[i];
    first.push_back(wanted);
    View before = wanted.view;
    if (!loop.merged[i]) {
      const Binding spare = workspace(wanted.type);
      if (loop.step.loop_id < 0) loop.step.loop_id = p_.num_loops++;
      before = alternating(wanted.view, spare.view, loop.step.loop_id, phase);
      const View next = alternating(wanted.view, spare.view, loop.step.loop_id, phase + 1);
      for (auto& block : loop.step.blocks) place_buffer(block, loop.next(i).view.buffer, next);
      if (counted && loop.step.count % 2 == 1) first.back().view = spare.view;
      Binding last = wanted;
      last.view = before;
      if (!counted) copy(wanted, last, after);
    }
    for (auto& block : loop.step.blocks) place_buffer(block, loop.before(i).view.buffer, before);
  }
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
  carry(s, loop);
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
