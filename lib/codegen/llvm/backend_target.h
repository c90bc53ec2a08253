#pragma once
// The LLVM target of a triple.
#include <string>

#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

/// Throws CompileError for a triple that LLVM does not know.
const llvm::Target& find_target(const std::string& triple);

/// Throws errors that LLVM reports through the context, after which it would end the process, as CompileError.
void throw_errors_of(llvm::LLVMContext& context);

}  // namespace calque::codegen
