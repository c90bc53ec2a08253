#include "transform/complex/split_complex.h"

#include <algorithm>

#include "transform/complex/split_equations.h"

namespace calque::transform {
namespace {

bool touches_complex(const Graph& g, const Equation& e) {
  const auto is_complex_value = [&](Value v) { return is_complex(g.dtype(v)); };
  return std::any_of(e.operands().begin(), e.operands().end(), is_complex_value) ||
         std::any_of(e.results().begin(), e.results().end(), is_complex_value) ||
         std::any_of(e.subgraphs().begin(), e.subgraphs().end(), has_complex);
}

void split_equation(SplitValues& values, const Equation& e) {
  Graph& to = values.to();
  if (!touches_complex(values.from(), e)) {
    ValueList operands;
    for (const Value v : e.operands()) operands.push_back(values.real(v));
    const Equation& copy = to.append_copy(values.from(), e, std::move(operands));
    for (size_t i = 0; i < e.results().size(); ++i) values.set_real(e.result(i), copy.result(i));
    return;
  }
  const ComplexEquation s{e, values, Writer(to, e.location())};
  const bool done = split_elementwise(s) || split_view(s) || split_reduction(s) || split_scatter_mul(s) ||
                    split_contraction(s) || split_linalg(s) || split_fft(s) || split_control(s) || split_collective(s);
  if (!done) split_by_host(s);
}

}  // namespace

bool has_complex(const Graph& graph) {
  for (uint32_t i = 0; i < graph.num_values(); ++i)
    if (is_complex(graph.dtype(Value(i)))) return true;
  return std::any_of(graph.equations().begin(), graph.equations().end(), [](const Equation& e) {
    return std::any_of(e.subgraphs().begin(), e.subgraphs().end(), has_complex);
  });
}

Type joined_type(const Type& type) {
  if (!is_complex(type.dtype)) return type;
  return {real_of(type.dtype), type.shape.with_inserted(type.shape.size(), 2)};
}

Shape::Dims joined_strides(DType dtype, const Shape::Dims& strides) {
  if (!is_complex(dtype) || strides.empty()) return strides;
  Shape::Dims joined;
  for (const int64_t stride : strides) joined.push_back(2 * stride);
  joined.push_back(1);
  return joined;
}

Graph split_subgraph(const Graph& graph, const std::vector<Form>& inputs, Form outputs) {
  Graph to;
  to.set_name(graph.name());
  SplitValues values(to, graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value v = graph.inputs()[i];
    const Type& type = graph.type(v);
    if (!is_complex(type.dtype)) {
      values.set_real(v, to.add_input(type));
    } else if (inputs[i] == Form::joined) {
      values.set_joined(v, to.add_input(joined_type(type)));
    } else {
      const Type part{real_of(type.dtype), type.shape};
      const Value re = to.add_input(part), im = to.add_input(part);
      values.set_parts(v, {re, im});
    }
  }
  for (const Equation& e : graph.equations()) split_equation(values, e);
  std::vector<Value> results;
  const Writer w(to, {});
  for (const Value v : graph.outputs()) {
    if (!values.is_complex(v)) {
      results.push_back(values.real(v));
    } else if (outputs == Form::joined) {
      results.push_back(values.joined(w, v));
    } else {
      const Parts parts = values.parts(w, v);
      results.push_back(parts.re);
      results.push_back(parts.im);
    }
  }
  to.set_outputs(std::move(results));
  return to;
}

Graph split_complex(const Graph& graph) {
  if (!has_complex(graph)) return graph;
  return split_subgraph(graph, std::vector<Form>(graph.inputs().size(), Form::joined), Form::joined);
}

}  // namespace calque::transform
