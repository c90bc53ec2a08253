// Loads and stores. An index of stride one between lanes becomes a vector access, of stride minus one a reversed one, a
// uniform index a scalar access, and any other a gather or scatter. An access whose predicate is false touches nothing.
#include "codegen/cpu/vector_memory.h"

#include "codegen/emit/emitter.h"
#include "codegen/loops/accumulators.h"

namespace calque::codegen {

using kernel::Instruction;
using llvm::Value;

VectorMemory::VectorMemory(KernelEmitter& kernel) : k_(kernel), b_(kernel.builder()), buffers_(kernel.buffers()) {}

Reg VectorMemory::load(const Instruction& i) {
  const DType d = k_.kernel().buffers[i.buffer].dtype;
  if (is_complex(d)) k_.refuse("kernels have no complex numbers");
  const Reg index = buffers_.lane_index(i.buffer, k_.get(i.operands[0]));
  // A uniform index is one of an element that exists, in the memory of all lanes.
  const bool exists = buffers_.is_local(i.buffer) && k_.get(i.operands[0]).uniform();
  Value* const active = exists ? nullptr : k_.vectors().mask();
  Value* predicate = nullptr;
  bool varies = false;
  if (i.operands.size() > 1) {
    const Reg& p = k_.get(i.operands[1]);
    predicate = p.v;
    varies = !p.uniform();
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(predicate)) {
      if (c->isZero()) return k_.uniform(llvm::Constant::getNullValue(k_.ops().register_type(d)));
      predicate = nullptr;
    }
  }
  if (k_.kernel().buffers[i.buffer].extent == 0)
    return k_.uniform(llvm::Constant::getNullValue(k_.ops().register_type(d)));
  if (index.uniform()) {
    Value* p = buffers_.address(i.buffer, index.v);
    if (predicate)
      p = b_.CreateSelect(varies ? k_.any(k_.and_mask(k_.vectors().mask(), predicate)) : predicate, p,
                          buffers_.zeros());
    Value* v =
        k_.ops().from_memory(b_.CreateAlignedLoad(buffers_.element(i.buffer), p, buffers_.alignment(i.buffer)), d);
    if (!varies) return k_.uniform(v);
    return k_.varying(b_.CreateSelect(predicate, k_.splat(v), llvm::Constant::getNullValue(k_.splat(v)->getType())));
  }
  if (predicate && !varies && !active && index.form == Reg::Form::linear && index.stride == 1) {
    Value* p = b_.CreateSelect(predicate, buffers_.address(i.buffer, index.v), buffers_.zeros());
    auto* type = llvm::FixedVectorType::get(buffers_.element(i.buffer), k_.vectors().lanes());
    return k_.varying(k_.ops().from_memory(b_.CreateAlignedLoad(type, p, buffers_.alignment(i.buffer)), d));
  }
  if (Value* v = k_.deinterleaved().load(i, index)) return k_.varying(k_.ops().from_memory(v, d));
  Value* mask = active;
  if (predicate) mask = k_.and_mask(mask, varies ? predicate : k_.splat(predicate));
  return k_.varying(k_.ops().from_memory(load_lanes(i.buffer, index, mask, predicate != nullptr), d));
}

Value* VectorMemory::load_lanes(int32_t buffer, const Reg& index, Value* mask, bool predicated) {
  const int bytes = static_cast<int>(size_of(k_.kernel().buffers[buffer].dtype));
  const bool forward = index.form == Reg::Form::linear && index.stride == 1;
  const bool backward = index.form == Reg::Form::linear && index.stride == -1;
  if ((forward || backward) && (!mask || k_.target().masked_memory(bytes))) {
    Value* start = backward ? b_.CreateSub(index.v, b_.getInt64(k_.vectors().lanes() - 1)) : index.v;
    Value* p = buffers_.address(buffer, start);
    auto* type = llvm::FixedVectorType::get(buffers_.element(buffer), k_.vectors().lanes());
    Value* v;
    // Without active lanes the address may be anything, and a masked access of memory that is not mapped takes
    // hundreds of cycles.
    if (predicated) p = b_.CreateSelect(k_.any(mask), p, buffers_.zeros());
    if (mask)
      v = b_.CreateMaskedLoad(type, p, buffers_.alignment(buffer), backward ? b_.CreateVectorReverse(mask) : mask,
                              llvm::Constant::getNullValue(type));
    else
      v = b_.CreateAlignedLoad(type, p, buffers_.alignment(buffer));
    return backward ? b_.CreateVectorReverse(v) : v;
  }
  return buffers_.gather(buffer, k_.as_vector(index), mask);
}

