#pragma once
// Functions of lib/math that the process has compiled. All kernels linked into the process share them, so compiling a
// kernel does not recompile them.
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

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
  /// earlier module declared.
  Libraries libraries_for(const llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                          const Compile& compile);

 private:
  Session& session_;
  std::mutex mutex_;
  std::map<std::string, llvm::orc::JITDylib*> libraries_;  ///< by target, mode and name of the function
};

}  // namespace calque::codegen
