#pragma once
// A pass over the products of functions.

namespace llvm {
class Function;
}

namespace calque::codegen {

/// Makes contraction explicit, after all other passes, for targets with fused multiply-add: products become part of the
/// sums that may be contracted with them, as calls of llvm.fma, and what is left loses its permission. So machine code
/// has the same bits at every level of optimization.
///
/// A product of one use is fused in its block. One of several is fused where nothing but sums uses it: each then takes
/// the product in, unless that would cost another operation, or repeat it in a loop. `always`: whatever that costs (on
/// a GPU every operation takes the time of a fused one).
void contract_products(llvm::Function& function, bool always);

}  // namespace calque::codegen
