#pragma once
// LLVM's IR. Parsing it takes five seconds; passes and the linker take five more each, so they have separate headers:
// llvm_target.h, llvm_passes.h and llvm_linker.h. No other header includes LLVM.
#include <llvm/Config/llvm-config.h>
#if LLVM_VERSION_MAJOR != 22
#error "Calque is written against LLVM 22"
#endif

#include <llvm-c/Core.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
