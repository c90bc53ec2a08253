#pragma once
// Roundings of the program, kept apart from the operations around them.
#include "codegen/llvm/llvm_passes.h"

namespace calque::codegen {

/// Runs before InstCombine, for targets with fused multiply-add. InstCombine computes a rounded operation in the narrow
/// type where the bits agree, fptrunc(fmul(fpext x, fpext y)) as fmul x, y, and copies the flag `contract` to it. But
/// the narrow product is the rounded one: fused into a sum of the narrow type, it would not be rounded at all. So an
/// operation that is rounded to a narrower type loses the flag if it cannot be contracted as it stands, and a fence
/// (llvm.arithmetic.fence) separates the others from their rounding, also where they reach it through selections,
/// phis and changes of sign. A fence behind the rounding of a product keeps it from sums, whose flags InstCombine gives
/// to a product that it moves a sign out of: z + (-x) y becomes z - x y.
class RoundingFencesPass : public llvm::PassInfoMixin<RoundingFencesPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

/// Removes the fences, once products are contracted: machine code has none.
void remove_fences(llvm::Function& function);

}  // namespace calque::codegen
