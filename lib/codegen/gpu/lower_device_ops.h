#pragma once
// The last passes over device code, which lower its operations (see device_ops.h).
#include "codegen/llvm/llvm.h"

namespace calque::codegen {

/// For NVPTX: kernels get their calling convention and the bound of their threads (`threads[k]`).
void lower_to_nvvm(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels, llvm::ArrayRef<int32_t> threads);

/// For the host: every kernel becomes `void (ptr thread, ptr buffers)` (SimulatedProgram::Function) under its name,
/// addresses lose their spaces, and every access to global or shared memory is preceded by a call of the simulator.
void lower_to_simulator(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels);

}  // namespace calque::codegen
