#pragma once
// Loops that one thread runs, or several threads of a CPU in chunks.
#include <unordered_map>
#include <utility>

#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

class LoopEmitter {
 public:
  explicit LoopEmitter(KernelEmitter& kernel);
  void emit(const kernel::Instruction& i);

 private:
  using Instruction = kernel::Instruction;

  using Locals = llvm::SmallVector<llvm::Value*, 2>;

  /// Memory for the local buffers of a loop, on the stack: one after another, all iterations use it.
  Locals memory_of_locals(const Instruction& i);
  void bind(const Instruction& i, const Locals& memory);
  void parallel(const Instruction& i);
  void split_across_threads(const Instruction& i);
  void iterate(const Instruction& i, llvm::Value* begin, llvm::Value* end);
  void vectorised(const Instruction& i, llvm::Value* begin, llvm::Value* end);
  void sequential(const Instruction& i);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  /// Loops that run a subrange of their iterations: the first one, and one past the last (null: a single iteration).
  std::unordered_map<const Instruction*, std::pair<llvm::Value*, llvm::Value*>> subranges_;
};

}  // namespace calque::codegen
