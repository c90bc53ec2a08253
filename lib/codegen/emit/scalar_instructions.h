#pragma once
// Straight-line instructions of a kernel: constants, scalar operations and functions of lib/math.
#include "codegen/emit/reg.h"
#include "codegen/scalar/math_functions.h"
#include "codegen/scalar/scalar_op.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

class ScalarInstructions {
 public:
  explicit ScalarInstructions(KernelEmitter& kernel);
  Reg constant(const kernel::Instruction& i);
  Reg scalar(const kernel::Instruction& i);

 private:
  using Instruction = kernel::Instruction;
  using Id = kernel::Id;

  Reg convert(const Instruction& i);
  Reg rounded(const Reg& r, DType d);
  Reg bitcast(const Instruction& i);
  /// The operation of the instruction on values of dtype `d`.
  llvm::Value* emit(const Instruction& i, ScalarOp op, DType d, llvm::ArrayRef<llvm::Value*> v);
  Reg half_op(ScalarOp op, const Instruction& i);
  bool linear_op(ScalarOp op, const Instruction& i, Reg& out);
  bool index_division(ScalarOp op, const Instruction& i, Reg& out);

  // ---- math_calls.cpp
  Reg function(const Instruction& i);
  bool inlined(const Instruction& function) const;
  Reg nextafter_of_half(const Instruction& i);
  /// 1 / sqrt of `x`, the value of `id` in f32.
  llvm::Value* inverse_root(kernel::Id id, llvm::Value* x);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  MathFunctions functions_;
};

}  // namespace calque::codegen
