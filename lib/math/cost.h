#pragma once
// The cost of mathematical functions, for the planner and the schedules: counted once from their source.
#include "calque/ir/graph.h"

namespace calque::math {

/// The cost of one function, in operations.
struct FunctionCost {
  int operations = 1;  ///< operations of the common path
  int bytes = 0;       ///< size of the widest element type of the common path
  int cold = 0;        ///< operations of the cold path
  bool loops = false;  ///< the common path has loops
};

/// The cost of an elementwise primitive on elements of a dtype: one operation unless lib/math
/// implements it or it computes random bits.
FunctionCost cost_of(PrimitiveId id, DType dtype);

}  // namespace calque::math
