#pragma once
// Shared by the front ends of the transformations: tracing a function, and graphs whose inputs are bound.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/detail/transforms/transform.h"

namespace calque::detail {

/// ` (model.cpp:42)`: the user's line of the transformation's call (`user_location`).
std::string where(const TransformSite& site);
/// `argument 0.w`.
std::string path_of(const TransformSite& site, size_t operand);

/// The function as a closed graph: inputs are the operands, then the captures. In an eager trace it is traced with the
/// operands' values. Throws CompileError when functions are nested more than kMaxDepth deep.
TraceResult trace_function(BodyRef body, std::span<const Handle> operands, const TransformSite& site);
/// As `trace_function`, but never with values. Questions of C++ code about its tracers are asked by `hoist`, if there
/// is one.
TraceResult trace_symbolically(BodyRef body, std::span<const Type> operands, const TransformSite& site,
                               Hoist* hoist = nullptr);

/// As the public one, of a function that is traced already and has no captures; nor may the rule have any.
std::vector<Handle> emit_custom_jvp(const Graph& function, BodyRef rule, std::span<const Handle> operands,
                                    const TransformSite& site);

std::vector<Type> types_of(std::span<const Handle> values, Location location);
std::vector<Handle> concatenated(std::span<const Handle> a, std::span<const Handle> b);
/// A mask of `size` with the first `count` set.
std::vector<bool> first_of(size_t count, size_t size);

/// The graph with the last inputs bound to splats of these numbers.
Graph bind_last_inputs(const Graph& graph, std::span<const double> numbers);

/// Throws GradError for an operand that is not floating or complex.
void require_differentiable(const Type& type, std::string_view path, const TransformSite& site,
                            std::string_view remedy = "differentiate by other arguments (cq::argnums)");

}  // namespace calque::detail
