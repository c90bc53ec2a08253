#pragma once
// A back end of LLVM: a target machine with its passes. Expensive to construct, so a pool keeps them between
// compilations.
#include <memory>

#include "codegen/jit/machine_passes.h"
#include "codegen/jit/session.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/target.h"

namespace calque::codegen {

class Backend {
 public:
  static std::unique_ptr<Backend> make(const TargetInfo& info, bool sanitize);
  explicit Backend(const TargetInfo& info) : info_(info) {}
  void inline_functions(llvm::Module& module);
  /// Code that is made `quick` has the same bits.
  void optimize(llvm::Module& module, bool quick = false);
  void join_kernels(llvm::Module& module, bool quick);
  Object emit(llvm::Module& module, llvm::CodeGenFileType type, llvm::CodeGenOptLevel level);
  llvm::TargetMachine& machine() { return *machine_; }

 private:
  void set_up(bool sanitize);

  TargetInfo info_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  Analyses analyses_;
  llvm::FunctionPassManager passes_, short_, quick_,
      one_block_;                     ///< of kernels that run shortly; of functions of one block
  llvm::FunctionPassManager joined_;  ///< what one kernel stored and the next one loads
  llvm::ModulePassManager sanitizing_;
  std::unique_ptr<MachinePasses> objects_[2][3];  ///< by whether LLVM schedules, and level; reused for the next module
  llvm::ModulePassManager calls_;                 ///< inlines calls that are marked for it
  llvm::ModulePassManager inlining_;              ///< inlines kernels into a scalar entry
};

/// A back end borrowed from the pool of idle ones. It is returned unless an exception of LLVM passes it.
class BorrowedBackend {
 public:
  BorrowedBackend(const TargetInfo& target, bool sanitize);
  BorrowedBackend(const BorrowedBackend&) = delete;
  BorrowedBackend& operator=(const BorrowedBackend&) = delete;
  ~BorrowedBackend();
  Backend* operator->() const { return &*backend_; }

 private:
  const TargetInfo& target_;
  bool sanitize_;
  LlvmOwned<Backend> backend_;
};

}  // namespace calque::codegen
