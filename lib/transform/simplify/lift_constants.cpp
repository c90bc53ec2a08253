// Closure conversion in two walks: one collects the arrays of a graph and its sub-graphs, one copies the graph with
// inputs for them. An equation with sub-graphs runs both on each sub-graph, so the operands that a level needs are
// known before it is copied.
#include "transform/simplify/lift_constants.h"

#include <unordered_map>

#include "ir/values/storage_identity.h"
#include "primitives/control/loop_parts.h"
#include "primitives/list.h"

namespace calque::transform {
namespace {

using namespace primitives;

constexpr size_t kLarge = 64;

/// Arrays in insertion order; arrays with the same elements and type appear once.
class ArrayList {
 public:
  size_t add(const AnyArray& array) {
    const void* const key = array.has_data() ? storage_identity(array.storage()) : nullptr;
    const auto [begin, end] = positions_.equal_range(key);
    for (auto at = begin; at != end; ++at) {
      const AnyArray& known = arrays_[at->second];
      if (known.type() == array.type() && known.storage() == array.storage()) return at->second;
    }
    positions_.emplace(key, arrays_.size());
    arrays_.push_back(array);
    return arrays_.size() - 1;
  }
  const std::vector<AnyArray>& arrays() const { return arrays_; }
  size_t size() const { return arrays_.size(); }
  bool empty() const { return arrays_.empty(); }

 private:
  std::vector<AnyArray> arrays_;
  std::unordered_multimap<const void*, size_t> positions_;
};

bool has_rules(const Equation& e) {
  return e.id() == id_of<CustomJvp> || e.id() == id_of<CustomVjp> || e.id() == id_of<CustomRoot> ||
         e.id() == id_of<LinearSolve>;
}

bool lifts_from(const Equation& e) {
  switch (e.id()) {
    case id_of<Cond>:
    case id_of<Switch>:
    case id_of<While>:
    case id_of<Scan>:
    case id_of<Call>:
    case id_of<Checkpoint>:
    case id_of<CustomJvp>:
    case id_of<CustomVjp>:
    case id_of<CustomRoot>:
    case id_of<LinearSolve>:
      return !e.subgraphs().empty();
    default:
      return false;
  }
}

bool has_lifted_constants(const Graph& graph);

bool has_lifted_constants(const Equation& e) {
  if (!lifts_from(e)) return false;
  for (const Graph& g : e.subgraphs())
    if (has_lifted_constants(g)) return true;
  return false;
}

bool is_lifted_constant(const Graph& graph, Value v) {
  return graph.kind(v) == ValueKind::constant && is_lifted(graph.constant(v));
}

bool has_lifted_constants(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    for (const Value v : e.operands())
      if (is_lifted_constant(graph, v)) return true;
    if (has_lifted_constants(e)) return true;
  }
  for (const Value v : graph.outputs())
    if (is_lifted_constant(graph, v)) return true;
  return false;
}

void collect(const Graph& graph, ArrayList& arrays) {
  const auto use = [&](Value v) {
    if (is_lifted_constant(graph, v)) arrays.add(graph.constant(v));
  };
  for (const Equation& e : graph.equations()) {
    for (const Value v : e.operands()) use(v);
    if (!lifts_from(e)) continue;
    if (has_rules(e)) {
      collect(e.subgraphs()[0], arrays);
    } else {
      for (const Graph& g : e.subgraphs()) collect(g, arrays);
    }
  }
  for (const Value v : graph.outputs()) use(v);
}

ArrayList arrays_of(const Graph& graph) {
  ArrayList arrays;
  collect(graph, arrays);
  return arrays;
}

/// Copies one graph, with an input for each array.
class Lifting {
 public:
  /// The new inputs are inserted before the old input `first`.
  static Graph run(const Graph& from, size_t first, ArrayList& arrays) { return Lifting(from, first, arrays).out_; }

 private:
  Lifting(const Graph& from, size_t first, ArrayList& arrays)
      : from_(from), arrays_(arrays), renamed_(from.num_values()) {
    out_.set_name(from.name());
    const auto& inputs = from.inputs();
    for (size_t i = 0; i < first; ++i) renamed_[inputs[i].id()] = out_.add_input(from.type(inputs[i]));
    for (const AnyArray& array : arrays.arrays()) lifted_.push_back(out_.add_input(array.type()));
    for (size_t i = first; i < inputs.size(); ++i) renamed_[inputs[i].id()] = out_.add_input(from.type(inputs[i]));
    for (const Equation& e : from.equations()) equation(e);
    std::vector<Value> outputs;
    for (const Value v : from.outputs()) outputs.push_back(value(v));
    out_.set_outputs(std::move(outputs));
  }

