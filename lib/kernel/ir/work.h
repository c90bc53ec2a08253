#pragma once
// How long a program runs, in numbers that its shapes give.
#include "kernel/ir/program.h"

namespace calque::kernel {

/// An estimate of the instructions that a call executes on a CPU, in the vectors of the schedule. While loops count for
/// 100,000 iterations, branches for the longest one; calls of routines and of functions of the user do not count.
double executed_instructions(const Program& program);

}  // namespace calque::kernel
