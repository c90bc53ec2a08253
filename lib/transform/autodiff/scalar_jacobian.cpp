// Branches are part of the function: what has a tangent enters and leaves them as scalars, and one branch computes the
// derivatives by all elements. Under vmap a branch becomes selections, which then are selections of scalars too.
#include "transform/autodiff/scalar_jacobian.h"

#include <algorithm>

#include "primitives/core/emit.h"
#include "transform/autodiff/dependence.h"
#include "transform/autodiff/equation_copier.h"
#include "transform/autodiff/jvp.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using namespace primitives;

/// Beyond these limits, code growth costs more than skipping zeros saves.
constexpr int64_t kMaxElements = 64;
constexpr size_t kMaxEquations = 20'000;

using Mask = std::vector<bool>;

bool is_branch(const Equation& e) { return e.id() == id_of<Cond> || e.id() == id_of<Switch>; }

/// Of the values from `first` on, those that are marked.
Mask entries(const Mask& mask, const ValueList& values, size_t first) {
  Mask marked;
  for (size_t i = first; i < values.size(); ++i) marked.push_back(mask[values[i].id()]);
  return marked;
}

bool is_small(const Type& type) {
  const int64_t n = type.shape.num_elements();
  return n > 0 && n <= kMaxElements;
}

void append_elements(const Writer& w, Value v, ValueList& elements) {
  const int64_t n = w.shape(v).num_elements();
  const Value flat = w.reshape(v, Shape{n});
  for (int64_t k = 0; k < n; ++k) elements.push_back(w.reshape(w.slice(flat, 0, k, k + 1), Shape()));
}

Value packed(const Writer& w, std::span<const Value> elements, const Shape& shape) {
  ValueList parts;
  for (const Value v : elements) parts.push_back(w.reshape(v, Shape{1}));
  return w.reshape(w.concatenate(std::move(parts), 0), shape);
}

/// Copies a function, with a scalar for each element of what is marked among its inputs and outputs, and of the
/// operands and results of its branches that have tangents.
class Scalarizer {
 public:
  explicit Scalarizer(const Graph& from) : from_(from), copier_(from, out_) { out_.set_name(from.name()); }

  Graph run(const Mask& inputs, const Mask& outputs) {
    has_tangent_ = dependent_values(from_, inputs, Dependence::tangents);
    const Writer w(out_, {});
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value v = from_.inputs()[i];
      const Type& type = from_.type(v);
      if (!inputs[i]) {
        copier_.bind(v, out_.add_input(type));
        continue;
      }
      std::vector<Value> elements;
      for (int64_t k = 0; k < type.shape.num_elements(); ++k) elements.push_back(out_.add_input({type.dtype, {}}));
      copier_.bind(v, packed(w, elements, type.shape));
    }
    for (const Equation& e : from_.equations()) {
      is_branch(e) ? branches(e) : copier_.copy(e);
    }
    ValueList results;
    for (size_t i = 0; i < outputs.size(); ++i) append(w, from_.outputs()[i], outputs[i], results);
    out_.set_outputs({results.begin(), results.end()});
    return std::move(out_);
  }

 private:
  bool as_scalars(Value v) const { return has_tangent_[v.id()] && is_small(from_.type(v)); }

  void append(const Writer& w, Value v, bool elements, ValueList& values) {
    const Value to = copier_.value(v);
    elements ? append_elements(w, to, values) : values.push_back(to);
  }

  void branches(const Equation& e) {
    const Writer w(out_, e.location());
    Mask inputs, outputs;
    ValueList operands;
    operands.push_back(copier_.value(e.operand(0)));
    for (size_t i = 1; i < e.operands().size(); ++i) {
      inputs.push_back(as_scalars(e.operand(i)));
      append(w, e.operand(i), inputs.back(), operands);
    }
    for (const Value v : e.results()) outputs.push_back(as_scalars(v));
    std::vector<Graph> graphs;
    for (const Graph& g : e.subgraphs()) graphs.push_back(Scalarizer(g).run(inputs, outputs));
    const ValueList results =
        w.append(e.id(), std::move(operands), Attributes(e.attributes()), std::move(graphs)).results();
    size_t next = 0;
    for (size_t r = 0; r < outputs.size(); ++r) {
      const Shape& shape = from_.shape(e.result(r));
      const size_t n = outputs[r] ? static_cast<size_t>(shape.num_elements()) : 1;
      const std::span elements(results.begin() + next, n);
      copier_.bind(e.result(r), outputs[r] ? packed(w, elements, shape) : elements.front());
      next += n;
    }
  }

  const Graph& from_;
  Graph out_;
  EquationCopier copier_;
  Mask has_tangent_;
};

/// Whether every value whose tangent those of the results depend on is a scalar, except results that are assembled from
/// scalars. What only predicates depend on may be arrays.
class ScalarCheck {
 public:
  bool passes(const Graph& g, const Mask& inputs) {
    needed_inputs(g, inputs, Mask(g.outputs().size(), true));
    return passes_;
  }