  Value value(Value v) {
    Value& to = renamed_[v.id()];
    if (!to.valid()) to = is_lifted_constant(from_, v) ? value_of(from_.constant(v)) : out_.add_copy(from_, v);
    return to;
  }
  Value value_of(const AnyArray& array) { return lifted_[arrays_.add(array)]; }
  static void append(ValueList& to, const ValueList& from, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to.push_back(from[i]);
  }
  void append_values(ValueList& operands, const ArrayList& arrays) {
    for (const AnyArray& array : arrays.arrays()) operands.push_back(value_of(array));
  }

  void equation(const Equation& e) {
    ValueList operands;
    operands.reserve(e.operands().size());
    for (const Value v : e.operands()) operands.push_back(value(v));
    const Equation& copy = has_lifted_constants(e) ? with_subgraphs(e, std::move(operands))
                                                   : out_.append_copy(from_, e, std::move(operands));
    for (size_t i = 0; i < e.results().size(); ++i) renamed_[e.result(i).id()] = copy.result(i);
  }

  const Equation& with_subgraphs(const Equation& e, ValueList operands) {
    switch (e.id()) {
      case id_of<While>:
        return loop_while(e, operands);
      case id_of<Scan>:
        return loop_scan(e, operands);
      case id_of<CustomJvp>:
      case id_of<CustomVjp>:
      case id_of<CustomRoot>:
      case id_of<LinearSolve>:
        return call_body(e, std::move(operands));
      default:
        return with_appended_operands(e, std::move(operands));
    }
  }

  /// Branches, calls and checkpoints: every sub-graph takes all operands.
  const Equation& with_appended_operands(const Equation& e, ValueList operands) {
    ArrayList needed;
    for (const Graph& g : e.subgraphs()) collect(g, needed);
    std::vector<Graph> subgraphs;
    for (const Graph& g : e.subgraphs()) subgraphs.push_back(run(g, g.inputs().size(), needed));
    append_values(operands, needed);
    return out_.append(e.definition(), std::move(operands), e.attributes(), std::move(subgraphs), e.location());
  }

  const Equation& call_body(const Equation& e, ValueList operands) {
    const Graph& body = e.subgraphs()[0];
    ArrayList needed = arrays_of(body);
    append_values(operands, needed);
    return out_.append(get<Call>(), std::move(operands), {{"name", body.name()}},
                       graphs(run(body, body.inputs().size(), needed)), e.location());
  }

  const Equation& loop_while(const Equation& e, const ValueList& operands) {
    const WhileParts parts(e);
    const Graph &condition = e.subgraphs()[0], &body = e.subgraphs()[1];
    ArrayList of_condition = arrays_of(condition), of_body = arrays_of(body);
    ValueList all;
    append(all, operands, 0, parts.cond_consts);
    append_values(all, of_condition);
    append(all, operands, parts.cond_consts, parts.first_carry());
    append_values(all, of_body);
    append(all, operands, parts.first_carry(), operands.size());
    return out_.append(e.definition(), std::move(all),
                       {{"body_consts", static_cast<int64_t>(parts.body_consts + of_body.size())},
                        {"cond_consts", static_cast<int64_t>(parts.cond_consts + of_condition.size())}},
                       graphs(run(condition, parts.cond_consts, of_condition), run(body, parts.body_consts, of_body)),
                       e.location());
  }

  const Equation& loop_scan(const Equation& e, const ValueList& operands) {
    const ScanParts parts(e);
    const Graph& body = e.subgraphs()[0];
    ArrayList needed = arrays_of(body);
    ValueList all;
    append(all, operands, 0, parts.consts);
    append_values(all, needed);
    append(all, operands, parts.consts, operands.size());
    Attributes attributes = e.attributes();
    attributes.set("consts", static_cast<int64_t>(parts.consts + needed.size()));
    return out_.append(e.definition(), std::move(all), std::move(attributes), graphs(run(body, parts.consts, needed)),
                       e.location());
  }

  const Graph& from_;
  ArrayList& arrays_;
  std::vector<Value> renamed_, lifted_;
  Graph out_;
};

}  // namespace

bool is_lifted(const AnyArray& array) { return array.bytes() > kLarge || array.storage().device_memory() != nullptr; }

std::vector<AnyArray> lift_constants(Graph& graph) {
  ArrayList arrays = arrays_of(graph);
  // Rules of a custom derivative may hold constants even if the body holds none.
  if (!arrays.empty() || has_lifted_constants(graph)) graph = Lifting::run(graph, graph.inputs().size(), arrays);
  return arrays.arrays();
}

}  // namespace calque::transform
