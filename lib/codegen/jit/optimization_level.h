#pragma once
// How much LLVM optimizes the machine code of a module.
#include "codegen/codegen.h"
#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

/// All functions of the module only forward pointers.
bool is_forwarding_module(const llvm::Module& module);
llvm::CodeGenOptLevel level_for(const llvm::Module& module, const CodegenOptions& options);
size_t instruction_count(const llvm::Module& module);

}  // namespace calque::codegen
