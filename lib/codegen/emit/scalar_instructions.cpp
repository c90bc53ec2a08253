// Constants and scalar operations in the three forms of values. 16-bit floats are computed in f32; strict mode rounds
// every result, the default keeps f32 until a value is stored or converted.
#include "codegen/emit/scalar_instructions.h"

#include "codegen/emit/emitter.h"
#include "primitives/registry.h"

namespace calque::codegen {

using llvm::Value;

namespace {

// Whether the result is representable in 16 bits if the operands are.
bool stays_representable(ScalarOp op) {
  switch (op) {
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::sign:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::round:
    case ScalarOp::round_half_away:
    case ScalarOp::max:
    case ScalarOp::min:
    case ScalarOp::clamp:
    case ScalarOp::copysign:
    case ScalarOp::select:
      return true;
    default:
      return false;
  }
}

}  // namespace

ScalarInstructions::ScalarInstructions(KernelEmitter& kernel)
    : k_(kernel), b_(kernel.builder()), functions_(kernel.module(), kernel.target(), kernel.options()) {}

Reg ScalarInstructions::constant(const Instruction& i) {
  const DType d = k_.dtype(i.results[0]);
  llvm::Type* type = k_.ops().register_type(d);
  switch (d) {
    case DType::bool_:
      return k_.uniform(b_.getInt1(i.literal.bytes[0] != 0));
    case DType::f32:
      return k_.uniform(llvm::ConstantFP::get(type, llvm::APFloat(i.literal.as<float>())));
    case DType::f64:
      return k_.uniform(llvm::ConstantFP::get(type, llvm::APFloat(i.literal.as<double>())));
    default: {
      const uint64_t value = i.literal.as<uint64_t>() & (~uint64_t{0} >> (64 - 8 * size_of(d)));
      return k_.uniform(llvm::ConstantInt::get(type, value));
    }
  }
}

Reg ScalarInstructions::scalar(const Instruction& i) {
  const ScalarOp op = scalar_op(i.primitive);
  for (const Id o : i.operands)
    if (is_complex(k_.dtype(o))) k_.refuse("kernels have no complex numbers");
  if (primitives::rules(i.primitive).kind(k_.dtype(i.operands[0])) == primitives::LowerKind::function)
    return function(i);
  if (op == ScalarOp::convert) return convert(i);
  if (op == ScalarOp::bitcast) return bitcast(i);
  const DType d = k_.dtype(i.operands[op == ScalarOp::select ? 1 : 0]);
  if (is_half(d)) return half_op(op, i);
  Reg out;
  if (is_integer(d) && (linear_op(op, i, out) || index_division(op, i, out))) return out;
  bool vector = false;
  for (const Id o : i.operands) vector |= !k_.get(o).uniform();
  Values v;
  // A uniform condition of a select of vectors is a mask too: LLVM makes a branch of a scalar condition.
  for (const Id o : i.operands) v.push_back(k_.as_value(k_.get(o), vector));
  return k_.of(emit(i, op, d, v));
}

Value* ScalarInstructions::emit(const Instruction& i, ScalarOp op, DType d, llvm::ArrayRef<Value*> v) {
  if (op == ScalarOp::intrinsic) return k_.ops().emit_intrinsic(primitives::rules(i.primitive).intrinsic, v);
  return k_.ops().emit(op, d, v, i.exact);
}

// Sums, differences and multiples of linear values are linear, in arithmetic modulo 2^bits.
bool ScalarInstructions::linear_op(ScalarOp op, const Instruction& i, Reg& out) {
  if (op != ScalarOp::add && op != ScalarOp::sub && op != ScalarOp::mul && op != ScalarOp::neg) return false;
  bool any = false;
  for (const Id o : i.operands) {
    if (k_.get(o).form == Reg::Form::varying) return false;
    any |= k_.get(o).form == Reg::Form::linear;
  }
  if (!any) return false;
  const Reg a = k_.get(i.operands[0]);
  const Reg b = i.operands.size() > 1 ? k_.get(i.operands[1]) : Reg{};
  switch (op) {
    case ScalarOp::add:
      out = {b_.CreateAdd(a.v, b.v), Reg::Form::linear, false, true, a.stride + b.stride};
      break;
    case ScalarOp::sub:
      out = {b_.CreateSub(a.v, b.v), Reg::Form::linear, false, true, a.stride - b.stride};
      break;
    case ScalarOp::neg:
      out = {b_.CreateNeg(a.v), Reg::Form::linear, false, true, -a.stride};
      break;
    default: {
      const bool left = a.form == Reg::Form::linear;
      const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(left ? b.v : a.v);
      if (!factor || (a.form == b.form)) return false;
      const int64_t stride = (left ? a : b).stride;
      int64_t product;
      if (__builtin_mul_overflow(stride, factor->getSExtValue(), &product)) return false;
      out = {b_.CreateMul(a.v, b.v), Reg::Form::linear, false, true, product};
    }
  }
  if (out.stride == 0) out.form = Reg::Form::uniform;
  return true;
}

// Reshapes and flattened iteration spaces divide index expressions by positive constants. If known to be nonnegative
// they are divided as unsigned numbers and, if small, in 32 bits, which vectors support.
bool ScalarInstructions::index_division(ScalarOp op, const Instruction& i, Reg& out) {
  if ((op != ScalarOp::div && op != ScalarOp::rem) || k_.dtype(i.operands[0]) != DType::i64) return false;
  const Reg a = k_.get(i.operands[0]);
  const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(k_.get(i.operands[1]).v);
  if (!k_.get(i.operands[1]).uniform() || !divisor || divisor->getSExtValue() <= 0) return false;
  const kernel::IndexRange range = k_.analysis().range(i.operands[0]);
  if (range.low < 0) return false;
  const auto divide = [&](Value* x, Value* y) {
    return op == ScalarOp::div ? b_.CreateUDiv(x, y) : b_.CreateURem(x, y);
  };
  if (a.uniform()) {
    out = k_.uniform(divide(a.v, k_.get(i.operands[1]).v));
    return true;
  }
  if (!range.within(0, INT32_MAX) || divisor->getSExtValue() > INT32_MAX) return false;
  Reg narrow = a;
  narrow.v = b_.CreateTrunc(a.v, k_.ops().same_lanes(b_.getInt32Ty(), a.v));
  Value* x = k_.as_vector(narrow);
  Value* q = divide(x, k_.ops().integer(x, divisor->getSExtValue()));
  out = k_.varying(b_.CreateZExt(q, k_.ops().same_lanes(b_.getInt64Ty(), q)));
  return true;
}

Reg ScalarInstructions::half_op(ScalarOp op, const Instruction& i) {
  const DType d = k_.dtype(i.operands[op == ScalarOp::select ? 1 : 0]);
  bool vector = false, keep_bits = op == ScalarOp::select;
  bool representable = stays_representable(op);
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const Reg& r = k_.get(i.operands[o]);
    vector |= !r.uniform();
    if (is_half(k_.dtype(i.operands[o]))) {
      keep_bits &= !r.wide;
      representable &= r.representable_in_16_bits;
    }
  }
  Values v;
  for (const Id o : i.operands) {
    const Reg r = is_half(k_.dtype(o)) && !keep_bits ? k_.widened(k_.get(o), d) : k_.get(o);
    v.push_back(k_.as_value(r, vector));
  }
  Reg out = k_.of(emit(i, op, keep_bits ? DType::u16 : DType::f32, v));
  if (primitives::is_comparison(op) || keep_bits) return out;
  out.wide = true;
  out.representable_in_16_bits = representable;
  return k_.options().strict ? k_.bits(out, d) : out;
}

