#pragma once
// What device code needs of LLVM beyond the rest: intrinsics of NVPTX, and for back ends a few more passes and the
// reader of texts.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm.h"

#ifdef CALQUE_LLVM_BACKEND
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#endif
