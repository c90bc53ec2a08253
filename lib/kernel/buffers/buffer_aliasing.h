#pragma once
// Where the carries of a loop of the entry function live. A body is built as though each carry had two places, one that
// it is read from and one that its next value is written to. Then, from the finished steps alone, the two become one
// wherever nothing reads what was written over; other carries change places with every iteration. Nothing is copied.
#include <functional>
#include <unordered_map>
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Visits the views of the steps, and of those inside them.
void for_each_view(std::vector<Step>& steps, const std::function<void(View&)>& visit);

/// Replaces every view of the buffers named by a view into another buffer.
void place_buffers(std::vector<Step>& steps, const std::unordered_map<int32_t, View>& places);

/// The place that alternates: `even` in iterations for which number + phase is even, else `odd`, which has no choices.
View alternating(const View& even, const View& odd, int32_t loop, int64_t phase);

/// Takes out buffers and kernels of the program that no step uses, inputs and outputs aside.
void drop_unused(Program& program);

}  // namespace calque::kernel
