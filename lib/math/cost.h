#pragma once
// What functions cost, for planning and schedules: counted once from their source.
#include "calque/ir/graph.h"

namespace calque::math {

struct FunctionCost {
  int operations = 1;  ///< of the common path
  int bytes = 0;       ///< of the widest element that it computes with
  int rare = 0;        ///< operations of what few arguments need beside
  bool loops = false;  ///< the common path has loops
};

/// The cost of an elementwise primitive on elements of a dtype: that of one operation unless it is a function.
FunctionCost cost_of(PrimitiveId id, DType dtype);

}  // namespace calque::math
