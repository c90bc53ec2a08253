#pragma once
// The processor's mode in which subnormal operands and results of floating-point arithmetic are zero.
#include <functional>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"

namespace calque::codegen {

/// Whether the target has such a mode: MXCSR of x86-64, FPCR of AArch64.
bool has_flush_mode(const TargetInfo& target);
/// The floating-point mode of the running thread, as an integer. The target must have a flush mode.
llvm::Value* floating_point_mode(llvm::IRBuilder<>& b, const TargetInfo& target);
void set_floating_point_mode(llvm::IRBuilder<>& b, const TargetInfo& target, llvm::Value* mode);
/// The same mode, but with subnormals flushed.
llvm::Value* with_flushing(llvm::IRBuilder<>& b, llvm::Value* mode, const TargetInfo& target);

/// On functions whose f32 arithmetic flushes: NVPTX takes the `.ftz` forms of instructions.
inline constexpr const char* kFlushAttribute = "denormal-fp-math-f32";

/// What callers of `function` call from now on, under its name and linkage: a function that flushes subnormals for the
/// time of the call. Nothing else stands in it, since LLVM may move arithmetic past a change of the mode within a
/// function. `remember` (may be empty) is given the caller's mode. Returns the new function.
llvm::Function* run_flushing(llvm::Function& function, const TargetInfo& target,
                             const std::function<void(llvm::IRBuilder<>&, llvm::Value* mode)>& remember);

}  // namespace calque::codegen
