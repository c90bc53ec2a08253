// Straight-line instructions: constants and scalar operations in their three forms. 16-bit floats are computed in f32;
// strict mode rounds every result, the default keeps f32 until a value is stored or converted.
#include <algorithm>

#include "calque/ir/errors.h"

#include "codegen/emit/emitter.h"
#include "codegen/llvm/function_attributes.h"

namespace calque::codegen {

using kernel::Op;
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

KernelEmitter::KernelEmitter(llvm::Module& module, const TargetInfo& target, const CodegenOptions& options,
                             const kernel::Kernel& kernel, std::vector<bool> overlaps,
                             std::vector<int64_t> workspace_offsets)
    : module_(module),
      target_(target),
      options_(options),
      kernel_(kernel),
      overlaps_(std::move(overlaps)),
      workspace_offsets_(std::move(workspace_offsets)),
      analysis_(kernel),
      b_(module.getContext()),
      ops_(b_, target, options),
      functions_(module, target, options),
      env_(kernel.values.size()) {}

// The prefix distinguishes a kernel named `round` or `memcpy` from the library's functions.
llvm::Function* KernelEmitter::emit() {
  llvm::Type* pointer = b_.getPtrTy();
  const auto in_workspace =
      std::count_if(workspace_offsets_.begin(), workspace_offsets_.end(), [](int64_t offset) { return offset >= 0; });
  const std::vector<llvm::Type*> parameters(
      kernel_.buffers.size() - static_cast<size_t>(in_workspace) + (in_workspace > 0 ? 2 : 1), pointer);
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), parameters, false);
  function_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, "kernel." + kernel_.name, module_);
  set_function_attributes(*function_, target_, options_);
  unsigned argument = 1;
  if (in_workspace > 0) bind_workspace(argument++);
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    if (!workspace_offsets_.empty() && workspace_offsets_[i] >= 0) {
      buffers_.push_back(nullptr);
      continue;
    }
    const kernel::Buffer& buffer = kernel_.buffers[i];
    buffers_.push_back(function_->getArg(argument));
    if (!overlaps_[i]) function_->addParamAttr(argument, llvm::Attribute::NoAlias);
    function_->addParamAttr(argument,
                            llvm::Attribute::getWithCaptureInfo(module_.getContext(), llvm::CaptureInfo::none()));
    if (!analysis_.stored(static_cast<int32_t>(i))) function_->addParamAttr(argument, llvm::Attribute::ReadOnly);
    if (buffer.extent > 0) {
      const uint64_t bytes = static_cast<uint64_t>(buffer.extent) * size_of(buffer.dtype);
      function_->addDereferenceableParamAttr(argument, bytes);
      if (buffer.alignment > 1)
        function_->addParamAttr(
            argument, llvm::Attribute::getWithAlignment(module_.getContext(),
                                                        llvm::Align(static_cast<uint64_t>(buffer.alignment))));
    }
    ++argument;
  }
  context_ = function_->getArg(0);
  llvm::Function* const whole = function_;
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "start", whole));
  run(kernel_.body);
  non_temporal_.emit_fence();
  b_.CreateRetVoid();
  mark_read_only_accesses(*whole);
  return whole;
}

llvm::BasicBlock* KernelEmitter::block(const char* name) {
  return llvm::BasicBlock::Create(module_.getContext(), name, function_);
}

llvm::AllocaInst* KernelEmitter::local(llvm::Type* type) {
  llvm::BasicBlock& start = function_->getEntryBlock();
  llvm::IRBuilder<> at(&start, start.begin());
  return at.CreateAlloca(type);
}

Value* KernelEmitter::first_lanes(Value* count) {
  const unsigned bits = std::clamp(static_cast<unsigned>(target_.vector_bits) / vectors_.lanes(), 8u, 64u);
  auto* type = b_.getIntNTy(bits);
  Value* clamped = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, b_.getInt64(vectors_.lanes()));
  return b_.CreateICmpULT(iota(type, 1), splat(b_.CreateTrunc(clamped, type)));
}

void KernelEmitter::refuse(const std::string& what) const {
  throw CompileError("compile: kernel " + kernel_.name + ": " + what);
}

// Emits all instructions except the yield, which it returns.
const kernel::Instruction* KernelEmitter::run(const Region& region) {
  const InterleavedStores::RegionScope scope(interleaved_);
  const Instruction* yield = nullptr;
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::yield) {
      yield = &i;
      break;
    }
    if (!i.regions.empty()) interleaved_.flush_all();
    emit(i);
  }
  interleaved_.flush_all();
  return yield;
}

