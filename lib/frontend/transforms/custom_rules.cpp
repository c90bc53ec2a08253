// checkpoint, custom_jvp and custom_vjp: equations with closed subgraphs. Tracers captured by the user's functions
// become further operands. Derivatives pass through those of a checkpoint. The custom rules give none by theirs, and
// differentiating the function itself instead might give a wrong one (of the iteration of a root finder, of a function
// whose rule is there because its own derivative is zero): a derivative by them is an error.
#include <algorithm>

#include "calque/detail/control/control.h"

#include "frontend/control/control_common.h"
#include "frontend/transforms/common.h"
#include "primitives/control/control.h"
#include "primitives/core/writer.h"
#include "primitives/list.h"
#include "trace/builder.h"
#include "transform/autodiff/dependence.h"

namespace calque::detail {
namespace {

namespace prim = primitives;

/// A set of tracers of enclosing traces, in insertion order.
class Captures {
 public:
  void add(std::span<const Handle> more) {
    for (Handle h : more) {
      if (find(h) == all_.size()) all_.push_back(h);
    }
  }
  size_t find(Handle h) const {
    size_t i = 0;
    while (i < all_.size() && all_[i] != h) ++i;
    return i;
  }
  const std::vector<Handle>& all() const { return all_; }

 private:
  std::vector<Handle> all_;
};

/// A copy of `body` with inputs of `types`, of which position[i] replaces input i of `body`. The values of all inputs
/// are available, so that more outputs can be added.
struct Rewired {
  Graph graph;
  std::vector<Value> inputs, outputs;

  Rewired(const Graph& body, std::span<const Type> types, std::span<const size_t> position) {
    graph.set_name(body.name());
    for (const Type& type : types) inputs.push_back(graph.add_input(type));
    std::vector<Value> own;
    for (size_t p : position) own.push_back(inputs[p]);
    outputs = prim::Writer(graph, {}).inline_graph(body, own);
  }
  Graph finish() {
    graph.set_outputs(outputs);
    return std::move(graph);
  }
};

/// The positions of a traced function's inputs: 0, 1, ... for the first `own` ones, `first_capture` on for captures.
std::vector<size_t> positions_of(const TraceResult& function, size_t own, const Captures& captures,
                                 size_t first_capture) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < own; ++i) positions.push_back(i);
  for (Handle h : function.captures) positions.push_back(first_capture + captures.find(h));
  return positions;
}

/// `a`, then `b`.
std::vector<Type> concatenated_types(std::span<const Type> a, std::span<const Type> b) {
  std::vector<Type> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

std::string leaf_of(std::string_view what, const std::vector<std::string>& paths, size_t leaf) {
  return std::string(what) + (leaf < paths.size() ? paths[leaf] : std::string());
}

/// Throws DTypeError or ShapeError when a value returned by a rule is not of the expected type.
void require_type(const Type& got, const Type& expected, const std::string& leaf, const TransformSite& site) {
  if (got == expected) return;
  const std::string text = std::string(site.name) + ": " + leaf + " must be " + to_string(expected) + ", got " +
                           to_string(got) + where(site);
  if (got.dtype != expected.dtype) throw DTypeError(text);
  throw ShapeError(text);
}

std::vector<Handle> emit_rules(const Primitive& primitive, std::span<const Handle> operands,
                               std::span<const Handle> captures, std::vector<Graph> subgraphs,
                               const TransformSite& site) {
  std::vector<Handle> results;
  emit(primitive, concatenated(operands, captures), {}, std::move(subgraphs), site.location, results);
  return results;
}

/// The captures, with `captured` applied to each through which a tangent would pass: by which the derivative of one of
/// the traced functions, the custom function and its rule, is not zero.
std::vector<Handle> marked_captures(const Captures& captures, std::initializer_list<const TraceResult*> functions,
                                    const TransformSite& site) {
  std::vector<Handle> marked = captures.all();
  std::vector<bool> differentiated(marked.size());
  for (const TraceResult* function : functions) {
    const size_t inputs = function->graph.inputs().size(), first = inputs - function->captures.size();
    for (size_t i = first; i < inputs; ++i) {
      std::vector<bool> input(inputs);
      input[i] = true;
      const std::vector<bool> outputs =
          transform::dependent_outputs(function->graph, input, transform::Dependence::tangents);
      if (std::ranges::find(outputs, true) != outputs.end()) {
        differentiated[captures.find(function->captures[i - first])] = true;
      }
    }
  }
  for (size_t i = 0; i < marked.size(); ++i) {
    if (!differentiated[i]) continue;
    Location line = user_location(site.location);
    std::string value = origin_of(marked[i], line);
    marked[i] = emit(prim::get<prim::Captured>(), {marked[i]},
                     {{"by", std::string(site.name)}, {"value", std::move(value)}}, line);
  }
  return marked;
}

/// The rule of a custom_jvp, of operands and tangents. Throws if the types of its results are not the function's.
TraceResult trace_jvp_rule(BodyRef rule, std::span<const Type> operands, const Graph& function,
                           const std::vector<std::string>& results, const TransformSite& site) {
  const std::vector<Type> values = function.output_types();
  TraceResult derivative = trace_symbolically(rule, concatenated_types(operands, operands), site);
  const std::vector<Type> given = derivative.graph.output_types();
  for (size_t i = 0; i < values.size(); ++i) {
    require_type(given[i], values[i], leaf_of("the rule's value", results, i), site);
    require_type(given[values.size() + i], values[i], leaf_of("the rule's tangent", results, i), site);
  }
  return derivative;
}

std::vector<Handle> emit_jvp(std::span<const Handle> operands, std::span<const Handle> captures, Graph function,
                             Graph derivative, const TransformSite& site) {
  std::vector<Graph> subgraphs;
  subgraphs.push_back(std::move(function));
  subgraphs.push_back(std::move(derivative));
  return emit_rules(prim::get<prim::CustomJvp>(), operands, captures, std::move(subgraphs), site);
}

}  // namespace

