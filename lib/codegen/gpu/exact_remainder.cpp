// NVPTX makes a division and one fma of frem, which is right only for small quotients. Here it is long division of the
// significands, as many bits of the quotient at a time as fit beside them: exact for every input.
#include "codegen/gpu/device_passes.h"

namespace calque::codegen {

namespace {

using llvm::Value;

// The function for one type. x = sign * mx * 2^ex and y = my * 2^ey in units of the least subnormal.
class RemainderEmitter {
 public:
  RemainderEmitter(llvm::Module& module, llvm::Type* real)
      : module_(module),
        real_(real),
        b_(module.getContext()),
        word_(b_.getIntNTy(real->getScalarSizeInBits())),
        fraction_bits_(static_cast<unsigned>(real->getFPMantissaWidth()) - 1) {}
  llvm::Function* emit();

 private:
  struct Parts {
    Value* significand;  ///< i64, of fraction_bits_ + 1 bits
    Value* exponent;     ///< i64
  };
  Value* number(uint64_t n) { return b_.getInt64(n); }
  Value* infinity() {
    return llvm::ConstantInt::get(word_, llvm::APFloat::getInf(real_->getFltSemantics()).bitcastToAPInt());
  }
  /// By how much a number must be shifted up to have fraction_bits_ + 1 bits.
  Value* missing_bits(Value* n) {
    Value* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, n, b_.getFalse());
    return b_.CreateSub(zeros, number(63 - fraction_bits_));
  }
  Parts split(Value* magnitude);
  Value* divide(llvm::Function* f, const Parts& x, const Parts& y);
  Value* join(Value* rest, Value* exponent);

  llvm::Module& module_;
  llvm::Type* real_;
  llvm::IRBuilder<> b_;
  llvm::IntegerType* word_;
  unsigned fraction_bits_;
};

RemainderEmitter::Parts RemainderEmitter::split(Value* magnitude) {
  Value* wide = b_.CreateZExt(magnitude, b_.getInt64Ty());
  Value* exponent = b_.CreateLShr(wide, fraction_bits_);
  Value* leading = number(uint64_t{1} << fraction_bits_);
  Value* fraction = b_.CreateAnd(wide, b_.CreateSub(leading, number(1)));
  Value* subnormal = b_.CreateICmpEQ(exponent, number(0));
  Value* shift = missing_bits(fraction);
  return {b_.CreateSelect(subnormal, b_.CreateShl(fraction, shift), b_.CreateOr(fraction, leading)),
          b_.CreateSelect(subnormal, b_.CreateSub(number(1), shift), exponent)};
}

/// mx * 2^(ex - ey) modulo my.
Value* RemainderEmitter::divide(llvm::Function* f, const Parts& x, const Parts& y) {
  llvm::LLVMContext& context = module_.getContext();
  auto* head = llvm::BasicBlock::Create(context, "", f);
  auto* body = llvm::BasicBlock::Create(context, "", f);
  auto* done = llvm::BasicBlock::Create(context, "", f);
  Value* first = b_.CreateURem(x.significand, y.significand);
  Value* all = b_.CreateSub(x.exponent, y.exponent);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* rest = b_.CreatePHI(b_.getInt64Ty(), 2);
  llvm::PHINode* left = b_.CreatePHI(b_.getInt64Ty(), 2);
  b_.CreateCondBr(b_.CreateAnd(b_.CreateICmpSGT(left, number(0)), b_.CreateICmpNE(rest, number(0))), body, done);
  b_.SetInsertPoint(body);
  Value* step = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, number(63 - fraction_bits_));
  Value* next = b_.CreateURem(b_.CreateShl(rest, step), y.significand);
  rest->addIncoming(first, before);
  rest->addIncoming(next, body);
  left->addIncoming(all, before);
  left->addIncoming(b_.CreateSub(left, step), body);
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  return rest;
}

