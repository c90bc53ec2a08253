// Equations are stored in a pool and linked in order. Value ids and equation indices never change and are never reused,
// so that references stay valid while a graph is edited.
#include "calque/ir/graph.h"

#include <atomic>
#include <ostream>

#include "ir/graph/graph_access.h"
#include "ir/graph/persistent.h"
#include "ir/text/text.h"
#include "ir/thread_end.h"

namespace calque {
namespace {

template <class E>
[[noreturn]] void raise(const Error& e, const Location& location) {
  throw E(e.what() + where_text(location));
}

/// Rethrows the current exception with the location appended to its message.
[[noreturn]] void rethrow_at(const Location& location) {
  if (!location.known()) throw;
  try {
    throw;
  } catch (const ShapeError& e) {
    raise<ShapeError>(e, location);
  } catch (const DTypeError& e) {
    raise<DTypeError>(e, location);
  } catch (const CompileError& e) {
    raise<CompileError>(e, location);
  } catch (const GradError& e) {
    raise<GradError>(e, location);
  }
}

std::string range_text(int min, int max) {
  if (max < 0) return std::to_string(min) + " or more";
  if (min == max) return std::to_string(min);
  return std::to_string(min) + " to " + std::to_string(max);
}

void check_count(const Primitive& p, const char* what, size_t count, int min, int max) {
  if (count >= static_cast<size_t>(min) && (max < 0 || count <= static_cast<size_t>(max))) return;
  throw CompileError(p.name + ": expected " + range_text(min, max) + " " + what + ", got " + std::to_string(count));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Value value) {
  return value.valid() ? out << '%' << value.id() : out << "%none";
}

SharedSubgraphs::SharedSubgraphs(std::vector<Graph> subgraphs) {
  if (!subgraphs.empty()) graphs_ = std::make_shared<std::vector<Graph>>(std::move(subgraphs));
}

SharedSubgraphs::SharedSubgraphs(const SharedSubgraphs& other) : graphs_(other.graphs_) {
  if (other.is_exposed_ && graphs_) graphs_ = std::make_shared<std::vector<Graph>>(*graphs_);
}

SharedSubgraphs& SharedSubgraphs::operator=(const SharedSubgraphs& other) { return *this = SharedSubgraphs(other); }

const std::vector<Graph>& SharedSubgraphs::none() {
  static const std::vector<Graph>& none = *new std::vector<Graph>;  // graphs are read while the program ends, too
  return none;
}

std::vector<Graph>& SharedSubgraphs::edit() {
  if (!graphs_) {
    graphs_ = std::make_shared<std::vector<Graph>>();
  } else {
    // Another thread may have dropped its copy just now: what it read happens before the edit, since adding an owner
    // acquires what the last one released. Reading the count alone would not.
    const std::shared_ptr<std::vector<Graph>> held = graphs_;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (held.use_count() != 2) graphs_ = std::make_shared<std::vector<Graph>>(*held);
  }
  return *graphs_;
}

Graph::Graph() = default;
Graph::~Graph() = default;
Graph::Graph(const Graph&) = default;
Graph& Graph::operator=(const Graph&) = default;
Graph::Graph(Graph&& o) noexcept { swap(o); }
Graph& Graph::operator=(Graph&& o) noexcept {
  if (this != &o) {
    Graph old;
    swap(old);
    swap(o);
  }
  return *this;
}

void Graph::swap(Graph& o) noexcept {
  name_.swap(o.name_);
  values_.swap(o.values_);
  inputs_.swap(o.inputs_);
  outputs_.swap(o.outputs_);
  literals_.swap(o.literals_);
  constants_.swap(o.constants_);
  pool_.swap(o.pool_);
  std::swap(first_, o.first_);
  std::swap(last_, o.last_);
  std::swap(live_, o.live_);
}

const Equation* Graph::definition(Value v) const {
  if (info(v).kind != ValueKind::result) return nullptr;
  const Equation& e = pool_[info(v).index];
  return e.erased_ ? nullptr : &e;
}

Equation* Graph::definition(Value v) { return const_cast<Equation*>(static_cast<const Graph&>(*this).definition(v)); }

std::vector<Type> Graph::input_types() const {
  std::vector<Type> types;
  types.reserve(inputs_.size());
  for (const Value v : inputs_) types.push_back(type(v));
  return types;
}

std::vector<Type> Graph::output_types() const {
  std::vector<Type> types;
  types.reserve(outputs_.size());
  for (const Value v : outputs_) types.push_back(type(v));
  return types;
}

Value Graph::add_input(Type type) {
  const Value v(static_cast<uint32_t>(values_.size()));
  values_.push_back({std::move(type), ValueKind::input, static_cast<uint32_t>(inputs_.size())});
  inputs_.push_back(v);
  return v;
}

Value Graph::add_literal(const Literal& element, Type type) {
  const Value v(static_cast<uint32_t>(values_.size()));
  values_.push_back({std::move(type), ValueKind::literal, static_cast<uint32_t>(literals_.size())});
  literals_.push_back(element);
  return v;
}

Value Graph::add_constant(AnyArray array) {
  const Value v(static_cast<uint32_t>(values_.size()));
  values_.push_back({array.type(), ValueKind::constant, static_cast<uint32_t>(constants_.size())});
  constants_.push_back(std::move(array));
  return v;
}

Value Graph::add_copy(const Graph& from, Value v) {
  if (from.kind(v) == ValueKind::literal) return add_literal(Literal(from.literal(v)), Type(from.type(v)));
  if (from.kind(v) == ValueKind::constant) return add_constant(AnyArray(from.constant(v)));
  throw CompileError("add_copy: expected a literal or a constant");
}

Equation& Graph::append(const Primitive& primitive, ValueList operands, Attributes attributes,
                        std::vector<Graph> subgraphs, Location location) {
  Equation& e = make(primitive, std::move(operands), std::move(attributes), std::move(subgraphs), location);
  link(e, UINT32_MAX);
  return e;
}

Equation& Graph::append_copy(const Graph& from, const Equation& e, ValueList operands) {
  Equation& copy = append_copy(from, e, std::move(operands), {});
  copy.subgraphs_ = e.subgraphs_;
  return copy;
}

Equation& Graph::append_copy(const Graph& from, const Equation& e, ValueList operands, std::vector<Graph> subgraphs) {
  std::vector<Type> own_types;  // values_ may reallocate while results are added to the same graph
  if (&from == this) {
    for (const Value v : e.results_) own_types.push_back(type(v));
  }
  detail::InlineVector<const Type*, 8> types;
  types.reserve(e.results_.size());
  for (size_t i = 0; i < e.results_.size(); ++i) {
    types.push_back(&from == this ? &own_types[i] : &from.type(e.results_[i]));
  }
  Equation& copy = add(*e.primitive_, std::move(operands), Attributes(e.attributes_), std::move(subgraphs), e.location_,
                       types.data(), types.size());
  link(copy, UINT32_MAX);
  return copy;
}

Equation& Graph::make(const Primitive& primitive, ValueList operands, Attributes attributes,
                      std::vector<Graph> subgraphs, Location location) {
  // Reused between calls: tracing must not allocate. Swapped out while in use, in case a typing rule builds a graph.
  auto& scratch = thread_object<std::vector<Type>, struct TypesOfResults>();
  std::vector<Type> types;
  types.swap(scratch);
  types.clear();
  try {
    check_count(primitive, "operands", operands.size(), primitive.min_operands, primitive.max_operands);
    check_count(primitive, "sub-graphs", subgraphs.size(), primitive.min_subgraphs, primitive.max_subgraphs);
    detail::InlineVector<const Type*, 8> operand_types;
    operand_types.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].id() >= values_.size()) {
        throw CompileError(primitive.name + ": operand " + std::to_string(i) + " is not a value of this graph");
      }
      operand_types.push_back(&values_[operands[i].id()].type);
    }
    primitive.infer({operand_types, attributes, subgraphs}, types);
    for (const Type& t : types) {
      if (!text::addressable(t)) throw ShapeError(primitive.name + ": the result " + to_string(t) + " is too large");
    }
  } catch (const Error&) {
    rethrow_at(location);
  }
  detail::InlineVector<const Type*, 8> results;
  results.reserve(types.size());
  for (const Type& t : types) results.push_back(&t);
  Equation& e = add(primitive, std::move(operands), std::move(attributes), std::move(subgraphs), location,
                    results.data(), results.size());
  types.swap(scratch);
  return e;
}

