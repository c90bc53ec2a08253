#pragma once
// How much is optimized before the first call of a signature runs.
#include <cstdint>

namespace calque {

/// What runs first. The results have the same bits in every tier, apart from signs and payloads of NaNs.
enum class tier : uint8_t {
  /// Large programs (those that take more than about 0.1 s to optimize) run quickly made code until a background thread
  /// has optimized them; others are optimized at once.
  automatic,
  quick,  ///< code whose machine instructions are not optimized, for good: compiles faster, runs slower
  best,   ///< optimized code only: the first call waits for it
};

/// Waits until no compilation is pending in the background, so that later calls of all functions run optimized code.
/// Returns at once if none is.
void wait_for_compilation();

}  // namespace calque