void VectorMemory::store(const Instruction& i) {
  const DType d = k_.kernel().buffers[i.buffer].dtype;
  if (!i.combiners.empty()) return combine(i);
  if (is_complex(d)) k_.refuse("kernels have no complex numbers");
  const Reg index = buffers_.lane_index(i.buffer, k_.get(i.operands[0]));
  Reg value = k_.get(i.operands[1]);
  if (is_half(d)) value = k_.bits(value, d);
  Value* predicate = nullptr;
  bool varies = false;
  if (i.operands.size() > 2) {
    const Reg& p = k_.get(i.operands[2]);
    predicate = p.v;
    varies = !p.uniform();
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(predicate)) {
      if (c->isZero()) return;
      predicate = nullptr;
    }
  }
  if (k_.kernel().buffers[i.buffer].extent == 0) return;
  if (index.uniform() && value.uniform() && !varies) {
    k_.interleaved().flush(i.buffer);
    Value* p = buffers_.address(i.buffer, index.v);
    if (predicate) p = b_.CreateSelect(predicate, p, buffers_.sink());
    b_.CreateAlignedStore(k_.ops().to_memory(value.v, d), p, buffers_.alignment(i.buffer));
    return;
  }
  if (k_.interleaved().can_defer(i, index))
    return k_.interleaved().defer(i.buffer, index, k_.ops().to_memory(k_.as_vector(value), d));
  k_.interleaved().flush(i.buffer);
  Value* mask = buffers_.needed_mask(i.buffer, k_.get(i.operands[0]), k_.vectors().mask());
  if (predicate) mask = k_.and_mask(mask, varies ? predicate : k_.splat(predicate));
  store_lanes(i, index, k_.ops().to_memory(k_.as_vector(value), d), mask, predicate != nullptr);
}

// Programs scheduled for a GPU have combining stores. Here one thread runs them, one element at a time.
void VectorMemory::combine(const Instruction& i) {
  const DType d = k_.kernel().buffers[i.buffer].dtype;
  const Reg index = buffers_.lane_index(i.buffer, k_.get(i.operands[0])), value = k_.get(i.operands[1]);
  const Reg* predicate = i.operands.size() > 2 ? &k_.get(i.operands[2]) : nullptr;
  const auto one = [&](Value* at, Value* v, Value* condition) {
    Value* p = buffers_.address(i.buffer, at);
    if (condition) p = b_.CreateSelect(condition, p, buffers_.sink());  // the index may be anything where it is false
    Value* const old =
        k_.ops().from_memory(b_.CreateAlignedLoad(buffers_.element(i.buffer), p, buffers_.alignment(i.buffer)), d);
    Value* const sum = k_.ops().to_memory(codegen::combine(k_, i.combiners[0], d, old, v), d);
    b_.CreateAlignedStore(sum, p, buffers_.alignment(i.buffer));
  };
  if (is_half(d)) k_.refuse("16-bit floats are not combined in memory");
  if (k_.vectors().lanes() == 0) return one(index.v, value.v, predicate ? predicate->v : nullptr);
  Value* const mask = k_.and_mask(k_.vectors().mask(), predicate ? k_.as_vector(*predicate) : nullptr);
  Value *const indices = k_.as_vector(index), *const values = k_.as_vector(value);
  for (unsigned l = 0; l < k_.vectors().lanes(); ++l) {
    Value* const active = mask ? b_.CreateExtractElement(mask, l) : nullptr;
    Value* const at = b_.CreateExtractElement(indices, l);
    one(active ? b_.CreateSelect(active, at, b_.getInt64(0)) : at, b_.CreateExtractElement(values, l), active);
  }
}

void VectorMemory::store_lanes(const Instruction& store, const Reg& index, Value* value, Value* mask, bool predicated) {
  const int32_t buffer = store.buffer;
  const int bytes = static_cast<int>(size_of(k_.kernel().buffers[buffer].dtype));
  const bool forward = index.form == Reg::Form::linear && index.stride == 1;
  const bool backward = index.form == Reg::Form::linear && index.stride == -1;
  if ((forward || backward) && (!mask || k_.target().masked_memory(bytes))) {
    Value* p =
        buffers_.address(buffer, backward ? b_.CreateSub(index.v, b_.getInt64(k_.vectors().lanes() - 1)) : index.v);
    if (predicated) p = b_.CreateSelect(k_.any(mask), p, buffers_.sink());
    if (backward) value = b_.CreateVectorReverse(value);
    if (mask) {
      b_.CreateMaskedStore(value, p, buffers_.alignment(buffer), backward ? b_.CreateVectorReverse(mask) : mask);
    } else if (!forward || !k_.non_temporal().store(store, value, p)) {
      b_.CreateAlignedStore(value, p, buffers_.alignment(buffer));
    }
    return;
  }
  buffers_.scatter(buffer, k_.as_vector(index), value, mask);
}

}  // namespace calque::codegen
