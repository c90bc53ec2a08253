#pragma once
// Sums over the elements that a mask selects, all of them without one. Axes are sorted and from the front.
#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {

/// The number of elements, in the dtype of `of`.
Handle count_where(std::optional<Handle> mask, const Type& of, const Ints& axes, bool keepdims, const Site& s);
/// NaN of no elements.
Handle mean_where(Handle x, std::optional<Handle> mask, const Ints& axes, bool keepdims, const Site& s);
/// The sum of squared distances from the mean, divided by the number of elements less `ddof`; NaN when that is not
/// positive.
Handle variance_where(Handle x, std::optional<Handle> mask, const Ints& axes, double ddof, bool keepdims,
                      const Site& s);

}  // namespace calque::detail::ops
