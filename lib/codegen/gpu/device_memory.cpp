// Loads and stores of device code. Where the predicate is false, a load reads the first element and discards it, and a
// store is skipped. Vectors of 16 bytes are loaded and stored as such where the index is known to be a multiple of
// their length.
#include <bit>
#include <numeric>

#include "codegen/gpu/device_emitter.h"

namespace calque::codegen {

using kernel::Id;
using kernel::Instruction;
using kernel::Op;
using llvm::Value;

namespace {

constexpr int64_t kAnything = int64_t{1} << 40;  // divides zero
constexpr int kFar = 16;

llvm::AtomicRMWInst::BinOp atomic_op(kernel::Combiner c, DType d) {
  using A = llvm::AtomicRMWInst;
  switch (c) {
    case kernel::Combiner::add:
      return is_floating(d) ? A::FAdd : A::Add;
    case kernel::Combiner::max:
      return is_signed_integer(d) ? A::Max : A::UMax;
    case kernel::Combiner::min:
      return is_signed_integer(d) ? A::Min : A::UMin;
    case kernel::Combiner::and_:
      return A::And;
    case kernel::Combiner::or_:
      return A::Or;
    default:
      return A::BAD_BINOP;
  }
}

}  // namespace

int64_t DeviceEmitter::divisor(Id id) const {
  const auto walk = [&](auto&& self, Id at, int depth) -> int64_t {
    if (const auto known = divisors_.find(at); known != divisors_.end()) return known->second;
    const auto it = defined_.find(at);
    if (it == defined_.end() || depth == kFar || dtype(at) != DType::i64) return 1;
    const Instruction& i = *it->second;
    if (i.op == Op::constant) {
      const int64_t n = i.literal.as<int64_t>();
      return n == 0 ? kAnything : n == INT64_MIN ? 1 : std::abs(n);
    }
    if (i.op != Op::scalar) return 1;
    const auto of = [&](size_t o) { return self(self, i.operands[o], depth + 1); };
    switch (scalar_op(i.primitive)) {
      case ScalarOp::add:
      case ScalarOp::sub:
        return std::gcd(of(0), of(1));
      case ScalarOp::mul: {
        // Only powers of two matter for alignment.
        const auto zeros = [&](size_t o) { return std::countr_zero(static_cast<uint64_t>(of(o))); };
        return std::min(kAnything, int64_t{1} << std::min(zeros(0) + zeros(1), 40));
      }
      case ScalarOp::select:
        return std::gcd(of(1), of(2));
      default:
        return 1;
    }
  };
  return walk(walk, id, 0);
}

llvm::Align DeviceEmitter::vector_alignment(int32_t buffer, Id index_id) const {
  const kernel::Buffer& b = kernel_.buffers[static_cast<size_t>(buffer)];
  const auto bytes = static_cast<int64_t>(size_of(b.dtype));
  const int64_t steps = divisor(index_id) & -divisor(index_id);
  const int64_t align = std::min({std::max(b.alignment, bytes), steps * bytes, int64_t{16}});
  return llvm::Align(static_cast<uint64_t>(align & -align));
}

Reg DeviceEmitter::load(const Instruction& i) {
  const DType d = kernel_.buffers[static_cast<size_t>(i.buffer)].dtype;
  if (is_complex(d)) refuse("complex is not supported on a GPU yet");
  const auto nothing = [&] { return llvm::Constant::getNullValue(ops_.register_type(d)); };
  if (kernel_.buffers[static_cast<size_t>(i.buffer)].extent == 0) return uniform(nothing());
  const Reg index = get(i.operands[0]);
  const Reg* predicate = i.operands.size() > 1 ? &get(i.operands[1]) : nullptr;
  if (predicate) {
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(predicate->v)) {
      if (known->isZero()) return uniform(nothing());
      predicate = nullptr;
    }
  }
  if (index.uniform() && (!predicate || predicate->uniform())) {
    Value* at = predicate ? b_.CreateSelect(predicate->v, index.v, integer(0)) : index.v;
    Value* v = b_.CreateAlignedLoad(element(i.buffer), address(i.buffer, at), alignment(i.buffer));
    v = ops_.from_memory(v, d);
    return uniform(predicate ? b_.CreateSelect(predicate->v, v, nothing()) : v);
  }
  Value* const mask = and_mask(vectors_.mask(), predicate ? as_vector(*predicate) : nullptr);
  return varying(ops_.from_memory(load_vector(i.buffer, i.operands[0], index, mask), d));
}

