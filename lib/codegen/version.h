#pragma once
#include <string>

namespace calque::codegen {

/// The version of LLVM that generates code, as "22.1.0".
std::string llvm_version();

}  // namespace calque::codegen
