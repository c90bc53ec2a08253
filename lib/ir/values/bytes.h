#pragma once
#include "calque/ir/shape.h"

namespace calque {

/// Size in bytes of a row-major array of that type.
inline size_t bytes_of(const Type& type) {
  return static_cast<size_t>(type.shape.num_elements()) * size_of(type.dtype);
}

}  // namespace calque
