#pragma once
// Loop carries that are sums, summed in chunks: each chunk of the iterations has separate partial sums.
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Whether the body of a `repeat` accesses the memory of its sums (Step::sums) only within single carries, so that each
/// can be redirected to other memory.
bool can_redirect_sums(const Step& loop);

/// Bytes of the partial sums of one chunk.
int64_t bytes_of_partial_sums(const Step& loop);

/// Steps to insert before and after a loop.
struct SurroundingSteps {
  std::vector<Step> before, after;
};

/// Gives the loop, whose grain is set, a chunk_id and partial sums in the workspace. They start at zero; after the loop
/// they are added, chunk by chunk, to the sum's memory.
SurroundingSteps sum_in_chunks(Program& program, Step& loop);

}  // namespace calque::kernel