Equation& Graph::add(const Primitive& primitive, ValueList operands, Attributes attributes,
                     std::vector<Graph> subgraphs, Location location, const Type* const* results, size_t num_results) {
  Equation& e = pool_.emplace_back();
  e.index_ = static_cast<uint32_t>(pool_.size() - 1);
  e.primitive_ = &primitive;
  e.operands_ = std::move(operands);
  e.attributes_ = std::move(attributes);
  e.subgraphs_ = SharedSubgraphs(std::move(subgraphs));
  e.location_ = location;
  e.results_.reserve(num_results);
  for (size_t i = 0; i < num_results; ++i) {
    e.results_.push_back(Value(static_cast<uint32_t>(values_.size())));
    values_.push_back({*results[i], ValueKind::result, e.index_});
  }
  return e;
}

void Graph::link(Equation& e, uint32_t before) {
  const uint32_t previous = before == UINT32_MAX ? last_ : pool_[before].previous_;
  e.previous_ = previous;
  e.next_ = before;
  (previous == UINT32_MAX ? first_ : pool_[previous].next_) = e.index_;
  (before == UINT32_MAX ? last_ : pool_[before].previous_) = e.index_;
  ++live_;
  constexpr uint64_t kGap = uint64_t{1} << 20;
  const uint64_t low = previous == UINT32_MAX ? 0 : pool_[previous].order_;
  const uint64_t high = before == UINT32_MAX ? low + 2 * kGap : pool_[before].order_;
  e.order_ = low + (high - low) / 2;
  if (e.order_ != low) return;
  uint64_t order = 0;  // no free number between the neighbors: renumber all
  for (Equation& each : equations()) each.order_ = order += kGap;
}

