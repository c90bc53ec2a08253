#pragma once
// How the factors of a contraction read memory.
#include <cstdint>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// The memory that a factor of a contraction reads.
struct FactorAccess {
  /// One load without predicate at an index that is affine in both parameters, and nothing else.
  bool plain = false;
  int64_t stride[2] = {0, 0};  ///< of a plain load, in elements, by parameter
  int32_t buffer = -1;
  Id index = kNone;
};
FactorAccess access_of(const Kernel& kernel, const Region& factor);

}  // namespace calque::kernel
