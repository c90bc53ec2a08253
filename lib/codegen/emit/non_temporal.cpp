// Non-temporal stores need vectors aligned to their size, so their loops are peeled until the vectors are aligned.
#include <algorithm>

#include "codegen/emit/emitter.h"
#include "kernel/schedule_cpu/vector_loops.h"

namespace calque::codegen {

using llvm::Value;

class NonTemporalStores::ModeScope {
 public:
  ModeScope(NonTemporalStores& stores, Mode mode) : stores_(stores) { stores.mode_ = mode; }
  ~ModeScope() { stores_.mode_ = Mode::off; }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  NonTemporalStores& stores_;
};

// The first element from `begin` on at which all non-temporal vectors of `iteration` are aligned, and whether there is
// one. The elements before it belong to the vectors at `begin`, which are stored as usual.
std::pair<Value*, Value*> NonTemporalStores::peel_until_aligned(Value* begin, const Iteration& iteration) {
  llvm::IRBuilder<>& b = k_.builder();
  {
    const ModeScope recording(*this, Mode::record_addresses);
    iteration(begin);
  }
  Value *ahead = nullptr, *aligned = b.getTrue();
  for (const auto& [address, bytes] : addresses_) {
    Value* const start = b.CreatePtrToInt(address, b.getInt64Ty());
    const uint64_t vector = std::min<uint64_t>(kLine, bytes * k_.vectors().lanes());
    Value* const left = b.CreateAnd(b.CreateNeg(start), b.getInt64(vector - 1));
    Value* const elements = b.CreateUDiv(left, b.getInt64(bytes));
    if (ahead) aligned = b.CreateAnd(aligned, b.CreateICmpEQ(ahead, elements));
    // The memory need not be aligned to its elements.
    aligned = b.CreateAnd(aligned, b.CreateICmpEQ(b.CreateMul(elements, b.getInt64(bytes)), left));
    if (!ahead) ahead = elements;
  }
  addresses_.clear();
  // A non-temporal store is slow on a line that an ordinary store has just brought into the caches.
  if (ahead)
    k_.where_any(b.CreateICmpNE(ahead, b.getInt64(0)), {}, [&] {
      iteration(begin);
      return Values{};
    });
  return {ahead ? b.CreateAdd(begin, ahead) : begin, ahead ? aligned : b.getFalse()};
}

Value* NonTemporalStores::loop(Value* begin, Value* end, int64_t step, const Iteration& iteration,
                               const std::function<Value*(Value*)>& whole) {
  llvm::IRBuilder<>& b = k_.builder();
  const auto [start, found] = peel_until_aligned(begin, iteration);
  Value* const enough = b.CreateICmpSGE(b.CreateSub(end, start), b.getInt64(static_cast<uint64_t>(step)));
  llvm::BasicBlock *non_temporal = k_.block("nontemporal"), *plain = k_.block("plain"), *after = k_.block("after");
  b.CreateCondBr(b.CreateAnd(found, enough), non_temporal, plain);
  b.SetInsertPoint(non_temporal);
  Value* non_temporal_end = nullptr;
  {
    const ModeScope on(*this, Mode::on);
    non_temporal_end = whole(start);
  }
  non_temporal = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(plain);
  Value* const plain_end = whole(begin);
  plain = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* const reached = b.CreatePHI(b.getInt64Ty(), 2);
  reached->addIncoming(non_temporal_end, non_temporal);
  reached->addIncoming(plain_end, plain);
  return reached;
}

bool NonTemporalStores::store(const kernel::Instruction& i, Value* value, Value* address) {
  llvm::IRBuilder<>& b = k_.builder();
  const auto bytes = static_cast<uint64_t>(value->getType()->getPrimitiveSizeInBits().getFixedValue() / 8);
  if (mode_ == Mode::off || !i.non_temporal || bytes < 16) return false;
  if (mode_ == Mode::record_addresses) {
    addresses_.emplace_back(address, size_of(k_.kernel().buffers[static_cast<size_t>(i.buffer)].dtype));
    return true;
  }
  bypass(b.CreateAlignedStore(value, address, llvm::Align(std::min(bytes, kLine))));
  return true;
}

bool NonTemporalStores::takes_lines(int32_t buffer) {
  if (!k_.target().x86 || k_.analysis().loaded(buffer)) return false;
  if (written_.empty()) written_ = kernel::elements_written(k_.kernel());
  const kernel::Buffer& b = k_.kernel().buffers[static_cast<size_t>(buffer)];
  const double written = written_[static_cast<size_t>(buffer)];
  return written <= static_cast<double>(b.extent) &&
         written * static_cast<double>(size_of(b.dtype)) >= kernel::kNonTemporalBytes;
}

void NonTemporalStores::store_line(Value* value, Value* address) {
  bypass(k_.builder().CreateAlignedStore(value, address, llvm::Align(kLine)));
}

void NonTemporalStores::bypass(llvm::StoreInst* store) {
  llvm::IRBuilder<>& b = k_.builder();
  llvm::Metadata* const once = llvm::ConstantAsMetadata::get(b.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b.getContext(), once));
  needs_fence_ = true;
}

void NonTemporalStores::emit_fence() {
  if (needs_fence_) k_.builder().CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<Value*>{});
  needs_fence_ = false;
}

}  // namespace calque::codegen
