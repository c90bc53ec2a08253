#include "transform/autodiff/partial_eval.h"

#include "transform/autodiff/dependence.h"
#include "transform/autodiff/partition_known.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {

PartialEval partial_eval(const Graph& graph, const std::vector<bool>& unknown) {
  const Graph from = inline_calls(graph, InlineScope::calls);
  PartialEval s;
  s.unknown_outputs = dependent_outputs(from, unknown, Dependence::values);
  KnownUnknown partition = partition_known(from, unknown, s.unknown_outputs, std::vector<bool>(unknown.size()));
  // Forwarded inputs are outputs of the known part, unchanged.
  std::vector<Value> outputs = partition.known.outputs();
  const auto first = outputs.end() - static_cast<std::ptrdiff_t>(partition.computed);
  std::vector<Value> forwarded;
  std::vector<Value> known_inputs(unknown.size());
  size_t next = 0;
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (!unknown[i]) known_inputs[i] = partition.known.inputs()[next++];
  }
  for (const size_t i : partition.forwarded) forwarded.push_back(known_inputs[i]);
  outputs.insert(first, forwarded.begin(), forwarded.end());
  partition.known.set_outputs(std::move(outputs));
  s.num_residuals = partition.forwarded.size() + partition.computed;
  s.known = simplify(partition.known, InlineScope::calls);
  s.unknown = simplify(partition.unknown, InlineScope::calls);
  return s;
}

}  // namespace calque::transform
