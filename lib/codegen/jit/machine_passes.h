#pragma once
// What every back end keeps of LLVM: analyses, and the passes from LLVM IR to a file.
#include <memory>

#include "calque/ir/errors.h"

#include "codegen/jit/session.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/llvm_passes.h"
#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

/// The analyses of a module, its loops, functions and components, each known to the others.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

  void set_up(llvm::TargetMachine& machine) {
    const auto builder = make_llvm_owned<llvm::PassBuilder>(&machine);
    builder->registerModuleAnalyses(modules);
    builder->registerCGSCCAnalyses(components);
    builder->registerFunctionAnalyses(functions);
    builder->registerLoopAnalyses(loops);
    builder->crossRegisterProxies(loops, functions, components, modules);
  }
  void clear() {
    modules.clear();
    components.clear();
    functions.clear();
    loops.clear();
  }
};

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