void KernelEmitter::emit(const Instruction& i) {
  switch (i.op) {
    case Op::constant:
      env_[i.results[0]] = constant(i);
      break;
    case Op::scalar:
      env_[i.results[0]] = scalar(i);
      break;
    case Op::load:
      env_[i.results[0]] = load(i);
      break;
    case Op::store:
      store(i);
      break;
    case Op::loop:
      loop(i);
      break;
    case Op::while_:
      while_loop(i);
      break;
    case Op::if_:
      branch(i);
      break;
    case Op::contraction:
      contraction(i);
      break;
    case Op::yield:
      break;
  }
}

Reg KernelEmitter::constant(const Instruction& i) {
  const DType d = dtype(i.results[0]);
  llvm::Type* type = ops_.register_type(d);
  switch (d) {
    case DType::bool_:
      return uniform(b_.getInt1(i.literal.bytes[0] != 0));
    case DType::f32:
      return uniform(llvm::ConstantFP::get(type, llvm::APFloat(i.literal.as<float>())));
    case DType::f64:
      return uniform(llvm::ConstantFP::get(type, llvm::APFloat(i.literal.as<double>())));
    default: {
      const uint64_t value = i.literal.as<uint64_t>() & (~uint64_t{0} >> (64 - 8 * size_of(d)));
      return uniform(llvm::ConstantInt::get(type, value));
    }
  }
}

llvm::Constant* KernelEmitter::iota(llvm::Type* element, int64_t stride) const {
  llvm::SmallVector<llvm::Constant*, 64> lanes;
  for (unsigned l = 0; l < vectors_.lanes(); ++l)
    lanes.push_back(
        llvm::ConstantInt::get(element, static_cast<uint64_t>(static_cast<int64_t>(l) * stride), true, true));
  return llvm::ConstantVector::get(lanes);
}

Value* KernelEmitter::as_vector(const Reg& r) {
  switch (r.form) {
    case Reg::Form::varying:
      return r.v;
    case Reg::Form::linear:
      return b_.CreateAdd(splat(r.v), iota(r.v->getType(), r.stride));
    default:
      return splat(r.v);
  }
}

Reg KernelEmitter::widened(const Reg& r, DType half) {
  if (r.wide) return r;
  Reg out = of(ops_.widen(r.v, half));
  out.wide = true;
  return out;
}

Reg KernelEmitter::bits(const Reg& r, DType half) { return r.wide ? of(ops_.narrow(r.v, half)) : r; }

Reg KernelEmitter::rounded(const Reg& r, DType half) {
  return r.wide && r.representable_in_16_bits ? r : widened(bits(r, half), half);
}

Value* KernelEmitter::to_carry(const Reg& r, DType d, bool vector) {
  if (!is_half(d)) return as_value(r, vector);
  return as_value(options_.strict ? bits(r, d) : widened(r, d), vector);
}

Reg KernelEmitter::from_carry(Value* v, DType d) const {
  Reg r = of(v);
  if (is_half(d) && !options_.strict) {
    r.wide = true;
    r.representable_in_16_bits = false;
  }
  return r;
}

Reg KernelEmitter::scalar(const Instruction& i) {
  const ScalarOp op = scalar_op(i.primitive);
  for (const Id o : i.operands)
    if (is_complex(dtype(o))) refuse("complex is not supported on the CPU yet");
  if (is_function(i)) return function(i);
  if (op == ScalarOp::convert) return convert(i);
  if (op == ScalarOp::bitcast) return bitcast(i);
  const DType d = dtype(i.operands[op == ScalarOp::select ? 1 : 0]);
  if (is_half(d)) return half_op(op, i);
  Reg out;
  if (is_integer(d) && (linear_op(op, i, out) || index_division(op, i, out))) return out;
  bool vector = false;
  for (const Id o : i.operands) vector |= !get(o).uniform();
  Values v;
  for (const Id o : i.operands) {
    const bool condition = op == ScalarOp::select && v.empty() && get(o).uniform();
    v.push_back(as_value(get(o), vector && !condition));
  }
  return of(emit(i, op, d, v));
}

Value* KernelEmitter::emit(const Instruction& i, ScalarOp op, DType d, llvm::ArrayRef<Value*> v) {
  if (op == ScalarOp::intrinsic) return ops_.emit_intrinsic(primitives::rules(i.primitive).intrinsic, v);
  return ops_.emit(op, d, v, i.exact);
}

