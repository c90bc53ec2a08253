#pragma once
// Loads and stores of a kernel for a CPU.
#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class BufferAccess;
class KernelEmitter;

class VectorMemory {
 public:
  explicit VectorMemory(KernelEmitter& kernel);
  Reg load(const kernel::Instruction& i);
  void store(const kernel::Instruction& i);

 private:
  /// A store that combines the value with the one in memory.
  void combine(const kernel::Instruction& i);
  /// `predicated`: a predicate is part of the mask, not only the end of the loop.
  llvm::Value* load_lanes(int32_t buffer, const Reg& index, llvm::Value* mask, bool predicated);
  void store_lanes(const kernel::Instruction& store, const Reg& index, llvm::Value* value, llvm::Value* mask,
                   bool predicated);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  BufferAccess& buffers_;
};

}  // namespace calque::codegen
