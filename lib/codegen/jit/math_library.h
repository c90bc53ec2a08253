#pragma once
// Functions of lib/math that the process has compiled. All kernels linked into the process share them, so compiling a
// kernel does not recompile them.
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/code_image.h"
#include "codegen/jit/session.h"

namespace calque::codegen {

struct TargetInfo;
struct CodegenOptions;

/// The functions stay in memory as long as the session.
class MathLibrary {
 public:
  using Libraries = Session::Libraries;
  using Compile = std::function<Object(llvm::Module&)>;

  explicit MathLibrary(Session& session) : session_(session) {}
  /// The libraries that hold the functions of lib/math that the module declares. `compile` compiles those that no
  /// earlier module declared and options.math does not have. Records the functions and their objects in options.image.
  Libraries libraries_for(const llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                          const Compile& compile);
  /// The libraries that hold the functions of lib/math that the image calls. Links the image's objects of those that no
  /// earlier module declared.
  Libraries libraries_for(const CodeImage& image, const CodegenOptions& options);

 private:
  struct Library {
    llvm::orc::JITDylib* linked = nullptr;
    CodeImage::MathObject object;
  };
  /// With the lock. `prefix`: see mode.
  const Library& add(const std::string& prefix, CodeImage::MathObject object);
  Libraries libraries_of(const std::string& prefix, const std::vector<std::string>& names, CodeImage* image);

  Session& session_;
  std::mutex mutex_;
  std::deque<Library> all_;
  std::map<std::string, const Library*> libraries_;  ///< by target, mode and name of the function
};

}  // namespace calque::codegen
