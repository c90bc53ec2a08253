#pragma once
// The type-erased core of the transformations. A function is traced to a closed graph in the trace that runs, captures
// becoming further inputs; the graph is transformed and recorded in place of the call. Functions whose traces run at
// once on arrays (vjp and linearize on data) go through run_arrays.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/batch_axes.h"
#include "calque/detail/trace.h"

namespace calque::detail {

/// What messages need: the name of the transformation, the user's line (may be unknown), the path of each operand.
struct TransformSite {
  std::string_view name;
  Location location;
  std::span<const std::string> paths;
};

/// A tree without its leaves: what a specification of axes is matched to.
struct TreeShape {
  std::string path;
  bool leaf = false;
  size_t leaves = 0;
  std::vector<TreeShape> parts;
};

// ---- forward and reverse mode

/// Gradients of the body's first result, a real floating scalar, by the operands numbered in `selected` (any order,
/// repeats allowed), behind all results of the body when `with_results`. Other results take no part in it.
/// GradError where the result is no such scalar or a selected operand is neither floating nor complex.
std::vector<Handle> emit_gradients(const TraceBody& body, std::span<const Handle> operands,
                                   std::span<const uint32_t> selected, bool with_results, const TransformSite& site);

/// The body's results, then a tangent for each. Tangents of operands that are neither floating nor complex are ignored.
/// ShapeError where a tangent has not its operand's type.
std::vector<Handle> emit_jvp(const TraceBody& body, std::span<const Handle> primals, std::span<const Handle> tangents,
                             const TransformSite& site);

enum class LinearMode : uint8_t {
  forward,  ///< tangents of the operands to tangents of the results
  reverse,  ///< cotangents of the results to cotangents of the operands
};

/// The linear function that is left of a function at a point: a graph of residuals and (co)tangents, and the residuals.
class LinearMap;
const Graph& graph_of(const LinearMap& map);
/// Throws LeakedTracerError where a map that was made in a trace is called after that.
void require_trace_of(const LinearMap& map, Location location);
/// Paths of the arguments of a linear map, asked for when a message needs them.
using LeafPaths = std::function<std::vector<std::string>()>;
/// The map applied in the running trace. ShapeError where an argument has another shape than what it is a (co)tangent
/// of.
std::vector<Handle> emit_linear_map(const LinearMap& map, std::span<const Handle> arguments, const LeafPaths& paths,
                                    Location location);
/// The map applied to arrays. Only for a map that was made on arrays.
std::vector<AnyArray> run_linear_map(const LinearMap& map, std::span<const AnyArray> arguments, const LeafPaths& paths,
                                     Location location);

template <class T>
struct Linearized {
  std::vector<T> results;
  std::shared_ptr<const LinearMap> map;
};
/// The body's results and its linear map at the operands, in the running trace.
Linearized<Handle> emit_linearized(LinearMode mode, const TraceBody& body, std::span<const Handle> operands,
                                   const TransformSite& site);
/// The same at arrays, at once. A tracer that the body uses is a ConcretizationError.
Linearized<AnyArray> run_linearized(LinearMode mode, const TraceBody& body, std::span<const AnyArray> operands,
                                    const TransformSite& site);

/// For each result and each selected operand, in this order, a derivative of shape result.shape + operand.shape.
/// `forward`: column by column, else row by row. GradError where a selected operand or a result has no derivative;
/// `results` are paths of the results, read after the body ran.
std::vector<Handle> emit_jacobian(bool forward, const TraceBody& body, std::span<const Handle> operands,
                                  std::span<const uint32_t> selected, const std::vector<std::string>& results,
                                  const TransformSite& site);

// ---- batching

/// The body for each example of a batch. `arguments` are the trees that the operands are the leaves of, `result` that
/// of the results, read after the body ran. Errors: see calque/vmap.h.
std::vector<Handle> emit_vmap(const TraceBody& body, std::span<const Handle> operands,
                              std::span<const TreeShape> arguments, const TreeShape& result, const VmapOptions& options,
                              const TransformSite& site);

// ---- rules

/// The body as one equation whose values derivatives compute again.
std::vector<Handle> emit_checkpoint(const TraceBody& body, std::span<const Handle> operands, const TransformSite& site);

/// The body with `rule` for its derivative: of operands and tangents to results and tangents. Tracers that either
/// captures are constants to the rule. `results`: paths of the results, read after the bodies ran.
/// ShapeError or DTypeError where the rule's types are not those of the body's results.
std::vector<Handle> emit_custom_jvp(const TraceBody& body, const TraceBody& rule, std::span<const Handle> operands,
                                    const std::vector<std::string>& results, const TransformSite& site);

/// The body with `forward` (operands to results and residuals) and `backward` (residuals and cotangents of the results
/// to cotangents of the operands). ShapeError or DTypeError where types do not fit.
std::vector<Handle> emit_custom_vjp(const TraceBody& body, const TraceBody& forward, const TraceBody& backward,
                                    std::span<const Handle> operands, const std::vector<std::string>& results,
                                    const TransformSite& site);

}  // namespace calque::detail
