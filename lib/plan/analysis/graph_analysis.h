#pragma once
// What is known of a graph before anything is decided. Computed once; every pass reads it and none changes it.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calque/ir/graph.h"

#include "plan/analysis/equation_order.h"
#include "plan/analysis/in_place.h"
#include "plan/analysis/product_queries.h"
#include "plan/analysis/uses.h"
#include "plan/plan.h"

namespace calque::plan {

class GraphAnalysis {
 public:
  GraphAnalysis(const Graph& g, const InputMemory& inputs);

  const Graph& graph;
  const InPlaceUpdates in_place;
  const EquationOrder order;

  FusionKind kind(const Equation& e) const { return order.kind(order.position(e)); }
  /// How a contraction is computed.
  Product product(const Equation& e) const { return products_[order.position(e)]; }

  /// How many operands are this value.
  uint32_t num_uses(Value v) const { return uses_.counts[v.id()]; }
  /// The equations with such operands, in order.
  const std::vector<const Equation*>& users(Value v) const { return uses_.users[v.id()]; }
  bool has_one_use(Value v) const { return num_uses(v) == 1; }
  bool is_output(Value v) const { return uses_.is_output[v.id()]; }

  bool is_scalar(Value v) const { return graph.shape(v).num_elements() == 1; }
  /// The number of reductions on the longest path to the value.
  int reduction_depth(Value v) const { return reduction_depth_[v.id()]; }
  /// The value is reduced to an extremum and then compared with it, as the derivative of an extremum does. Both uses
  /// must see the same bits, so the value is computed once: two computations may differ in whether a product and a sum
  /// are contracted into an fma and in whether a 16-bit float is rounded.
  bool is_compared_with_extremum(Value v) const { return compared_with_extremum_[v.id()]; }

 private:
  const Uses uses_;
  std::vector<Product> products_;             // by position in `order`; meaningful for contractions
  std::vector<int> reduction_depth_;          // by value id
  std::vector<bool> compared_with_extremum_;  // by value id
};

}  // namespace calque::plan
