#pragma once
// What the passes from a program to machine code read and write, in LLVM's terms.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/jit/backend.h"
#include "codegen/jit/linked_program.h"
#include "codegen/jit/session.h"
#include "codegen/native_build.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

/// A module with its context.
struct OwnModule {
  explicit OwnModule(const std::string& name) : module(name, context) {
    context.setDiscardValueNames(true);
    throw_errors_of(context);
  }
  llvm::LLVMContext context;
  llvm::Module module;
};

/// A module on its way to an object: the build's, or one of its partitions.
class NativeModule {
 public:
  NativeModule(const CodegenOptions& options, llvm::Module& module, const BorrowedBackend& backend, PassLog& log)
      : options_(options), module_(module), backend_(backend), log_(log) {}

  // ---- passes
  void optimize();
  void join_kernels();
  void inline_small_kernel();
  void make_machine_code();

  Object& object() { return object_; }

 private:
  const CodegenOptions& options_;
  llvm::Module& module_;
  const BorrowedBackend& backend_;
  PassLog& log_;
  std::optional<llvm::CodeGenOptLevel> level_;  ///< what optimized code deserves
  Object object_;
};

struct NativeBuild::State {
  /// `program` is null if the module is read.
  State(const kernel::Program* program, const std::string& name, const CodegenOptions& options);
  void read(const std::string& llvm_ir);

  // ---- passes
  void emit_llvm();
  void pair_sincos();
  void inline_math();
  void outline();
  void add_math_library();
  void partition();
  void link();

  /// Compiles the functions of lib/math that the process lacks, on any thread.
  void compile_math(PassLog& to);

  std::optional<LlvmScope> scope{std::in_place};  ///< around all that follows
  const kernel::Program* program;
  CodegenOptions options;
  PassLog own_log;
  PassLog& log;
  TargetInfo target;
  BorrowedBackend backend;
  LlvmOwned<OwnModule> owned;
  llvm::Module& module;
  NativeModule whole;
  bool is_scalar = false;
  /// The functions of lib/math that code in the process shares and the module calls, and the libraries that hold them:
  /// empty until all are compiled.
  std::vector<MathUse> math;
  std::optional<Session::Libraries> libraries = Session::Libraries();
  /// Bitcode of the partitions; empty if the module is compiled whole.
  std::vector<std::string> partitions;
  /// Of the partitions or of the whole module.
  std::vector<Object> objects;
  std::shared_ptr<const LinkedProgram> linked;
};

}  // namespace calque::codegen
