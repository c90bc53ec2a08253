// Streaming stores. What is larger than the caches is written past them: an ordinary store reads the line first that it
// is about to fill. Such stores need vectors at multiples of their size: loops over them begin where that is so.
#include <algorithm>
#include <limits>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::LoopKind;
using kernel::Op;
using llvm::Value;

namespace {
// What fits may be wanted again soon, and is better left in the last-level cache.
constexpr double kStreamedBytes = 16 << 20;
// A line of the caches, and the widest store.
constexpr uint64_t kLine = 64;
}  // namespace

// Large buffers that the kernel writes once, in loops whose order is free, and does not read.
void KernelEmitter::find_streams() {
  streamed_.assign(kernel_.buffers.size(), false);
  if (!target_.x86) return;
  std::vector<double> written(kernel_.buffers.size(), 0);
  find_streams(kernel_.body, 1, false, written);
  for (size_t i = 0; i < streamed_.size(); ++i) {
    const kernel::Buffer& buffer = kernel_.buffers[i];
    const auto extent = static_cast<double>(buffer.extent);
    streamed_[i] = written[i] > 0 && written[i] <= extent && !analysis_.loaded(static_cast<int32_t>(i)) &&
                   !overlaps_[i] && written[i] * static_cast<double>(size_of(buffer.dtype)) >= kStreamedBytes;
  }
}

// Adds the stores of a region that runs so many times; `again`: it may write a place that it has written before.
void KernelEmitter::find_streams(const Region& region, double times, bool again, std::vector<double>& written) const {
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::store)
      written[static_cast<size_t>(i.buffer)] += again ? std::numeric_limits<double>::infinity() : times;
    const bool parallel = i.op == Op::loop && i.loop == LoopKind::parallel;
    for (const Region& inner : i.regions)
      find_streams(inner, parallel ? times * static_cast<double>(i.extent) : times, again || !parallel, written);
  }
}

// A straight loop that stores into what may be streamed.
bool KernelEmitter::streams_in(const Instruction& loop) const {
  const auto& body = loop.regions[0].instructions;
  return std::any_of(body.begin(), body.end(),
                     [&](const Instruction& i) {
                       return i.op == Op::store && i.operands.size() == 2 && streamed_[static_cast<size_t>(i.buffer)];
                     }) &&
         std::all_of(body.begin(), body.end(), [](const Instruction& i) { return i.regions.empty(); });
}

// The first element from `begin` on at which all vectors that `iteration` streams are aligned, and whether there is
// one. What is in front of that element is in the vectors at `begin`, which are stored as ever.
std::pair<Value*, Value*> KernelEmitter::align(Value* begin, const std::function<void(Value*)>& iteration) {
  streaming_ = Streaming::asked;
  iteration(begin);
  streaming_ = Streaming::none;
  Value *ahead = nullptr, *together = b_.getTrue();
  for (const auto& [address, bytes] : stream_starts_) {
    Value* const start = b_.CreatePtrToInt(address, b_.getInt64Ty());
    const uint64_t vector = std::min<uint64_t>(kLine, bytes * lanes_);
    Value* const left = b_.CreateAnd(b_.CreateNeg(start), b_.getInt64(vector - 1));
    Value* const elements = b_.CreateUDiv(left, b_.getInt64(bytes));
    if (ahead) together = b_.CreateAnd(together, b_.CreateICmpEQ(ahead, elements));
    // Memory may stand between two elements' places.
    together = b_.CreateAnd(together, b_.CreateICmpEQ(b_.CreateMul(elements, b_.getInt64(bytes)), left));
    if (!ahead) ahead = elements;
  }
  stream_starts_.clear();
  // A line that an ordinary store has just brought into the caches is slow to write past them.
  if (ahead)
    where_any(b_.CreateICmpNE(ahead, b_.getInt64(0)), {}, [&] {
      iteration(begin);
      return Values{};
    });
  return {ahead ? b_.CreateAdd(begin, ahead) : begin, ahead ? together : b_.getFalse()};
}

// `whole(first)` runs a loop from `first` on and returns how far it came: its stores stream where they can.
Value* KernelEmitter::stream(Value* begin, Value* end, int64_t step, const std::function<void(Value*)>& iteration,
                             const std::function<Value*(Value*)>& whole) {
  const auto [start, found] = align(begin, iteration);
  Value* const enough = b_.CreateICmpSGE(b_.CreateSub(end, start), b_.getInt64(static_cast<uint64_t>(step)));
  llvm::BasicBlock *past = block("stream"), *plain = block("plain"), *after = block("after");
  b_.CreateCondBr(b_.CreateAnd(found, enough), past, plain);
  b_.SetInsertPoint(past);
  streaming_ = Streaming::yes;
  Value* const streamed_to = whole(start);
  streaming_ = Streaming::none;
  past = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(plain);
  Value* const stored_to = whole(begin);
  plain = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* const reached = b_.CreatePHI(b_.getInt64Ty(), 2);
  reached->addIncoming(streamed_to, past);
  reached->addIncoming(stored_to, plain);
  return reached;
}

// The store of a whole vector: done here if it is to pass the caches, and noted where only its place is asked for.
bool KernelEmitter::streamed(int32_t buffer, Value* value, Value* address) {
  const auto bytes = static_cast<uint64_t>(value->getType()->getPrimitiveSizeInBits().getFixedValue() / 8);
  if (streaming_ == Streaming::none || !streamed_[static_cast<size_t>(buffer)] || bytes < 16) return false;
  if (streaming_ == Streaming::asked) {
    stream_starts_.emplace_back(address, size_of(kernel_.buffers[static_cast<size_t>(buffer)].dtype));
    return true;
  }
  llvm::StoreInst* store = b_.CreateAlignedStore(value, address, llvm::Align(std::min(bytes, kLine)));
  llvm::Metadata* const once = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(module_.getContext(), once));
  streamed_here_ = true;
  return true;
}

// In front of whoever waits for the function: x86 orders streaming stores by a fence alone.
void KernelEmitter::order_streams() {
  if (streamed_here_) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<Value*>{});
  streamed_here_ = false;
}

}  // namespace calque::codegen