Value* RemainderEmitter::join(Value* rest, Value* exponent) {
  Value* shift = missing_bits(rest);
  Value* scaled = b_.CreateShl(rest, shift);
  Value* power = b_.CreateSub(exponent, shift);
  Value* fraction = b_.CreateAnd(scaled, number((uint64_t{1} << fraction_bits_) - 1));
  Value* normal = b_.CreateOr(b_.CreateShl(power, fraction_bits_), fraction);
  Value* down = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(number(1), power), number(0));
  Value* subnormal = b_.CreateLShr(scaled, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, down, number(63)));
  Value* bits = b_.CreateSelect(b_.CreateICmpSGT(power, number(0)), normal, subnormal);
  return b_.CreateTrunc(b_.CreateSelect(b_.CreateICmpEQ(rest, number(0)), number(0), bits), word_);
}

llvm::Function* RemainderEmitter::emit() {
  auto* type = llvm::FunctionType::get(real_, {real_, real_}, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "calque.remainder", module_);
  f->setDoesNotThrow();
  const auto block = [&] { return llvm::BasicBlock::Create(module_.getContext(), "", f); };
  b_.SetInsertPoint(block());
  llvm::BasicBlock* start = b_.GetInsertBlock();
  llvm::BasicBlock* divided = block();
  llvm::BasicBlock* end = block();
  Value* mask = llvm::ConstantInt::get(word_, llvm::APInt::getSignedMaxValue(word_->getBitWidth()));
  Value* x = b_.CreateBitCast(f->getArg(0), word_);
  Value* ax = b_.CreateAnd(x, mask);
  Value* ay = b_.CreateAnd(b_.CreateBitCast(f->getArg(1), word_), mask);
  Value* none = b_.CreateOr(b_.CreateICmpEQ(ay, llvm::ConstantInt::get(word_, 0)),
                            b_.CreateOr(b_.CreateICmpUGE(ax, infinity()), b_.CreateICmpUGT(ay, infinity())));
  Value* simple = b_.CreateSelect(none, llvm::ConstantFP::getNaN(real_), f->getArg(0));
  b_.CreateCondBr(b_.CreateOr(none, b_.CreateICmpULT(ax, ay)), end, divided);
  b_.SetInsertPoint(divided);
  const Parts px = split(ax), py = split(ay);
  Value* rest = divide(f, px, py);
  Value* sign = b_.CreateAnd(x, b_.CreateNot(mask));
  Value* exact = b_.CreateBitCast(b_.CreateOr(join(rest, py.exponent), sign), real_);
  llvm::BasicBlock* last = b_.GetInsertBlock();
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
  llvm::PHINode* result = b_.CreatePHI(real_, 2);
  result->addIncoming(simple, start);
  result->addIncoming(exact, last);
  b_.CreateRet(result);
  return f;
}

}  // namespace

void expand_remainders(llvm::Module& module) {
  std::vector<llvm::Instruction*> all;
  for (llvm::Function& f : module)
    for (llvm::BasicBlock& block : f)
      for (llvm::Instruction& i : block)
        if (i.getOpcode() == llvm::Instruction::FRem) all.push_back(&i);
  llvm::Function* functions[2] = {};
  llvm::IRBuilder<> b(module.getContext());
  for (llvm::Instruction* i : all) {
    llvm::Type* real = i->getType()->getScalarType();
    llvm::Function*& function = functions[real->isDoubleTy()];
    if (!function) function = RemainderEmitter(module, real).emit();
    b.SetInsertPoint(i);
    Value* result;
    if (auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(i->getType())) {
      result = llvm::PoisonValue::get(lanes);
      for (uint64_t l = 0; l < lanes->getNumElements(); ++l)
        result = b.CreateInsertElement(result,
                                       b.CreateCall(function, {b.CreateExtractElement(i->getOperand(0), l),
                                                               b.CreateExtractElement(i->getOperand(1), l)}),
                                       l);
    } else {
      result = b.CreateCall(function, {i->getOperand(0), i->getOperand(1)});
    }
    i->replaceAllUsesWith(result);
    i->eraseFromParent();
  }
}

}  // namespace calque::codegen
