#include "transform/autodiff/partial_eval.h"

#include "transform/autodiff/dependence.h"
#include "transform/autodiff/partition_known.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {

Split split(const Graph& graph, const std::vector<bool>& unknown) {
  const Graph from = inline_calls(graph, InlineScope::calls);
  Split s;
  s.unknown_outputs = dependent_outputs(from, unknown, Dependence::values);
  Parts parts = part(from, unknown, s.unknown_outputs, std::vector<bool>(unknown.size()));
  // Inputs that are forwarded pass through the known part as they are.
  std::vector<Value> outputs = parts.known.outputs();
  const auto first = outputs.end() - static_cast<std::ptrdiff_t>(parts.computed);
  std::vector<Value> forwarded;
  std::vector<Value> known_inputs(unknown.size());
  size_t next = 0;
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (!unknown[i]) known_inputs[i] = parts.known.inputs()[next++];
  }
  for (const size_t i : parts.forwarded) forwarded.push_back(known_inputs[i]);
  outputs.insert(first, forwarded.begin(), forwarded.end());
  parts.known.set_outputs(std::move(outputs));
  s.num_residuals = parts.forwarded.size() + parts.computed;
  s.known = simplify(parts.known, InlineScope::calls);
  s.unknown = simplify(parts.unknown, InlineScope::calls);
  return s;
}

}  // namespace calque::transform
