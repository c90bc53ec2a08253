#include "frontend/transforms/common.h"

#include "calque/detail/nested_call.h"

#include "primitives/core/writer.h"
#include "trace/branches/questions.h"
#include "trace/builder.h"

namespace calque::detail {

std::string where(const TransformSite& site) { return where_text(user_location(site.location)); }

std::string path_of(const TransformSite& site, size_t operand) {
  return operand < site.paths.size() ? site.paths[operand] : "operand " + std::to_string(operand);
}

namespace {

void check_depth(const Builder& b, const TransformSite& site) {
  if (b.depth() < kMaxDepth) return;
  if (const std::string text = endless_recursion(); !text.empty()) throw CompileError(text);
  throw CompileError(std::string(site.name) + ": functions are nested more than " + std::to_string(kMaxDepth) +
                     " deep" + where(site));
}

/// The operands' values in an eager trace; empty if the trace is not eager or a value is missing.
std::vector<AnyArray> values_of(Builder& b, std::span<const Handle> operands, Location at) {
  std::vector<AnyArray> values;
  if (!b.eager()) return values;
  for (Handle h : operands) {
    values.push_back(b.value(b.resolve(h, at)));
    if (values.back().empty()) return {};
  }
  return values;
}

}  // namespace

TraceResult trace_function(BodyRef body, std::span<const Handle> operands, const TransformSite& site) {
  Builder& b = innermost(site.name, site.location);
  check_depth(b, site);
  const std::vector<Type> types = types_of(operands, site.location);
  const std::vector<AnyArray> values = values_of(b, operands, site.location);
  TraceOptions options;
  options.eager = b.eager() && values.size() == operands.size();
  options.values = values;
  options.paths = site.paths;
  OperandHoist hoist(operands);
  options.hoist = &hoist;
  const QuietTraces quiet;
  const auto with_notes = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (is_eigen_argument(operands[i])) note_eigen_argument(inputs[i]);
    }
    body(inputs, outputs);
  };
  return trace_graph(site.name, types, with_notes, options);
}

TraceResult trace_symbolically(BodyRef body, std::span<const Type> operands, const TransformSite& site, Hoist* hoist) {
  check_depth(innermost(site.name, site.location), site);
  TraceOptions options;
  options.hoist = hoist;
  options.paths = site.paths;
  return trace_graph(site.name, operands, body, options);
}

std::vector<Type> types_of(std::span<const Handle> values, Location location) {
  std::vector<Type> types;
  types.reserve(values.size());
  for (Handle h : values) types.push_back(type_of(h, location));
  return types;
}

std::vector<Handle> concatenated(std::span<const Handle> a, std::span<const Handle> b) {
  std::vector<Handle> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

std::vector<bool> first_of(size_t count, size_t size) {
  std::vector<bool> mask(size, false);
  for (size_t i = 0; i < count; ++i) mask[i] = true;
  return mask;
}

Graph bind_last_inputs(const Graph& graph, std::span<const double> numbers) {
  Graph bound;
  bound.set_name(graph.name());
  const primitives::Writer writer(bound, {});
  const std::vector<Value>& inputs = graph.inputs();
  const size_t free = inputs.size() - numbers.size();
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = graph.type(inputs[i]);
    values.push_back(i < free ? bound.add_input(type) : writer.splat(numbers[i - free], type));
  }
  bound.set_outputs(writer.inline_graph(graph, values));
  return bound;
}

void require_differentiable(const Type& type, std::string_view path, const TransformSite& site,
                            std::string_view remedy) {
  if (is_inexact(type.dtype)) return;
  throw GradError(std::string(site.name) + ": " + std::string(path) + " is " + to_string(type) +
                  ", which has no derivative; cast it to a floating type before, or " + std::string(remedy) +
                  where(site));
}

}  // namespace calque::detail
