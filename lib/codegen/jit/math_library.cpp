// Missing functions of a module are compiled together. The library of a function also holds its general body.
#include "codegen/jit/math_library.h"

#include <algorithm>

#include "calque/ir/errors.h"

#include "codegen/jit/backend.h"
#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/target.h"
#include "codegen/llvm/watched.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

using Names = std::vector<std::string>;

/// What determines the code of a function besides its name: the modes whose functions code for the options may call,
/// the preferred one first. What is compiled for the code is of the last one.
Names modes_of(const TargetName& target, const CodegenOptions& options, bool quick) {
  const std::string optimized = target.triple + '|' + target.cpu + '|' + target.features +
                                (options.strict ? "|strict " : "| ") + (options.fast_math ? "fast " : "") +
                                (options.flush_subnormals ? "flush " : "");
  if (quick) return {optimized, optimized + "quick "};
  return {optimized};
}

Names names_of(const std::vector<MathUse>& uses) {
  Names names;
  for (const MathUse& use : uses) names.push_back(use.name);
  return names;
}

}  // namespace

void MathLibrary::add(const std::string& mode, CodeImage::MathObject object) {
  std::vector<Object> objects(1, Object(object.object.begin(), object.object.end()));
  void* address = nullptr;
  llvm::orc::JITDylib& linked = session_.link(std::move(objects), object.names.front().c_str(), address);
  const Library& library = all_.emplace_back(Library{&linked, std::move(object)});
  // A function that an earlier library holds too stays registered there.
  for (const std::string& name : library.object.names) libraries_.try_emplace(mode + name, &library);
}

const MathLibrary::Library* MathLibrary::known(const Names& modes, const std::string& name) const {
  for (const std::string& mode : modes)
    if (const auto found = libraries_.find(mode + name); found != libraries_.end()) return found->second;
  return nullptr;
}

void MathLibrary::load(const Names& modes, const std::string& name, const MathStore* store) {
  if (store == nullptr) return;
  for (const std::string& mode : modes) {
    if (auto stored = store->load(mode + name)) {
      add(mode, std::move(*stored));
      return;
    }
  }
}

MathLibrary::Uses MathLibrary::missing(const Names& modes, const Uses& uses, const CodegenOptions& options) {
  Uses missing;
  for (const MathUse& use : uses) {
    if (known(modes, use.name) == nullptr) load(modes, use.name, options.math);
    if (known(modes, use.name) == nullptr) missing.push_back(use);
  }
  return missing;
}

MathLibrary::Libraries MathLibrary::libraries_of(const Names& modes, const Names& names, CodeImage* image) const {
  Libraries linked;
  for (const std::string& name : names) {
    const Library& library = *known(modes, name);
    if (std::find(linked.begin(), linked.end(), library.linked) != linked.end()) continue;
    linked.push_back(library.linked);
    if (image) image->math.push_back(library.object);
  }
  if (image) image->math_functions = names;
  return linked;
}

std::optional<MathLibrary::Libraries> MathLibrary::find(const Uses& uses, const TargetInfo& target,
                                                        const CodegenOptions& options) {
  if (uses.empty()) return Libraries{};
  const Names modes = modes_of(target, options, options.quick);
  const std::lock_guard lock(mutex_);
  if (!missing(modes, uses, options).empty()) return std::nullopt;
  return libraries_of(modes, names_of(uses), options.image);
}

MathLibrary::Libraries MathLibrary::find_or_compile(const Uses& uses, const TargetInfo& target,
                                                    const CodegenOptions& options, const BorrowedBackend& backend) {
  const Names modes = modes_of(target, options, options.quick);
  const std::lock_guard lock(mutex_);
  if (const Uses some = missing(modes, uses, options); !some.empty()) compile(modes, some, target, options, backend);
  return libraries_of(modes, names_of(uses), options.image);
}

void MathLibrary::compile(const Names& modes, const Uses& missing, const TargetInfo& target,
                          const CodegenOptions& options, const BorrowedBackend& backend) {
  const auto context = make_llvm_owned<llvm::LLVMContext>();
  context->setDiscardValueNames(true);
  throw_errors_of(*context);
  const auto made = make_llvm_owned<llvm::Module>("calque.math", *context);
  made->setTargetTriple(llvm::Triple(target.triple));
  made->setDataLayout(backend->machine().createDataLayout());
  CodegenOptions own = options;
  own.form = CodegenOptions::Form::object;
  MathFunctions definitions(*made, target, own);
  for (const MathUse& use : missing) definitions.define(use);
  CodeImage::MathObject object;
  for (const llvm::Function& f : *made)
    if (!f.isDeclaration()) object.names.push_back(f.getName().str());
  const Watched watched(options.watch, *made);
  backend->optimize(*made);
  const auto level = options.quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
  const Object bytes = backend->emit(*made, llvm::CodeGenFileType::ObjectFile, level);
  object.object.assign(bytes.begin(), bytes.end());
  if (options.math)
    for (const MathUse& use : missing) options.math->store(modes.back() + use.name, object);
  add(modes.back(), std::move(object));
}

MathLibrary::Libraries MathLibrary::libraries_for(const CodeImage& image, const CodegenOptions& options) {
  if (image.math_functions.empty()) return {};
  const Names modes = modes_of(name_target(options.target), options, image.quick);
  const std::lock_guard lock(mutex_);
  for (const std::string& name : image.math_functions) {
    if (known(modes, name) != nullptr) continue;
    const auto defines = [&](const CodeImage::MathObject& object) {
      return std::find(object.names.begin(), object.names.end(), name) != object.names.end();
    };
    const auto object = std::find_if(image.math.begin(), image.math.end(), defines);
    if (object == image.math.end()) throw CompileError("compile: the code lacks the function " + name);
    add(modes.back(), *object);
  }
  return libraries_of(modes, image.math_functions, nullptr);
}

}  // namespace calque::codegen
