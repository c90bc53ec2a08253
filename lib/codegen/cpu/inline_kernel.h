#pragma once
// Inlines the only kernel of a program into its entry.

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace calque::codegen {

/// Moves a short kernel into the entry that calls it, if it is the only kernel: the fixed compile time of a function
/// exceeds that of the instructions of such a kernel.
void inline_small_kernel(llvm::Module& module);

/// Marks every load and store through a parameter as not aliasing accesses through the `noalias` ones, which it still
/// does once the parameters are replaced.
void annotate_aliases(llvm::Function& kernel);

}  // namespace calque::codegen
