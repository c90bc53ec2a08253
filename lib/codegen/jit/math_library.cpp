// Missing functions of a module are compiled together. The library of a function also holds its general body.
#include "codegen/jit/math_library.h"

#include <algorithm>

#include "calque/ir/errors.h"

#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/target.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

/// What determines the code of a function besides its name.
std::string mode(const TargetName& target, const CodegenOptions& options) {
  return target.triple + '|' + target.cpu + '|' + target.features + (options.strict ? "|strict " : "| ") +
         (options.fast_math ? "fast " : "") + (options.flush_subnormals ? "flush " : "");
}

}  // namespace

const MathLibrary::Library& MathLibrary::add(const std::string& prefix, CodeImage::MathObject object) {
  std::vector<Object> objects(1, Object(object.object.begin(), object.object.end()));
  void* address = nullptr;
  llvm::orc::JITDylib& linked = session_.link(std::move(objects), object.names.front().c_str(), address);
  const Library& library = all_.emplace_back(Library{&linked, std::move(object)});
  // A function that an earlier library holds too stays registered there.
  for (const std::string& name : library.object.names) libraries_.try_emplace(prefix + name, &library);
  return library;
}

MathLibrary::Libraries MathLibrary::libraries_of(const std::string& prefix, const std::vector<std::string>& names,
                                                 CodeImage* image) {
  Libraries linked;
  for (const std::string& name : names) {
    const Library& library = *libraries_.at(prefix + name);
    if (std::find(linked.begin(), linked.end(), library.linked) != linked.end()) continue;
    linked.push_back(library.linked);
    if (image) image->math.push_back(library.object);
  }
  if (image) image->math_functions = names;
  return linked;
}

MathLibrary::Libraries MathLibrary::libraries_for(const llvm::Module& module, const TargetInfo& target,
                                                  const CodegenOptions& options, const Compile& compile) {
  std::vector<const llvm::Function*> functions;
  std::vector<std::string> names;
  for (const llvm::Function& f : module) {
    if (!f.isDeclaration() || !is_math_function(f)) continue;
    functions.push_back(&f);
    names.push_back(f.getName().str());
  }
  if (functions.empty()) return {};
  const std::string prefix = mode(target, options);
  const std::lock_guard lock(mutex_);
  const auto is_known = [&](const llvm::Function* f) { return libraries_.contains(prefix + f->getName().str()); };
  if (options.math) {
    for (const llvm::Function* f : functions) {
      if (is_known(f)) continue;
      if (auto stored = options.math->load(prefix + f->getName().str())) add(prefix, std::move(*stored));
    }
  }
  if (!std::all_of(functions.begin(), functions.end(), is_known)) {
    const auto context = make_llvm_owned<llvm::LLVMContext>();
    context->setDiscardValueNames(true);
    throw_errors_of(*context);
    const auto made = make_llvm_owned<llvm::Module>("calque.math", *context);
    made->setTargetTriple(module.getTargetTriple());
    made->setDataLayout(module.getDataLayout());
    CodegenOptions own = options;
    own.form = CodegenOptions::Form::object;
    MathFunctions definitions(*made, target, own);
    for (const llvm::Function* f : functions)
      if (!is_known(f)) definitions.define(*f);
    CodeImage::MathObject object;
    for (const llvm::Function& f : *made)
      if (!f.isDeclaration()) object.names.push_back(f.getName().str());
    const Object bytes = compile(*made);
    object.object.assign(bytes.begin(), bytes.end());
    if (options.math) {
      for (const llvm::Function* f : functions)
        if (!is_known(f)) options.math->store(prefix + f->getName().str(), object);
    }
    add(prefix, std::move(object));
  }
  return libraries_of(prefix, names, options.image);
}

MathLibrary::Libraries MathLibrary::libraries_for(const CodeImage& image, const CodegenOptions& options) {
  if (image.math_functions.empty()) return {};
  const std::string prefix = mode(name_target(options.target), options);
  const std::lock_guard lock(mutex_);
  for (const std::string& name : image.math_functions) {
    if (libraries_.contains(prefix + name)) continue;
    const auto defines = [&](const CodeImage::MathObject& object) {
      return std::find(object.names.begin(), object.names.end(), name) != object.names.end();
    };
    const auto object = std::find_if(image.math.begin(), image.math.end(), defines);
    if (object == image.math.end()) throw CompileError("compile: the code lacks the function " + name);
    add(prefix, *object);
  }
  return libraries_of(prefix, image.math_functions, nullptr);
}

}  // namespace calque::codegen
