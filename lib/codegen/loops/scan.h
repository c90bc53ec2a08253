#pragma once
// Emits one vectorised cumulative loop of a kernel.
#include <functional>
#include <vector>

#include "codegen/loops/accumulators.h"

namespace calque::codegen {

/// The body of a cumulative loop: for each instruction the carry that it computes (-1: none), and whether it uses
/// carries or has effects.
struct CumulativeBody {
  std::vector<int> carry;
  std::vector<bool> needs_carry;
};
CumulativeBody analyze_cumulative(const kernel::Kernel& kernel, const kernel::Instruction& loop);

class ScanEmitter {
 public:
  ScanEmitter(KernelEmitter& kernel, const kernel::Instruction& loop);
  void emit();

 private:
  llvm::Value* identity(size_t carry);
  llvm::Value* combine(size_t carry, llvm::Value* a, llvm::Value* b);
  Values combine(const Values& a, const Values& b);
  /// Lane l of the result combines lanes 0 to l.
  llvm::Value* prefixes(size_t carry, llvm::Value* v);
  /// One vector of iterations. `before`: the combination of the preceding vectors of the block, in every lane;
  /// `offsets`, unless empty, that of everything before the block. Unless `whole`, computes only what the carries
  /// depend on. Returns the next carries.
  Values vector(llvm::Value* index, const Values& before, const Values& offsets, bool whole);
  /// The whole vectors from `begin` to `end`.
  Values block(llvm::Value* begin, llvm::Value* end, const Values& offsets, bool whole);
  /// All blocks in order. Returns the carries after them, as `chunks` does.
  Values in_order(const Values& initial);
  /// For each chunk: threads reduce its blocks, the results become the offsets of the blocks, and threads scan these.
  Values chunks(const Values& initial);
  /// Runs `body(index, begin, end)` on several threads for `count` blocks of a chunk that starts at block `first`.
  using Block = std::function<void(llvm::Value* index, llvm::Value* begin, llvm::Value* end)>;
  void each_block(llvm::Value* first, llvm::Value* count, const Block& body);
  /// Runs `chunks` if there are several threads, else `in_order`.
  Values choose_by_threads(const Values& initial);

  KernelEmitter& k_;
  const kernel::Instruction& i_;
  const Accumulators accumulators_;
  const CumulativeBody body_;
  const unsigned lanes_;
  const int64_t full_;   ///< iterations in whole vectors
  const int64_t block_;  ///< iterations of a block
  const int64_t blocks_;
  const int64_t chunk_;  ///< blocks of a chunk
};

}  // namespace calque::codegen
