#pragma once
// A pass over the products of functions.

namespace llvm {
class Function;
}

namespace calque::codegen {

/// After others, for targets with fused multiply-add: products that several sums share, or sums of another block, and
/// nothing else, become part of each of them, where both may be contracted. (Instruction selection does so with
/// products of one use, in one block.)
void fuse_shared_products(llvm::Function& function);

}  // namespace calque::codegen
