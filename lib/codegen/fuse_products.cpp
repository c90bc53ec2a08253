// Contraction of products with several uses.
#define CALQUE_LLVM_BACKEND
#include "codegen/fuse_products.h"

#include "codegen/llvm.h"

namespace calque::codegen {

namespace {

llvm::Instruction* contractible(llvm::Value* v, unsigned opcode) {
  auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  return i && i->getOpcode() == opcode && i->hasAllowContract() ? i : nullptr;
}

bool is_sum(llvm::Value* v) {
  return contractible(v, llvm::Instruction::FAdd) || contractible(v, llvm::Instruction::FSub);
}

class ProductFuser {
 public:
  explicit ProductFuser(llvm::Function& function) : function_(function), b_(function.getContext()) {}

  void run() {
    llvm::SmallVector<llvm::Instruction*, 32> products;
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block)
        if (contractible(&i, llvm::Instruction::FMul)) products.push_back(&i);
    for (llvm::Instruction* product : products)
      if (gains(*product)) fuse(*product);
  }

 private:
  // The product is one operation fewer, unless a sum gives up another one for it; and it is not one that a loop
  // repeats instead.
  bool gains(llvm::Instruction& product) {
    bool elsewhere = false;
    for (llvm::User* user : product.users()) {
      if (!is_sum(user)) return false;
      auto* sum = llvm::cast<llvm::Instruction>(user);
      for (llvm::Value* operand : sum->operands()) {
        if (operand == &product) continue;
        const auto* other = contractible(operand, llvm::Instruction::FMul);
        if (other && other->hasOneUse() && other->getParent() == sum->getParent()) return false;
      }
      // x y + x y
      if (sum->getOperand(0) == sum->getOperand(1)) return false;
      elsewhere = elsewhere || sum->getParent() != product.getParent();
    }
    if (elsewhere) {
      if (!loops_) loops_.emplace(llvm::DominatorTree(function_));
      for (llvm::User* user : product.users())
        if (loops_->getLoopFor(llvm::cast<llvm::Instruction>(user)->getParent()) !=
            loops_->getLoopFor(product.getParent()))
          return false;
    }
    return elsewhere || product.hasNUsesOrMore(2);
  }

  void fuse(llvm::Instruction& product) {
    for (llvm::User* user : llvm::make_early_inc_range(product.users())) {
      auto* sum = llvm::cast<llvm::Instruction>(user);
      llvm::Value *x = product.getOperand(0), *y = product.getOperand(1);
      const bool first = sum->getOperand(0) == &product;
      llvm::Value* addend = sum->getOperand(first ? 1 : 0);
      b_.SetInsertPoint(sum);
      if (sum->getOpcode() == llvm::Instruction::FSub) (first ? addend : x) = b_.CreateFNeg(first ? addend : x);
      llvm::Value* fused = b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, addend});
      llvm::cast<llvm::Instruction>(fused)->copyFastMathFlags(sum);
      sum->replaceAllUsesWith(fused);
      sum->eraseFromParent();
    }
    product.eraseFromParent();
  }

  llvm::Function& function_;
  llvm::IRBuilder<> b_;
  std::optional<llvm::LoopInfo> loops_;
};

}  // namespace

void fuse_shared_products(llvm::Function& function) { ProductFuser(function).run(); }

}  // namespace calque::codegen
