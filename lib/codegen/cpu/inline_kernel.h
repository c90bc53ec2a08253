#pragma once
// Inlines the only kernel of a program into its entry.

namespace llvm {
class Module;
}

namespace calque::codegen {

/// Moves a short kernel into the entry that calls it, if it is the only kernel: the fixed compile time of a function
/// exceeds that of the instructions of such a kernel.
void inline_small_kernel(llvm::Module& module);

}  // namespace calque::codegen