void detail::GraphAccess::reorder(Graph& g, std::span<const uint32_t> order) {
  for (Equation& e : g.equations()) e.erased_ = true;
  g.first_ = g.last_ = UINT32_MAX;
  g.live_ = 0;
  for (const uint32_t index : order) {
    g.pool_[index].erased_ = false;
    g.link(g.pool_[index], UINT32_MAX);
  }
}

// ---- editing

const Equation& Graph::check_owned(const Equation& e, std::string_view operation, const Location& location) const {
  if (e.index_ >= pool_.size() || &pool_[e.index_] != &e || e.erased_) {
    throw CompileError(std::string(operation) + ": the equation is not of this graph, or was erased" +
                       where_text(location));
  }
  return e;
}

void Graph::check_live(Value v, const std::string& what, const Location& location) const {
  if (v.id() >= values_.size()) throw CompileError(what + " is not a value of this graph" + where_text(location));
  if (kind(v) == ValueKind::result && definition(v) == nullptr) {
    throw CompileError(what + " is a result of an equation that was erased" + where_text(location));
  }
}

bool Graph::defined_before(Value v, uint64_t order) const {
  const Equation* e = definition(v);
  return e == nullptr || e->order_ < order;
}

Value Graph::insert(const Equation& e, uint32_t before, std::string_view operation, std::string_view name,
                    std::vector<Value> operands, Attributes attributes, std::vector<Graph> subgraphs,
                    const Location& location) {
  const Primitive* primitive = find_primitive(name);
  if (primitive == nullptr) {
    throw CompileError(std::string(operation) + ": there is no primitive " + std::string(name) + where_text(location));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string what = std::string(operation) + ": operand " + std::to_string(i) + " of " + primitive->name;
    check_live(operands[i], what, location);
    if (before == UINT32_MAX || defined_before(operands[i], pool_[before].order_)) continue;
    throw CompileError(what + " is defined only after the insertion point, or is a value of another graph" +
                       where_text(location));
  }
  // The library that holds the caller's names may be unloaded before the graph is destroyed.
  Attributes kept;
  for (const Attribute& attribute : attributes) kept.set(intern(attribute.name), attribute.value);
  Equation& fresh = make(*primitive, ValueList(operands), std::move(kept), std::move(subgraphs),
                         e.location_.known() ? e.location_ : persistent(location));
  link(fresh, before);
  return fresh.results_.empty() ? Value() : fresh.results_[0];
}

