#pragma once
// The only kernel of a program as part of its entry.

namespace llvm {
class Module;
}

namespace calque::codegen {

/// Moves a short kernel that is the only one into the entry that calls it: what every function costs on its way to
/// machine code is more than such a kernel itself does.
void inline_small_kernel(llvm::Module& module);

}  // namespace calque::codegen
