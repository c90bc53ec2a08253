// Non-temporal stores need vectors aligned to their size, so their loops are peeled until the vectors are aligned.
#include <algorithm>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

namespace {
// Bytes of a cache line, and of the widest store.
constexpr uint64_t kLine = 64;
}  // namespace

// The first element from `begin` on at which all non-temporal vectors of `iteration` are aligned, and whether there is
// one. The elements before it belong to the vectors at `begin`, which are stored as usual.
std::pair<Value*, Value*> KernelEmitter::peel_until_aligned(Value* begin,
                                                            const std::function<void(Value*)>& iteration) {
  non_temporal_mode_ = NonTemporal::record_addresses;
  iteration(begin);
  non_temporal_mode_ = NonTemporal::off;
  Value *ahead = nullptr, *aligned = b_.getTrue();
  for (const auto& [address, bytes] : non_temporal_addresses_) {
    Value* const start = b_.CreatePtrToInt(address, b_.getInt64Ty());
    const uint64_t vector = std::min<uint64_t>(kLine, bytes * lanes_);
    Value* const left = b_.CreateAnd(b_.CreateNeg(start), b_.getInt64(vector - 1));
    Value* const elements = b_.CreateUDiv(left, b_.getInt64(bytes));
    if (ahead) aligned = b_.CreateAnd(aligned, b_.CreateICmpEQ(ahead, elements));
    // The memory need not be aligned to its elements.
    aligned = b_.CreateAnd(aligned, b_.CreateICmpEQ(b_.CreateMul(elements, b_.getInt64(bytes)), left));
    if (!ahead) ahead = elements;
  }
  non_temporal_addresses_.clear();
  // A non-temporal store is slow on a line that an ordinary store has just brought into the caches.
  if (ahead)
    where_any(b_.CreateICmpNE(ahead, b_.getInt64(0)), {}, [&] {
      iteration(begin);
      return Values{};
    });
  return {ahead ? b_.CreateAdd(begin, ahead) : begin, ahead ? aligned : b_.getFalse()};
}

// Emits two versions of the loop `whole(first)`, which runs from `first` on and returns where it stopped: with
// non-temporal stores if their vectors can be aligned, else with ordinary ones.
Value* KernelEmitter::non_temporal_loop(Value* begin, Value* end, int64_t step,
                                        const std::function<void(Value*)>& iteration,
                                        const std::function<Value*(Value*)>& whole) {
  const auto [start, found] = peel_until_aligned(begin, iteration);
  Value* const enough = b_.CreateICmpSGE(b_.CreateSub(end, start), b_.getInt64(static_cast<uint64_t>(step)));
  llvm::BasicBlock *non_temporal = block("nontemporal"), *plain = block("plain"), *after = block("after");
  b_.CreateCondBr(b_.CreateAnd(found, enough), non_temporal, plain);
  b_.SetInsertPoint(non_temporal);
  non_temporal_mode_ = NonTemporal::on;
  Value* const non_temporal_end = whole(start);
  non_temporal_mode_ = NonTemporal::off;
  non_temporal = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(plain);
  Value* const plain_end = whole(begin);
  plain = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* const reached = b_.CreatePHI(b_.getInt64Ty(), 2);
  reached->addIncoming(non_temporal_end, non_temporal);
  reached->addIncoming(plain_end, plain);
  return reached;
}

// Emits the store of a whole vector if it is to be non-temporal, or records its address; returns false otherwise.
bool KernelEmitter::store_non_temporal(const Instruction& i, Value* value, Value* address) {
  const auto bytes = static_cast<uint64_t>(value->getType()->getPrimitiveSizeInBits().getFixedValue() / 8);
  if (non_temporal_mode_ == NonTemporal::off || !i.non_temporal || bytes < 16) return false;
  if (non_temporal_mode_ == NonTemporal::record_addresses) {
    non_temporal_addresses_.emplace_back(address, size_of(kernel_.buffers[static_cast<size_t>(i.buffer)].dtype));
    return true;
  }
  llvm::StoreInst* store = b_.CreateAlignedStore(value, address, llvm::Align(std::min(bytes, kLine)));
  llvm::Metadata* const once = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(module_.getContext(), once));
  needs_store_fence_ = true;
  return true;
}

// Emitted before the function returns to code that may wait for it: x86 orders non-temporal stores only by a fence.
void KernelEmitter::emit_store_fence() {
  if (needs_store_fence_) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<Value*>{});
  needs_store_fence_ = false;
}

}  // namespace calque::codegen
