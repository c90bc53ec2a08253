#pragma once
// Passes over lane masks.

namespace llvm {
class Function;
}

namespace calque::codegen {

/// Before other passes: keeps InstCombine from moving masked loads to the selects that use them.
void keep_masked_loads(llvm::Function& function);

/// After other passes, for targets without mask registers: masks that are live across blocks become as wide as the
/// vectors that they mask.
void widen_masks(llvm::Function& function, int vector_bits);

/// After other passes, for targets with mask registers: masks that loops carry are split into one mask for each vector
/// register of the masked values.
void split_masks(llvm::Function& function, int vector_bits);

/// After other passes: masked accesses of a single known lane become scalar ones.
void write_single_lanes(llvm::Function& function);

}  // namespace calque::codegen
