#pragma once
// Builds products that are computed in tiles.
#include <functional>

#include "kernel/lower/lower_elements.h"

namespace calque::kernel {

/// Emits a dot_general that plan::product_of tiles: parallel loops over its batch dimensions around one contraction.
/// `epilogue` is given the index of each element of the result, all its parts, and the element's sum (f32 for 16-bit
/// floats).
void build_contraction(Elements& elements, Frame& frame, const Equation& equation,
                       const std::function<void(const Index& at, Id sum)>& epilogue);

}  // namespace calque::kernel
