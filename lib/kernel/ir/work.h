#pragma once
// How long a program runs, in numbers that its shapes give.
#include "kernel/ir/program.h"

namespace calque::kernel {

/// An estimate of the instructions that a call executes on a CPU, in the vectors of the schedule. While loops count for
/// as many iterations as they may have, or for 100,000 if that is not known, branches for the longest one; calls of
/// routines and of functions of the user do not count.
double executed_instructions(const Program& program);

}  // namespace calque::kernel
