#pragma once
// Carries of a loop that are sums, summed in pieces: each piece of the iterations has partial sums of its own.
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Whether the body of a `repeat` touches the memory of its sums (Step::sums) as whole carries alone, so that other
/// memory can stand for each.
bool sums_can_move(const Step& loop);

/// Bytes of the partial sums of one piece.
int64_t bytes_of_partial_sums(const Step& loop);

/// What runs before the loop and behind it.
struct StepsAround {
  std::vector<Step> before, after;
};

/// Gives the loop, whose pieces are known, a piece_id and partial sums in the workspace. They start at zero; behind the
/// loop they are added, piece after piece, to what the sum's own memory holds.
StepsAround sum_in_pieces(Program& program, Step& loop);

}  // namespace calque::kernel
