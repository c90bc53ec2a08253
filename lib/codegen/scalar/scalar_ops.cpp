// This file defines corner cases: integer division and shifts never trap or yield poison, maxima propagate NaN and
// order signed zeros. Floating-point flags are set on single instructions: contraction of products and sums by default,
// none in strict mode.
#include "codegen/scalar/scalar_ops.h"

#include <string>
#include <utility>

#include "calque/ir/errors.h"

#include "primitives/elementwise/random_bits.h"

namespace calque::codegen {

namespace intrinsic = llvm::Intrinsic;
using llvm::ArrayRef;
using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;

ScalarOps::ScalarOps(llvm::IRBuilder<>& builder, const TargetInfo& target, const CodegenOptions& options)
    : b_(builder),
      target_(target),
      contract_(!options.strict),
      fast_(options.fast_math && !options.strict),
      flushes_(options.flush_subnormals) {
  llvm::FastMathFlags flags;
  if (fast_) flags.setFast();
  b_.setFastMathFlags(flags);
}

Type* ScalarOps::register_type(DType d) const {
  switch (d) {
    case DType::bool_:
      return b_.getInt1Ty();
    case DType::i8:
    case DType::u8:
      return b_.getInt8Ty();
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return b_.getInt16Ty();
    case DType::i32:
    case DType::u32:
      return b_.getInt32Ty();
    case DType::i64:
    case DType::u64:
      return b_.getInt64Ty();
    case DType::f32:
      return b_.getFloatTy();
    case DType::f64:
      return b_.getDoubleTy();
    case DType::c64:
    case DType::c128:
      break;
  }
  throw CompileError("compile: kernels have no complex numbers");
}

Type* ScalarOps::memory_type(DType d) const { return is_bool(d) ? b_.getInt8Ty() : register_type(d); }

Type* ScalarOps::same_lanes(Type* element, Value* like) const {
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(like->getType()))
    return llvm::FixedVectorType::get(element, v->getNumElements());
  return element;
}

llvm::Constant* ScalarOps::integer(Value* like, int64_t value) const {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true, true);
}

llvm::Constant* ScalarOps::real(Value* like, double value) const {
  return llvm::ConstantFP::get(like->getType(), value);
}

Value* ScalarOps::contracted(Value* v) const {
  if (contract_ && !fast_)
    if (auto* i = llvm::dyn_cast<llvm::Instruction>(v)) i->setHasAllowContract(true);
  return v;
}

Value* ScalarOps::call(ID id, ArrayRef<Value*> v) { return b_.CreateIntrinsic(id, {v[0]->getType()}, v); }

// A flag of a corner case that would give poison (zero for llvm.ctlz) is not set.
Value* ScalarOps::emit_intrinsic(std::string_view name, ArrayRef<Value*> v) {
  const ID id = intrinsic::lookupIntrinsicID(llvm::StringRef(name));
  if (id == intrinsic::not_intrinsic) throw CompileError("internal: LLVM has no intrinsic " + std::string(name));
  llvm::SmallVector<Value*, 4> operands(v);
  const llvm::FunctionType* const type = intrinsic::getType(b_.getContext(), id, {v[0]->getType()});
  while (operands.size() < type->getNumParams()) operands.push_back(b_.getFalse());
  return b_.CreateIntrinsic(id, {v[0]->getType()}, operands);
}

Value* ScalarOps::emit(ScalarOp op, DType dtype, ArrayRef<Value*> v, bool exact) {
  if (exact) {
    const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    const bool contract = std::exchange(contract_, false);
    Value* result = emit(op, dtype, v);
    contract_ = contract;
    return result;
  }
  if (op == ScalarOp::select) return b_.CreateSelect(v[0], v[1], v[2]);
  if (op == ScalarOp::clamp) {
    Value* raised = emit(ScalarOp::max, dtype, {v[1], v[0]});
    return emit(ScalarOp::min, dtype, {raised, v[2]});
  }
  Value* result = is_bool(dtype)       ? emit_bool(op, v)
                  : is_floating(dtype) ? emit_float(op, v)
                                       : emit_integer(op, dtype, v);
  if (!result) throw CompileError("compile: an elementwise operation is not defined on " + std::string(name(dtype)));
  return result;
}