 private:
  /// The marked inputs on whose tangents those of the marked outputs depend.
  Mask needed_inputs(const Graph& g, const Mask& inputs, const Mask& outputs) {
    const Mask has_tangent = dependent_values(g, inputs, Dependence::tangents);
    Mask needed(g.num_values());
    const auto need = [&](Value v) { needed[v.id()] = needed[v.id()] || has_tangent[v.id()]; };
    const auto need_scalar = [&](Value v) {
      need(v);
      if (needed[v.id()] && g.shape(v).num_elements() != 1) passes_ = false;
    };
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i]) need(g.outputs()[i]);
    }
    std::vector<const Equation*> equations;
    for (const Equation& e : g.equations()) equations.push_back(&e);
    for (size_t i = equations.size(); i-- > 0 && passes_;) {
      const Equation& e = *equations[i];
      const Mask results = entries(needed, e.results(), 0);
      if (std::find(results.begin(), results.end(), true) == results.end()) continue;
      const bool assembles = e.id() == id_of<Concatenate> || e.id() == id_of<Pad> || e.id() == id_of<Reshape>;
      if (!e.subgraphs().empty() && !is_branch(e)) passes_ = false;
      for (size_t r = 0; r < results.size() && !assembles; ++r) {
        if (results[r]) need_scalar(e.result(r));
      }
      if (!is_branch(e)) {
        for (const Value v : e.operands()) need(v);
        continue;
      }
      const Mask active = entries(has_tangent, e.operands(), 1);
      for (const Graph& branch : e.subgraphs()) {
        const Mask its = needed_inputs(branch, active, results);
        for (size_t k = 0; k < active.size(); ++k) {
          if (its[k]) need_scalar(e.operand(k + 1));
        }
      }
    }
    Mask of_inputs;
    for (const Value v : g.inputs()) of_inputs.push_back(needed[v.id()]);
    return of_inputs;
  }

  bool passes_ = true;
};

size_t count_equations(const Graph& g) {
  size_t n = g.num_equations();
  for (const Equation& e : g.equations()) {
    for (const Graph& sub : e.subgraphs()) n += count_equations(sub);
  }
  return n;
}

}  // namespace

std::optional<Graph> scalar_jacobian(const Graph& graph, std::span<const uint32_t> selected) {
  Mask is_selected(graph.inputs().size());
  size_t count = 0;
  for (const uint32_t i : selected) {
    if (is_selected[i]) continue;
    is_selected[i] = true;
    const Type& type = graph.type(graph.inputs()[i]);
    if (!is_small(type)) return std::nullopt;
    count += static_cast<size_t>(type.shape.num_elements());
  }
  if (count < 2 || count > kMaxElements) return std::nullopt;
  for (const Value v : graph.outputs()) {
    if (!is_small(graph.type(v))) return std::nullopt;
  }
  const size_t num_results = graph.outputs().size();
  const Graph scalar =
      simplify(Scalarizer(inline_calls(graph, InlineScope::calls)).run(is_selected, Mask(num_results, false)),
               InlineScope::calls);
  if (count_equations(scalar) * count > kMaxEquations) return std::nullopt;

  Graph out;
  out.set_name(graph.name());
  const Writer w(out, {});
  ValueList arguments;
  std::vector<size_t> first(graph.inputs().size());  // of each selected input, among the elements
  Mask active;
  size_t elements = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const Value v = out.add_input(graph.type(graph.inputs()[i]));
    if (!is_selected[i]) {
      arguments.push_back(v);
      active.push_back(false);
      continue;
    }
    first[i] = elements;
    append_elements(w, v, arguments);
    elements += static_cast<size_t>(out.shape(v).num_elements());
    active.resize(arguments.size(), true);
  }
  if (!ScalarCheck().passes(scalar, active)) return std::nullopt;

  // The derivatives of all results by each element.
  std::vector<Mask> directions;
  const size_t num_arguments = arguments.size();
  for (size_t i = 0; i < num_arguments; ++i) {
    if (!active[i]) continue;
    directions.emplace_back(num_arguments)[i] = true;
    arguments.push_back(w.splat(1, out.type(arguments[i])));
  }
  const std::vector<Value> results =
      w.inline_graph(jvp(scalar, directions), std::span(arguments.begin(), arguments.size()));
  std::vector<Value> outputs;
  for (size_t r = 0; r < num_results; ++r) {
    const Type& result = graph.type(graph.outputs()[r]);
    for (const uint32_t i : selected) {
      const Shape& shape = graph.shape(graph.inputs()[i]);
      ValueList columns;
      for (int64_t k = 0; k < shape.num_elements(); ++k) {
        const Value tangent = results[(1 + first[i] + static_cast<size_t>(k)) * num_results + r];
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
