#pragma once
// Passes over the masks of optimised functions.

namespace llvm {
class Function;
}

namespace calque::codegen {

/// For targets without mask registers: masks that live across blocks become as wide as the vectors they mask.
void widen_masks(llvm::Function& function, int vector_bits);

/// Masked accesses of one known lane become scalar ones.
void write_single_lanes(llvm::Function& function);

}  // namespace calque::codegen
