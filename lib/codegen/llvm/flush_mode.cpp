#include "codegen/llvm/flush_mode.h"

namespace calque::codegen {

using llvm::Value;

namespace {

// Flush to zero and denormals are zero.
constexpr uint64_t kMxcsrFlush = 1u << 15 | 1u << 6;
// FZ, and FZ16 for f16 arithmetic.
constexpr uint64_t kFpcrFlush = 1u << 24 | 1u << 19;

llvm::CallInst* intrinsic(llvm::IRBuilder<>& b, const char* name, llvm::ArrayRef<Value*> operands) {
  return b.CreateIntrinsic(llvm::Intrinsic::lookupIntrinsicID(name), {}, operands);
}

/// On x86 the mode is transferred through memory.
Value* slot(llvm::IRBuilder<>& b) {
  llvm::BasicBlock& start = b.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&start, start.begin()).CreateAlloca(b.getInt32Ty());
}

}  // namespace

bool has_flush_mode(const TargetInfo& target) { return target.x86 || llvm::Triple(target.triple).isAArch64(); }

Value* floating_point_mode(llvm::IRBuilder<>& b, const TargetInfo& target) {
  if (!target.x86) return intrinsic(b, "llvm.aarch64.get.fpcr", {});
  Value* const memory = slot(b);
  intrinsic(b, "llvm.x86.sse.stmxcsr", {memory});
  return b.CreateLoad(b.getInt32Ty(), memory);
}

void set_floating_point_mode(llvm::IRBuilder<>& b, const TargetInfo& target, Value* mode) {
  if (!target.x86) {
    intrinsic(b, "llvm.aarch64.set.fpcr", {mode});
    return;
  }
  Value* const memory = slot(b);
  b.CreateStore(mode, memory);
  intrinsic(b, "llvm.x86.sse.ldmxcsr", {memory});
}

Value* with_flushing(llvm::IRBuilder<>& b, Value* mode, const TargetInfo& target) {
  return b.CreateOr(mode, llvm::ConstantInt::get(mode->getType(), target.x86 ? kMxcsrFlush : kFpcrFlush));
}

llvm::Function* run_flushing(llvm::Function& function, const TargetInfo& target,
                             const std::function<void(llvm::IRBuilder<>&, Value* mode)>& remember) {
  llvm::Function* const outer =
      llvm::Function::Create(function.getFunctionType(), function.getLinkage(), "", function.getParent());
  outer->takeName(&function);
  outer->copyAttributesFrom(&function);
  function.replaceAllUsesWith(outer);
  function.setName(outer->getName() + ".flushing");
  function.setLinkage(llvm::Function::InternalLinkage);
  function.setPrefixData(nullptr);
  function.addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(function.getContext(), "start", outer));
  Value* const mode = floating_point_mode(b, target);
  if (remember) remember(b, mode);
  set_floating_point_mode(b, target, with_flushing(b, mode, target));
  std::vector<Value*> arguments;
  for (llvm::Argument& a : outer->args()) arguments.push_back(&a);
  Value* const result = b.CreateCall(&function, arguments);
  set_floating_point_mode(b, target, mode);
  if (result->getType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(result);
  return outer;
}

}  // namespace calque::codegen
