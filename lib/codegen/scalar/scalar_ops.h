#pragma once
// Elementwise primitives as LLVM IR. Every function accepts scalars and vectors: the operands of one call are all
// scalars or all vectors of one length. 16-bit floats appear here only as bits (i16) in conversions; callers compute
// with them in f32.
#include <string_view>
#include <utility>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"
#include "codegen/scalar/scalar_op.h"

namespace calque::codegen {

class ScalarOps {
 public:
  ScalarOps(llvm::IRBuilder<>& builder, const TargetInfo& target, const CodegenOptions& options);

  /// The type of one element in registers: bool is i1, 16-bit floats are i16 (their bits).
  llvm::Type* register_type(DType dtype) const;
  /// The type of one element in memory: bool is a byte.
  llvm::Type* memory_type(DType dtype) const;
  /// `element` itself, or a vector of it with as many lanes as `like`.
  llvm::Type* same_lanes(llvm::Type* element, llvm::Value* like) const;

  /// `dtype` is that of the operands (of the last one, for select). Not for convert, bitcast and 16-bit floats.
  /// `exact`: neither contracted nor reassociated, in any mode.
  llvm::Value* emit(ScalarOp op, DType dtype, llvm::ArrayRef<llvm::Value*> v, bool exact = false);
  /// The LLVM intrinsic of that name, overloaded on the type of the operands.
  llvm::Value* emit_intrinsic(std::string_view name, llvm::ArrayRef<llvm::Value*> v);
  /// Between bool, integers, f32 and f64.
  llvm::Value* convert(llvm::Value* v, DType from, DType to);
  /// f16 or bf16 bits to f32: exact (signalling NaNs become quiet).
  llvm::Value* widen(llvm::Value* bits, DType half);
  /// f32 to f16 or bf16 bits, to nearest even.
  llvm::Value* narrow(llvm::Value* v, DType half);
  /// bool, integers, f32 and f64 to f16 or bf16 bits, with one rounding to nearest even.
  llvm::Value* convert_to_half(llvm::Value* v, DType from, DType half);
  /// A float that is not contracted with what it is an operand of.
  llvm::Value* fenced(llvm::Value* v);
  /// Bits of one type read as another of equal width.
  llvm::Value* bitcast(llvm::Value* v, DType to);
  /// Values loaded from memory to registers and back: only bool differs.
  llvm::Value* from_memory(llvm::Value* v, DType dtype);
  llvm::Value* to_memory(llvm::Value* v, DType dtype);
  /// 1 / sqrt of f32 from the processor's estimate (of an x86 with fused multiply-add). Unless `may_be_small`, x is
  /// 2^-124 or more, or NaN.
  llvm::Value* inverse_root(llvm::Value* x, bool may_be_small);
  llvm::Constant* integer(llvm::Value* like, int64_t value) const;
  llvm::Constant* real(llvm::Value* like, double value) const;

 private:
  llvm::Value* contracted(llvm::Value* v) const;
  llvm::Value* emit_float(ScalarOp op, llvm::ArrayRef<llvm::Value*> v);
  llvm::Value* emit_integer(ScalarOp op, DType dtype, llvm::ArrayRef<llvm::Value*> v);
  llvm::Value* emit_bool(ScalarOp op, llvm::ArrayRef<llvm::Value*> v);
  llvm::Value* divide(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* quotient(DType dtype, llvm::Value* a, llvm::Value* b);
  /// The two words of Threefry-2x32 under the key v[0], v[1] of the counter v[2], v[3].
  std::pair<llvm::Value*, llvm::Value*> threefry(llvm::ArrayRef<llvm::Value*> v);
  llvm::Value* shift(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* count);
  llvm::Value* copysign(llvm::Value* magnitude, llvm::Value* sign);
  llvm::Value* call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> v);
  /// A vector of f32 or f64 as integers: the nearest bound for numbers out of range, 0 for NaN.
  llvm::Value* saturated(llvm::Value* v, DType from, DType to);
  llvm::Value* narrow_half(llvm::Value* v);
  llvm::Value* estimated_inverse_root(llvm::Value* x);
  llvm::Value* narrow_bfloat(llvm::Value* v);
  llvm::Value* round_to_odd(llvm::Value* v);
  llvm::Value* saturate_for_f16(llvm::Value* v, DType from);
  llvm::Value* keep_high_bits(llvm::Value* v, DType from, int dropped);

  llvm::IRBuilder<>& b_;
  const TargetInfo& target_;
  bool contract_, fast_, flushes_;
};

/// f16 or bf16.
constexpr bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }

}  // namespace calque::codegen
