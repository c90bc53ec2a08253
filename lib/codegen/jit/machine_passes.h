#pragma once
// The LLVM objects that every back end keeps: analyses, and the passes from LLVM IR to a file.
#include <memory>

#include "calque/ir/errors.h"

#include "codegen/jit/session.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/llvm_passes.h"
#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

/// The analysis managers of modules, components, functions and loops, with cross-registered proxies.
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

/// Passes that emit an assembly or object file, and the buffer that receives it.
struct MachinePasses {
  Object bytes;
  llvm::raw_svector_ostream out{bytes};
  llvm::legacy::PassManager passes;
};

/// Constructing them takes as long as compiling a small kernel. Throws CompileError for a file type that the target
/// does not support.
inline LlvmOwned<MachinePasses> make_machine_passes(llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  auto made = make_llvm_owned<MachinePasses>();
  if (machine.addPassesToEmitFile(made->passes, made->out, nullptr, type))
    throw CompileError("compile: the target cannot emit such a file");
  return made;
}

}  // namespace calque::codegen
