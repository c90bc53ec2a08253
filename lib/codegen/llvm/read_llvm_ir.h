#pragma once
// Reads the text of a module.
#include <string>

namespace llvm {
class Module;
}

namespace calque::codegen {

/// Adds what the text defines to an empty module and verifies it. Throws CompileError, with line and column where the
/// text is malformed.
void read_llvm_ir(llvm::Module& module, const std::string& text);

}  // namespace calque::codegen
