// Conversions between element types: saturating from floats to integers (NaN gives 0), one rounding to 16-bit floats.
// If the target has no instruction for f16, integer arithmetic is used: a library function may be missing.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/scalar/scalar_ops.h"

namespace calque::codegen {

using llvm::Type;
using llvm::Value;

Value* ScalarOps::convert(Value* v, DType from, DType to) {
  if (from == to) return v;
  Type* type = same_lanes(register_type(to), v);
  if (is_bool(to)) {
    return is_floating(from) ? b_.CreateFCmpUNE(v, real(v, 0.0)) : b_.CreateICmpNE(v, integer(v, 0));
  }
  if (is_floating(from)) {
    if (is_floating(to)) {
      return size_of(to) > size_of(from) ? b_.CreateFPExt(v, type) : b_.CreateFPTrunc(v, type);
    }
    // The x86 back end splits the saturating intrinsics of vectors into lanes, with two branches for each.
    if (target_.x86 && v->getType()->isVectorTy()) return saturated(v, from, to);
    const auto id = is_signed_integer(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {type, v->getType()}, {v});
  }
  if (is_floating(to)) return is_signed_integer(from) ? b_.CreateSIToFP(v, type) : b_.CreateUIToFP(v, type);
  return is_signed_integer(from) ? b_.CreateSExtOrTrunc(v, type) : b_.CreateZExtOrTrunc(v, type);
}

Value* ScalarOps::saturated(Value* v, DType from, DType to) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  const bool is_signed = is_signed_integer(to);
  const int digits = static_cast<int>(8 * size_of(to)) - (is_signed ? 1 : 0);
  // Conversions of vectors are to 32 bits or more.
  Type* const type = same_lanes(b_.getIntNTy(std::max<unsigned>(32, 8 * size_of(to))), v);
  const auto rounded = [&](Value* x) {
    Value* r = is_signed || digits < 32 ? b_.CreateFPToSI(x, type) : b_.CreateFPToUI(x, type);
    return b_.CreateTrunc(r, same_lanes(register_type(to), v));
  };
  const double bound = std::ldexp(1.0, digits);
  Value* const lowest = real(v, is_signed ? -bound : 0.0);
  const auto raised = [&](Value* x) { return b_.CreateSelect(b_.CreateFCmpOGT(x, lowest), x, lowest); };
  if (digits <= (from == DType::f32 ? std::numeric_limits<float>::digits : std::numeric_limits<double>::digits)) {
    // The greatest integer is a number of the dtype. NaN becomes the lowest number, which is 0 if there is no sign.
    Value* const greatest = real(v, bound - 1);
    Value* x = is_signed ? b_.CreateSelect(b_.CreateFCmpORD(v, v), v, real(v, 0.0)) : v;
    x = raised(x);
    return rounded(b_.CreateSelect(b_.CreateFCmpOLT(x, greatest), x, greatest));
  }
  Value* const is_less = b_.CreateFCmpOLT(v, real(v, bound));
  Value* const r = rounded(raised(b_.CreateSelect(is_less, v, real(v, 0.0))));
  Value* const greatest = integer(r, static_cast<int64_t>(~uint64_t{0} >> (64 - digits)));
  return b_.CreateSelect(b_.CreateFCmpOGE(v, real(v, bound)), greatest, r);
}

Value* ScalarOps::fenced(Value* v) {
  if (!contract_ || llvm::isa<llvm::Constant>(v)) return v;
  return b_.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {v->getType()}, {v});
}

Value* ScalarOps::bitcast(Value* v, DType to) { return b_.CreateBitCast(v, same_lanes(register_type(to), v)); }

Value* ScalarOps::from_memory(Value* v, DType dtype) { return is_bool(dtype) ? b_.CreateICmpNE(v, integer(v, 0)) : v; }

Value* ScalarOps::to_memory(Value* v, DType dtype) {
  return is_bool(dtype) ? b_.CreateZExt(v, same_lanes(b_.getInt8Ty(), v)) : v;
}