Reg ScalarInstructions::convert(const Instruction& i) {
  const DType from = k_.dtype(i.operands[0]), to = k_.dtype(i.results[0]);
  if (is_complex(to)) k_.refuse("kernels have no complex numbers");
  Reg r = k_.get(i.operands[0]);
  if (from == to) return rounded(r, to);
  if (is_half(from)) {
    r = k_.rounded(r, from);
    r.wide = false;
    if (to == DType::f32) return r;
    if (is_half(to)) return k_.of(k_.ops().narrow(r.v, to));
    return k_.of(k_.ops().convert(r.v, DType::f32, to));
  }
  if (r.form == Reg::Form::linear) {
    if (is_integer(to) && size_of(to) <= size_of(from)) {
      r.v = b_.CreateTrunc(r.v, k_.ops().register_type(to));
      return r;
    }
    const kernel::IndexRange range = k_.analysis().range(i.operands[0]);
    if (from == DType::i64 && range.within(INT32_MIN, INT32_MAX)) {
      r.v = b_.CreateTrunc(r.v, b_.getInt32Ty());
      Value* narrow = k_.as_vector(r);
      return k_.of(is_half(to) ? k_.ops().convert_to_half(narrow, DType::i32, to)
                               : k_.ops().convert(narrow, DType::i32, to));
    }
    r = k_.varying(k_.as_vector(r));
  }
  return k_.of(is_half(to) ? k_.ops().convert_to_half(r.v, from, to) : k_.ops().convert(r.v, from, to));
}

// A conversion to the dtype that a value has rounds what is kept in more precision: a 16-bit float held as f32, and a
// product that would be fused into a sum.
Reg ScalarInstructions::rounded(const Reg& r, DType d) {
  if (is_half(d)) return r.wide ? k_.rounded(r, d) : r;
  return is_floating(d) ? k_.of(k_.ops().fenced(r.v)) : r;
}

Reg ScalarInstructions::bitcast(const Instruction& i) {
  const DType from = k_.dtype(i.operands[0]), to = k_.dtype(i.results[0]);
  if (is_complex(to)) k_.refuse("kernels have no complex numbers");
  Reg r = k_.get(i.operands[0]);
  if (is_half(from)) r = k_.bits(r, from);
  if (r.form == Reg::Form::linear) {
    if (is_integer(to)) return r;
    r = k_.varying(k_.as_vector(r));
  }
  return k_.of(k_.ops().bitcast(r.v, to));
}

}  // namespace calque::codegen
