#pragma once
// Attributes of all generated functions.
#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"

namespace calque::codegen {

/// Sets target, vector width, denormal mode and nounwind.
void set_function_attributes(llvm::Function& function, const TargetInfo& target, const CodegenOptions& options);

}  // namespace calque::codegen