Value* ScalarOps::widen(Value* bits, DType half) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Type* const word = same_lanes(b_.getInt32Ty(), bits);
  Type* const single = same_lanes(b_.getFloatTy(), bits);
  if (half == DType::bf16) return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(bits, word), 16), single);
  if (target_.half_conversion) return b_.CreateFPExt(b_.CreateBitCast(bits, same_lanes(b_.getHalfTy(), bits)), single);
  // An exact product adjusts the exponent, also of subnormals; infinity and NaN are handled separately.
  Value* x = b_.CreateZExt(bits, word);
  Value* sign = b_.CreateShl(b_.CreateAnd(x, integer(x, 0x8000)), 16);
  Value* magnitude = b_.CreateAnd(x, integer(x, 0x7fff));
  Value* shifted = b_.CreateShl(magnitude, 13);
  Value* scaled = b_.CreateBitCast(shifted, single);
  scaled = b_.CreateBitCast(b_.CreateFMul(scaled, real(scaled, 0x1p112)), word);
  Value* quiet =
      b_.CreateSelect(b_.CreateICmpUGT(magnitude, integer(x, 0x7c00)), integer(x, 0x7fc00000), integer(x, 0x7f800000));
  Value* special = b_.CreateICmpUGE(magnitude, integer(x, 0x7c00));
  Value* value = b_.CreateSelect(special, b_.CreateOr(shifted, quiet), scaled);
  return b_.CreateBitCast(b_.CreateOr(value, sign), single);
}

Value* ScalarOps::narrow(Value* v, DType half) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  return half == DType::bf16 ? narrow_bfloat(v) : narrow_half(v);
}

Value* ScalarOps::narrow_bfloat(Value* v) {
  Type* const word = same_lanes(b_.getInt32Ty(), v);
  Value* x = b_.CreateBitCast(v, word);
  Value* high = b_.CreateLShr(x, 16);
  Value* odd = b_.CreateAnd(high, integer(x, 1));
  Value* rounded = b_.CreateLShr(b_.CreateAdd(x, b_.CreateAdd(odd, integer(x, 0x7fff))), 16);
  Value* nan = b_.CreateICmpUGT(b_.CreateAnd(x, integer(x, 0x7fffffff)), integer(x, 0x7f800000));
  Value* result = b_.CreateSelect(nan, b_.CreateOr(high, integer(x, 0x40)), rounded);
  return b_.CreateTrunc(result, same_lanes(b_.getInt16Ty(), v));
}

Value* ScalarOps::narrow_half(Value* v) {
  Type* const bits16 = same_lanes(b_.getInt16Ty(), v);
  if (target_.half_conversion) return b_.CreateBitCast(b_.CreateFPTrunc(v, same_lanes(b_.getHalfTy(), v)), bits16);
  Type* const word = same_lanes(b_.getInt32Ty(), v);
  Value* x = b_.CreateBitCast(v, word);
  Value* sign = b_.CreateLShr(b_.CreateAnd(x, integer(x, 0x80000000)), 16);
  Value* magnitude = b_.CreateAnd(x, integer(x, 0x7fffffff));
  // Normal results: adjusts the exponent and adds half a unit, less one if even, below the kept bits.
  Value* odd = b_.CreateAnd(b_.CreateLShr(x, 13), integer(x, 1));
  Value* normal = b_.CreateAdd(magnitude, b_.CreateAdd(odd, integer(x, 0xfff - (112LL << 23))));
  normal = b_.CreateLShr(normal, 13);
  // Subnormal results: adding 0.5 aligns the unit of f16's subnormals with f32's last bit, and the sum rounds.
  Value* sum = b_.CreateBitCast(magnitude, same_lanes(b_.getFloatTy(), v));
  sum = b_.CreateFAdd(sum, real(sum, 0.5));
  Value* subnormal = b_.CreateSub(b_.CreateBitCast(sum, word), integer(x, 0x3f000000));
  Value* nan = b_.CreateOr(b_.CreateAnd(b_.CreateLShr(x, 13), integer(x, 0x3ff)), integer(x, 0x7e00));
  Value* r = b_.CreateSelect(b_.CreateICmpULT(magnitude, integer(x, 0x38800000)), subnormal, normal);
  r = b_.CreateSelect(b_.CreateICmpUGE(magnitude, integer(x, 0x477ff000)), integer(x, 0x7c00), r);
  r = b_.CreateSelect(b_.CreateICmpUGT(magnitude, integer(x, 0x7f800000)), nan, r);
  return b_.CreateTrunc(b_.CreateOr(r, sign), bits16);
}

