#pragma once
// How much is optimized before the first call of a signature runs.
#include <cstdint>

namespace calque {

/// What runs first. The results have the same bits in every tier, apart from signs and payloads of NaNs.
enum class tier : uint8_t {
  /// Programs that take longer to optimize than a call loses by quickly made code run that until a background thread
  /// has optimized them; others, and those that are optimized within about 2 ms, are optimized at once.
  automatic,
  quick,  ///< code whose machine instructions are not optimized, for good: compiles faster, runs slower
  best,   ///< optimized code only: the first call waits for it
};

/// Waits until no compilation is pending in the background, so that later calls of all functions run optimized code.
/// Returns at once if none is.
void wait_for_compilation();

}  // namespace calque
