// Tracers hold the id of their trace. A tracer whose trace id is not on this thread's stack has leaked: its trace has
// ended or runs on another thread.
#include "calque/detail/trace.h"

#include <algorithm>
#include <atomic>

#include "calque/detail/leaf_view.h"
#include "calque/detail/nested_call.h"

#include "ir/log.h"
#include "ir/text/text.h"
#include "ir/values/storage_identity.h"
#include "primitives/list.h"
#include "reference/evaluate.h"
#include "trace/branches/questions.h"
#include "trace/builder.h"
#include "trace/literals.h"

namespace calque::detail {
namespace {

constexpr size_t kManyEquations = 100'000;

std::atomic<uint64_t> next_trace{1};
thread_local Builder* top = nullptr;
thread_local int quiet_traces = 0;

/// Pushes a builder on the stack for a scope.
struct Scope {
  explicit Scope(Builder& b) { top = &b; }
  ~Scope() { top = top->parent(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

/// Orders captures by first use in the canonical graph, since their first use while tracing differs between compilers.
/// Unused captures are dropped.
void order_captures(TraceResult& result, size_t num_inputs) {
  Graph& g = result.graph;
  if (g.inputs().size() == num_inputs) return;
  std::vector<uint32_t> position(g.inputs().size(), UINT32_MAX);
  std::vector<Type> types;
  for (size_t i = 0; i < num_inputs; ++i) {
    position[i] = static_cast<uint32_t>(i);
    types.push_back(g.type(g.inputs()[i]));
  }
  std::vector<Handle> captures;
  const auto use = [&](Value v) {
    if (g.kind(v) != ValueKind::input || position[g.input_index(v)] != UINT32_MAX) return;
    position[g.input_index(v)] = static_cast<uint32_t>(types.size());
    types.push_back(g.type(v));
    captures.push_back(result.captures[g.input_index(v) - num_inputs]);
  };
  for (const Equation& e : std::as_const(g).equations()) {
    for (Value v : e.operands()) use(v);
  }
  for (Value v : g.outputs()) use(v);
  result.captures = std::move(captures);
  if (types.size() != position.size() || !std::ranges::is_sorted(position)) g = with_inputs(g, types, position);
}

void check_rank(std::string_view operation, const Type& type, Location at) {
  if (type.shape.size() <= kMaxRank) [[likely]]
    return;
  throw ShapeError(std::string(operation) + ": arrays have at most " + std::to_string(kMaxRank) + " dimensions, got " +
                   std::to_string(type.shape.size()) + where_text(user_location(at)));
}

[[noreturn]] void throw_leaked(Handle h, Location at) {
  if (h.trace == 0) {
    if (h.value != Handle().value) {  // past_element, of calque/functors.h
      throw Error(h.high == 0 ? "functor: the functor reads a block that is not given" + where_text(at)
                              : "functor: the functor reads element " + std::to_string(h.value) +
                                    " of a block of size " + std::to_string(h.high - 1) + where_text(at));
    }
    throw LeakedTracerError("tracer: used without a value" + where_text(at));
  }
  throw LeakedTracerError(
      "tracer: used after its trace ended, or on another thread; return it from the lambda instead of storing it" +
      where_text(at));
}

}  // namespace

Builder* innermost() { return top; }

Builder& innermost(std::string_view operation, Location at) {
  if (top != nullptr) return *top;
  throw LeakedTracerError(std::string(operation) +
                          ": needs a running trace, such as the body of a function that jit wraps" +
                          where_text(user_location(at)));
}

Builder& owner(Handle h, Location at) {
  for (Builder* b = top; b != nullptr; b = b->parent()) {
    if (b->id() == h.trace) return *b;
  }
  throw_leaked(h, user_location(at));
}

void run_trace(Builder& builder, BodyRef body, TraceResult& result) {
  const Scope scope(builder);
  std::vector<Handle> handles;
  handles.reserve(builder.num_inputs());
  for (size_t i = 0; i < builder.num_inputs(); ++i) handles.push_back(builder.handle(builder.graph().inputs()[i]));
  std::vector<Handle> outputs;
  body(handles, outputs);
  std::vector<Value> values;
  values.reserve(outputs.size());
  for (Handle h : outputs) {
    values.push_back(builder.resolve(h, {}));
    if (builder.eager()) result.values.push_back(builder.value(values.back()));
  }
  builder.graph().set_outputs(std::move(values));
}

void finish_trace(Builder& builder, TraceResult& result) {
  result.captures = builder.captures();
  order_canonically(builder.graph());
  result.graph = std::move(builder.graph());
  order_captures(result, builder.num_inputs());
}

TraceResult trace_once(std::string_view name, std::span<const Type> inputs, BodyRef body, const TraceOptions& options) {
  OperandHoist of_captures({});
  TraceOptions with_hoist = options;
  if (options.hoist == nullptr && top != nullptr) with_hoist.hoist = &of_captures;
  Builder builder(name, inputs, with_hoist, top);
  TraceResult result;
  run_trace(builder, body, result);
  finish_trace(builder, result);
  return result;
}

TraceResult trace_graph(std::string_view name, std::span<const Type> inputs, BodyRef body,
                        const TraceOptions& options) {
  if (options.oracle != nullptr) return trace_path(name, inputs, body, options);
  if (followed_branches() == branches::all && !options.eager) return trace_all_branches(name, inputs, body, options);
  return trace_once(name, inputs, body, options);
}

TraceResult trace_path(std::string_view name, std::span<const Type> inputs, BodyRef body, const TraceOptions& options) {
  Builder builder(name, inputs, options, top);
  builder.follow(&options.oracle->path, options.oracle);
  TraceResult result;
  run_trace(builder, body, result);
  if (options.oracle->path.asked.empty()) {
    finish_trace(builder, result);
  } else {
    result.captures = builder.captures();
    result.graph = std::move(builder.graph());
  }
  return result;
}

Outside::Outside(const Builder& inner) : inner_(top) { top = inner.parent(); }
Outside::~Outside() { top = inner_; }

bool tracing() { return top != nullptr; }

const Type& type_of(Handle handle, Location location) {
  if (handle.is_literal()) return literal_type(handle);
  if (top != nullptr && top->id() == handle.trace) return top->graph().type(Value(handle.value));
  return owner(handle, location).graph().type(Value(handle.value));
}

void emit(const Primitive& primitive, std::span<const Handle> operands, Attributes attributes,
          std::vector<Graph> subgraphs, Location location, std::vector<Handle>& results) {
  Builder& b = innermost(primitive.name, location);
  ValueList values;
  values.reserve(operands.size());
  for (Handle h : operands) values.push_back(b.resolve(h, location));
  const Equation& e =
      b.record(primitive, std::move(values), std::move(attributes), std::move(subgraphs), b.locate(location));
  for (Value v : e.results()) results.push_back(b.handle(v));
}

Handle emit(const Primitive& primitive, std::span<const Handle> operands, Attributes attributes, Location location) {
  Builder& b = innermost(primitive.name, location);
  ValueList values;
  values.reserve(operands.size());
  for (Handle h : operands) values.push_back(b.resolve(h, location));
  return b.handle(b.record(primitive, std::move(values), std::move(attributes), {}, b.locate(location)).result());
}

Handle emit(const Primitive& primitive, std::initializer_list<Handle> operands, Attributes attributes,
            Location location) {
  return emit(primitive, std::span<const Handle>(operands.begin(), operands.size()), std::move(attributes), location);
}

std::vector<Handle> emit_graph(const Graph& graph, std::span<const Handle> inputs) {
  Builder& b = innermost(graph.name().empty() ? "graph" : graph.name(), {});
  if (inputs.size() != graph.inputs().size()) {
    throw ShapeError(graph.name() + ": expected " + std::to_string(graph.inputs().size()) + " inputs, got " +
                     std::to_string(inputs.size()));
  }
  std::vector<Value> renamed(graph.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value v = graph.inputs()[i];
    renamed[v.id()] = b.resolve(inputs[i], {});
    const Type& got = b.graph().type(renamed[v.id()]);
    if (got == graph.type(v)) continue;
    const std::string text =
        graph.name() + ": input " + std::to_string(i) + " is " + to_string(graph.type(v)) + ", got " + to_string(got);
    if (got.dtype != graph.dtype(v)) throw DTypeError(text);
    throw ShapeError(text);
  }
  const auto rename = [&](Value v) {
    Value& to = renamed[v.id()];
    if (to.valid()) return to;
    return to = graph.is_literal(v) ? b.literal(graph.literal(v), graph.type(v)) : b.constant(graph.constant(v));
  };
  for (const Equation& e : graph.equations()) {
    ValueList operands;
    operands.reserve(e.operands().size());
    for (Value v : e.operands()) operands.push_back(rename(v));
    const Equation& copy = b.record(e.definition(), std::move(operands), e.attributes(), e.subgraphs(), e.location());
    for (size_t i = 0; i < e.results().size(); ++i) renamed[e.result(i).id()] = copy.result(i);
  }
  std::vector<Handle> outputs;
  outputs.reserve(graph.outputs().size());
  for (Value v : graph.outputs()) outputs.push_back(b.handle(rename(v)));
  return outputs;
}

Handle literal(const Literal& element, const Type& type, Location location) {
  Builder& b = innermost("literal", location);
  check_rank("array", type, location);
  if (!text::addressable(type)) {
    throw ShapeError("array: " + to_string(type) + " is too large" + where_text(user_location(location)));
  }
  return b.handle(b.literal(element, type));
}

Handle constant(const AnyArray& array, Location location) {
  Builder& b = innermost("constant", location);
  if (array.empty()) throw ShapeError("array: used before it was given a value" + where_text(user_location(location)));
  check_rank("array", array.type(), location);
  return b.handle(b.constant(array));
}

Handle lift(const Operand& operand, DType dtype, Location location) {
  switch (operand.kind()) {
    case Operand::Kind::tracer: {
      Builder& b = innermost("tracer", location);
      return b.handle(b.resolve(operand.handle(), location));
    }
    case Operand::Kind::array:
      return constant(operand.array(), location);
    case Operand::Kind::weak:
      return literal(weak_literal(operand.weak(), dtype, location), {dtype, {}}, location);
    case Operand::Kind::scalar:
      return literal(operand.scalar(), {operand.scalar_dtype(), {}}, location);
  }
  __builtin_unreachable();
}

QuietTraces::QuietTraces() { ++quiet_traces; }
QuietTraces::~QuietTraces() { --quiet_traces; }

// ---- Builder

Builder::Builder(std::string_view name, std::span<const Type> inputs, const TraceOptions& options, Builder* parent)
    : id_(next_trace.fetch_add(1, std::memory_order_relaxed)),
      parent_(parent),
      depth_(parent == nullptr ? 0 : parent->depth_ + 1),
      hoist_(options.hoist),
      eager_(options.eager),
      is_loop_body_(options.loop_body),
      num_inputs_(inputs.size()),
      paths_(options.paths.begin(), options.paths.end()) {
  if (parent != nullptr) {
    last_ = parent->last_;
    last_name_ = parent->last_name_;
  }
  graph_.set_name(std::string(name));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value v = graph_.add_input(inputs[i]);
    if (eager_) set_value(v, options.values[i]);
  }
}

Value Builder::capture(Handle h, Location at) {
  if (h.is_literal()) return literal(literal_of(h), literal_type(h));
  Builder& from = owner(h, at);
  const Value outer(h.value);
  switch (from.graph_.kind(outer)) {
    case ValueKind::literal:
      return literal(from.graph_.literal(outer), Type(from.graph_.type(outer)));
    case ValueKind::constant:
      return constant(AnyArray(from.graph_.constant(outer)));
    default:
      break;
  }
  const auto [entry, fresh] = captured_.try_emplace(Key{h.trace, h.value});
  if (fresh) {
    entry->second = graph_.add_input(from.graph_.type(outer));
    captures_.push_back(h);
    if (eager_) set_value(entry->second, from.eager_ ? from.value(outer) : AnyArray());
  }
  return entry->second;
}

Equation& Builder::record(const Primitive& primitive, ValueList operands, Attributes attributes,
                          std::vector<Graph> subgraphs, Location at) {
  Equation& e = graph_.append(primitive, std::move(operands), std::move(attributes), std::move(subgraphs), at);
  for (Value v : e.results()) check_rank(primitive.name, graph_.type(v), at);
  const bool suppressed = quiet_traces > 0 && primitive.id == primitives::id_of<primitives::DebugPrint>;
  if (eager_ && !suppressed) evaluate(e);
  uses_loops_ |=
      primitive.id == primitives::id_of<primitives::While> || primitive.id == primitives::id_of<primitives::Scan>;
  if (graph_.num_equations() > kManyEquations && !warned_ && !eager_) warn_of_many_equations(at);
  return e;
}

void Builder::warn_of_many_equations(Location at) {
  warned_ = true;
  bool loops = false;
  for (const Builder* b = this; b != nullptr; b = b->parent_) loops |= b->is_loop_body_ || b->uses_loops_;
  library_log().warn(
      "{}: the trace has recorded more than {} equations{}; a matrix of tracers {}records one equation per scalar "
      "operation: use matmul and array operations{}",
      traced_function(graph_.name()), kManyEquations, where_text(user_location(at)),
      loops ? "" : "or a long loop in C++ ", loops ? "" : ", fori_loop or scan");
}

Value Builder::literal(const Literal& element, const Type& type) {
  const Value v = graph_.add_literal(element, type);
  if (eager_) set_value(v, reference::materialize(element, type));
  return v;
}

Value Builder::constant(const AnyArray& array) {
  if (array.rank() == 0 && array.device() == Device{}) return literal(literal_of(array), array.type());
  // Borrowed memory may change, or be unmapped with the library that it is part of, so it is copied.
  const bool borrowed = !array.storage().owned() && !array.storage().is_absent();
  Value& v = constants_[storage_identity(array.storage())];
  // Arrays of different shapes may share storage.
  if (array.size() == 0 || !v.valid() || graph_.type(v) != array.type()) {
    if (borrowed) borrowed_.push_back(array);
    v = graph_.add_constant(borrowed ? copy_of(view_of(array)) : array);
    if (eager_) set_value(v, graph_.constant(v));
  }
  return v;
}

void Builder::set_value(Value v, AnyArray array) {
  if (values_.size() <= v.id()) values_.resize(std::max<size_t>(graph_.num_values(), v.id() + size_t{1}));
  values_[v.id()] = std::move(array);
}

void Builder::evaluate(const Equation& e) {
  std::vector<AnyArray> operands;
  operands.reserve(e.operands().size());
  for (Value v : e.operands()) operands.push_back(values_[v.id()]);
  std::vector<AnyArray> results = reference::evaluate_equation(graph_, e, operands);
  for (size_t i = 0; i < results.size(); ++i) set_value(e.result(i), std::move(results[i]));
}

std::string Builder::input_path(Value v) const {
  if (graph_.kind(v) != ValueKind::input) return {};
  const size_t i = graph_.input_index(v);
  if (i < paths_.size()) return paths_[i];
  return i < num_inputs_ ? "argument " + std::to_string(i) : std::string();
}

Graph with_inputs(const Graph& graph, std::span<const Type> types, std::span<const uint32_t> position) {
  Graph out;
  out.set_name(graph.name());
  for (const Type& t : types) out.add_input(t);
  std::vector<Value> renamed(graph.num_values());
  for (size_t i = 0; i < position.size(); ++i) {
    if (position[i] != UINT32_MAX) renamed[graph.inputs()[i].id()] = out.inputs()[position[i]];
  }
  const auto rename = [&](Value v) {
    Value& to = renamed[v.id()];
    if (!to.valid()) to = out.add_copy(graph, v);
    return to;
  };
  for (const Equation& e : graph.equations()) {
    ValueList operands;
    operands.reserve(e.operands().size());
    for (Value v : e.operands()) operands.push_back(rename(v));
    const Equation& copy = out.append_copy(graph, e, std::move(operands));
    for (size_t i = 0; i < e.results().size(); ++i) renamed[e.result(i).id()] = copy.result(i);
  }
  std::vector<Value> outputs;
  for (Value v : graph.outputs()) outputs.push_back(rename(v));
  out.set_outputs(std::move(outputs));
  return out;
}

}  // namespace calque::detail
