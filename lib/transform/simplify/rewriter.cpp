// Rules see operands of the graph being built and types of the graph being read; equations that they emit are rewritten
// immediately.
#include "transform/simplify/rewriter.h"

#include <algorithm>
#include <cstring>

#include "ir/graph/effects.h"
#include "ir/values/storage_identity.h"
#include "primitives/registry.h"
#include "transform/simplify/fold_constants.h"
#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

using namespace primitives;

bool is_rule_carrier(const Equation& e) {
  return e.id() == id_of<Checkpoint> || e.id() == id_of<CustomJvp> || e.id() == id_of<CustomVjp> ||
         e.id() == id_of<CustomRoot> || e.id() == id_of<LinearSolve>;
}

uint64_t hash_literal(const Literal& literal, const Type& type) {
  uint64_t words[2];
  std::memcpy(words, literal.bytes, sizeof words);
  uint64_t h = mix(static_cast<uint64_t>(type.dtype), words[0]);
  h = mix(h, words[1]);
  for (const int64_t d : type.shape) h = mix(h, static_cast<uint64_t>(d));
  return h;
}

}  // namespace

Graph Rewriter::run(const Graph& from) {
  out_.set_name(from.name());
  if (options_.merge) known_.reserve(from.num_equations());
  std::vector<Value> inputs;
  inputs.reserve(from.inputs().size());
  for (const Value v : from.inputs()) inputs.push_back(out_.add_input(Type(from.type(v))));
  out_.set_outputs(body(from, inputs));
  return std::move(out_);
}

/// Adds the equations of `from`, whose inputs are values of the graph being built. Returns its outputs.
std::vector<Value> Rewriter::body(const Graph& from, std::span<const Value> inputs) {
  Map map(from.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) map[from.inputs()[i].id()] = inputs[i];
  for (const Equation& e : from.equations()) equation(from, e, map);
  std::vector<Value> outputs;
  outputs.reserve(from.outputs().size());
  for (const Value v : from.outputs()) outputs.push_back(value(from, v, map));
  return outputs;
}

Value Rewriter::value(const Graph& from, Value v, Map& map) {
  Value& to = map[v.id()];
  if (to.valid()) return to;
  if (from.is_literal(v)) {
    to = literal(from.literal(v), from.type(v));
    return to;
  }
  const AnyArray& array = from.constant(v);
  const bool merge = options_.merge && array.has_data();
  const void* const identity = merge ? storage_identity(array.storage()) : nullptr;
  if (merge) {
    const auto [begin, end] = constants_.equal_range(identity);
    for (auto at = begin; at != end; ++at) {
      if (out_.type(at->second) == array.type()) return to = at->second;
    }
  }
  to = out_.add_constant(array);
  if (merge) constants_.emplace(identity, to);
  return to;
}

Value Rewriter::literal(const Literal& element, const Type& type) {
  const uint64_t h = hash_literal(element, type);
  const Value known = literals_.find(h, [&](Value v) { return out_.literal(v) == element && out_.type(v) == type; });
  if (known.valid()) return known;
  const Value v = out_.add_literal(element, Type(type));
  literals_.insert(h, v);
  return v;
}

void Rewriter::equation(const Graph& from, const Equation& e, Map& map) {
  ValueList operands;
  operands.reserve(e.operands().size());
  for (const Value v : e.operands()) operands.push_back(value(from, v, map));
  location_ = e.location();
  if (!e.subgraphs().empty()) {
    with_subgraphs(from, e, std::move(operands), map);
    return;
  }
  const bool pure = !e.definition().has_effect;
  if (pure && e.results().size() == 1) {
    if (const auto v = rewrite({e.definition(), operands, e.attributes(), from.type(e.result())})) {
      map[e.result().id()] = *v;
      return;
    }
  }
  copy(from, e, std::move(operands), {}, pure, map);
}

/// The sub-graph that replaces the equation, or null; `operands` become its inputs.
const Graph* Rewriter::inlined(const Equation& e, ValueList& operands) const {
  if (e.id() == id_of<Call> && options_.inline_calls) return &e.subgraphs()[0];
  if (is_rule_carrier(e) && options_.inline_rules) return &e.subgraphs()[0];
  const bool branches = e.id() == id_of<Cond> || e.id() == id_of<Switch>;
  if (!branches || !options_.fold || !out_.is_literal(operands[0])) return nullptr;
  const Literal& chosen = out_.literal(operands[0]);
  size_t branch = 0;
  if (e.id() == id_of<Cond>) {
    branch = chosen.as<bool>() ? 0 : 1;
  } else {
    const int64_t last = static_cast<int64_t>(e.subgraphs().size()) - 1;
    branch = static_cast<size_t>(std::clamp<int64_t>(chosen.as<int32_t>(), 0, last));
  }
  operands.erase(0);
  return &e.subgraphs()[branch];
}