Value* ScalarOps::convert_to_half(Value* v, DType from, DType half) {
  if (from == DType::f64) return narrow(round_to_odd(v), half);
  if (!is_integer(from) || size_of(from) < 4) return narrow(convert(v, from, DType::f32), half);
  if (half == DType::f16) return narrow(saturate_for_f16(v, from), half);
  // f32 holds 24 of an integer's 32 bits, f64 53 of 64.
  if (size_of(from) == 4) return narrow(convert(keep_high_bits(v, from, 8), from, DType::f32), half);
  return narrow(round_to_odd(convert(keep_high_bits(v, from, 11), from, DType::f64)), half);
}

/// An integer of 32 or 64 bits as f32 that rounds to the same f16: 2^16 if it becomes infinite, else exact.
Value* ScalarOps::saturate_for_f16(Value* v, DType from) {
  constexpr int64_t kInfinite = 1 << 16;
  Type* const word = same_lanes(b_.getInt32Ty(), v);
  const bool is_signed = is_signed_integer(from);
  Value* limited =
      b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, v, integer(v, kInfinite));
  if (is_signed) limited = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, limited, integer(v, -kInfinite));
  return b_.CreateSIToFP(b_.CreateTrunc(limited, word), same_lanes(b_.getFloatTy(), v));
}

/// Rounds integers to odd multiples of 2^dropped, unless they are multiples or have no more than width - dropped bits:
/// the next float type holds the result, and rounding it to 8 bits rounds v. In two's complement the odd multiple next
/// to a number that is not a multiple has bit `dropped` set, also for negative numbers.
Value* ScalarOps::keep_high_bits(Value* v, DType from, int dropped) {
  const int kept = static_cast<int>(8 * size_of(from)) - dropped;
  const int64_t low = (int64_t{1} << dropped) - 1, limit = int64_t{1} << kept;
  Value* carry = b_.CreateAdd(b_.CreateAnd(v, integer(v, low)), integer(v, low));
  Value* odd = b_.CreateAnd(b_.CreateOr(v, carry), integer(v, ~low));
  Value* small = is_signed_integer(from) ? b_.CreateICmpULT(b_.CreateAdd(v, integer(v, limit)), integer(v, 2 * limit))
                                         : b_.CreateICmpULT(v, integer(v, limit));
  return b_.CreateSelect(small, v, odd);
}

/// f64 to f32 rounded to odd: narrowing the result further rounds as if in one step.
Value* ScalarOps::round_to_odd(Value* v) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Type* const single = same_lanes(b_.getFloatTy(), v);
  Type* const word = same_lanes(b_.getInt32Ty(), v);
  Value* nearest = b_.CreateFPTrunc(v, single);
  Value* back = b_.CreateFPExt(nearest, v->getType());
  const auto magnitude = [&](Value* x) { return b_.CreateIntrinsic(llvm::Intrinsic::fabs, {x->getType()}, {x}); };
  Value* inexact = b_.CreateFCmpONE(back, v);
  Value* too_large = b_.CreateFCmpOGT(magnitude(back), magnitude(v));
  Value* bits = b_.CreateBitCast(nearest, word);
  bits = b_.CreateAdd(bits, b_.CreateSExt(too_large, word));
  bits = b_.CreateOr(bits, b_.CreateZExt(inexact, word));
  return b_.CreateBitCast(bits, single);
}

}  // namespace calque::codegen
