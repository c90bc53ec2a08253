#pragma once
// How much LLVM optimizes the machine code of a module.
#include "codegen/codegen.h"
#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

/// All functions of the module only forward pointers.
bool is_forwarding_module(const llvm::Module& module);
llvm::CodeGenOptLevel level_for(const llvm::Module& module, const CodegenOptions& options);
/// Whether LLVM's scheduler should order the instructions before register allocation. That takes time superlinear in
/// the length of a block, half of what compiling segments takes, and these are in a good order: that in which their
/// values are used, with loads of the frame before the first use.
bool is_worth_scheduling(const llvm::Module& module);
size_t instruction_count(const llvm::Module& module);

}  // namespace calque::codegen