// Sums, differences and multiples of linear values are linear, in arithmetic modulo 2^bits.
bool KernelEmitter::linear_op(ScalarOp op, const Instruction& i, Reg& out) {
  if (op != ScalarOp::add && op != ScalarOp::sub && op != ScalarOp::mul && op != ScalarOp::neg) return false;
  bool any = false;
  for (const Id o : i.operands) {
    if (get(o).form == Reg::Form::varying) return false;
    any |= get(o).form == Reg::Form::linear;
  }
  if (!any) return false;
  const Reg a = get(i.operands[0]);
  const Reg b = i.operands.size() > 1 ? get(i.operands[1]) : Reg{};
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
bool KernelEmitter::index_division(ScalarOp op, const Instruction& i, Reg& out) {
  if ((op != ScalarOp::div && op != ScalarOp::rem) || dtype(i.operands[0]) != DType::i64) return false;
  const Reg a = get(i.operands[0]);
  const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(get(i.operands[1]).v);
  if (!get(i.operands[1]).uniform() || !divisor || divisor->getSExtValue() <= 0) return false;
  const kernel::IndexRange range = analysis_.range(i.operands[0]);
  if (range.low < 0) return false;
  const auto divide = [&](Value* x, Value* y) {
    return op == ScalarOp::div ? b_.CreateUDiv(x, y) : b_.CreateURem(x, y);
  };
  if (a.uniform()) {
    out = uniform(divide(a.v, get(i.operands[1]).v));
    return true;
  }
  if (!range.within(0, INT32_MAX) || divisor->getSExtValue() > INT32_MAX) return false;
  Reg narrow = a;
  narrow.v = b_.CreateTrunc(a.v, ops_.same_lanes(b_.getInt32Ty(), a.v));
  Value* x = as_vector(narrow);
  Value* q = divide(x, ops_.integer(x, divisor->getSExtValue()));
  out = varying(b_.CreateZExt(q, ops_.same_lanes(b_.getInt64Ty(), q)));
  return true;
}

Reg KernelEmitter::half_op(ScalarOp op, const Instruction& i) {
  const DType d = dtype(i.operands[op == ScalarOp::select ? 1 : 0]);
  bool vector = false, keep_bits = op == ScalarOp::select;
  bool representable = stays_representable(op);
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const Reg& r = get(i.operands[o]);
    vector |= !r.uniform();
    if (is_half(dtype(i.operands[o]))) {
      keep_bits &= !r.wide;
      representable &= r.representable_in_16_bits;
    }
  }
  Values v;
  for (const Id o : i.operands) {
    const Reg r = is_half(dtype(o)) && !keep_bits ? widened(get(o), d) : get(o);
    const bool condition = op == ScalarOp::select && v.empty() && r.uniform();
    v.push_back(as_value(r, vector && !condition));
  }
  Reg out = of(emit(i, op, keep_bits ? DType::u16 : DType::f32, v));
  if (primitives::is_comparison(op) || keep_bits) return out;
  out.wide = true;
  out.representable_in_16_bits = representable;
  return options_.strict ? bits(out, d) : out;
}

Reg KernelEmitter::convert(const Instruction& i) {
  const DType from = dtype(i.operands[0]), to = dtype(i.results[0]);
  if (is_complex(to)) refuse("complex is not supported on the CPU yet");
  Reg r = get(i.operands[0]);
  if (from == to) return is_half(to) ? rounded(r, to) : r;
  if (is_half(from)) {
    r = rounded(r, from);
    r.wide = false;
    if (to == DType::f32) return r;
    if (is_half(to)) return of(ops_.narrow(r.v, to));
    return of(ops_.convert(r.v, DType::f32, to));
  }
  if (r.form == Reg::Form::linear) {
    if (is_integer(to) && size_of(to) <= size_of(from)) {
      r.v = b_.CreateTrunc(r.v, ops_.register_type(to));
      return r;
    }
    const kernel::IndexRange range = analysis_.range(i.operands[0]);
    if (from == DType::i64 && range.within(INT32_MIN, INT32_MAX)) {
      r.v = b_.CreateTrunc(r.v, b_.getInt32Ty());
      Value* narrow = as_vector(r);
      return of(is_half(to) ? ops_.convert_to_half(narrow, DType::i32, to) : ops_.convert(narrow, DType::i32, to));
    }
    r = varying(as_vector(r));
  }
  return of(is_half(to) ? ops_.convert_to_half(r.v, from, to) : ops_.convert(r.v, from, to));
}

Reg KernelEmitter::bitcast(const Instruction& i) {
  const DType from = dtype(i.operands[0]), to = dtype(i.results[0]);
  if (is_complex(to)) refuse("complex is not supported on the CPU yet");
  Reg r = get(i.operands[0]);
  if (is_half(from)) r = bits(r, from);
  if (r.form == Reg::Form::linear) {
    if (is_integer(to)) return r;
    r = varying(as_vector(r));
  }
  return of(ops_.bitcast(r.v, to));
}

}  // namespace calque::codegen