/// Whether a few elementwise operations and views compute the value from literals.
bool Rewriter::is_constant(Value v, int steps) const {
  if (out_.is_literal(v)) return true;
  const Equation* e = out_.definition(v);
  if (e == nullptr || steps == 0 || e->results().size() != 1) return false;
  const FusionKind kind = rules(e->id()).fusion_kind;
  return (kind == FusionKind::elementwise || kind == FusionKind::view) &&
         std::all_of(e->operands().begin(), e->operands().end(), [&](Value o) { return is_constant(o, steps - 1); });
}

Value Rewriter::copy_of_constant(const Rewriter& outer, Value v) {
  if (outer.out_.is_literal(v)) return literal(outer.out_.literal(v), outer.out_.type(v));
  const Equation& e = *outer.out_.definition(v);
  ValueList operands;
  for (const Value o : e.operands()) operands.push_back(copy_of_constant(outer, o));
  return emit(e.definition(), std::move(operands), Attributes(e.attributes()));
}

Graph Rewriter::run_branch(const Graph& from, const Rewriter& outer, std::span<const Value> operands) {
  out_.set_name(from.name());
  location_ = outer.location_;
  std::vector<Value> inputs(from.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!outer.is_constant(operands[i])) inputs[i] = out_.add_input(Type(from.type(from.inputs()[i])));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (outer.is_constant(operands[i])) inputs[i] = copy_of_constant(outer, operands[i]);
  out_.set_outputs(body(from, inputs));
  return std::move(out_);
}

void Rewriter::with_subgraphs(const Graph& from, const Equation& e, ValueList operands, Map& map) {
  if (const Graph* g = inlined(e, operands)) {
    const std::vector<Value> results = body(*g, operands);
    for (size_t i = 0; i < results.size(); ++i) map[e.result(i).id()] = results[i];
    ++rewrites_;
    return;
  }
  // Branches simplify further with constant operands, such as a basis of tangents.
  const bool has_branches = options_.fold && (e.id() == id_of<Cond> || e.id() == id_of<Switch>);
  std::vector<Graph> subgraphs;
  subgraphs.reserve(e.subgraphs().size());
  for (const Graph& g : e.subgraphs()) {
    Rewriter inner(options_);
    subgraphs.push_back(has_branches
                            ? inner.run_branch(g, *this, std::span(operands.begin(), operands.size()).subspan(1))
                            : inner.run(g));
    rewrites_ += inner.rewrites_;
    merges_ += inner.merges_;
    reached_bound_ |= inner.reached_bound_;
  }
  if (has_branches) {
    ValueList passed;
    passed.push_back(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i)
      if (!is_constant(operands[i])) passed.push_back(operands[i]);
    if (passed.size() < operands.size()) ++rewrites_;
    operands = std::move(passed);
  }
  const bool pure = options_.merge && !has_effect(e);
  copy(from, e, std::move(operands), std::move(subgraphs), pure, map);
}

void Rewriter::copy(const Graph& from, const Equation& e, ValueList operands, std::vector<Graph> subgraphs, bool pure,
                    Map& map) {
  const Equation* same = nullptr;
  const bool merge = options_.merge && pure;
  uint64_t h = 0;
  if (merge) {
    h = EquationTable::hash(e.definition(), operands, e.attributes(), subgraphs);
    same = known_.find(h, e.definition(), operands, e.attributes(), subgraphs);
  }
  if (same != nullptr) {
    ++merges_;
  } else {
    same = subgraphs.empty() ? &out_.append_copy(from, e, std::move(operands))
                             : &out_.append_copy(from, e, std::move(operands), std::move(subgraphs));
    if (merge) known_.insert(h, *same);
  }
  for (size_t i = 0; i < e.results().size(); ++i) map[e.result(i).id()] = same->result(i);
}

Value Rewriter::emit(const Primitive& primitive, ValueList operands, Attributes attributes) {
  std::vector<const Type*> operand_types;
  for (const Value v : operands) operand_types.push_back(&out_.type(v));
  std::vector<Type> types;
  primitive.infer({operand_types, attributes, {}}, types);
  if (const auto v = rewrite({primitive, operands, attributes, types[0]})) return *v;
  uint64_t h = 0;
  if (options_.merge) {
    h = EquationTable::hash(primitive, operands, attributes, {});
    if (const Equation* same = known_.find(h, primitive, operands, attributes, {})) return same->result();
  }
  const Equation& e = out_.append(primitive, std::move(operands), std::move(attributes), {}, location_);
  if (options_.merge) known_.insert(h, e);
  return e.result();
}

std::optional<Value> Rewriter::rewrite(const PendingEquation& pending) {
  if (depth_ == kMaxDepth) {
    reached_bound_ = true;
    return std::nullopt;
  }
  ++depth_;
  std::optional<Value> v;
  if (options_.fold) v = fold(*this, pending);
  if (!v && options_.algebra) v = simplify(*this, pending);
  const bool mark = pending.primitive.id == id_of<StopGradient> || pending.primitive.id == id_of<Captured>;
  if (!v && options_.inline_rules && mark) v = pending.operands[0];
  --depth_;
  if (v) ++rewrites_;
  return v;
}

}  // namespace calque::transform
