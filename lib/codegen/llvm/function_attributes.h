#pragma once
// Attributes of all generated functions.
#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"

namespace calque::codegen {

/// Sets target, vector width, denormal mode and nounwind.
void set_function_attributes(llvm::Function& function, const TargetInfo& target, const CodegenOptions& options);

/// Aligns the frames of functions with vectors that are wider than a caller's stack is aligned. The register allocator
/// cannot ask for it once it has begun: without it, spilled vectors lie across cache lines in three of four processes,
/// and loops that spill take up to three times as long.
void align_frames(llvm::Module& module, const TargetInfo& target);

}  // namespace calque::codegen
