#pragma once
// What device code needs of LLVM beyond the rest: intrinsics of NVPTX.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/llvm.h"
