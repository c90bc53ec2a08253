#pragma once
// Further LLVM headers for device back ends: a pass, and the IR parser.
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

#include "codegen/llvm/llvm_passes.h"
