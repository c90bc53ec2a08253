#pragma once
// Emits the entry function of a program. entry.cpp emits the kernels and the function, scalar_entry.cpp the one that
// takes scalars, entry_steps.cpp the steps: branches, loops and calls.
#include <vector>

#include "codegen/llvm/flush_mode.h"
#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"
#include "kernel/ir/program.h"

namespace calque::codegen {

class EntryEmitter {
 public:
  EntryEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
               const kernel::Program& program)
      : module_(module), target_(target), options_(options), program_(program), b_(module.getContext()) {}

  void emit();

 private:
  void emit_kernels();
  void share_forms();
  void emit_form(const std::vector<size_t>& kernels);
  bool scalar_possible() const;
  bool flushes() const { return options_.flush_subnormals && has_flush_mode(target_); }
  void emit_scalar();
  llvm::Type* memory_type(DType d) const;
  void finish_declaration();
  void run_steps();
  void run(const std::vector<kernel::Step>& steps);
  void leave_if(llvm::Value* condition);
  void emit(const kernel::Step& step);
  void branch(const kernel::Step& step);
  void repeat(const kernel::Step& step);
  void repeat_on_threads(const kernel::Step& step);
  void iterate(const kernel::Step& step, llvm::Value* begin, llvm::Value* end);
  void while_loop(const kernel::Step& step);
  /// Calls a function of the runtime table with the number of a host function or routine and pointers to the views.
  void call_with_pointers(const kernel::Step& step, size_t offset, int32_t number);
  llvm::Value* holds(const kernel::View::Condition& when);
  llvm::Value* address(const kernel::View& view);
  llvm::Value* load_buffer(const kernel::ProgramBuffer& buffer);
  void load_buffers();
  llvm::Value* slice_address(int32_t buffer, int64_t first, const std::vector<kernel::View::Term>& terms);
  llvm::Value* iteration(int32_t loop) const;
  void copy(const kernel::Step& step);
  DType dtype(const kernel::View& view) const { return program_.buffers[static_cast<size_t>(view.buffer)].type.dtype; }
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, entry_); }

  llvm::Module& module_;
  const TargetInfo& target_;
  const CodegenOptions& options_;
  const kernel::Program& program_;
  llvm::IRBuilder<> b_;
  llvm::Function* entry_ = nullptr;
  llvm::BasicBlock* failed_ = nullptr;
  std::vector<llvm::Function*> kernels_;
  std::vector<bool> may_fail_;
  /// By kernel: the constants that a function shared by several kernels loads, or null.
  std::vector<llvm::Constant*> constants_;
  std::vector<std::vector<bool>> overlaps_;  ///< of the buffers of each kernel
  llvm::Value* context_ = nullptr;
  llvm::Value* table_ = nullptr;  ///< of pointers to buffers, which the caller passes
  llvm::Value* workspace_ = nullptr;
  llvm::Value* private_ = nullptr;  ///< memory of the running thread, in a parallel loop
  std::vector<llvm::Value*> buffers_;
  std::vector<std::vector<int64_t>> workspace_offsets_;  ///< of the buffers of each kernel
  std::vector<llvm::Value*> iterations_;
};

}  // namespace calque::codegen