Value Graph::insert_before(const Equation& e, std::string_view primitive, std::vector<Value> operands,
                           Attributes attributes, std::vector<Graph> subgraphs, Loc loc) {
  return insert(e, check_owned(e, "insert_before", loc).index_, "insert_before", primitive, std::move(operands),
                std::move(attributes), std::move(subgraphs), loc);
}

Value Graph::insert_after(const Equation& e, std::string_view primitive, std::vector<Value> operands,
                          Attributes attributes, std::vector<Graph> subgraphs, Loc loc) {
  return insert(e, check_owned(e, "insert_after", loc).next_, "insert_after", primitive, std::move(operands),
                std::move(attributes), std::move(subgraphs), loc);
}

void Graph::replace_all_uses(Value from, Value to, Loc loc) {
  if (from.id() >= values_.size()) {
    throw CompileError("replace_all_uses: the first value is not a value of this graph" + where_text(loc));
  }
  check_live(to, "replace_all_uses: the second value", loc);
  if (type(from) != type(to)) {
    throw CompileError("replace_all_uses: types differ, got " + to_string(type(from)) + " and " + to_string(type(to)) +
                       where_text(loc));
  }
  if (from == to) return;
  for (const Equation& e : equations()) {
    if (std::find(e.operands_.begin(), e.operands_.end(), from) == e.operands_.end()) continue;
    if (defined_before(to, e.order_)) continue;
    throw CompileError("replace_all_uses: the second value is not defined yet where " + e.primitive() +
                       where_text(e.location_) + " uses the first, or is a value of another graph" + where_text(loc));
  }
  for (Equation& e : equations()) {
    for (Value& v : e.operands_) {
      if (v == from) v = to;
    }
  }
  for (Value& v : outputs_) {
    if (v == from) v = to;
  }
}

void Graph::erase(const Equation& e, Loc loc) {
  check_owned(e, "erase", loc);
  const auto is_result = [&e](Value v) {
    return std::find(e.results_.begin(), e.results_.end(), v) != e.results_.end();
  };
  for (const Equation& user : equations()) {
    if (std::any_of(user.operands_.begin(), user.operands_.end(), is_result)) {
      throw CompileError("erase: a result of " + e.primitive() + " is still used by " + user.primitive() +
                         where_text(user.location_) + where_text(loc));
    }
  }
  if (std::any_of(outputs_.begin(), outputs_.end(), is_result)) {
    throw CompileError("erase: a result of " + e.primitive() + " is still an output" + where_text(loc));
  }
  Equation& gone = pool_[e.index_];
  (gone.previous_ == UINT32_MAX ? first_ : pool_[gone.previous_].next_) = gone.next_;
  (gone.next_ == UINT32_MAX ? last_ : pool_[gone.next_].previous_) = gone.previous_;
  gone.erased_ = true;
  --live_;
}

}  // namespace calque
