// Blocks hold whole thread groups. Threads whose group is beyond the last one return at once, without affecting any
// barrier: a group that is a block shares it with no other.
#include "codegen/device/thread_group.h"

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

ThreadGroup::ThreadGroup(KernelEmitter& kernel, const std::optional<kernel::Launch>& launch) : k_(kernel) {
  if (!launch) k_.refuse("it is not scheduled for a GPU");
  launch_ = *launch;
  if (launch_.threads % 32 != 0 || (size() != 1 && size() != 32 && size() != launch_.threads))
    k_.refuse("thread groups of " + std::to_string(size()) + " threads in blocks of " +
              std::to_string(launch_.threads));
  cooperative_ = !is_single_thread();
}

void ThreadGroup::compute_position() {
  llvm::IRBuilder<>& b = k_.builder();
  Value* const thread = op(DeviceOp::thread);
  Value* const block = op(DeviceOp::block);
  lane_ = b.CreateAnd(thread, b.getInt32(31));
  warp_ = b.CreateLShr(thread, 5);
  if (size() == launch_.threads) {
    index_ = block;
    rank_ = b.CreateZExt(thread, b.getInt64Ty());
    return;
  }
  const int64_t in_block = launch_.threads / size();
  Value* const within = is_single_thread() ? thread : warp_;
  index_ = k_.add(k_.mul(block, in_block), b.CreateZExt(within, b.getInt64Ty()));
  rank_ = is_single_thread() ? k_.integer(0) : b.CreateZExt(lane_, b.getInt64Ty());
  if (size() == 32) warp_ = b.getInt32(0);
}

Value* ThreadGroup::op(DeviceOp o, llvm::ArrayRef<Value*> operands) { return device_op(k_.builder(), o, operands); }

void ThreadGroup::when(Value* condition, const std::function<void()>& body) {
  where(condition, {}, [&] {
    body();
    return Values{};
  });
}

Values ThreadGroup::where(Value* condition, const Values& otherwise, const std::function<Values()>& body) {
  if (!condition) return body();
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) return known->isOne() ? body() : otherwise;
  return k_.where_any(condition, otherwise, body);
}

Value* ThreadGroup::ahead(Value* index, int64_t by) {
  if (auto* const sum = llvm::dyn_cast<llvm::BinaryOperator>(index); sum && sum->getOpcode() == llvm::Instruction::Add)
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1)))
      return ahead(sum->getOperand(0), known->getSExtValue() + by);
  return by == 0 ? index : k_.advance(index, by);
}

Values ThreadGroup::repeat(const Rounds& rounds, const Values& initial,
                           const std::function<Values(Value*, const Values&)>& body) {
  const auto at = [&](int64_t n) { return ahead(rounds.begin, n * rounds.step); };
  if (rounds.times > 1 && !rounds.unrolled)
    return k_.counted(rounds.begin, at(rounds.times), rounds.step, initial, body);
  Values carries = initial;
  for (int64_t n = 0; n < rounds.times; ++n) carries = body(at(n), carries);
  return carries;
}

void ThreadGroup::barrier() {
  if (size() > 32)
    op(DeviceOp::barrier);
  else if (size() == 32)
    op(DeviceOp::warp_barrier);
}

Value* ThreadGroup::shuffle(DeviceOp mode, Value* v, Value* operand) {
  llvm::IRBuilder<>& b = k_.builder();
  llvm::Type* const type = v->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type* const word = b.getInt32Ty();
  Value* raw = b.CreateBitCast(v, b.getIntNTy(bits));
  if (bits <= 32) {
    Value* const there = op(mode, {b.CreateZExt(raw, word), operand});
    return b.CreateBitCast(b.CreateTrunc(there, raw->getType()), type);
  }
  Value* const low = op(mode, {b.CreateTrunc(raw, word), operand});
  Value* const high = op(mode, {b.CreateTrunc(b.CreateLShr(raw, 32), word), operand});
  raw = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  return b.CreateBitCast(raw, type);
}

Values ThreadGroup::shuffle(DeviceOp mode, const Values& v, Value* operand) {
  Values out;
  for (Value* x : v) out.push_back(shuffle(mode, x, operand));
  return out;
}

Value* ThreadGroup::allocate_shared_of_group(int64_t bytes) {
  const int64_t groups = launch_.threads / size(), of_group = (bytes + 15) / 16 * 16;
  Value* const first = allocate_shared(of_group * groups);
  if (groups == 1) return first;
  llvm::IRBuilder<>& b = k_.builder();
  Value* const number = b.CreateURem(index_, k_.integer(groups));
  return b.CreateInBoundsGEP(b.getInt8Ty(), first, k_.mul(number, of_group));
}

Value* ThreadGroup::allocate_shared(int64_t bytes) {
  const int32_t offset = shared_bytes_;
  shared_bytes_ += static_cast<int32_t>((bytes + 15) / 16 * 16);
  return op(DeviceOp::shared, {k_.builder().getInt32(static_cast<uint32_t>(offset))});
}

}  // namespace calque::codegen
