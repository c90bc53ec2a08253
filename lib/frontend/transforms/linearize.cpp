// vjp and linearize: the derivative's graph is partially evaluated with unknown (co)tangents. The known part runs at
// once; the unknown part is the linear map, applied to the residuals of the known part at each call.
#include <mutex>
#include <optional>

#include "calque/detail/run.h"
#include "calque/jit.h"

#include "frontend/transforms/common.h"
#include "ir/fork.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/linear_parts.h"
#include "transform/autodiff/vjp.h"

namespace calque::detail {

namespace {

void require_value(const AnyArray& array, std::string_view name, const std::string& path, Location at) {
  if (!array.empty()) return;
  throw ShapeError(std::string(name) + ": " + path + " is an empty array" + where_text(at));
}

}  // namespace

class LinearMap {
 public:
  LinearMap(std::string name, Graph graph, std::vector<Handle> residuals)
      : name_(std::move(name)), graph_(std::move(graph)), handles_(std::move(residuals)) {}
  LinearMap(std::string name, Graph graph, std::vector<AnyArray> residuals)
      : name_(std::move(name)), graph_(std::move(graph)), arrays_(std::move(residuals)) {}

  const Graph& graph() const { return graph_; }
  void require_trace(Location at) const {
    if (tracing()) return;
    throw LeakedTracerError(name_ + ": the function that it returned was made in a trace that has ended; return its " +
                            "results from the lambda instead of storing it" + where_text(at));
  }

  std::vector<Handle> record(std::span<const Handle> arguments, LeafPaths paths, Location at) const {
    std::vector<Handle> inputs = handles_;
    for (const AnyArray& residual : arrays_) inputs.push_back(constant(residual, at));
    const size_t first = inputs.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
      check(first + i, type_of(arguments[i], at), i, paths, at);
      inputs.push_back(arguments[i]);
    }
    return emit_graph(graph_, inputs);
  }

  std::vector<AnyArray> run(std::span<const AnyArray> arguments, LeafPaths paths, Location at) const {
    std::vector<const AnyArray*> inputs;
    for (const AnyArray& residual : arrays_) inputs.push_back(&residual);
    const size_t first = inputs.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].empty()) require_value(arguments[i], name_, paths()[i], at);
      check(first + i, arguments[i].type(), i, paths, at);
      inputs.push_back(&arguments[i]);
    }
    {
      const NoFork whole;
      std::call_once(once_, [&] {
        JitOptions options;
        options.name = name_;
        compiled_.emplace(graph_, std::move(options), Location());
      });
    }
    return compiled_->call(inputs);
  }

 private:
  void check(size_t input, const Type& got, size_t argument, LeafPaths paths, Location at) const {
    const Type& expected = graph_.type(graph_.inputs()[input]);
    if (got == expected) return;
    throw ShapeError(name_ + ": " + paths()[argument] + " must be " + to_string(expected) + ", got " + to_string(got) +
                     where({name_, at, {}}));
  }

  std::string name_;
  Graph graph_;
  std::vector<Handle> handles_;   // residuals of a map that was made in a trace
  std::vector<AnyArray> arrays_;  // residuals of a map that was made on data
  mutable std::once_flag once_;
  mutable std::optional<GraphFunction> compiled_;
};

const Graph& graph_of(const LinearMap& map) { return map.graph(); }
void require_trace_of(const LinearMap& map, Location location) { map.require_trace(location); }

std::vector<Handle> emit_linear_map(const LinearMap& map, std::span<const Handle> arguments, LeafPaths paths,
                                    Location location) {
  return map.record(arguments, paths, location);
}

std::vector<AnyArray> run_linear_map(const LinearMap& map, std::span<const AnyArray> arguments, LeafPaths paths,
                                     Location location) {
  return map.run(arguments, paths, location);
}

namespace {

LinearParts differentiate(LinearMode mode, const Graph& function, size_t num_operands, std::string_view name) {
  const size_t num_inputs = function.inputs().size();
  const std::vector<bool> wrt = first_of(num_operands, num_inputs);
  const Graph derivative = mode == LinearMode::forward ? transform::jvp(function, wrt) : transform::vjp(function, wrt);
  return linear_parts(function, derivative, num_inputs, name);
}

/// The location to report for the function, which has none: that of its first equation with a known one.
Location first_line(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (e.location().known()) return e.location();
  }
  return {};
}

/// Throws GradError for one of the first `count` inputs that is not floating or complex.
void require_differentiable(const Graph& function, size_t count, TransformSite site) {
  if (!site.location.known()) site.location = first_line(function);
  for (size_t i = 0; i < count; ++i) {
    detail::require_differentiable(function.type(function.inputs()[i]), path_of(site, i), site,
                                   "let the function capture it");
  }
}

}  // namespace

Linearized<Handle> emit_linearized(LinearMode mode, BodyRef body, std::span<const Handle> operands,
                                   const TransformSite& site) {
  const TraceResult function = trace_function(body, operands, site);
  require_differentiable(function.graph, operands.size(), site);
  LinearParts parts = differentiate(mode, function.graph, operands.size(), site.name);
  std::vector<Handle> outputs = emit_graph(parts.known, concatenated(operands, function.captures));
  const auto first_residual = outputs.begin() + static_cast<ptrdiff_t>(parts.num_results);
  std::vector<Handle> residuals(first_residual, outputs.end());
  outputs.erase(first_residual, outputs.end());
  return {std::move(outputs),
          std::make_shared<const LinearMap>(std::string(site.name), std::move(parts.linear), std::move(residuals))};
}

Linearized<AnyArray> run_linearized(LinearMode mode, BodyRef body, std::span<const AnyArray> operands,
                                    const TransformSite& site) {
  std::vector<const AnyArray*> pointers;
  for (size_t i = 0; i < operands.size(); ++i) {
    require_value(operands[i], site.name, path_of(site, i), site.location);
    pointers.push_back(&operands[i]);
  }
  LinearParts parts;
  const TraceBody known = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    const TraceResult function = trace_function(body, inputs, site);
    if (!function.captures.empty()) {
      throw ConcretizationError(std::string(site.name) +
                                ": the function uses a tracer of an enclosing function, but is called on data alone "
                                "and runs at once; pass the tracer as an argument" +
                                where_text(first_line(function.graph)));
    }
    require_differentiable(function.graph, inputs.size(), site);
    parts = differentiate(mode, function.graph, inputs.size(), site.name);
    outputs = emit_graph(parts.known, inputs);
  };
  std::vector<AnyArray> outputs = run_arrays(site.name, pointers, known);
  const auto first_residual = outputs.begin() + static_cast<ptrdiff_t>(parts.num_results);
  std::vector<AnyArray> residuals(first_residual, outputs.end());
  outputs.erase(first_residual, outputs.end());
  return {std::move(outputs),
          std::make_shared<const LinearMap>(std::string(site.name), std::move(parts.linear), std::move(residuals))};
}

}  // namespace calque::detail
