#pragma once
// Rewrites transcendental and special functions into basic primitives, so that one source serves every target, every
// vector width and the constant folder alike.
#include "calque/ir/graph.h"

namespace calque::math {

/// Which forms the expansions take.
struct ExpandOptions {
  /// The target multiplies and adds in one instruction. Where it does not, polynomials round twice.
  bool fused = true;
  /// The target estimates inverse roots: rsqrt of f32 is left to the code generator.
  bool estimates = false;
  bool fast_math = false;  ///< errors of about 4 ulp, nothing guaranteed of NaN and infinities
};

/// The same graph with every equation whose primitive lib/math defines replaced by its expansion, sub-graphs included.
/// 16-bit floats are computed in f32 and rounded once.
Graph expand(const Graph& graph, const ExpandOptions& options = {});
/// Whether `expand` would change anything.
bool needs_expansion(const Graph& graph);

}  // namespace calque::math
