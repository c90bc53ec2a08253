#include "codegen/llvm/read_llvm_ir.h"

#include "calque/ir/errors.h"

#include "codegen/llvm/backend_target.h"

namespace calque::codegen {

void read_llvm_ir(llvm::Module& module, const std::string& text) {
  module.getContext().setDiscardValueNames(false);  // the parser needs names
  llvm::SMDiagnostic problem;
  const llvm::MemoryBufferRef buffer(text, "text");
  if (llvm::parseAssemblyInto(buffer, &module, nullptr, problem))
    throw CompileError("LLVM IR: line " + std::to_string(problem.getLineNo()) + ", column " +
                       std::to_string(problem.getColumnNo() + 1) + ": " + problem.getMessage().str());
  std::string violations;
  llvm::raw_string_ostream out(violations);
  if (llvm::verifyModule(module, &out)) throw CompileError("LLVM IR: " + violations);
}

}  // namespace calque::codegen
