#include "codegen/version.h"

#include "codegen/llvm.h"

namespace calque::codegen {

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace calque::codegen
