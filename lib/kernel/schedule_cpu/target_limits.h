#pragma once
// What the schedule for a CPU depends on.
#include <cstdint>

namespace calque::kernel {

/// Results of so many bytes are stored past the caches. Smaller ones may be used again soon, and are better left in the
/// last-level cache.
inline constexpr double kNonTemporalBytes = 16 << 20;

/// Properties of a processor and of the code that is wanted for it. The default is x86-64-v4.
struct TargetLimits {
  int32_t vector_bits = 512;
  int32_t vector_registers = 32;
  /// Every load and store can take a mask of lanes, and masks have registers of their own.
  bool lane_masks = true;
  /// Bytes of the narrowest elements of masked vector loads and stores; 0: there are none.
  int32_t least_masked_bytes = 1;
  /// A multiplication can take a broadcast element from memory.
  bool broadcast_operands = true;
  /// Stores can bypass the caches.
  bool non_temporal_stores = true;
  /// One instruction adds two products of bf16 to a sum in f32.
  bool bf16_pairs = false;
  /// Strict mode: no contraction, and no reassociation beyond that of the documented reductions.
  bool strict = false;
  /// Short code matters more than fast code: bodies of loops are emitted once where the bits allow it.
  bool compact = false;

  bool masked_memory(int64_t element_bytes) const {
    return least_masked_bytes != 0 && element_bytes >= least_masked_bytes;
  }
};

}  // namespace calque::kernel
