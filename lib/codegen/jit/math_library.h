#pragma once
// Functions of lib/math that the process has compiled. Kernels that are linked into it share them, so that compiling a
// kernel costs what is in it.
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/jit/session.h"

namespace calque::codegen {

struct TargetInfo;
struct CodegenOptions;

/// They stay in memory as long as the session.
class MathLibrary {
 public:
  using Libraries = Session::Libraries;
  using Compile = std::function<Object(llvm::Module&)>;

  explicit MathLibrary(Session& session) : session_(session) {}
  /// What holds the functions of lib/math that the module declares. Those that no module has asked for before are
  /// compiled, by `compile`.
  Libraries libraries_for(const llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                          const Compile& compile);

 private:
  Session& session_;
  std::mutex mutex_;
  std::map<std::string, llvm::orc::JITDylib*> libraries_;  ///< by target, mode and name of the function
};

}  // namespace calque::codegen
