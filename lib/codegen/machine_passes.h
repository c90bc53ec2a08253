#pragma once
// The passes from LLVM IR to a file. Includes LLVM: only for files that define CALQUE_LLVM_BACKEND.
#include <memory>

#include "calque/ir/errors.h"

#include "codegen/llvm_errors.h"
#include "codegen/session.h"

namespace calque::codegen {

/// Passes that end in an assembler or object file, and where they write it.
struct MachinePasses {
  Object bytes;
  llvm::raw_svector_ostream out{bytes};
  llvm::legacy::PassManager passes;
};

/// Setting them up costs as much as a small kernel. Throws CompileError for a type of file that the target lacks.
inline LlvmOwned<MachinePasses> make_machine_passes(llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  auto made = make_llvm_owned<MachinePasses>();
  if (machine.addPassesToEmitFile(made->passes, made->out, nullptr, type))
    throw CompileError("compile: the target cannot emit such a file");
  return made;
}

}  // namespace calque::codegen