std::vector<Handle> emit_checkpoint(BodyRef body, std::span<const Handle> operands, const TransformSite& site) {
  if (runs_eagerly(site.name, {site.location, {}})) return run_body(body, operands);
  TraceResult function = trace_function(body, operands, site);
  Captures captures;
  captures.add(function.captures);
  std::vector<Graph> subgraphs;
  subgraphs.push_back(std::move(function.graph));
  return emit_rules(prim::get<prim::Checkpoint>(), operands, captures.all(), std::move(subgraphs), site);
}

std::vector<Handle> emit_custom_jvp(BodyRef body, BodyRef rule, std::span<const Handle> operands,
                                    const std::vector<std::string>& results, const TransformSite& site) {
  const size_t n = operands.size();
  const std::vector<Type> types = types_of(operands, site.location);
  TraceResult function = trace_function(body, operands, site);
  TraceResult derivative = trace_jvp_rule(rule, types, function.graph, results, site);
  Captures captures;
  captures.add(function.captures);
  captures.add(derivative.captures);
  // Without captures the inputs are those that were traced.
  if (captures.all().empty())
    return emit_jvp(operands, {}, std::move(function.graph), std::move(derivative.graph), site);
  const std::vector<Type> all = concatenated_types(types, types_of(captures.all(), site.location));
  std::vector<size_t> positions = positions_of(derivative, 2 * n, captures, n);
  for (size_t i = n; i < 2 * n; ++i) positions[i] = all.size() + i - n;  // tangents, after operands and captures
  const std::vector<Handle> marked = marked_captures(captures, {&function, &derivative}, site);
  return emit_jvp(operands, marked, Rewired(function.graph, all, positions_of(function, n, captures, n)).finish(),
                  Rewired(derivative.graph, concatenated_types(all, all), positions).finish(), site);
}

std::vector<Handle> emit_custom_jvp(const Graph& function, BodyRef rule, std::span<const Handle> operands,
                                    const TransformSite& site) {
  TraceResult derivative = trace_jvp_rule(rule, function.input_types(), function, {}, site);
  return emit_jvp(operands, {}, function, std::move(derivative.graph), site);
}

std::vector<Handle> emit_custom_vjp(BodyRef body, BodyRef forward, BodyRef backward, std::span<const Handle> operands,
                                    const std::vector<std::string>& results, const TransformSite& site) {
  const size_t n = operands.size();
  const std::vector<Type> types = types_of(operands, site.location);
  const TraceResult function = trace_function(body, operands, site);
  const std::vector<Type> values = function.graph.output_types();
  const TraceResult kept = trace_function(forward, operands, site);
  const std::vector<Type> given = kept.graph.output_types();
  for (size_t i = 0; i < values.size(); ++i) {
    require_type(given[i], values[i], leaf_of("forward's value", results, i), site);
  }
  const std::span<const Type> residuals = std::span(given).subspan(values.size());
  const TraceResult back = trace_symbolically(backward, concatenated_types(residuals, values), site);
  const std::vector<Type> cotangents = back.graph.output_types();
  for (size_t i = 0; i < n; ++i) {
    require_type(cotangents[i], types[i], "backward's cotangent of " + path_of(site, i), site);
  }

  Captures captures, late;  // `late`: captures of backward, passed to it as residuals
  for (const TraceResult* r : {&function, &kept, &back}) captures.add(r->captures);
  late.add(back.captures);
  const std::vector<Type> captured = types_of(captures.all(), site.location);
  const std::vector<Type> all = concatenated_types(types, captured);
  Rewired first(kept.graph, all, positions_of(kept, n, captures, n));
  for (Handle h : late.all()) first.outputs.push_back(first.inputs[n + captures.find(h)]);
  const std::vector<Type> all_residuals = concatenated_types(residuals, types_of(late.all(), site.location));
  std::vector<size_t> positions = positions_of(back, residuals.size() + values.size(), late, residuals.size());
  for (size_t i = 0; i < values.size(); ++i) positions[residuals.size() + i] = all_residuals.size() + i;
  Rewired second(back.graph, concatenated_types(all_residuals, values), positions);
  for (const Type& type : captured) second.outputs.push_back(prim::Writer(second.graph, {}).zeros(type));

  std::vector<Graph> subgraphs;
  subgraphs.push_back(Rewired(function.graph, all, positions_of(function, n, captures, n)).finish());
  subgraphs.push_back(first.finish());
  subgraphs.push_back(second.finish());
  const std::vector<Handle> marked = marked_captures(captures, {&function, &kept, &back}, site);
  return emit_rules(prim::get<prim::CustomVjp>(), operands, marked, std::move(subgraphs), site);
}

}  // namespace calque::detail
