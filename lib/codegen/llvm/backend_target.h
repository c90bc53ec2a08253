#pragma once
// LLVM's side of a target.
#include <string>

#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

/// Throws CompileError for a triple that LLVM does not know.
const llvm::Target& find_target(const std::string& triple);

/// An error that LLVM reports through the context, after which it would end the process, is thrown as CompileError.
void throw_errors_of(llvm::LLVMContext& context);

}  // namespace calque::codegen
