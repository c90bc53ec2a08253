// Loads and stores of device code. Where the predicate is false, a load reads the first element and discards it, and a
// store is skipped. Vectors of 16 bytes are loaded and stored as such where the index is known to be a multiple of
// their length.
#include "codegen/device/device_memory.h"

#include <bit>
#include <numeric>

#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"

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

// A buffer is contended when it is both loaded and stored, or stored by several instructions or repeatedly.
void find_contended(const kernel::Region& region, bool repeated, std::vector<int>& stores) {
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::store) stores[static_cast<size_t>(i.buffer)] += repeated ? 2 : 1;
    const bool repeats = i.op == Op::while_ || (i.op == Op::loop && i.loop == kernel::LoopKind::sequential);
    for (const kernel::Region& inner : i.regions) find_contended(inner, repeated || repeats, stores);
  }
}

void index_definitions(const kernel::Region& region, std::unordered_map<Id, const Instruction*>& defined) {
  for (const Instruction& i : region.instructions) {
    for (const Id r : i.results) defined[r] = &i;
    for (const kernel::Region& inner : i.regions) index_definitions(inner, defined);
  }
}

}  // namespace

DeviceMemory::DeviceMemory(KernelEmitter& kernel, ThreadGroup& group)
    : k_(kernel), b_(kernel.builder()), buffers_(kernel.buffers()), group_(group) {
  const kernel::Region& body = kernel.kernel().body;
  index_definitions(body, defined_);
  std::vector<int> stores(kernel.kernel().buffers.size());
  find_contended(body, false, stores);
  kept_.emplace(kernel, group, defined_);
  for (size_t b = 0; b < stores.size(); ++b) {
    const auto number = static_cast<int32_t>(b);
    const bool loaded = kernel.analysis().loaded(number);
    contended_.push_back((stores[b] > 1 || (stores[b] == 1 && loaded)) && !kept_->keeps(number));
  }
}

void DeviceMemory::bind_locals(const Instruction& loop) {
  if (k_.vectors().lanes() != 0 && !loop.locals.empty()) k_.refuse("a loop with local buffers runs in vectors");
  for (const int32_t b : loop.locals) {
    Value*& memory = locals_[b];
    const kernel::Buffer& buffer = k_.kernel().buffers[static_cast<size_t>(b)];
    if (!memory && group_.is_cooperative()) {
      memory = group_.allocate_shared_of_group(buffer.extent * static_cast<int64_t>(size_of(buffer.dtype)));
    } else if (!memory) {
      llvm::AllocaInst* const array =
          k_.local(llvm::ArrayType::get(buffers_.element(b), static_cast<uint64_t>(buffer.extent)));
      array->setAlignment(llvm::Align(16));
      memory = array;
    }
    buffers_.bind_local(b, memory);
  }
}

