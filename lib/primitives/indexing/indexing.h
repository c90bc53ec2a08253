#pragma once
// Indexing by run-time values. No index value causes an access outside an array.
// gather transposes to scatter_add and vice versa. Windows with batched starts become gathers and scatters with
// batching dimensions.
#include "primitives/indexing/dynamic_slice.h"
#include "primitives/indexing/gather.h"
#include "primitives/indexing/scatter.h"

namespace calque::primitives {

using IndexingList =
    TypeList<DynamicSlice, DynamicUpdateSlice, Gather, Scatter, ScatterAdd, ScatterMul, ScatterMin, ScatterMax>;

}  // namespace calque::primitives
