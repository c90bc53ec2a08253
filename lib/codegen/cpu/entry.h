#pragma once
// The entry function of a program for a CPU.
#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"
#include "kernel/ir/program.h"

namespace calque::codegen {

/// Emits the program's kernels and its entry function `calque_entry`; or, if CodegenOptions request a scalar entry and
/// the program allows one, that entry, into which all kernels are marked to be inlined.
void emit_program(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                  const kernel::Program& program);
inline constexpr const char* kEntryName = "calque_entry";
inline constexpr const char* kScalarEntryName = "calque_scalar";

}  // namespace calque::codegen
