#pragma once
// The processor mode in which subnormal operands and results of floating-point arithmetic are flushed to zero.
#include <functional>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"

namespace calque::codegen {

/// Whether the target has such a mode: MXCSR of x86-64, FPCR of AArch64.
bool has_flush_mode(const TargetInfo& target);
/// The floating-point mode of the running thread, as an integer. The target must have a flush mode.
llvm::Value* floating_point_mode(llvm::IRBuilder<>& b, const TargetInfo& target);
void set_floating_point_mode(llvm::IRBuilder<>& b, const TargetInfo& target, llvm::Value* mode);
/// The same mode with flushing enabled.
llvm::Value* with_flushing(llvm::IRBuilder<>& b, llvm::Value* mode, const TargetInfo& target);

/// Attribute of functions whose f32 arithmetic flushes: NVPTX selects the `.ftz` forms of instructions.
inline constexpr const char* kFlushAttribute = "denormal-fp-math-f32";

/// Replaces `function` in its callers by a wrapper of the same name and linkage that flushes subnormals during the
/// call. The wrapper contains nothing else, since LLVM may move arithmetic past a change of the mode within a function.
/// `remember` (may be empty) receives the caller's mode. Returns the wrapper.
llvm::Function* run_flushing(llvm::Function& function, const TargetInfo& target,
                             const std::function<void(llvm::IRBuilder<>&, llvm::Value* mode)>& remember);

}  // namespace calque::codegen
