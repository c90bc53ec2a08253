#pragma once
// Functions of lib/math that the process has compiled. All kernels linked into the process share them, so compiling a
// kernel does not recompile them.
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "codegen/code_image.h"
#include "codegen/jit/session.h"

namespace calque::codegen {

class BorrowedBackend;
struct CodegenOptions;
struct MathUse;
struct TargetInfo;

/// The functions stay in memory as long as the session.
class MathLibrary {
 public:
  using Libraries = Session::Libraries;
  using Uses = std::vector<MathUse>;

  explicit MathLibrary(Session& session) : session_(session) {}
  /// The libraries that hold the functions, if the process or options.math has all of them. Functions for quickly made
  /// code (options.quick) may be either: all compute the same bits. Records the functions and their objects in
  /// options.image.
  std::optional<Libraries> find(const Uses& uses, const TargetInfo& target, const CodegenOptions& options);
  /// The same, but compiles those that are missing, together.
  Libraries find_or_compile(const Uses& uses, const TargetInfo& target, const CodegenOptions& options,
                            const BorrowedBackend& backend);
  /// The libraries that hold the functions of lib/math that the image calls. Links the image's objects of those that no
  /// earlier module declared.
  Libraries libraries_for(const CodeImage& image, const CodegenOptions& options);

 private:
  struct Library {
    llvm::orc::JITDylib* linked = nullptr;
    CodeImage::MathObject object;
  };
  using Names = std::vector<std::string>;

  // With the lock. `modes`: see modes_of.
  void add(const std::string& mode, CodeImage::MathObject object);
  const Library* known(const Names& modes, const std::string& name) const;
  void load(const Names& modes, const std::string& name, const MathStore* store);
  void compile(const Names& modes, const Uses& missing, const TargetInfo& target, const CodegenOptions& options,
               const BorrowedBackend& backend);
  Uses missing(const Names& modes, const Uses& uses, const CodegenOptions& options);
  Libraries libraries_of(const Names& modes, const Names& names, CodeImage* image) const;

  Session& session_;
  std::mutex mutex_;
  std::deque<Library> all_;
  std::map<std::string, const Library*> libraries_;  ///< by mode and name of the function
};

}  // namespace calque::codegen
