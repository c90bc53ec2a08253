#pragma once
// Branches and while loops of a kernel, which lanes may leave at different times.
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

void emit_branch(KernelEmitter& kernel, const kernel::Instruction& i);
/// Lanes leave the loop independently: it runs until no lane is active, and inactive lanes keep their carries.
void emit_while(KernelEmitter& kernel, const kernel::Instruction& i);

}  // namespace calque::codegen
