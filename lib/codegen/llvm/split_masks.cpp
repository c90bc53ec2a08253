// Splits the masks of several vectors in flight. LLVM 22 keeps a <64 x i1> that a loop carries in one mask register,
// packs four comparisons into it and unpacks it for every use; registers of 16 lanes each need neither.
#include <map>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/masks.h"

namespace calque::codegen {

namespace {

using Slices = llvm::SmallVector<llvm::Value*, 8>;

class MaskSplitter {
 public:
  MaskSplitter(llvm::Function& function, unsigned vector_bits)
      : function_(function), b_(function.getContext()), vector_bits_(vector_bits) {}

  void run() {
    llvm::SmallVector<llvm::PHINode*, 8> carried;
    for (llvm::BasicBlock& block : function_)
      for (llvm::PHINode& phi : block.phis())
        if (is_mask(&phi)) carried.push_back(&phi);
    // The carried masks with the same number of lanes; their comparisons determine how to split them.
    while (!carried.empty()) {
      lanes_ = lanes_of(carried[0]);
      llvm::SmallVector<llvm::PHINode*, 8> now, later;
      for (llvm::PHINode* phi : carried) (lanes_of(phi) == lanes_ ? now : later).push_back(phi);
      width_ = choose_width();
      if (width_ != 0) split(now);
      carried = later;
    }
  }

 private:
  static bool is_mask(const llvm::Value* v) {
    return v->getType()->isVectorTy() && v->getType()->getScalarType()->isIntegerTy(1);
  }
  static unsigned lanes_of(const llvm::Value* v) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return type ? type->getNumElements() : 0;
  }
  bool is_wide(const llvm::Value* v) const { return is_mask(v) && lanes_of(v) == lanes_; }

  // The lanes of one register of the compared values; 0 if comparisons differ, or if one register holds all lanes.
  unsigned choose_width() const {
    unsigned bits = 0;
    for (const llvm::BasicBlock& block : function_)
      for (const llvm::Instruction& i : block) {
        if (!llvm::isa<llvm::CmpInst>(i) || !is_wide(&i)) continue;
        const unsigned own = i.getOperand(0)->getType()->getScalarSizeInBits();
        if (bits != 0 && bits != own) return 0;
        bits = own;
      }
    const unsigned width = bits >= 8 ? vector_bits_ / bits : lanes_;
    return width < lanes_ && llvm::has_single_bit(lanes_ / width) && lanes_ % width == 0 ? width : 0;
  }

  void split(llvm::ArrayRef<llvm::PHINode*> carried) {
    slices_.clear();
    llvm::SmallVector<llvm::Instruction*, 32> users;
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block)
        if (llvm::any_of(i.operands(), [&](const llvm::Use& use) { return is_wide(use.get()); })) users.push_back(&i);
    for (llvm::PHINode* phi : carried) {
      b_.SetInsertPoint(phi);
      auto* type = llvm::FixedVectorType::get(b_.getInt1Ty(), width_);
      for (unsigned n = 0; n < lanes_ / width_; ++n)
        slices_[phi].push_back(b_.CreatePHI(type, phi->getNumIncomingValues()));
    }
    for (llvm::PHINode* phi : carried)
      for (unsigned v = 0; v < phi->getNumIncomingValues(); ++v) {
        const Slices incoming = slices(phi->getIncomingValue(v));
        for (size_t n = 0; n < incoming.size(); ++n)
          llvm::cast<llvm::PHINode>(slices_[phi][n])->addIncoming(incoming[n], phi->getIncomingBlock(v));
      }
    for (llvm::Instruction* user : users) rewrite(*user);
    for (llvm::PHINode* phi : carried) {
      if (llvm::any_of(phi->users(), [&](const llvm::User* u) { return !llvm::isa<llvm::PHINode>(u); })) {
        b_.SetInsertPoint(phi->getParent(), phi->getParent()->getFirstInsertionPt());
        phi->replaceAllUsesWith(concatenated(slices_[phi]));
      } else {
        phi->replaceAllUsesWith(llvm::PoisonValue::get(phi->getType()));
      }
    }
    for (llvm::PHINode* phi : carried) phi->eraseFromParent();
  }

  // Rewrites a user of a mask in terms of its slices.
  void rewrite(llvm::Instruction& user) {
    if (llvm::isa<llvm::BitCastInst>(user)) return test(user);
    if (!llvm::isa<llvm::SelectInst, llvm::ZExtInst, llvm::SExtInst>(user) || is_mask(&user)) return;
    if (!is_wide(user.getOperand(0))) return;
    if (llvm::isa<llvm::ZExtInst>(user)) count(user);
    if (user.use_empty()) return;
    const Slices masks = slices(user.getOperand(0));
    Slices results;
    Slices first, second;
    if (llvm::isa<llvm::SelectInst>(user)) {
      first = extracts(user.getOperand(1), user);
      second = extracts(user.getOperand(2), user);
    }
    b_.SetInsertPoint(&user);
    auto* type = llvm::FixedVectorType::get(user.getType()->getScalarType(), width_);
    for (size_t n = 0; n < masks.size(); ++n)
      results.push_back(llvm::isa<llvm::SelectInst>(user) ? b_.CreateSelect(masks[n], first[n], second[n])
                        : llvm::isa<llvm::ZExtInst>(user) ? b_.CreateZExt(masks[n], type)
                                                          : b_.CreateSExt(masks[n], type));
    user.replaceAllUsesWith(concatenated(results));
    user.eraseFromParent();
  }

