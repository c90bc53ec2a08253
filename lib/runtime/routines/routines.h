#pragma once
// Routines of programs (kernel::StepKind::routine) on the host.
#include "kernel/ir/program.h"

namespace calque::runtime {

/// Runs a routine on dense row-major arrays: its arguments, then its results, which overlap nothing. Matrices of a
/// batch run on several threads, and so do parts of a large one; results do not depend on how many there are. Throws
/// OutOfMemory.
void run_routine(const kernel::RoutineRef& routine, void* const* pointers);

}  // namespace calque::runtime