Value* ScalarOps::emit_bool(ScalarOp op, ArrayRef<Value*> v) {
  switch (op) {
    case ScalarOp::not_:
      return b_.CreateNot(v[0]);
    case ScalarOp::and_:
    case ScalarOp::min:
    case ScalarOp::mul:
      return b_.CreateAnd(v[0], v[1]);
    case ScalarOp::or_:
    case ScalarOp::max:
    case ScalarOp::add:
      return b_.CreateOr(v[0], v[1]);
    case ScalarOp::xor_:
    case ScalarOp::ne:
      return b_.CreateXor(v[0], v[1]);
    case ScalarOp::eq:
      return b_.CreateNot(b_.CreateXor(v[0], v[1]));
    case ScalarOp::lt:
      return b_.CreateAnd(b_.CreateNot(v[0]), v[1]);
    case ScalarOp::gt:
      return b_.CreateAnd(v[0], b_.CreateNot(v[1]));
    case ScalarOp::le:
      return b_.CreateOr(b_.CreateNot(v[0]), v[1]);
    case ScalarOp::ge:
      return b_.CreateOr(v[0], b_.CreateNot(v[1]));
    default:
      return nullptr;
  }
}

Value* ScalarOps::emit_float(ScalarOp op, ArrayRef<Value*> v) {
  switch (op) {
    case ScalarOp::neg:
      return b_.CreateFNeg(v[0]);
    case ScalarOp::abs:
      return call(intrinsic::fabs, v);
    case ScalarOp::sign: {
      // Zeros keep their sign, NaN stays NaN.
      Value* one = copysign(real(v[0], 1.0), v[0]);
      Value* const zero = real(v[0], 0.0);
      if (!flushes_) return b_.CreateSelect(b_.CreateFCmpUEQ(v[0], zero), v[0], one);
      // A subnormal number is equal to zero here.
      Value* const number = b_.CreateSelect(b_.CreateFCmpOEQ(v[0], zero), copysign(zero, v[0]), one);
      return b_.CreateSelect(b_.CreateFCmpUNO(v[0], v[0]), v[0], number);
    }
    case ScalarOp::floor:
      return call(intrinsic::floor, v);
    case ScalarOp::ceil:
      return call(intrinsic::ceil, v);
    case ScalarOp::trunc:
      return call(intrinsic::trunc, v);
    case ScalarOp::round:
      return call(intrinsic::roundeven, v);
    case ScalarOp::round_half_away:
      return call(intrinsic::round, v);
    case ScalarOp::sqrt:
      return call(intrinsic::sqrt, v);
    case ScalarOp::add:
      return contracted(b_.CreateFAdd(v[0], v[1]));
    case ScalarOp::sub:
      return contracted(b_.CreateFSub(v[0], v[1]));
    case ScalarOp::mul:
      return contracted(b_.CreateFMul(v[0], v[1]));
    case ScalarOp::div:
      return b_.CreateFDiv(v[0], v[1]);
    case ScalarOp::max:
      return call(intrinsic::maximum, v);
    case ScalarOp::min:
      return call(intrinsic::minimum, v);
    case ScalarOp::copysign:
      return copysign(v[0], v[1]);
    case ScalarOp::fma:
      return call(intrinsic::fma, v);
    case ScalarOp::eq:
      return b_.CreateFCmpOEQ(v[0], v[1]);
    case ScalarOp::ne:
      return b_.CreateFCmpUNE(v[0], v[1]);
    case ScalarOp::lt:
      return b_.CreateFCmpOLT(v[0], v[1]);
    case ScalarOp::le:
      return b_.CreateFCmpOLE(v[0], v[1]);
    case ScalarOp::gt:
      return b_.CreateFCmpOGT(v[0], v[1]);
    case ScalarOp::ge:
      return b_.CreateFCmpOGE(v[0], v[1]);
    default:
      return nullptr;
  }
}

