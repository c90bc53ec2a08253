#pragma once
// Lowers tiled matrix products.
#include <functional>

#include "kernel/lower/lower_elements.h"

namespace calque::kernel {

/// Emits a dot_general that plan::product_of tiles: parallel loops over its batch dimensions around one contraction.
/// `epilogue` is called with the index of each element of the result, with all parts, and its accumulator (f32 for
/// 16-bit floats).
void build_contraction(Elements& elements, Frame& frame, const Equation& equation,
                       const std::function<void(const Index& at, Id accumulator)>& epilogue);

}  // namespace calque::kernel
