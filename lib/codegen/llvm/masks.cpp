// Rewrites of masks for which LLVM 22 generates slow or wrong code.
#include "codegen/llvm/masks.h"

#include <algorithm>
#include <map>

#include "codegen/llvm/llvm_target.h"

namespace calque::codegen {

namespace {

// Without mask registers a vector of i1 that is live across blocks would be packed at the end of one block and unpacked
// in the next. It is passed as a vector as wide as those it masks. (After InstCombine, which would undo this.)
class MaskWidener {
 public:
  MaskWidener(llvm::Module& module, int vector_bits)
      : b_(module.getContext()), vector_bits_(static_cast<unsigned>(vector_bits)) {}

  void run(llvm::Function& function) {
    llvm::SmallVector<llvm::Instruction*, 16> masks;
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& i : block)
        if (i.getType()->isVectorTy() && i.getType()->getScalarType()->isIntegerTy(1) && leaves_block(i))
          masks.push_back(&i);
    for (llvm::Instruction* i : masks)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(i)) {
        b_.SetInsertPoint(phi);
        wide_[phi] = b_.CreatePHI(wide_type(phi), phi->getNumIncomingValues());
      }
    for (llvm::Instruction* i : masks)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(i))
        for (unsigned v = 0; v < phi->getNumIncomingValues(); ++v)
          llvm::cast<llvm::PHINode>(wide_[phi])->addIncoming(wide(phi->getIncomingValue(v)), phi->getIncomingBlock(v));
    for (llvm::Instruction* i : masks) {
      // Every block that uses the mask converts it to a vector of i1.
      std::map<llvm::BasicBlock*, llvm::Value*> local;
      llvm::Value* carried = wide(i);
      for (llvm::Use& use : llvm::make_early_inc_range(i->uses())) {
        auto* user = llvm::cast<llvm::Instruction>(use.getUser());
        llvm::BasicBlock* block = user->getParent();
        if (llvm::isa<llvm::PHINode>(user) || (block == i->getParent() && !llvm::isa<llvm::PHINode>(i))) continue;
        llvm::Value*& mask = local[block];
        if (!mask) {
          b_.SetInsertPoint(block, block->getFirstInsertionPt());
          mask = b_.CreateICmpSLT(carried, llvm::Constant::getNullValue(carried->getType()));
        }
        use.set(mask);
      }
    }
    for (llvm::Instruction* i : masks)
      if (llvm::isa<llvm::PHINode>(i)) {
        i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
        i->eraseFromParent();
      }
    wide_.clear();
  }

 private:
  static bool leaves_block(const llvm::Instruction& i) {
    if (llvm::isa<llvm::PHINode>(i)) return true;
    for (const llvm::User* user : i.users()) {
      const auto* at = llvm::cast<llvm::Instruction>(user);
      if (at->getParent() != i.getParent() || llvm::isa<llvm::PHINode>(at)) return true;
    }
    return false;
  }
  llvm::Type* wide_type(const llvm::Value* v) {
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
    return llvm::FixedVectorType::get(b_.getIntNTy(std::clamp(vector_bits_ / lanes, 8u, 64u)), lanes);
  }
  llvm::Value* wide(llvm::Value* v) {
    llvm::Value*& out = wide_[v];
    if (!out) {
      // Constants fold.
      if (auto* i = llvm::dyn_cast<llvm::Instruction>(v))
        b_.SetInsertPoint(i->getParent(), std::next(i->getIterator()));
      out = b_.CreateSExt(v, wide_type(v));
    }
    return out;
  }

  llvm::IRBuilder<> b_;
  unsigned vector_bits_;
  std::map<llvm::Value*, llvm::Value*> wide_;
};

}  // namespace

void widen_masks(llvm::Function& function, int vector_bits) {
  MaskWidener(*function.getParent(), vector_bits).run(function);
}

// LLVM 22 combines select(mask, masked load, other) into one masked load at the position of the select, even after a
// store to the same memory that followed the load. It does not look through a freeze.
void keep_masked_loads(llvm::Function& function) {
  llvm::SmallVector<llvm::IntrinsicInst*, 8> found;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block)
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
        if (call->getIntrinsicID() == llvm::Intrinsic::masked_load &&
            llvm::any_of(call->users(), [](const llvm::User* user) { return llvm::isa<llvm::SelectInst>(user); }))
          found.push_back(call);
  for (llvm::IntrinsicInst* call : found) {
    auto* frozen = new llvm::FreezeInst(call, "", std::next(call->getIterator()));
    call->replaceUsesWithIf(frozen, [&](const llvm::Use& use) { return use.getUser() != frozen; });
  }
}

// LLVM 22 turns a masked store with one constant lane into a scalar store, on x86 of the element before the vector was
// truncated: it writes too many bytes. (Seen with bf16: the four bytes of the f32 that was truncated.) This pass
// rewrites such a store, and the corresponding load, as the intended scalar access.
void write_single_lanes(llvm::Function& function) {
  llvm::SmallVector<llvm::IntrinsicInst*, 8> found;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block)
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
        if (call->getIntrinsicID() == llvm::Intrinsic::masked_store ||
            call->getIntrinsicID() == llvm::Intrinsic::masked_load)
          found.push_back(call);
  for (llvm::IntrinsicInst* call : found) {
    const bool store = call->getIntrinsicID() == llvm::Intrinsic::masked_store;
    const unsigned pointer = store ? 1 : 0, mask = store ? 2 : 1;
    const auto* lanes = llvm::dyn_cast<llvm::Constant>(call->getArgOperand(mask));
    if (!lanes) continue;
    auto* type = llvm::cast<llvm::FixedVectorType>(store ? call->getArgOperand(0)->getType() : call->getType());
    uint64_t lane = 0;
    unsigned active = 0;
    for (unsigned l = 0; l < type->getNumElements(); ++l) {
      const llvm::Constant* bit = lanes->getAggregateElement(l);
      if (bit && bit->isNullValue()) continue;
      lane = l;
      ++active;
    }
    if (active != 1) continue;
    llvm::IRBuilder<> b(call);
    llvm::Type* element = type->getElementType();
    llvm::Value* at = b.CreateConstInBoundsGEP1_64(element, call->getArgOperand(pointer), lane);
    const llvm::Align align = llvm::commonAlignment(call->getParamAlign(pointer).valueOrOne(),
                                                    lane * (element->getPrimitiveSizeInBits().getFixedValue() / 8));
    if (store) {
      b.CreateAlignedStore(b.CreateExtractElement(call->getArgOperand(0), lane), at, align);
    } else {
      llvm::Value* one = b.CreateAlignedLoad(element, at, align);
      call->replaceAllUsesWith(b.CreateInsertElement(call->getArgOperand(2), one, lane));
    }
    call->eraseFromParent();
  }
}

}  // namespace calque::codegen
