#include "codegen/llvm/watched.h"

namespace calque::codegen {

namespace {

/// The first functions of the module, of which most are kernels.
std::string contents(const llvm::Module& module) {
  constexpr size_t kMost = 4;
  std::string text = module.getName().str();
  size_t count = 0;
  for (const llvm::Function& f : module) {
    if (f.isDeclaration() || ++count > kMost) continue;
    text += (count == 1 ? " (" : ", ") + f.getName().str();
  }
  if (count > kMost) text += " and " + std::to_string(count - kMost) + " more";
  return count == 0 ? text : text + ")";
}

}  // namespace

Watched::Watched(CodegenWatch* watch, const llvm::Module& module) : watch_(watch) {
  if (watch_ != nullptr) ticket_ = watch_->begin(contents(module));
}

}  // namespace calque::codegen
