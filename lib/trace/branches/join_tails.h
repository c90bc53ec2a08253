#pragma once
// What both sides of a question do alike after it is done once: without this, k ifs in a row would be 2^k paths.
#include "trace/branches/merged_trace.h"

namespace calque::detail::merged {

/// Walks backwards from the ends of two blocks, in lock-step, as long as they take the same steps on corresponding
/// values. Cuts these steps off both and appends them, made one, to `tail`, whose yields are those of both. Values that
/// correspond across the cut become the yields of the two blocks, in the order of `results`, which are what the tail
/// uses. Where one of the blocks knows a side of a question that the other does not, the tail has it. False, and
/// nothing is changed, if the last steps differ.
bool join_tails(MergedTrace& trace, Block& first, Block& second, Block& tail, std::vector<V>& results);

}  // namespace calque::detail::merged
