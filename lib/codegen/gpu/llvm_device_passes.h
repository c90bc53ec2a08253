#pragma once
// What back ends of devices need of LLVM beyond the rest: a pass, and the reader of texts.
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

#include "codegen/llvm/llvm_passes.h"