  // An addition of a mask becomes a masked increment, which is one operation.
  void count(llvm::Instruction& mask) {
    for (llvm::User* user : llvm::make_early_inc_range(mask.users())) {
      auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(user);
      if (!sum || sum->getOpcode() != llvm::Instruction::Add || sum->getOperand(0) == sum->getOperand(1)) continue;
      const Slices masks = slices(mask.getOperand(0));
      const Slices terms = extracts(sum->getOperand(sum->getOperand(0) == &mask ? 1 : 0), *sum);
      b_.SetInsertPoint(sum);
      Slices results;
      for (size_t n = 0; n < masks.size(); ++n) {
        llvm::Value* more = b_.CreateAdd(terms[n], llvm::ConstantInt::get(terms[n]->getType(), 1));
        results.push_back(b_.CreateSelect(masks[n], more, terms[n]));
      }
      sum->replaceAllUsesWith(concatenated(results));
      sum->eraseFromParent();
    }
  }

  // Rewrites a test of any lane: a comparison of the bits of the mask with zero.
  void test(llvm::Instruction& bits) {
    const auto compares_with_zero = [&](const llvm::User* u) {
      const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(u);
      const auto* zero = compare ? llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1)) : nullptr;
      return zero && zero->isZero() && compare->isEquality() && compare->getOperand(0) == &bits;
    };
    if (!bits.getType()->isIntegerTy() || !is_wide(bits.getOperand(0)) ||
        !llvm::all_of(bits.users(), compares_with_zero))
      return;
    Slices masks = slices(bits.getOperand(0));
    b_.SetInsertPoint(&bits);
    while (masks.size() > 1) {
      Slices half;
      for (size_t n = 0; n + 1 < masks.size(); n += 2) half.push_back(b_.CreateOr(masks[n], masks[n + 1]));
      if (masks.size() % 2 != 0) half.push_back(masks.back());
      masks = half;
    }
    llvm::Value* any = b_.CreateZExt(b_.CreateBitCast(masks[0], b_.getIntNTy(width_)), bits.getType());
    bits.replaceAllUsesWith(any);
    bits.eraseFromParent();
  }

  Slices slices(llvm::Value* v) {
    if (const auto known = slices_.find(v); known != slices_.end()) return known->second;
    Slices out;
    auto* i = llvm::dyn_cast<llvm::Instruction>(v);
    const bool splits = i && llvm::isa<llvm::CmpInst, llvm::BinaryOperator, llvm::FreezeInst, llvm::SelectInst>(i) &&
                        lanes_of(i->getOperand(0)) == lanes_;
    if (!splits) {
      out = extracts(v, function_.getEntryBlock().front());
    } else {
      std::array<Slices, 3> operands;
      for (unsigned o = 0; o < i->getNumOperands(); ++o)
        operands[o] = is_wide(i->getOperand(o)) ? slices(i->getOperand(o)) : extracts(i->getOperand(o), *i);
      b_.SetInsertPoint(i);
      for (size_t n = 0; n < lanes_ / width_; ++n) {
        llvm::Instruction* slice = i->clone();
        for (unsigned o = 0; o < i->getNumOperands(); ++o) slice->setOperand(o, operands[o][n]);
        slice->mutateType(llvm::FixedVectorType::get(b_.getInt1Ty(), width_));
        out.push_back(b_.Insert(slice));
      }
    }
    return slices_[v] = out;
  }

  // Inserted after the value, or before `user` if the value is not an instruction.
  Slices extracts(llvm::Value* v, llvm::Instruction& user) {
    b_.SetInsertPoint(&user);
    if (auto* i = llvm::dyn_cast<llvm::Instruction>(v)) {
      if (llvm::isa<llvm::PHINode>(i))
        b_.SetInsertPoint(i->getParent(), i->getParent()->getFirstInsertionPt());
      else
        b_.SetInsertPoint(i->getParent(), std::next(i->getIterator()));
    }
    Slices out;
    for (unsigned n = 0; n < lanes_; n += width_) {
      llvm::SmallVector<int, 32> lanes;
      for (unsigned l = 0; l < width_; ++l) lanes.push_back(static_cast<int>(n + l));
      out.push_back(b_.CreateShuffleVector(v, lanes));
    }
    return out;
  }

  llvm::Value* concatenated(llvm::ArrayRef<llvm::Value*> parts) {
    llvm::SmallVector<llvm::Value*, 8> left(parts);
    while (left.size() > 1) {
      llvm::SmallVector<llvm::Value*, 8> half;
      for (size_t n = 0; n < left.size(); n += 2) {
        llvm::SmallVector<int, 64> lanes;
        for (unsigned l = 0; l < 2 * lanes_of(left[n]); ++l) lanes.push_back(static_cast<int>(l));
        half.push_back(b_.CreateShuffleVector(left[n], left[n + 1], lanes));
      }
      left = half;
    }
    return left[0];
  }

  llvm::Function& function_;
  llvm::IRBuilder<> b_;
  unsigned vector_bits_, lanes_ = 0, width_ = 0;
  std::map<llvm::Value*, Slices> slices_;
};

}  // namespace

void split_masks(llvm::Function& function, int vector_bits) {
  MaskSplitter(function, static_cast<unsigned>(vector_bits)).run();
}

}  // namespace calque::codegen
