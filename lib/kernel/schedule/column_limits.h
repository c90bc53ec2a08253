#pragma once
// Which columns are reduced side by side, so that memory is traversed row by row. The choice is choose-unrolling's;
// loop fusion leaves loops short enough for it.
#include <cstdint>

namespace calque::kernel {

/// The least columns in a row, and the most instructions in the body of a reduction.
inline constexpr int64_t kWideRow = 256, kColumnBody = 60;

}  // namespace calque::kernel
