#pragma once
// Emits one reduction of a kernel.
#include <functional>

#include "codegen/loops/accumulators.h"

namespace calque::codegen {

/// How the terms of a reduction are distributed over blocks, see reduction.cpp.
struct ReductionBlocks {
  int64_t step = 1;     ///< terms per unit
  int64_t blocked = 0;  ///< terms that belong to blocks; the remainder follows them
  int64_t extent = 1, count = 0, blocks_per_chunk = 1, chunks = 1;
  bool repeat = false;  ///< the body is emitted once for each accumulator
};
/// In units of `step` terms.
ReductionBlocks reduction_blocks(const kernel::Kernel& kernel, const kernel::Instruction& reduction, unsigned step);

/// Emits the terms in order, starting from the initial value.
void emit_sequential_reduction(KernelEmitter& kernel, const kernel::Instruction& reduction);

class ReductionEmitter {
 public:
  ReductionEmitter(KernelEmitter& kernel, const kernel::Instruction& reduction, const ReductionBlocks& blocks)
      : k_(kernel), i_(reduction), blocks_(blocks), accumulators_(kernel, reduction) {}
  /// Emits all of it, and defines its results.
  void emit();
  /// Reduces one block: the units from `begin` to `end` into four accumulators, which are then combined.
  Values block(llvm::Value* begin, llvm::Value* end);
  /// Reduces the units past the last multiple of four.
  Values remainder();

 private:
  bool is_vectorised() const { return blocks_.step > 1; }
  /// Reduces `count` blocks (at most `most`) from block `first`, which is a multiple of the next power of two.
  Values some_blocks(llvm::Value* first, llvm::Value* count, int64_t most);
  /// Reduces chunks of blocks on several threads; the partial results are on the kernel's stack.
  Values chunks();
  /// Combines partial(0), partial(1) ... pairwise.
  Values pairwise(llvm::Value* count, int64_t most, const std::function<Values(llvm::Value*)>& partial);

  KernelEmitter& k_;
  const kernel::Instruction& i_;
  const ReductionBlocks blocks_;
  const Accumulators accumulators_;
};

/// Emits a reduction in the way that its attributes say.
void emit_reduction(KernelEmitter& kernel, const kernel::Instruction& reduction);

}  // namespace calque::codegen
