#pragma once
// Properties of dot_general equations for the planner and for lowering to kernels.
#include "calque/ir/graph.h"

namespace calque::plan {

/// The dimensions of a dot_general's operands by kind, and the products of their extents.
struct Contraction {
  using Dims = ::calque::detail::InlineVector<size_t, 6>;
  Dims lhs_batch, rhs_batch;            ///< in pairs, in the order of the result
  Dims lhs_free, rhs_free;              ///< in the order of the result
  Dims lhs_contracted, rhs_contracted;  ///< in pairs, by increasing dimension of the left operand
  int64_t batch = 1, rows = 1, columns = 1, k = 1;
};
Contraction contraction_of(const Graph& graph, const Equation& e);

/// How a dot_general is computed.
enum class Product : uint8_t {
  dot_products,   ///< each element of the result is a separate dot product
  tiled,          ///< in tiles of the result, whose accumulators are in registers
  tiled_swapped,  ///< as the transpose of (transposed right operand) x (transposed left operand), where the left
                  ///< operand is contiguous along the result's elements
};
Product product_of(const Graph& graph, const Equation& e);

}  // namespace calque::plan
