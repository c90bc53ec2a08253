#pragma once
// The family of views by static index maps.
#include "primitives/shape/broadcast.h"
#include "primitives/shape/concatenate.h"
#include "primitives/shape/diagonal.h"
#include "primitives/shape/iota.h"
#include "primitives/shape/pad.h"
#include "primitives/shape/reshape.h"
#include "primitives/shape/reverse.h"
#include "primitives/shape/slice.h"
#include "primitives/shape/transpose.h"

namespace calque::primitives {

using ShapeList = TypeList<Iota, Broadcast, Reshape, Transpose, Reverse, Slice, Pad, Concatenate, Diagonal>;

}  // namespace calque::primitives