int64_t DeviceMemory::divisor(Id id) const {
  const auto walk = [&](auto&& self, Id at, int depth) -> int64_t {
    if (const auto known = divisors_.find(at); known != divisors_.end()) return known->second;
    const auto it = defined_.find(at);
    if (it == defined_.end() || depth == kFar || k_.dtype(at) != DType::i64) return 1;
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

llvm::Align DeviceMemory::vector_alignment(int32_t buffer, Id index_id, int64_t offset) const {
  const kernel::Buffer& b = k_.kernel().buffers[static_cast<size_t>(buffer)];
  const auto bytes = static_cast<int64_t>(size_of(b.dtype));
  const int64_t common = std::gcd(divisor(index_id), offset), steps = common & -common;
  const int64_t align = std::min({std::max(b.alignment, bytes), steps * bytes, int64_t{16}});
  return llvm::Align(static_cast<uint64_t>(align & -align));
}

llvm::Align DeviceMemory::element_alignment(int32_t buffer, Id index_id, int64_t offset) const {
  return align_elements_ ? vector_alignment(buffer, index_id, offset) : buffers_.alignment(buffer);
}

Value* DeviceMemory::offset_index(Value* index, int64_t offset) {
  return b_.CreateAdd(index, k_.integer(offset), "", offset >= 0, true);
}

bool DeviceMemory::is_aligned(int32_t buffer, Id index_id, unsigned lanes) const {
  const auto bytes = size_of(k_.kernel().buffers[static_cast<size_t>(buffer)].dtype);
  return vector_alignment(buffer, index_id).value() >= lanes * bytes;
}

Reg DeviceMemory::load(const Instruction& i) {
  const DType d = k_.kernel().buffers[static_cast<size_t>(i.buffer)].dtype;
  if (is_complex(d)) k_.refuse("kernels have no complex numbers");
  const auto nothing = [&] { return llvm::Constant::getNullValue(k_.ops().register_type(d)); };
  if (k_.kernel().buffers[static_cast<size_t>(i.buffer)].extent == 0) return k_.uniform(nothing());
  if (kept_->keeps(i.buffer)) {
    Value* const v = k_.ops().from_memory(kept_->kept(i.buffer), d);
    return k_.vectors().lanes() == 0 ? k_.uniform(v) : k_.varying(v);
  }
  const Reg index = k_.get(i.operands[0]);
  const Reg* predicate = i.operands.size() > 1 ? &k_.get(i.operands[1]) : nullptr;
  if (predicate) {
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(predicate->v)) {
      if (known->isZero()) return k_.uniform(nothing());
      predicate = nullptr;
    }
  }
  if (index.uniform() && (!predicate || predicate->uniform())) {
    Value* at = predicate ? b_.CreateSelect(predicate->v, index.v, k_.integer(0)) : index.v;
    const llvm::Align align = predicate ? buffers_.alignment(i.buffer) : element_alignment(i.buffer, i.operands[0], 0);
    Value* v = b_.CreateAlignedLoad(buffers_.element(i.buffer), buffers_.address(i.buffer, at), align);
    v = k_.ops().from_memory(v, d);
    return k_.uniform(predicate ? b_.CreateSelect(predicate->v, v, nothing()) : v);
  }
  Value* const mask = k_.and_mask(k_.vectors().mask(), predicate ? k_.as_vector(*predicate) : nullptr);
  return k_.varying(k_.ops().from_memory(load_vector(i.buffer, i.operands[0], index, mask), d));
}

Value* DeviceMemory::load_vector(int32_t buffer, Id index_id, const Reg& index, Value* mask) {
  const unsigned lanes = k_.vectors().lanes();
  auto* type = llvm::FixedVectorType::get(buffers_.element(buffer), lanes);
  if (align_elements_ && !mask && index.form == Reg::Form::linear && index.stride != 1) {
    Value* v = llvm::PoisonValue::get(type);
    for (unsigned l = 0; l < lanes; ++l) {
      const int64_t offset = l * index.stride;
      Value* const p = buffers_.address(buffer, offset_index(index.v, offset));
      Value* const element =
          b_.CreateAlignedLoad(buffers_.element(buffer), p, element_alignment(buffer, index_id, offset));
      v = b_.CreateInsertElement(v, element, l);
    }
    return v;
  }
  if (mask || index.form != Reg::Form::linear || index.stride != 1)
    return buffers_.gather(buffer, k_.as_vector(index), mask);
  return b_.CreateAlignedLoad(type, buffers_.address(buffer, index.v), vector_alignment(buffer, index_id));
}

void DeviceMemory::store(const Instruction& i) {
  const DType d = k_.kernel().buffers[static_cast<size_t>(i.buffer)].dtype;
  if (is_complex(d)) k_.refuse("kernels have no complex numbers");
  if (k_.kernel().buffers[static_cast<size_t>(i.buffer)].extent == 0) return;
  const Reg index = k_.get(i.operands[0]);
  Reg value = k_.get(i.operands[1]);
  if (is_half(d)) value = k_.bits(value, d);
  if (kept_->keeps(i)) {
    kept_->keep(i.buffer, k_.ops().to_memory(k_.vectors().lanes() == 0 ? value.v : k_.as_vector(value), d));
    if (kept_->is_dead(i)) return;
  }
  const Reg* predicate = i.operands.size() > 2 ? &k_.get(i.operands[2]) : nullptr;
  if (k_.vectors().lanes() == 0) {
    Value* const to_memory = k_.ops().to_memory(value.v, d);
    Value* condition = predicate ? predicate->v : nullptr;
    const bool contended = group_.is_cooperative() && contended_[static_cast<size_t>(i.buffer)];
    if (group_.is_cooperative()) condition = k_.and_mask(condition, b_.CreateICmpEQ(group_.rank(), k_.integer(0)));
    // All threads must have finished their accesses before one stores, and must see the store afterwards.
    if (contended) group_.barrier();
    const llvm::Align align = condition ? buffers_.alignment(i.buffer) : element_alignment(i.buffer, i.operands[0], 0);
    group_.when(condition, [&] { store_one(i, index.v, to_memory, align); });
    if (contended) group_.barrier();
    return;
  }
  Value* const mask = k_.and_mask(k_.vectors().mask(), predicate ? k_.as_vector(*predicate) : nullptr);
  store_vector(i, index, k_.ops().to_memory(k_.as_vector(value), d), mask);
}

void DeviceMemory::store_vector(const Instruction& i, const Reg& index, Value* value, Value* mask) {
  if (!mask && i.combiners.empty() && index.form == Reg::Form::linear && index.stride == 1) {
    b_.CreateAlignedStore(value, buffers_.address(i.buffer, index.v), vector_alignment(i.buffer, i.operands[0]));
    return;
  }
  Value* const indices = k_.as_vector(index);
  const bool linear = !mask && index.form == Reg::Form::linear;
  for (unsigned l = 0; l < k_.vectors().lanes(); ++l)
    group_.when(mask ? b_.CreateExtractElement(mask, l) : nullptr, [&] {
      const int64_t offset = l * index.stride;
      Value* const at = linear ? offset_index(index.v, offset) : b_.CreateExtractElement(indices, l);
      const llvm::Align align =
          linear ? element_alignment(i.buffer, i.operands[0], offset) : buffers_.alignment(i.buffer);
      store_one(i, at, b_.CreateExtractElement(value, l), align);
    });
}

void DeviceMemory::store_one(const Instruction& i, Value* index, Value* value, llvm::Align align) {
  Value* const p = buffers_.address(i.buffer, index);
  if (i.combiners.empty()) {
    b_.CreateAlignedStore(value, p, align);
    return;
  }
  const DType d = k_.kernel().buffers[static_cast<size_t>(i.buffer)].dtype;
  const auto operation = atomic_op(i.combiners[0], d);
  if (operation == llvm::AtomicRMWInst::BAD_BINOP) k_.refuse("no atomic operation combines so");
  b_.CreateAtomicRMW(operation, p, value, buffers_.alignment(i.buffer), llvm::AtomicOrdering::Monotonic,
                     b_.getContext().getOrInsertSyncScopeID("device"));
}

bool DeviceMemory::stores_contended(const kernel::Region& region) const {
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::store && contended_[static_cast<size_t>(i.buffer)]) return true;
    for (const kernel::Region& inner : i.regions)
      if (stores_contended(inner)) return true;
  }
  return false;
}

}  // namespace calque::codegen
