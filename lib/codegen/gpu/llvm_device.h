#pragma once
// Further LLVM headers for device code: intrinsics of NVPTX.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/llvm.h"
