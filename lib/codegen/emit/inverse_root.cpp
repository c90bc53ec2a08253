// 1 / sqrt(x) in f32 from the processor's estimate y, truncated to 12 bits so that its square is exact. With
// e = 1 - x y^2, |e| < 2^-9, the result y + y e (1/2 + 3/8 e) omits 5/16 e^3 < 2^-28: its error is below 0.53 ulp. The
// code squares 2 y and multiplies by x / 4, whose exponent it decrements as an integer, so that x / 4 is never
// subnormal. At zero this makes e and the result infinite, at infinity the result is y = 0, and NaN stays NaN.
#include "codegen/scalar/scalar_ops.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// Mask that keeps 12 bits of the significand.
constexpr int64_t kTwelveBits = -4096;
/// 2 in the exponent field of an f32.
constexpr int64_t kTwo = 2LL << 23;

}  // namespace

Value* ScalarOps::estimated_inverse_root(Value* x) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const unsigned lanes = type ? type->getNumElements() : 1;
  const unsigned widest = target_.avx512 ? 16 : 8;
  if (lanes > widest) {
    // Split into halves and concatenated.
    llvm::SmallVector<int, 64> low, high, all;
    for (unsigned l = 0; l < lanes; ++l) {
      (l < lanes / 2 ? low : high).push_back(static_cast<int>(l));
      all.push_back(static_cast<int>(l));
    }
    return b_.CreateShuffleVector(estimated_inverse_root(b_.CreateShuffleVector(x, low)),
                                  estimated_inverse_root(b_.CreateShuffleVector(x, high)), all);
  }
  const unsigned width = std::max(lanes, 4U);
  Value* wide = type ? x : b_.CreateVectorSplat(width, x);
  if (type && lanes < width) {
    llvm::SmallVector<int, 4> repeated;
    for (unsigned l = 0; l < width; ++l) repeated.push_back(static_cast<int>(l % lanes));
    wide = b_.CreateShuffleVector(x, repeated);
  }
  if (target_.avx512) {
    const auto id = width == 16  ? llvm::Intrinsic::x86_avx512_rsqrt14_ps_512
                    : width == 8 ? llvm::Intrinsic::x86_avx512_rsqrt14_ps_256
                                 : llvm::Intrinsic::x86_avx512_rsqrt14_ps_128;
    auto* mask = b_.getIntNTy(std::max(width, 8U));
    wide = b_.CreateIntrinsic(
        id, {}, {wide, llvm::Constant::getNullValue(wide->getType()), llvm::Constant::getAllOnesValue(mask)});
  } else {
    wide = b_.CreateIntrinsic(width == 8 ? llvm::Intrinsic::x86_avx_rsqrt_ps_256 : llvm::Intrinsic::x86_sse_rsqrt_ps,
                              {}, {wide});
  }
  if (!type) return b_.CreateExtractElement(wide, uint64_t{0});
  if (lanes == width) return wide;
  llvm::SmallVector<int, 4> first;
  for (unsigned l = 0; l < lanes; ++l) first.push_back(static_cast<int>(l));
  return b_.CreateShuffleVector(wide, first);
}

Value* ScalarOps::inverse_root(Value* x, bool may_be_small) {
  const auto fma = [&](Value* a, Value* b, Value* c) { return call(llvm::Intrinsic::fma, {a, b, c}); };
  Value* small = nullptr;
  if (may_be_small) {
    small = b_.CreateFCmpOLT(x, real(x, 0x1p-100));
    x = b_.CreateSelect(small, b_.CreateFMul(x, real(x, 0x1p48)), x);
  }
  Value* estimate = b_.CreateBitCast(estimated_inverse_root(x), same_lanes(b_.getInt32Ty(), x));
  Value* y = b_.CreateBitCast(b_.CreateAnd(estimate, integer(estimate, kTwelveBits)), x->getType());
  Value* quarter = b_.CreateSub(b_.CreateBitCast(x, estimate->getType()), integer(estimate, kTwo));
  Value* twice = b_.CreateFAdd(y, y);
  Value* e = fma(b_.CreateFNeg(b_.CreateBitCast(quarter, x->getType())), b_.CreateFMul(twice, twice), real(x, 1));
  Value* root = fma(b_.CreateFMul(y, e), fma(e, real(x, 0.375), real(x, 0.5)), y);
  return small ? b_.CreateSelect(small, b_.CreateFMul(root, real(x, 0x1p24)), root) : root;
}

}  // namespace calque::codegen
