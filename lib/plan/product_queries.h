#pragma once
// What the planner and the kernels ask of a dot_general.
#include "calque/ir/graph.h"

namespace calque::plan {

/// The dimensions of a dot_general's operands by what becomes of them, and their extents multiplied.
struct Contraction {
  using Dims = ::calque::detail::InlineVector<size_t, 6>;
  Dims lhs_batch, rhs_batch;    ///< in pairs, as the result has them
  Dims lhs_free, rhs_free;      ///< as the result has them
  Dims lhs_summed, rhs_summed;  ///< in pairs, by rising dimension of the left operand
  int64_t batch = 1, rows = 1, columns = 1, depth = 1;
};
Contraction contraction_of(const Graph& graph, const Equation& e);

/// How a dot_general is computed.
enum class Product : uint8_t {
  sums,           ///< every element of the result is a sum of its own
  tiled,          ///< in tiles of the result, held in registers while their sums run
  tiled_swapped,  ///< as the transposed product of the transposed right operand and the transposed left one: it is the
                  ///< left operand that is contiguous along the result's elements
};
Product product_of(const Graph& graph, const Equation& e);

}  // namespace calque::plan
