#pragma once
// Emits a vectorised loop of a kernel that reduces long columns side by side.
#include <functional>
#include <vector>

#include "codegen/loops/pairwise.h"
#include "codegen/loops/reduction.h"

namespace calque::codegen {

class ColumnsEmitter {
 public:
  ColumnsEmitter(KernelEmitter& kernel, const kernel::Instruction& loop);
  /// The columns [begin, end).
  void emit(llvm::Value* begin, llvm::Value* end);

 private:
  /// A reduction of the loop. Its memory has rows of one vector for each vector of a tile: four rows of accumulators,
  /// then one for each level of pending partial sums.
  struct Reduction {
    const kernel::Instruction& loop;
    Accumulators accumulators;
    Values types, memory;  ///< by result
  };
  struct Tile {
    llvm::Value *begin, *end, *columns_end;
  };

  using Column = std::function<void(llvm::Value* column)>;
  /// Runs the body up to the first reduction, then `column`, for each vector of the tile; the last one may overlap.
  void each_vector(const Tile& tile, const Column& column);
  void add_block(const Tile& tile, const Reduction& reduction, llvm::Value* block);
  /// Runs the body, with the total of each reduction.
  void finish_column(llvm::Value* column);
  /// Combines the partial sums of a column and the remainder.
  Values total(const Reduction& reduction, llvm::Value* column);
  llvm::Type* row_type(const Reduction& reduction, size_t result) const;
  llvm::Value* slot(const Reduction& reduction, llvm::Value* column, size_t result, llvm::Value* row);
  Values load(const Reduction& reduction, llvm::Value* column, int64_t row);
  void store(const Reduction& reduction, llvm::Value* column, int64_t row, const Values& v);
  PairwiseCombination pending(const Reduction& reduction, llvm::Value* column);

  KernelEmitter& k_;
  const kernel::Instruction& i_;
  std::vector<Reduction> reductions_;
  ReductionBlocks blocks_;  ///< of all reductions
};

}  // namespace calque::codegen
