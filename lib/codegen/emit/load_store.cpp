// Loads and stores. An index of stride one between lanes becomes a vector access, of stride minus one a reversed one, a
// uniform index a scalar access, and any other a gather or scatter. An access whose predicate is false touches nothing.
#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

llvm::Align KernelEmitter::alignment(int32_t buffer) const {
  return llvm::Align(size_of(kernel_.buffers[buffer].dtype));
}

namespace {
// Words of the longest vector: the widest elements in the largest number of lanes.
constexpr unsigned kSpareWords = 64;
}  // namespace

// The memory that a load with a false predicate reads instead, and that such a store writes instead.
Value* KernelEmitter::zeros() {
  if (!zeros_) {
    auto* type = llvm::ArrayType::get(b_.getInt64Ty(), kSpareWords);
    zeros_ = module_.getNamedGlobal("calque_zeros");
    if (!zeros_) {
      auto* global = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                              llvm::ConstantAggregateZero::get(type), "calque_zeros");
      global->setAlignment(llvm::Align(64));
      zeros_ = global;
    }
  }
  return zeros_;
}

Value* KernelEmitter::sink() {
  if (!sink_) sink_ = local(llvm::ArrayType::get(b_.getInt64Ty(), kSpareWords));
  return sink_;
}

Value* KernelEmitter::reverse(Value* v) { return b_.CreateVectorReverse(v); }

Reg KernelEmitter::load(const Instruction& i) {
  const DType d = kernel_.buffers[i.buffer].dtype;
  if (is_complex(d)) refuse("complex is not supported on the CPU yet");
  const Reg index = get(i.operands[0]);
  Value* predicate = nullptr;
  bool varies = false;
  if (i.operands.size() > 1) {
    const Reg& p = get(i.operands[1]);
    predicate = p.v;
    varies = !p.uniform();
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(predicate)) {
      if (c->isZero()) return uniform(llvm::Constant::getNullValue(ops_.register_type(d)));
      predicate = nullptr;
    }
  }
  if (kernel_.buffers[i.buffer].extent == 0) return uniform(llvm::Constant::getNullValue(ops_.register_type(d)));
  if (index.uniform()) {
    Value* p = address(i.buffer, index.v);
    if (predicate) p = b_.CreateSelect(varies ? any(and_mask(vectors_.mask(), predicate)) : predicate, p, zeros());
    Value* v = ops_.from_memory(b_.CreateAlignedLoad(element(i.buffer), p, alignment(i.buffer)), d);
    if (!varies) return uniform(v);
    return varying(b_.CreateSelect(predicate, splat(v), llvm::Constant::getNullValue(splat(v)->getType())));
  }
  if (predicate && !varies && !vectors_.mask() && index.form == Reg::Form::linear && index.stride == 1) {
    Value* p = b_.CreateSelect(predicate, address(i.buffer, index.v), zeros());
    auto* type = llvm::FixedVectorType::get(element(i.buffer), vectors_.lanes());
    return varying(ops_.from_memory(b_.CreateAlignedLoad(type, p, alignment(i.buffer)), d));
  }
  Value* mask = vectors_.mask();
  if (predicate) mask = and_mask(mask, varies ? predicate : splat(predicate));
  return varying(ops_.from_memory(load_lanes(i.buffer, index, mask), d));
}

Value* KernelEmitter::load_lanes(int32_t buffer, const Reg& index, Value* mask) {
  const int bytes = static_cast<int>(size_of(kernel_.buffers[buffer].dtype));
  const bool forward = index.form == Reg::Form::linear && index.stride == 1;
  const bool backward = index.form == Reg::Form::linear && index.stride == -1;
  if ((forward || backward) && (!mask || target_.masked_memory(bytes))) {
    Value* start = backward ? b_.CreateSub(index.v, b_.getInt64(vectors_.lanes() - 1)) : index.v;
    Value* p = address(buffer, start);
    auto* type = llvm::FixedVectorType::get(element(buffer), vectors_.lanes());
    Value* v;
    if (mask)
      v = b_.CreateMaskedLoad(type, p, alignment(buffer), backward ? reverse(mask) : mask,
                              llvm::Constant::getNullValue(type));
    else
      v = b_.CreateAlignedLoad(type, p, alignment(buffer));
    return backward ? reverse(v) : v;
  }
  return gather(buffer, as_vector(index), mask);
}

Value* KernelEmitter::gather(int32_t buffer, Value* index, Value* mask) {
  auto* type = llvm::FixedVectorType::get(element(buffer), vectors_.lanes());
  if (target_.gathers(static_cast<int>(size_of(kernel_.buffers[buffer].dtype))))
    return b_.CreateMaskedGather(type, address(buffer, index), alignment(buffer), mask,
                                 llvm::Constant::getNullValue(type));
  // Inactive lanes read element 0, which exists: empty buffers are never read.
  if (mask) index = b_.CreateSelect(mask, index, ops_.integer(index, 0));
  Value* v = llvm::PoisonValue::get(type);
  for (unsigned l = 0; l < vectors_.lanes(); ++l) {
    Value* p = address(buffer, b_.CreateExtractElement(index, l));
    v = b_.CreateInsertElement(v, b_.CreateAlignedLoad(element(buffer), p, alignment(buffer)), l);
  }
  return mask ? b_.CreateSelect(mask, v, llvm::Constant::getNullValue(type)) : v;
}

