#include <algorithm>
#include <utility>

#include "calque/ir/errors.h"

#include "codegen/emit/branches.h"
#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Op;
using llvm::Value;

KernelEmitter::KernelEmitter(const EmissionContext& context, const kernel::Kernel& kernel, std::vector<bool> overlaps,
                             std::vector<int64_t> workspace_offsets, TargetEmitter& target_emitter)
    : context_(context),
      kernel_(kernel),
      analysis_(kernel),
      target_emitter_(target_emitter),
      b_(context.module.getContext()),
      ops_(b_, context.target, context.options),
      env_(kernel.values.size()),
      buffers_(*this, std::move(overlaps), std::move(workspace_offsets)) {}

void KernelEmitter::refuse(const std::string& what) const {
  throw CompileError("compile: kernel " + kernel_.name + ": " + what);
}

// ---- functions

void KernelEmitter::begin_function(llvm::Function& function) {
  function_ = &function;
  b_.SetInsertPoint(block("start"));
}

void KernelEmitter::end_function() {
  non_temporal_.emit_fence();
  b_.CreateRetVoid();
}

KernelEmitter::FunctionScope::FunctionScope(KernelEmitter& kernel, llvm::Function& function)
    : k_(kernel),
      outer_(kernel.function_),
      outer_point_(kernel.b_.saveIP()),
      locals_(kernel.buffers_),
      fences_(kernel.non_temporal_) {
  kernel.begin_function(function);
}

KernelEmitter::FunctionScope::~FunctionScope() {
  k_.function_ = outer_;
  k_.b_.restoreIP(outer_point_);
}

llvm::BasicBlock* KernelEmitter::block(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, function_);
}

llvm::AllocaInst* KernelEmitter::local(llvm::Type* type) {
  llvm::BasicBlock& start = function_->getEntryBlock();
  llvm::IRBuilder<> at(&start, start.begin());
  return at.CreateAlloca(type);
}

// ---- regions

const kernel::Instruction* KernelEmitter::run(const Region& region) {
  const InterleavedStores::RegionScope stores(interleaved_);
  const DeinterleavedLoads::RegionScope loads(deinterleaved_, region);
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
      return set(i.results[0], constant(i));
    case Op::scalar:
      return set(i.results[0], scalars_.scalar(i));
    case Op::load:
      return set(i.results[0], target_emitter_.load(i));
    case Op::store:
      return target_emitter_.store(i);
    case Op::loop:
      if (i.extent != 0) return target_emitter_.loop(i);
      for (size_t r = 0; r < i.results.size(); ++r) set(i.results[r], get(i.operands[r]));
      return;
    case Op::while_:
      return emit_while(*this, i);
    case Op::if_:
      return emit_branch(*this, i);
    case Op::contraction:
      if (i.rows != 0 && i.columns != 0) target_emitter_.contraction(i);
      return;
    case Op::yield:
      return;
  }
}

Reg KernelEmitter::constant(const Instruction& i) {
  const auto loaded = loaded_constants_.fields.find(i.results[0]);
  if (loaded == loaded_constants_.fields.end()) return scalars_.constant(i);
  Value* address = b_.CreateStructGEP(loaded_constants_.type, loaded_constants_.pointer, loaded->second);
  llvm::LoadInst* load = b_.CreateLoad(loaded_constants_.type->getElementType(loaded->second), address);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return uniform(load);
}

// ---- forms and masks

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
  return as_value(options().strict ? bits(r, d) : widened(r, d), vector);
}

Reg KernelEmitter::from_carry(Value* v, DType d) const {
  Reg r = of(v);
  if (is_half(d) && !options().strict) {
    r.wide = true;
    r.representable_in_16_bits = false;
  }
  return r;
}

Value* KernelEmitter::first_lanes(Value* count) {
  const unsigned bits = std::clamp(static_cast<unsigned>(target().vector_bits) / vectors_.lanes(), 8u, 64u);
  auto* type = b_.getIntNTy(bits);
  Value* clamped = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, b_.getInt64(vectors_.lanes()));
  return b_.CreateICmpULT(iota(type, 1), splat(b_.CreateTrunc(clamped, type)));
}

// ---- control flow

Values KernelEmitter::phis(const Values& values, llvm::BasicBlock* from) {
  Values out;
  for (Value* v : values) {
    llvm::PHINode* phi = b_.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, from);
    out.push_back(phi);
  }
  return out;
}

void KernelEmitter::add_incoming(const Values& phis, const Values& values, llvm::BasicBlock* from) {
  for (size_t i = 0; i < phis.size(); ++i) llvm::cast<llvm::PHINode>(phis[i])->addIncoming(values[i], from);
}

Values KernelEmitter::counted(Value* begin, Value* end, int64_t step, const Values& initial,
                              const std::function<Values(Value*, const Values&)>& body) {
  auto *first = llvm::dyn_cast<llvm::ConstantInt>(begin), *last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first && last && last->getSExtValue() - first->getSExtValue() <= step) return body(begin, initial);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* head = block("loop");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  const Values carries = phis(initial, before);
  const Values next = body(index, carries);
  Value* following = b_.CreateAdd(index, b_.getInt64(step), "", true, true);
  llvm::BasicBlock* exit = block("done");
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(following, end), head, exit);
  index->addIncoming(following, latch);
  add_incoming(carries, next, latch);
  b_.SetInsertPoint(exit);
  return next;
}

Values KernelEmitter::where_any(Value* mask, const Values& otherwise, const std::function<Values()>& body) {
  llvm::BasicBlock *inside = block("some"), *after = block("join");
  b_.CreateCondBr(mask->getType()->isVectorTy() ? any(mask) : mask, inside, after);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.SetInsertPoint(inside);
  const Values values = body();
  llvm::BasicBlock* end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  const Values merged = phis(values, end);
  add_incoming(merged, otherwise, before);
  return merged;
}

}  // namespace calque::codegen
