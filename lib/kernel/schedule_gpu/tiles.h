#pragma once
// Tiling of a matrix product for a GPU: a block of threads computes one tile of accumulators in a loop over K, whose
// steps have their factors in shared memory.
#include <optional>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

struct Tiles {
  int64_t rows = 0, columns = 0;            ///< of the result, per block
  int64_t step_k = 0;                       ///< K of one step
  int32_t stages = 1;                       ///< steps whose factors are in shared memory or being copied there
  int32_t threads = 256;                    ///< of the block
  int32_t warp_rows = 0, warp_columns = 0;  ///< of the result, per warp
  enum class Unit : uint8_t { scalar, f16, bf16, tf32 } unit = Unit::scalar;  ///< scalar: fused multiply-add, any dtype
  int64_t count(const Instruction& contraction) const {
    return ((contraction.rows + rows - 1) / rows) * ((contraction.columns + columns - 1) / columns);
  }
};

/// Nothing where plain reductions are better: small results or a small K. `fast_math` allows tf32 for f32. The tile
/// depends only on the product and the loops around it in the kernel's body.
std::optional<Tiles> choose_tiles(const Kernel& kernel, const Instruction& contraction, bool fast_math);

}  // namespace calque::kernel
