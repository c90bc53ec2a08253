#include "transform/autodiff/scalar_jacobian.h"

#include "primitives/core/emit.h"
#include "transform/autodiff/dependence.h"
#include "transform/autodiff/jvp.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using namespace primitives;

/// Beyond these limits, code growth costs more than skipping zeros saves.
constexpr int64_t kMaxElements = 64;
constexpr size_t kMaxEquations = 20'000;

/// The function with a scalar input for each element of its selected inputs, after the other inputs.
struct ScalarFunction {
  Graph graph;
  std::vector<uint32_t> others;    ///< inputs that are not selected
  std::vector<uint32_t> selected;  ///< without duplicates
};

Value packed(const Writer& w, std::span<const Value> elements, const Shape& shape) {
  ValueList parts;
  for (const Value v : elements) parts.push_back(w.reshape(v, Shape{1}));
  return w.reshape(w.concatenate(std::move(parts), 0), shape);
}

ScalarFunction scalarize(const Graph& g, const std::vector<bool>& is_selected) {
  ScalarFunction a;
  a.graph.set_name(g.name());
  const Writer w(a.graph, {});
  std::vector<Value> inputs(g.inputs().size());
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    (is_selected[i] ? a.selected : a.others).push_back(i);
    if (!is_selected[i]) inputs[i] = a.graph.add_input(g.type(g.inputs()[i]));
  }
  for (const uint32_t i : a.selected) {
    const Type& type = g.type(g.inputs()[i]);
    std::vector<Value> elements;
    for (int64_t k = 0; k < type.shape.num_elements(); ++k) elements.push_back(a.graph.add_input({type.dtype, {}}));
    inputs[i] = packed(w, elements, type.shape);
  }
  a.graph.set_outputs(w.inline_graph(g, inputs));
  a.graph = simplify(a.graph, InlineScope::calls);
  return a;
}

/// Whether every value with a tangent is a scalar, except results that are assembled from scalars.
bool computes_with_scalars(const ScalarFunction& a) {
  std::vector<bool> active(a.graph.inputs().size(), true);
  std::fill_n(active.begin(), a.others.size(), false);
  const std::vector<bool> has_tangent = dependent_values(a.graph, active, Dependence::tangents);
  for (const Equation& e : a.graph.equations()) {
    if (e.id() == id_of<Concatenate> || e.id() == id_of<Reshape>) continue;
    if (!e.subgraphs().empty()) return false;
    for (const Value v : e.results()) {
      if (has_tangent[v.id()] && a.graph.shape(v).num_elements() != 1) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Graph> scalar_jacobian(const Graph& graph, std::span<const uint32_t> selected) {
  std::vector<bool> is_selected(graph.inputs().size());
  int64_t count = 0;
  for (const uint32_t i : selected) {
    if (is_selected[i]) continue;
    is_selected[i] = true;
    const int64_t elements = graph.shape(graph.inputs()[i]).num_elements();
    if (elements == 0 || elements > kMaxElements) return std::nullopt;
    count += elements;
  }
  if (count < 2 || count > kMaxElements) return std::nullopt;
  for (const Value v : graph.outputs()) {
    if (graph.shape(v).num_elements() == 0 || graph.shape(v).num_elements() > kMaxElements) return std::nullopt;
  }
  const ScalarFunction scalar = scalarize(graph, is_selected);
  if (scalar.graph.num_equations() * static_cast<size_t>(count) > kMaxEquations) return std::nullopt;
  if (!computes_with_scalars(scalar)) return std::nullopt;

  Graph out;
  out.set_name(graph.name());
  const Writer w(out, {});
  std::vector<Value> arguments, elements;
  std::vector<size_t> first(graph.inputs().size());  // of each selected input, among the elements
  for (const Value v : graph.inputs()) out.add_input(graph.type(v));
  for (const uint32_t i : scalar.others) arguments.push_back(out.inputs()[i]);
  for (const uint32_t i : scalar.selected) {
    first[i] = elements.size();
    const Value v = out.inputs()[i];
    const int64_t n = out.shape(v).num_elements();
    const Value flat = w.reshape(v, Shape{n});
    for (int64_t k = 0; k < n; ++k) elements.push_back(w.reshape(w.slice(flat, 0, k, k + 1), Shape()));
  }
  arguments.insert(arguments.end(), elements.begin(), elements.end());

  // The tangents of all results for each element. Their copies of the function itself are merged afterwards.
  const size_t num_results = graph.outputs().size();
  std::vector<std::vector<Value>> tangents;
  for (size_t j = 0; j < elements.size(); ++j) {
    std::vector<bool> active(arguments.size(), false);
    active[scalar.others.size() + j] = true;
    std::vector<Value> inputs = arguments;
    inputs.push_back(w.splat(1, out.type(elements[j])));
    const std::vector<Value> results = w.inline_graph(jvp(scalar.graph, active), inputs);
    tangents.emplace_back(results.begin() + static_cast<std::ptrdiff_t>(num_results), results.end());
  }
  std::vector<Value> outputs;
  for (size_t r = 0; r < num_results; ++r) {
    const Type& result = graph.type(graph.outputs()[r]);
    for (const uint32_t i : selected) {
      const Shape& shape = graph.shape(graph.inputs()[i]);
      ValueList columns;
      for (int64_t k = 0; k < shape.num_elements(); ++k) {
        const Value tangent = tangents[first[i] + static_cast<size_t>(k)][r];
        columns.push_back(w.reshape(tangent, result.shape.with_inserted(result.shape.size(), 1)));
      }
      std::vector<int64_t> extents(result.shape.begin(), result.shape.end());
      extents.insert(extents.end(), shape.begin(), shape.end());
      const Value matrix = w.concatenate(std::move(columns), result.shape.rank());
      outputs.push_back(w.reshape(matrix, Shape(std::span<const int64_t>(extents))));
    }
  }
  out.set_outputs(std::move(outputs));
  return simplify(out, InlineScope::calls);
}

}  // namespace calque::transform