void KernelEmitter::store(const Instruction& i) {
  const DType d = kernel_.buffers[i.buffer].dtype;
  if (!i.combiners.empty()) return combine(i);
  if (is_complex(d)) refuse("complex is not supported on the CPU yet");
  const Reg index = get(i.operands[0]);
  Reg value = get(i.operands[1]);
  if (is_half(d)) value = bits(value, d);
  Value* predicate = nullptr;
  bool varies = false;
  if (i.operands.size() > 2) {
    const Reg& p = get(i.operands[2]);
    predicate = p.v;
    varies = !p.uniform();
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(predicate)) {
      if (c->isZero()) return;
      predicate = nullptr;
    }
  }
  if (kernel_.buffers[i.buffer].extent == 0) return;
  if (index.uniform() && value.uniform() && !varies) {
    interleaved_.flush(i.buffer);
    Value* p = address(i.buffer, index.v);
    if (predicate) p = b_.CreateSelect(predicate, p, sink());
    b_.CreateAlignedStore(ops_.to_memory(value.v, d), p, alignment(i.buffer));
    return;
  }
  if (interleaved_.can_defer(i, index)) return interleaved_.defer(i.buffer, index, ops_.to_memory(as_vector(value), d));
  interleaved_.flush(i.buffer);
  Value* mask = vectors_.mask();
  if (predicate) mask = and_mask(mask, varies ? predicate : splat(predicate));
  store_lanes(i, index, ops_.to_memory(as_vector(value), d), mask);
}

// Programs scheduled for a GPU have combining stores. Here one thread runs them, one element at a time.
void KernelEmitter::combine(const Instruction& i) {
  const DType d = kernel_.buffers[i.buffer].dtype;
  const Reg index = get(i.operands[0]), value = get(i.operands[1]);
  const Reg* predicate = i.operands.size() > 2 ? &get(i.operands[2]) : nullptr;
  const auto one = [&](Value* at, Value* v, Value* condition) {
    Value* p = address(i.buffer, at);
    if (condition) p = b_.CreateSelect(condition, p, sink());  // the index may be anything where it is false
    Value* const old = ops_.from_memory(b_.CreateAlignedLoad(element(i.buffer), p, alignment(i.buffer)), d);
    Value* const sum = ops_.to_memory(combine_one(i.combiners[0], d, old, v), d);
    b_.CreateAlignedStore(sum, p, alignment(i.buffer));
  };
  if (is_half(d)) refuse("16-bit floats are not combined in memory");
  if (vectors_.lanes() == 0) return one(index.v, value.v, predicate ? predicate->v : nullptr);
  Value* const mask = and_mask(vectors_.mask(), predicate ? as_vector(*predicate) : nullptr);
  Value *const indices = as_vector(index), *const values = as_vector(value);
  for (unsigned l = 0; l < vectors_.lanes(); ++l) {
    Value* const active = mask ? b_.CreateExtractElement(mask, l) : nullptr;
    Value* const at = b_.CreateExtractElement(indices, l);
    one(active ? b_.CreateSelect(active, at, b_.getInt64(0)) : at, b_.CreateExtractElement(values, l), active);
  }
}

void KernelEmitter::store_lanes(const Instruction& store, const Reg& index, Value* value, Value* mask) {
  const int32_t buffer = store.buffer;
  const int bytes = static_cast<int>(size_of(kernel_.buffers[buffer].dtype));
  const bool forward = index.form == Reg::Form::linear && index.stride == 1;
  const bool backward = index.form == Reg::Form::linear && index.stride == -1;
  if ((forward || backward) && (!mask || target_.masked_memory(bytes))) {
    Value* p = address(buffer, backward ? b_.CreateSub(index.v, b_.getInt64(vectors_.lanes() - 1)) : index.v);
    if (backward) value = reverse(value);
    if (mask) {
      b_.CreateMaskedStore(value, p, alignment(buffer), backward ? reverse(mask) : mask);
    } else if (!forward || !non_temporal_.store(store, value, p)) {
      b_.CreateAlignedStore(value, p, alignment(buffer));
    }
    return;
  }
  scatter(buffer, as_vector(index), value, mask);
}

// Lanes store in order, so of two lanes with the same index the last one wins.
void KernelEmitter::scatter(int32_t buffer, Value* index, Value* value, Value* mask) {
  if (target_.scatters(static_cast<int>(size_of(kernel_.buffers[buffer].dtype)))) {
    b_.CreateMaskedScatter(value, address(buffer, index), alignment(buffer), mask);
    return;
  }
  for (unsigned l = 0; l < vectors_.lanes(); ++l) {
    Value* p = address(buffer, b_.CreateExtractElement(index, l));
    if (mask) p = b_.CreateSelect(b_.CreateExtractElement(mask, l), p, sink());
    b_.CreateAlignedStore(b_.CreateExtractElement(value, l), p, alignment(buffer));
  }
}

}  // namespace calque::codegen
