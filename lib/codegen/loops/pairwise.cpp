#include "codegen/loops/pairwise.h"

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

Values PairwiseCombination::load(Value* level) const {
  Values v;
  for (size_t r = 0; r < types_.size(); ++r)
    v.push_back(k_.builder().CreateLoad(types_[r]->getType(), slot_(r, level)));
  return v;
}

void PairwiseCombination::add(Value* number, const Values& partial) const {
  llvm::IRBuilder<>& b = k_.builder();
  Values entering = partial;
  llvm::BasicBlock *before = b.GetInsertBlock(), *head = k_.block("carry"), *up = k_.block("up"),
                   *rest = k_.block("rest");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  entering.push_back(b.getInt64(0));
  Values running = k_.phis(entering, before);
  Value* const level = running.pop_back_val();
  b.CreateCondBr(b.CreateTrunc(b.CreateLShr(number, level), b.getInt1Ty()), up, rest);
  b.SetInsertPoint(up);
  const Values combined = accumulators_.combine(load(level), running);
  llvm::cast<llvm::PHINode>(level)->addIncoming(b.CreateAdd(level, b.getInt64(1)), b.GetInsertBlock());
  KernelEmitter::add_incoming(running, combined, b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(rest);
  for (size_t r = 0; r < running.size(); ++r) b.CreateStore(running[r], slot_(r, level));
}

Values PairwiseCombination::total(int64_t count) const {
  Values total;
  for (int64_t level = 0; (count >> level) != 0; ++level) {
    if (((count >> level) & 1) == 0) continue;
    const Values sum = load(k_.integer(level));
    total = total.empty() ? sum : accumulators_.combine(sum, total);
  }
  return total;
}

}  // namespace calque::codegen
