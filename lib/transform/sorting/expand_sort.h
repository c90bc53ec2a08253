#pragma once
#include "calque/ir/graph.h"

#include "ir/pass_log.h"

namespace calque::transform {

inline constexpr PassInfo kExpandSortPass = {"expand-sort",
                                             "writes sorts as counts, running sums and moves to distinct positions"};

/// Rows up to a length, and any rows whose comparisons are so few in all, are ranked by comparing all pairs: one kernel
/// and a move, in place of three kernels and a move for each digit.
struct SortLimits {
  int64_t most_compared = 256, most_comparisons = int64_t{1} << 26;
};

/// Whether the graph, or a sub-graph, has a sort.
bool has_sort(const Graph& graph);

/// Replaces sorts, in sub-graphs too, by operations whose elements are computed in parallel: for devices without a
/// routine that sorts.
///
/// Few elements: the position of an element is the number of elements of its row that come before it, and each element
/// moves to its position once. Many: the radix sort from the least significant digit (Knuth, The Art of Computer
/// Programming 3, 5.2.5; on parallel machines Zagha and Blelloch 1991), with digits of 4 bits. A pass divides rows into
/// tiles, counts the digits of each tile, sums the counts of all smaller digits and of all earlier tiles, and moves
/// each element to that sum plus its rank among the equal digits of its tile. A scan over the digits runs the passes,
/// so that one pass is compiled for each key.
Graph expand_sort(const Graph& graph, const SortLimits& limits = {});

}  // namespace calque::transform
