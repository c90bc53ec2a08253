// Instruction selection would contract too, but only with optimization, and only within a block.
#include "codegen/llvm/contract_products.h"

#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

namespace {

llvm::Instruction* contractible(llvm::Value* v, unsigned opcode) {
  auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  return i && i->getOpcode() == opcode && i->hasAllowContract() ? i : nullptr;
}

bool is_contractible_sum(llvm::Value* v) {
  return contractible(v, llvm::Instruction::FAdd) || contractible(v, llvm::Instruction::FSub);
}

class ProductContraction {
 public:
  ProductContraction(llvm::Function& function, bool always)
      : function_(function), always_(always), b_(function.getContext()) {}

  void run() {
    llvm::SmallVector<llvm::Instruction*, 32> products, sums;
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block)
        if (contractible(&i, llvm::Instruction::FMul)) products.push_back(&i);
    if (!always_)
      for (llvm::Instruction* product : products)
        if (gains(*product)) fuse_everywhere(*product);
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block)
        if (is_contractible_sum(&i)) sums.push_back(&i);
    for (llvm::Instruction* sum : sums)
      if (llvm::Instruction* product = choose(*sum)) fuse(*sum, *product);
    forbid();
  }

 private:
  // Whether fusing the product into all sums saves an operation: no sum could be fused with another product instead,
  // and no sum is in a loop that would repeat it.
  bool gains(llvm::Instruction& product) {
    bool elsewhere = false;
    for (llvm::User* user : product.users()) {
      if (!is_contractible_sum(user)) return false;
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

  void fuse_everywhere(llvm::Instruction& product) {
    llvm::SmallVector<llvm::Instruction*, 8> sums;
    for (llvm::User* user : product.users()) sums.push_back(llvm::cast<llvm::Instruction>(user));
    for (llvm::Instruction* sum : sums) fuse(*sum, product);
  }

  // The operand to fuse into a sum: of two products the one with fewer uses.
  llvm::Instruction* choose(llvm::Instruction& sum) const {
    llvm::Instruction* chosen = nullptr;
    for (llvm::Value* operand : sum.operands()) {
      auto* product = contractible(operand, llvm::Instruction::FMul);
      if (!product || product->getParent() != sum.getParent() || !(always_ || product->hasOneUse())) continue;
      if (!chosen || product->getNumUses() < chosen->getNumUses()) chosen = product;
    }
    return chosen;
  }

  void fuse(llvm::Instruction& sum, llvm::Instruction& product) {
    llvm::Value *x = product.getOperand(0), *y = product.getOperand(1);
    const bool first = sum.getOperand(0) == &product;
    llvm::Value* addend = sum.getOperand(first ? 1 : 0);
    b_.SetInsertPoint(&sum);
    if (sum.getOpcode() == llvm::Instruction::FSub) (first ? addend : x) = b_.CreateFNeg(first ? addend : x);
    llvm::Value* fused = b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum.getType()}, {x, y, addend});
    llvm::cast<llvm::Instruction>(fused)->copyFastMathFlags(&sum);
    sum.replaceAllUsesWith(fused);
    sum.eraseFromParent();
    if (product.use_empty()) product.eraseFromParent();
  }

  // Operations that may also be reassociated need not keep their bits, and benefit from instruction selection.
  void forbid() {
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block)
        if (llvm::isa<llvm::FPMathOperator>(i) && i.hasAllowContract() && !i.hasAllowReassoc())
          i.setHasAllowContract(false);
  }

  llvm::Function& function_;
  bool always_;
  llvm::IRBuilder<> b_;
  std::optional<llvm::LoopInfo> loops_;
};

}  // namespace

void contract_products(llvm::Function& function, bool always) { ProductContraction(function, always).run(); }

}  // namespace calque::codegen
