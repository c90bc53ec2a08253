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
/// does not support. Without `schedule`, instructions stay in the order of the LLVM IR until
/// registers are allocated.
inline LlvmOwned<MachinePasses> make_machine_passes(llvm::TargetMachine& machine, llvm::CodeGenFileType type,
                                                    bool schedule) {
  auto made = make_llvm_owned<MachinePasses>();
  llvm::legacy::PassManager& passes = made->passes;
  // What TargetMachine::addPassesToEmitFile does, which has no parameter for passes to leave out.
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  if (!schedule) config->disablePass(&llvm::MachineSchedulerID);
  passes.add(config);
  config->setDisableVerify(true);
  auto* modules = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(modules);
  if (config->addISelPasses()) throw CompileError("compile: the target cannot select instructions");
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, made->out, nullptr, type, modules->getMMI().getContext()))
    throw CompileError("compile: the target cannot emit such a file");
  passes.add(llvm::createFreeMachineFunctionPass());
  return made;
}

}  // namespace calque::codegen
