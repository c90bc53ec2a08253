#pragma once
// The type-erased core of the transformations. A function is traced to a closed graph in the running trace, with
// captures as further inputs; the graph is transformed and recorded in place of the call. vjp and linearize of data run
// at once through run_arrays.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/detail/trace.h"
#include "calque/detail/transforms/batch_axes.h"

namespace calque::detail {

/// For messages: the name of the transformation, the user's line (may be unknown), the path of each operand.
struct TransformSite {
  std::string_view name;
  Location location;
  std::span<const std::string> paths;
};

/// The structure of a tree, to which a specification of axes is matched.
struct TreeShape {
  std::string path;
  bool leaf = false;
  size_t leaves = 0;
  std::vector<TreeShape> parts;
};

// ---- forward and reverse mode

/// Gradients of the body's first result, a real floating scalar, by the operands numbered in `selected` (any order,
/// repeats allowed), after all results of the body if `with_results`. Other results are not differentiated. Throws
/// GradError when the result is not such a scalar or a selected operand is not floating or complex.
std::vector<Handle> emit_gradients(BodyRef body, std::span<const Handle> operands, std::span<const uint32_t> selected,
                                   bool with_results, const TransformSite& site);

/// The body's results, then a tangent for each. Tangents of operands that are not floating or complex are ignored.
/// Throws ShapeError when the type of a tangent differs from its operand's.
std::vector<Handle> emit_jvp(BodyRef body, std::span<const Handle> primals, std::span<const Handle> tangents,
                             const TransformSite& site);

enum class LinearMode : uint8_t {
  forward,  ///< tangents of the operands to tangents of the results
  reverse,  ///< cotangents of the results to cotangents of the operands
};

/// A function linearized at a point: a graph of residuals and (co)tangents, and the residuals.
class LinearMap;
const Graph& graph_of(const LinearMap& map);
/// Throws LeakedTracerError when no trace is running, for a map that was made in a trace.
void require_trace_of(const LinearMap& map, Location location);
/// Returns the paths of the arguments of a linear map; called when a message needs them.
using LeafPaths = FunctionRef<std::vector<std::string>()>;
/// Applies the map in the running trace. Throws ShapeError when the type of an argument differs from that of the value
/// of which it is a (co)tangent.
std::vector<Handle> emit_linear_map(const LinearMap& map, std::span<const Handle> arguments, LeafPaths paths,
                                    Location location);
/// Applies the map to arrays at once. Only for a map that was made on arrays. Throws as `emit_linear_map`.
std::vector<AnyArray> run_linear_map(const LinearMap& map, std::span<const AnyArray> arguments, LeafPaths paths,
                                     Location location);

template <class T>
struct Linearized {
  std::vector<T> results;
  std::shared_ptr<const LinearMap> map;
};
/// The body's results and its linear map at the operands, in the running trace.
Linearized<Handle> emit_linearized(LinearMode mode, BodyRef body, std::span<const Handle> operands,
                                   const TransformSite& site);
/// The same at arrays, run at once. Throws ConcretizationError when the body uses a tracer.
Linearized<AnyArray> run_linearized(LinearMode mode, BodyRef body, std::span<const AnyArray> operands,
                                    const TransformSite& site);

/// For each result and each selected operand, in this order, a derivative of shape result.shape + operand.shape.
/// `forward`: column by column, else row by row. `results` are paths of the results, read after the body ran. Throws
/// GradError when a selected operand or a result has no derivative.
std::vector<Handle> emit_jacobian(bool forward, BodyRef body, std::span<const Handle> operands,
                                  std::span<const uint32_t> selected, const std::vector<std::string>& results,
                                  const TransformSite& site);

// ---- batching

/// The body for each example of a batch. `arguments` are the trees of the operands, `result` that of the results, read
/// after the body ran. Errors: see calque/vmap.h.
std::vector<Handle> emit_vmap(BodyRef body, std::span<const Handle> operands, std::span<const TreeShape> arguments,
                              const TreeShape& result, const VmapOptions& options, const TransformSite& site);

// ---- rules

/// The body as one equation whose values are rematerialized by derivatives.
std::vector<Handle> emit_checkpoint(BodyRef body, std::span<const Handle> operands, const TransformSite& site);

/// The body with `rule` as its derivative, from operands and tangents to results and tangents. Tracers captured by
/// either are constants to the rule. `results`: paths of the results, read after the bodies ran. Throws ShapeError or
/// DTypeError when the rule's types are not those of the body's results.
std::vector<Handle> emit_custom_jvp(BodyRef body, BodyRef rule, std::span<const Handle> operands,
                                    const std::vector<std::string>& results, const TransformSite& site);

/// The body with `forward` (operands to results and residuals) and `backward` (residuals and cotangents of the results
/// to cotangents of the operands) as its derivative. Throws ShapeError or DTypeError when types do not fit.
std::vector<Handle> emit_custom_vjp(BodyRef body, BodyRef forward, BodyRef backward, std::span<const Handle> operands,
                                    const std::vector<std::string>& results, const TransformSite& site);

}  // namespace calque::detail
