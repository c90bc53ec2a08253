#pragma once
// The passes of one compilation, from a program to objects.
#include <string_view>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/cpu/partition_module.h"
#include "codegen/jit/backend.h"
#include "codegen/jit/session.h"

namespace calque::codegen {

inline constexpr std::string_view kLinkPass = "link";

/// A module with its context.
struct OwnModule {
  explicit OwnModule(const std::string& name) : module(name, context) {
    context.setDiscardValueNames(true);
    throw_errors_of(context);
  }
  llvm::LLVMContext context;
  llvm::Module module;
};

/// One compilation. The constructor emits the module.
class Compilation {
 public:
  Compilation(const kernel::Program& program, const CodegenOptions& options);
  /// Optimizes the module.
  llvm::Module& optimized();
  /// One file of the whole module.
  Object emit(llvm::CodeGenFileType type);
  bool is_scalar() const { return scalar_; }
  bool is_quick() const { return options_.quick; }
  PassLog& log() { return log_; }
  /// The libraries that hold the functions of lib/math that the module declares.
  Session::Libraries libraries(Session& session);
  /// The objects of the partitions of the module.
  std::vector<Object> objects();

 private:
  std::vector<Object> objects_of(const Partitions& partitions);

  CodegenOptions options_;
  PassLog own_log_;
  PassLog& log_;
  TargetInfo target_;
  BorrowedBackend backend_;
  LlvmOwned<OwnModule> owned_;
  llvm::Module& module_;
  bool scalar_ = false;
};

}  // namespace calque::codegen
