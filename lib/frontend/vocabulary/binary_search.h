#pragma once
// Positions in sorted vectors.
#include "calque/detail/sorting.h"

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {

/// How many elements of the vector precede each of x (`left`), or precede or equal it (`right`), as i32 of x's shape
/// and without derivatives. The vector is in ascending order with NaN last or, where the bool `is_descending` is true,
/// in the reverse order: there the counts are those of its reverse. Throws ShapeError for a vector of 2^31 elements or
/// more.
Handle position_of(Handle sorted, Handle x, side where, const Site& s, std::optional<Handle> is_descending = {});

}  // namespace calque::detail::ops
