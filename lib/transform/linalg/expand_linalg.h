#pragma once
#include "calque/ir/graph.h"

#include "ir/pass_log.h"

namespace calque::transform {

inline constexpr PassInfo kExpandLinalgPass = {
    "expand-linalg", "writes factorizations of small matrices as operations on their elements, then simplifies those"};

/// Matrices of more rows stay what they are, routines of a library.
inline constexpr int64_t kMostExpandedRows = 12;

/// Whether the graph, or a sub-graph, has an equation that `expand_linalg` replaces.
bool has_small_linalg(const Graph& graph);

/// Replaces cholesky and triangular_solve of matrices of at most kMostExpandedRows rows, in sub-graphs too, by
/// straight-line operations: each element of a matrix is an array over the batch dimensions (of a right-hand side: over
/// those and the columns), so that matrices share vectors and everything fuses. The sums are those of the textbook, in
/// the order of the columns, and may be contracted; cholesky multiplies by the reciprocal of its pivot,
/// triangular_solve divides. A matrix that is not positive definite gives NaN as the primitive defines.
Graph expand_linalg(const Graph& graph);

}  // namespace calque::transform
