#pragma once
// A pass that contracts products.

namespace llvm {
class Function;
}

namespace calque::codegen {

/// Makes contraction explicit, after all other passes, for targets with fused multiply-add: products are fused into the
/// sums that may be contracted with them, as calls of llvm.fma, and the `contract` flag of the others is removed. So
/// machine code computes the same bits at every optimization level.
///
/// A product with one use is fused within its block. One with several uses is fused into each of them if all are sums,
/// unless that would cost another operation, or repeat it in a loop. `always`: regardless of the cost (on a GPU every
/// operation takes as long as a fused one).
void contract_products(llvm::Function& function, bool always);

}  // namespace calque::codegen
