// grad, value_and_grad and jvp. A gradient is reverse mode with cotangent one. Auxiliary results are excluded by
// stop_gradient, which is removed afterwards, since derivatives of the gradient pass through them.
#include "frontend/transforms/common.h"
#include "primitives/list.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"
#include "transform/simplify/simplify.h"

namespace calque::detail {
namespace {

namespace prim = primitives;

void require_real_scalar(const Type& type, const TransformSite& site) {
  const std::string name(site.name);
  if (type.shape.rank() != 0) {
    throw GradError(name + ": the function must return a scalar, got " + to_string(type) +
                    "; reduce it, for example with sum, or use cq::jacrev" + where(site));
  }
  if (!is_inexact(type.dtype)) {
    throw GradError(name + ": the function must return a floating scalar, got " + to_string(type) + "; cast it" +
                    where(site));
  }
  if (is_complex(type.dtype)) {
    throw GradError(name + ": the function must return a real scalar, got " + to_string(type) +
                    "; differentiate its real and its imaginary part, or write grad(f, holomorphic)" + where(site));
  }
}

/// Applies stop_gradient to the results from 1 on. Returns the mask of results that got one.
std::vector<bool> stop_auxiliary(Graph& graph) {
  std::vector<Value> outputs = graph.outputs();
  std::vector<bool> stopped(outputs.size(), false);
  for (size_t i = 1; i < outputs.size(); ++i) {
    const Value v = outputs[i];
    const Equation* made_by = std::as_const(graph).definition(v);
    if (!is_inexact(graph.dtype(v)) || (made_by != nullptr && made_by->id() == prim::id_of<prim::StopGradient>)) {
      continue;
    }
    stopped[i] = true;
    outputs[i] = graph.append(prim::get<prim::StopGradient>(), {v}).result();
  }
  graph.set_outputs(std::move(outputs));
  return stopped;
}

void resume_auxiliary(Graph& graph, const std::vector<bool>& stopped) {
  std::vector<Value> outputs = graph.outputs();
  for (size_t i = 0; i < stopped.size(); ++i) {
    const Equation* made_by = std::as_const(graph).definition(outputs[i]);
    if (stopped[i] && made_by != nullptr && made_by->id() == prim::id_of<prim::StopGradient>) {
      outputs[i] = made_by->operand(0);
    }
  }
  graph.set_outputs(std::move(outputs));
}

/// For each selected operand its position among the marked ones.
std::vector<size_t> ranks_of(std::span<const uint32_t> selected, const std::vector<bool>& marked) {
  std::vector<size_t> rank(marked.size());
  size_t next = 0;
  for (size_t i = 0; i < marked.size(); ++i) rank[i] = marked[i] ? next++ : 0;
  std::vector<size_t> ranks;
  for (uint32_t i : selected) ranks.push_back(rank[i]);
  return ranks;
}

}  // namespace

void require_position(int position, size_t count, Location location) {
  if (position >= 0 && static_cast<size_t>(position) < count) return;
  throw GradError("grad: there is no argument " + std::to_string(position) + ", the function is called with " +
                  std::to_string(count) + where_text(location));
}

std::vector<Handle> emit_gradients(BodyRef body, std::span<const Handle> operands, std::span<const uint32_t> selected,
                                   bool with_results, const TransformSite& site) {
  for (uint32_t i : selected) require_differentiable(type_of(operands[i], site.location), path_of(site, i), site);
  TraceResult function = trace_function(body, operands, site);
  Graph& f = function.graph;
  require_real_scalar(f.type(f.outputs()[0]), site);
  if (!with_results) f.set_outputs({f.outputs()[0]});
  const size_t num_results = f.outputs().size();
  const std::vector<bool> stopped = stop_auxiliary(f);
  std::vector<bool> wrt(f.inputs().size(), false);
  for (uint32_t i : selected) wrt[i] = true;
  Graph g = transform::vjp(f, wrt);
  resume_auxiliary(g, stopped);
  std::vector<double> cotangents(num_results, 0);
  cotangents[0] = 1;
  g = bind_last_inputs(g, cotangents);

  std::vector<Value> outputs;
  for (size_t i = 0; with_results && i < num_results; ++i) outputs.push_back(g.outputs()[i]);
  for (size_t rank : ranks_of(selected, wrt)) outputs.push_back(g.outputs()[num_results + rank]);
  g.set_outputs(std::move(outputs));
  return emit_graph(transform::simplify(g, transform::InlineScope::calls), concatenated(operands, function.captures));
}

std::vector<Handle> emit_jvp(BodyRef body, std::span<const Handle> primals, std::span<const Handle> tangents,
                             const TransformSite& site) {
  std::vector<bool> active;
  std::vector<Handle> used;
  for (size_t i = 0; i < primals.size(); ++i) {
    const Type expected = type_of(primals[i], site.location), got = type_of(tangents[i], site.location);
    if (got != expected) {
      throw ShapeError(std::string(site.name) + ": the tangent of " + path_of(site, i) + " must be " +
                       to_string(expected) + ", got " + to_string(got) + where(site));
    }
    active.push_back(is_inexact(expected.dtype));
    if (active.back()) used.push_back(tangents[i]);
  }
  const TraceResult function = trace_function(body, primals, site);
  active.resize(function.graph.inputs().size(), false);
  const Graph derivative = transform::simplify(transform::jvp(function.graph, active), transform::InlineScope::calls);
  return emit_graph(derivative, concatenated(concatenated(primals, function.captures), used));
}

}  // namespace calque::detail
