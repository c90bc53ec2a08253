#include "codegen/llvm/rounding_fences.h"

namespace calque::codegen {

namespace {

using llvm::Instruction;
using llvm::Value;

bool is_product(const Value* v) {
  const auto* i = llvm::dyn_cast<Instruction>(v);
  return i && i->getOpcode() == Instruction::FMul && i->hasAllowContract();
}

bool is_sum(const Value* v) {
  const auto* i = llvm::dyn_cast<Instruction>(v);
  return i && (i->getOpcode() == Instruction::FAdd || i->getOpcode() == Instruction::FSub) && i->hasAllowContract();
}

/// Whether the operation is one of a pair of a product and a sum.
bool can_contract(const Instruction& i) {
  return is_sum(&i) ? llvm::any_of(i.operands(), is_product) : llvm::any_of(i.users(), is_sum);
}

/// Whether InstCombine may move a rounding of the value from behind it to its operands: past what selects, moves or
/// widens values, or changes their sign. Arithmetic is not moved, only narrowed.
bool lets_roundings_pass(const Instruction& i) {
  if (!i.getType()->isFPOrFPVectorTy() || llvm::isa<llvm::BinaryOperator>(i) || llvm::isa<llvm::FPTruncInst>(i))
    return false;
  return !llvm::isa<llvm::CallBase>(i) || llvm::isa<llvm::IntrinsicInst>(i);
}

void fence_roundings(llvm::Function& function) {
  llvm::SmallVector<Instruction*, 16> roundings, moved;
  for (llvm::BasicBlock& block : function)
    for (Instruction& i : block)
      if (llvm::isa<llvm::FPTruncInst>(i)) roundings.push_back(&i);
  if (roundings.empty()) return;
  llvm::IRBuilder<> b(function.getContext());
  const auto fence = [&](Value* v) {
    return b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {v->getType()}, {v});
  };
  for (Instruction* rounding : roundings) {
    auto* i = llvm::dyn_cast<Instruction>(rounding->getOperand(0));
    if (!i || !(is_product(i) || is_sum(i)) || can_contract(*i)) continue;
    const bool product = is_product(i);
    i->setHasAllowContract(false);
    if (!product) continue;
    b.SetInsertPoint(rounding->getNextNode());
    Value* const rounded = fence(rounding);
    rounding->replaceUsesWithIf(rounded, [&](const llvm::Use& use) { return use.getUser() != rounded; });
  }
  // Values that a rounding cannot be moved past without reaching an operation that can be contracted.
  llvm::SmallPtrSet<const Value*, 32> exposed;
  for (llvm::BasicBlock& block : function)
    for (Instruction& i : block)
      if ((is_product(&i) || is_sum(&i)) && exposed.insert(&i).second) moved.push_back(&i);
  while (!moved.empty())
    for (llvm::User* user : moved.pop_back_val()->users())
      if (auto* i = llvm::cast<Instruction>(user); lets_roundings_pass(*i) && exposed.insert(i).second)
        moved.push_back(i);
  for (Instruction* rounding : roundings) {
    Value* const operand = rounding->getOperand(0);
    if (!exposed.contains(operand)) continue;
    b.SetInsertPoint(rounding);
    rounding->setOperand(0, fence(operand));
  }
}

}  // namespace

llvm::PreservedAnalyses RoundingFencesPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  fence_roundings(function);
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

void remove_fences(llvm::Function& function) {
  for (llvm::BasicBlock& block : function)
    for (Instruction& i : llvm::make_early_inc_range(block))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
          call && call->getIntrinsicID() == llvm::Intrinsic::arithmetic_fence) {
        call->replaceAllUsesWith(call->getArgOperand(0));
        call->eraseFromParent();
      }
}

}  // namespace calque::codegen
