// Missing functions of a module are compiled together. The library of a function also holds its general body.
#include "codegen/jit/math_library.h"

#include <algorithm>

#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/target.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

/// What determines the code of a function besides its name.
std::string mode(const TargetInfo& target, const CodegenOptions& options) {
  return target.triple + '|' + target.cpu + '|' + target.features + (options.strict ? "|strict " : "| ") +
         (options.fast_math ? "fast " : "") + (options.flush_subnormals ? "flush " : "");
}

}  // namespace

MathLibrary::Libraries MathLibrary::libraries_for(const llvm::Module& module, const TargetInfo& target,
                                                  const CodegenOptions& options, const Compile& compile) {
  std::vector<const llvm::Function*> functions;
  for (const llvm::Function& f : module)
    if (f.isDeclaration() && is_math_function(f)) functions.push_back(&f);
  if (functions.empty()) return {};
  const std::string prefix = mode(target, options);
  const std::lock_guard lock(mutex_);
  const auto is_known = [&](const llvm::Function* f) { return libraries_.contains(prefix + f->getName().str()); };
  if (!std::all_of(functions.begin(), functions.end(), is_known)) {
    const auto context = make_llvm_owned<llvm::LLVMContext>();
    context->setDiscardValueNames(true);
    throw_errors_of(*context);
    const auto made = make_llvm_owned<llvm::Module>("calque.math", *context);
    made->setTargetTriple(module.getTargetTriple());
    made->setDataLayout(module.getDataLayout());
    CodegenOptions own = options;
    own.shares_functions = false;
    MathFunctions definitions(*made, target, own);
    for (const llvm::Function* f : functions)
      if (!is_known(f)) definitions.define(*f);
    std::vector<std::string> names;
    for (const llvm::Function& f : *made)
      if (!f.isDeclaration()) names.push_back(f.getName().str());
    std::vector<Object> objects;
    objects.push_back(compile(*made));
    void* address = nullptr;
    llvm::orc::JITDylib& library = session_.link(std::move(objects), names.front().c_str(), address);
    // A function that an earlier library holds too stays registered there.
    for (const std::string& name : names) libraries_.try_emplace(prefix + name, &library);
  }
  Libraries libraries;
  for (const llvm::Function* f : functions) {
    llvm::orc::JITDylib* const library = libraries_.at(prefix + f->getName().str());
    if (std::find(libraries.begin(), libraries.end(), library) == libraries.end()) libraries.push_back(library);
  }
  return libraries;
}

}  // namespace calque::codegen
