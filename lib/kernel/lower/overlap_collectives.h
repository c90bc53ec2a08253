#pragma once
// Collectives that run while kernels do: a call becomes its start and its completion, with what does not need its
// result between the two.
#include "kernel/ir/program.h"

namespace calque::kernel {

/// Splits the calls beside which enough independent work can run, and moves that work before the completion. Calls keep
/// their order among each other. What keeps a call from it is listed in Program::awaited. Requires steps that are final
/// and a workspace without offsets.
void overlap_collectives(Program& program);

}  // namespace calque::kernel
