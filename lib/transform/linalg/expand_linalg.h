#pragma once
#include "calque/ir/graph.h"

#include "ir/pass_log.h"

namespace calque::transform {

inline constexpr PassInfo kExpandLinalgPass = {
    "expand-linalg",
    "writes linear algebra as operations on the elements of small matrices, or other primitives, and simplifies those"};

/// Matrices of more rows stay what they are, routines of a library: those of cholesky and triangular_solve, those of lu
/// (rows or columns), and those of qr (rows and columns, the fewer).
inline constexpr int64_t kMostExpandedRows = 12, kMostExpandedLu = 8, kMostExpandedQr = 5;

/// Batches of real matrices that kernels factor in local memory, one in each lane or thread: of more rows than are
/// expanded, and of at most as many as a target has local memory for.
struct LinalgLimits {
  int64_t most_batched_rows = 64;
};
/// Fewer matrices are left to the routine.
inline constexpr int64_t kLeastBatch = 16;

/// Whether the graph, or a sub-graph, has an equation that `expand_linalg` replaces.
bool has_linalg_to_expand(const Graph& graph, const LinalgLimits& limits = {});

/// Replaces the primitives of linear algebra, in sub-graphs too; of complex matrices all but qr.
///
/// lu_solve, det, slogdet and pinv become other operations. cholesky, triangular_solve, lu and qr of small matrices
/// become straight-line operations: each element of a matrix is an array over the batch dimensions (of right-hand sides
/// with many columns: over those and the columns), so that matrices share vectors and everything fuses. The sums are
/// those of the textbook and may be contracted; factorizations multiply by reciprocals of their pivots,
/// triangular_solve divides. Exchanges of rows are selects. cholesky of many larger ones becomes batched_cholesky. eigh
/// and svd whose vectors nothing reads compute none.
Graph expand_linalg(const Graph& graph, const LinalgLimits& limits = {});

}  // namespace calque::transform
