#include "transform/autodiff/linear_parts.h"

#include "primitives/core/writer.h"
#include "transform/autodiff/partial_eval.h"
#include "transform/simplify/simplify.h"

namespace calque::detail {
namespace {

/// The linear graph with only the residuals that it needs: literals and constants are moved into it, duplicates are
/// removed. `residuals` are values of `known`.
Graph with_needed_residuals(const Graph& linear, const Graph& known, std::vector<Value>& residuals) {
  std::vector<bool> used(linear.num_values(), false);
  for (const Equation& e : linear.equations()) {
    for (Value v : e.operands()) used[v.id()] = true;
  }
  for (Value v : linear.outputs()) used[v.id()] = true;

  Graph needed;
  needed.set_name(linear.name());
  const primitives::Writer writer(needed, {});
  std::vector<Value> inputs, kept, input_of(known.num_values());
  for (size_t i = 0; i < linear.inputs().size(); ++i) {
    const Value input = linear.inputs()[i];
    if (i >= residuals.size()) {
      inputs.push_back(needed.add_input(linear.type(input)));
    } else if (const Value source = residuals[i]; !used[input.id()]) {
      inputs.push_back(writer.zeros(linear.type(input)));  // never read
    } else if (known.kind(source) == ValueKind::literal || known.kind(source) == ValueKind::constant) {
      inputs.push_back(needed.add_copy(known, source));
    } else {
      Value& v = input_of[source.id()];
      if (!v.valid()) {
        v = needed.add_input(linear.type(input));
        kept.push_back(source);
      }
      inputs.push_back(v);
    }
  }
  needed.set_outputs(writer.inline_graph(linear, inputs));
  residuals = std::move(kept);
  return needed;
}

/// Outputs of the derivative from `num_results` on, as outputs of the linear part: those that do not depend on the
/// (co)tangents become residuals.
void complete_outputs(const transform::PartialEval& s, size_t num_results, const Graph& known, Graph& linear,
                      std::vector<Value>& residuals) {
  std::vector<Value> outputs;
  size_t next_known = 0, next_unknown = 0;
  std::vector<Value> extra;
  for (size_t i = 0; i < s.unknown_outputs.size(); ++i) {
    if (s.unknown_outputs[i]) {
      const Value v = linear.outputs()[next_unknown++];
      if (i >= num_results) outputs.push_back(v);
      continue;
    }
    const Value v = known.outputs()[next_known++];
    if (i < num_results) continue;
    if (known.kind(v) == ValueKind::literal || known.kind(v) == ValueKind::constant) {
      outputs.push_back(linear.add_copy(known, v));
    } else {
      extra.push_back(v);
      outputs.push_back(linear.add_input(known.type(v)));
    }
  }
  linear.set_outputs(std::move(outputs));
  if (extra.empty()) return;
  // Residuals come before the (co)tangents.
  Graph ordered;
  ordered.set_name(linear.name());
  const primitives::Writer writer(ordered, {});
  const size_t count = linear.inputs().size(), first = count - extra.size(), arguments = residuals.size();
  std::vector<Value> inputs(count);
  const auto add = [&](size_t i) { inputs[i] = ordered.add_input(linear.type(linear.inputs()[i])); };
  for (size_t i = 0; i < arguments; ++i) add(i);
  for (size_t i = first; i < count; ++i) add(i);
  for (size_t i = arguments; i < first; ++i) add(i);
  ordered.set_outputs(writer.inline_graph(linear, inputs));
  linear = std::move(ordered);
  residuals.insert(residuals.end(), extra.begin(), extra.end());
}

}  // namespace

LinearParts linear_parts(const Graph& function, const Graph& derivative, size_t first_unknown, std::string_view name) {
  LinearParts parts;
  parts.num_results = function.outputs().size();
  std::vector<bool> unknown(derivative.inputs().size(), true);
  for (size_t i = 0; i < first_unknown; ++i) unknown[i] = false;
  transform::PartialEval s = transform::partial_eval(derivative, unknown);
  Graph known = std::move(s.known), linear = std::move(s.unknown);
  std::vector<Value> residuals(known.outputs().end() - static_cast<ptrdiff_t>(s.num_residuals), known.outputs().end());
  complete_outputs(s, parts.num_results, known, linear, residuals);
  linear = with_needed_residuals(linear, known, residuals);

  std::vector<Value> outputs, results;
  size_t next = 0;
  for (size_t i = 0; i < parts.num_results; ++i) {
    if (s.unknown_outputs[i]) {
      // Computed together with values that depend on the tangents, as in a loop of unknown length: recompute it alone.
      if (results.empty()) results = primitives::Writer(known, {}).inline_graph(function, known.inputs());
      outputs.push_back(results[i]);
    } else {
      outputs.push_back(known.outputs()[next++]);
    }
  }
  outputs.insert(outputs.end(), residuals.begin(), residuals.end());
  known.set_outputs(std::move(outputs));
  parts.known = transform::simplify(known, transform::InlineScope::calls);
  parts.linear = transform::simplify(linear, transform::InlineScope::calls);
  parts.linear.set_name(std::string(name));
  return parts;
}

}  // namespace calque::detail
