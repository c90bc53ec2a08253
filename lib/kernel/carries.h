#pragma once
// Where the carries of a loop of the entry function live. A body is built as though each carry had two places, one that
// it is read from and one that its next value is written to. Then, from the finished steps alone, the two become one
// wherever nothing reads what was written over; other carries change places with every iteration. Nothing is copied.
#include "kernel/program.h"

namespace calque::kernel {

/// Makes buffers `from` and `to` one, which is then called `from`, when every read of `from` in these steps comes
/// before the write to the same element of `to`. Kernels that are bound to both are rewritten; stores that change
/// nothing go, and so do kernels that only had such. A kernel that writes before the last read is put behind it where
/// it can be. False when a read might come too late.
bool merge_buffers(Program& program, std::vector<Step>& steps, int32_t from, int32_t to);

/// Puts every view of a buffer into another place.
void place_buffer(std::vector<Step>& steps, int32_t buffer, const View& place);

/// The place that alternates: `even` in iterations for which number + phase is even, else `odd`, which has no choices.
View alternating(const View& even, const View& odd, int32_t loop, int64_t phase);

/// Takes out buffers and kernels of the program that no step uses, inputs and outputs aside.
void drop_unused(Program& program);

}  // namespace calque::kernel
