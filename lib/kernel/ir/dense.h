#pragma once
#include "calque/ir/shape.h"

namespace calque::kernel {

/// Whether the strides are row-major, ignoring size-1 dimensions.
inline bool is_dense(const Shape& shape, const Shape::Dims& strides) {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace calque::kernel