// LLVM folds conversions into the sign operand of llvm.copysign, and then requires conversions (f64 to f16) that only
// libraries have.
Value* ScalarOps::copysign(Value* magnitude, Value* sign) {
  Type* const word = same_lanes(b_.getIntNTy(magnitude->getType()->getScalarSizeInBits()), magnitude);
  Value* m = b_.CreateBitCast(magnitude, word);
  Value* s = b_.CreateBitCast(sign, word);
  llvm::Constant* const top = integer(m, INT64_MIN >> (64 - word->getScalarSizeInBits()));
  Value* bits = b_.CreateOr(b_.CreateAnd(m, b_.CreateNot(top)), b_.CreateAnd(s, top));
  return b_.CreateBitCast(bits, magnitude->getType());
}

Value* ScalarOps::emit_integer(ScalarOp op, DType dtype, ArrayRef<Value*> v) {
  const bool is_signed = is_signed_integer(dtype);
  Type* const type = v[0]->getType();
  switch (op) {
    case ScalarOp::neg:
      return b_.CreateNeg(v[0]);
    case ScalarOp::abs:
      return is_signed ? b_.CreateIntrinsic(intrinsic::abs, {type}, {v[0], b_.getFalse()}) : v[0];
    case ScalarOp::sign: {
      Value* positive = b_.CreateZExt(
          b_.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_UGT, v[0], integer(v[0], 0)), type);
      return is_signed ? b_.CreateOr(positive, b_.CreateAShr(v[0], integer(v[0], type->getScalarSizeInBits() - 1)))
                       : positive;
    }
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::round:
    case ScalarOp::round_half_away:
      return v[0];
    case ScalarOp::not_:
      return b_.CreateNot(v[0]);
    case ScalarOp::add:
      return b_.CreateAdd(v[0], v[1]);
    case ScalarOp::sub:
      return b_.CreateSub(v[0], v[1]);
    case ScalarOp::mul:
      return b_.CreateMul(v[0], v[1]);
    case ScalarOp::div:
    case ScalarOp::rem:
      return divide(op, dtype, v[0], v[1]);
    case ScalarOp::max:
      return call(is_signed ? intrinsic::smax : intrinsic::umax, v);
    case ScalarOp::min:
      return call(is_signed ? intrinsic::smin : intrinsic::umin, v);
    case ScalarOp::and_:
      return b_.CreateAnd(v[0], v[1]);
    case ScalarOp::or_:
      return b_.CreateOr(v[0], v[1]);
    case ScalarOp::xor_:
      return b_.CreateXor(v[0], v[1]);
    case ScalarOp::shl:
    case ScalarOp::shr_arithmetic:
    case ScalarOp::shr_logical:
      return shift(op, dtype, v[0], v[1]);
    case ScalarOp::eq:
      return b_.CreateICmpEQ(v[0], v[1]);
    case ScalarOp::ne:
      return b_.CreateICmpNE(v[0], v[1]);
    case ScalarOp::lt:
      return is_signed ? b_.CreateICmpSLT(v[0], v[1]) : b_.CreateICmpULT(v[0], v[1]);
    case ScalarOp::le:
      return is_signed ? b_.CreateICmpSLE(v[0], v[1]) : b_.CreateICmpULE(v[0], v[1]);
    case ScalarOp::gt:
      return is_signed ? b_.CreateICmpSGT(v[0], v[1]) : b_.CreateICmpUGT(v[0], v[1]);
    case ScalarOp::ge:
      return is_signed ? b_.CreateICmpSGE(v[0], v[1]) : b_.CreateICmpUGE(v[0], v[1]);
    case ScalarOp::random_bits32: {
      const auto [x0, x1] = threefry(v);
      return b_.CreateXor(x0, x1);
    }
    case ScalarOp::random_bits64: {
      const auto [x0, x1] = threefry(v);
      Type* const wide = same_lanes(b_.getInt64Ty(), x0);
      Value* const high = b_.CreateZExt(x0, wide);
      return b_.CreateOr(b_.CreateShl(high, integer(high, 32)), b_.CreateZExt(x1, wide));
    }
    default:
      return nullptr;
  }
}

