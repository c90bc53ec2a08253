#pragma once
// Passes over the masks of functions.

namespace llvm {
class Function;
}

namespace calque::codegen {

/// Before others: keeps InstCombine from moving masked loads to where lanes of theirs are selected.
void keep_masked_loads(llvm::Function& function);

/// After others, for targets without mask registers: masks that live across blocks become as wide as the vectors they
/// mask.
void widen_masks(llvm::Function& function, int vector_bits);

/// After others, for targets with mask registers: masks that loops carry become one for each vector register of what
/// they mask.
void split_masks(llvm::Function& function, int vector_bits);

/// After others: masked accesses of one known lane become scalar ones.
void write_single_lanes(llvm::Function& function);

}  // namespace calque::codegen