Value* DeviceEmitter::load_vector(int32_t buffer, Id index_id, const Reg& index, Value* mask) {
  if (mask || index.form != Reg::Form::linear || index.stride != 1) return gather(buffer, as_vector(index), mask);
  auto* type = llvm::FixedVectorType::get(element(buffer), vectors_.lanes());
  return b_.CreateAlignedLoad(type, address(buffer, index.v), vector_alignment(buffer, index_id));
}

void DeviceEmitter::store(const Instruction& i) {
  const DType d = kernel_.buffers[static_cast<size_t>(i.buffer)].dtype;
  if (is_complex(d)) refuse("complex is not supported on a GPU yet");
  if (kernel_.buffers[static_cast<size_t>(i.buffer)].extent == 0) return;
  const Reg index = get(i.operands[0]);
  Reg value = get(i.operands[1]);
  if (is_half(d)) value = bits(value, d);
  const Reg* predicate = i.operands.size() > 2 ? &get(i.operands[2]) : nullptr;
  if (vectors_.lanes() == 0) {
    Value* const to_memory = ops_.to_memory(value.v, d);
    Value* condition = predicate ? predicate->v : nullptr;
    const bool contended = cooperative_ && contended_[static_cast<size_t>(i.buffer)];
    if (cooperative_) condition = and_mask(condition, b_.CreateICmpEQ(rank_, integer(0)));
    // All threads must have finished their accesses before one stores, and must see the store afterwards.
    if (contended) barrier();
    when(condition, [&] { store_one(i, index.v, to_memory); });
    if (contended) barrier();
    return;
  }
  Value* const mask = and_mask(vectors_.mask(), predicate ? as_vector(*predicate) : nullptr);
  store_vector(i, index, ops_.to_memory(as_vector(value), d), mask);
}

void DeviceEmitter::store_vector(const Instruction& i, const Reg& index, Value* value, Value* mask) {
  if (!mask && i.combiners.empty() && index.form == Reg::Form::linear && index.stride == 1) {
    b_.CreateAlignedStore(value, address(i.buffer, index.v), vector_alignment(i.buffer, i.operands[0]));
    return;
  }
  Value* const indices = as_vector(index);
  for (unsigned l = 0; l < vectors_.lanes(); ++l)
    when(mask ? b_.CreateExtractElement(mask, l) : nullptr,
         [&] { store_one(i, b_.CreateExtractElement(indices, l), b_.CreateExtractElement(value, l)); });
}

void DeviceEmitter::store_one(const Instruction& i, Value* index, Value* value) {
  Value* const p = address(i.buffer, index);
  if (i.combiners.empty()) {
    b_.CreateAlignedStore(value, p, alignment(i.buffer));
    return;
  }
  const DType d = kernel_.buffers[static_cast<size_t>(i.buffer)].dtype;
  const auto operation = atomic_op(i.combiners[0], d);
  if (operation == llvm::AtomicRMWInst::BAD_BINOP) refuse("no atomic operation combines so");
  b_.CreateAtomicRMW(operation, p, value, alignment(i.buffer), llvm::AtomicOrdering::Monotonic,
                     module_.getContext().getOrInsertSyncScopeID("device"));
}

// A buffer is contended when it is both loaded and stored, or stored by several instructions or repeatedly.
void DeviceEmitter::find_contended(const kernel::Region& region, bool repeated, std::vector<int>& stores) {
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::store) stores[static_cast<size_t>(i.buffer)] += repeated ? 2 : 1;
    const bool repeats = i.op == Op::while_ || (i.op == Op::loop && i.loop == kernel::LoopKind::sequential);
    for (const kernel::Region& inner : i.regions) find_contended(inner, repeated || repeats, stores);
  }
}

bool DeviceEmitter::stores_contended(const kernel::Region& region) const {
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::store && contended_[static_cast<size_t>(i.buffer)]) return true;
    for (const kernel::Region& inner : i.regions)
      if (stores_contended(inner)) return true;
  }
  return false;
}

}  // namespace calque::codegen
