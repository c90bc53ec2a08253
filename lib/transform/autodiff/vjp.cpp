// Forward mode, then the transpose of the linear part. Values that both parts use are computed once; the planner
// decides which of them to keep and which to recompute.
#include "transform/autodiff/vjp.h"

#include "transform/autodiff/dependence.h"
#include "transform/autodiff/subgraphs.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using primitives::Writer;

}  // namespace

Graph vjp(const Graph& graph, const std::vector<bool>& wrt) {
  const Graph from = simplify(graph, InlineScope::calls);
  const size_t num_outputs = from.outputs().size();
  std::vector<bool> active;
  for (size_t i = 0; i < wrt.size(); ++i) active.push_back(wrt[i] && differentiable(from.dtype(from.inputs()[i])));
  const std::vector<bool> reached = dependent_outputs(from, active, Dependence::tangents);

  // Inputs: x, tangents of the active ones. Outputs: y, tangents of those reached.
  const Graph forward = jvp_wanted(from, active, reached);
  std::vector<bool> linear(forward.inputs().size(), true), given(forward.outputs().size(), true);
  std::fill_n(linear.begin(), from.inputs().size(), false);
  std::fill_n(given.begin(), num_outputs, false);
  // Inputs: x, cotangents of those reached. Outputs: y, cotangents of the active inputs.
  const Graph backward = transpose_given(forward, linear, given, /*keep_known=*/true);

  Graph out;
  out.set_name(graph.name());
  const Writer w(out, {});
  std::vector<Value> inputs;
  for (const Value v : from.inputs()) inputs.push_back(out.add_input(from.type(v)));
  for (size_t i = 0; i < num_outputs; ++i) {
    const Value cotangent = out.add_input(from.type(from.outputs()[i]));
    if (reached[i]) inputs.push_back(cotangent);
  }
  const std::vector<Value> results = w.inline_graph(backward, inputs);
  std::vector<Value> outputs(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(num_outputs));
  size_t next = num_outputs;
  for (size_t i = 0; i < wrt.size(); ++i) {
    if (!wrt[i]) continue;
    outputs.push_back(active[i] ? results[next++] : w.zeros(from.type(from.inputs()[i])));
  }
  out.set_outputs(std::move(outputs));
  return simplify(out, InlineScope::calls);
}

}  // namespace calque::transform