std::pair<Value*, Value*> ScalarOps::threefry(ArrayRef<Value*> v) {
  using primitives::Threefry;
  Value* const keys[] = {v[0], v[1], b_.CreateXor(b_.CreateXor(v[0], v[1]), integer(v[0], Threefry::kParity))};
  Value *x0 = b_.CreateAdd(v[2], keys[0]), *x1 = b_.CreateAdd(v[3], keys[1]);
  for (int round = 0; round < Threefry::kRounds;) {
    x0 = b_.CreateAdd(x0, x1);
    x1 = call(intrinsic::fshl, {x1, x1, integer(x1, Threefry::kRotations[static_cast<size_t>(round % 8)])});
    x1 = b_.CreateXor(x1, x0);
    if (++round % 4 != 0) continue;
    const int injection = round / 4;
    x0 = b_.CreateAdd(x0, keys[injection % 3]);
    x1 = b_.CreateAdd(x1, b_.CreateAdd(keys[(injection + 1) % 3], integer(x1, injection)));
  }
  return {x0, x1};
}

Value* ScalarOps::shift(ScalarOp op, DType dtype, Value* a, Value* count) {
  const int64_t bits = a->getType()->getScalarSizeInBits();
  Value* fits = b_.CreateICmpULT(count, integer(count, bits));
  if (op == ScalarOp::shr_arithmetic && is_signed_integer(dtype))
    return b_.CreateAShr(a, b_.CreateSelect(fits, count, integer(count, bits - 1)));
  // The poison of the shift is never selected.
  Value* shifted = op == ScalarOp::shl ? b_.CreateShl(a, count) : b_.CreateLShr(a, count);
  return b_.CreateSelect(fits, shifted, integer(a, 0));
}

// The quotient for a divisor that is neither zero nor (for MIN) -1. Vectors of integers up to 32 bits divide as floats:
// |a/b - n| >= 1/|b| for every integer n it does not equal, which exceeds the rounding error of the wider format.
Value* ScalarOps::quotient(DType dtype, Value* a, Value* b) {
  const bool is_signed = is_signed_integer(dtype);
  const unsigned bits = a->getType()->getScalarSizeInBits();
  if (!a->getType()->isVectorTy() || bits > 32 || llvm::isa<llvm::Constant>(b))
    return is_signed ? b_.CreateSDiv(a, b) : b_.CreateUDiv(a, b);
  Type* real = same_lanes(bits == 32 ? b_.getDoubleTy() : b_.getFloatTy(), a);
  Value* x = is_signed ? b_.CreateSIToFP(a, real) : b_.CreateUIToFP(a, real);
  Value* y = is_signed ? b_.CreateSIToFP(b, real) : b_.CreateUIToFP(b, real);
  Value* q = b_.CreateFDiv(x, y);
  if (auto* i = llvm::dyn_cast<llvm::Instruction>(q); i && fast_) i->setFastMathFlags({});
  if (bits == 32) return is_signed ? b_.CreateFPToSI(q, a->getType()) : b_.CreateFPToUI(q, a->getType());
  Type* word = same_lanes(b_.getInt32Ty(), a);
  return b_.CreateTrunc(b_.CreateFPToSI(q, word), a->getType());
}

Value* ScalarOps::divide(ScalarOp op, DType dtype, Value* a, Value* b) {
  const bool is_signed = is_signed_integer(dtype);
  Value* zero = b_.CreateICmpEQ(b, integer(b, 0));
  Value* unsafe = zero;
  if (is_signed) {
    const int64_t lowest = INT64_MIN >> (64 - a->getType()->getScalarSizeInBits());
    Value* overflow = b_.CreateAnd(b_.CreateICmpEQ(a, integer(a, lowest)), b_.CreateICmpEQ(b, integer(b, -1)));
    unsafe = b_.CreateOr(zero, overflow);
  }
  // Dividing by 1 instead gives MIN with remainder 0 for MIN / -1, as defined.
  Value* divisor = b_.CreateSelect(unsafe, integer(b, 1), b);
  if (op == ScalarOp::div) return b_.CreateSelect(zero, integer(a, -1), quotient(dtype, a, divisor));
  Value* rest;
  if (a->getType()->isVectorTy())
    rest = b_.CreateSub(a, b_.CreateMul(quotient(dtype, a, divisor), divisor));
  else
    rest = is_signed ? b_.CreateSRem(a, divisor) : b_.CreateURem(a, divisor);
  return b_.CreateSelect(zero, a, rest);
}

}  // namespace calque::codegen
