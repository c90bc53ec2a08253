#pragma once
// The loops of kernels that compute pointwise operations and reductions together.
#include <cstdint>

#include "calque/ir/graph.h"

#include "plan/analysis/equations.h"

namespace calque::plan {

/// The loop nest that the roots of such a kernel share: over `full`, of which the dimensions `reduced` are the inner
/// loops. Size-1 dimensions are left out. A root is a value over `full`, or over `kept`, which is `full` without the
/// reduced dimensions.
struct LoopNest {
  Extents full, kept;
  Extents reduced;  ///< positions in `full`, increasing
  bool valid() const { return !reduced.empty(); }
  bool by_rows() const { return reduced.back() + 1 == static_cast<int64_t>(full.size()) && is_run(); }
  bool is_run() const { return reduced.back() - reduced.front() + 1 == static_cast<int64_t>(reduced.size()); }
  friend bool operator==(const LoopNest&, const LoopNest&) = default;
};

/// The loops of a reduction: over its operand, with the reduced dimensions inside.
LoopNest loop_nest_of_reduction(const Graph& graph, const Equation& reduction);
/// Whether a broadcast maps its operand's dimensions to the dimensions that the nest keeps.
bool is_along_kept(const Graph& graph, const Equation& broadcast, const LoopNest& nest);

}  // namespace calque::plan
