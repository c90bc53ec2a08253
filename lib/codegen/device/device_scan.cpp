// A thread group runs a cumulative loop in tiles of one iteration per thread. Within a tile, prefixes are combined at
// doubling distances (1, 2, 4, 8, 16 lanes), then across warps in order; the total of the previous tiles is combined
// from the left. Each element is (previous tiles) + ((previous warps) + (previous lanes + its own)), associated in this
// way; the tiles of one group are accumulated sequentially.
#include "codegen/device/device_scan.h"

#include "codegen/device/device_memory.h"
#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using kernel::Op;
using kernel::Region;
using llvm::Value;

GroupScan::GroupScan(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory, const Instruction& i)
    : k_(kernel),
      b_(kernel.builder()),
      group_(group),
      memory_(memory),
      i_(i),
      accumulators_(kernel, i),
      body_(analyze_cumulative(kernel.kernel(), i)),
      identities_(accumulators_.identities(false)) {}

Values GroupScan::contributions(Value* index) {
  const Region& body = i_.regions[0];
  k_.set(body.parameters[0], k_.uniform(index));
  memory_.set_divisor(body.parameters[0], 1);
  for (size_t n = 0; n < body.instructions.size(); ++n)
    if (!body_.needs_carry[n] && body.instructions[n].op != Op::yield) k_.emit(body.instructions[n]);
  Values out;
  for (size_t c = 0; c < i_.results.size(); ++c) {
    const DType d = k_.dtype(i_.results[c]);
    const Instruction& next = memory_.definition(body.instructions.back().operands[c]);
    const kernel::Id other = next.operands[next.operands[0] == body.parameters[c + 1] ? 1 : 0];
    Reg r = k_.get(other);
    if (is_half(d)) r = k_.widened(r, d);
    out.push_back(r.v);
  }
  return out;
}

Values GroupScan::prefix_warp(Values v) {
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const Values before = group_.shuffle(DeviceOp::shuffle_up, v, b_.getInt32(distance));
    const Values sum = accumulators_.combine(before, v);
    Value* const has = b_.CreateICmpUGE(group_.lane(), b_.getInt32(distance));
    for (size_t c = 0; c < v.size(); ++c) v[c] = b_.CreateSelect(has, sum[c], v[c]);
  }
  return v;
}

GroupScan::Warps GroupScan::combine_warps(const Values& prefix) {
  const int32_t warps = group_.warps();
  if (warps <= 1) return {identities_, group_.shuffle(DeviceOp::shuffle_index, prefix, b_.getInt32(31))};
  const auto slot = [&](size_t c, Value* warp) {
    return b_.CreateInBoundsGEP(prefix[c]->getType(), slots_[c], {warp});
  };
  group_.barrier();
  group_.when(b_.CreateICmpEQ(group_.lane(), b_.getInt32(31)), [&] {
    for (size_t c = 0; c < prefix.size(); ++c) b_.CreateStore(prefix[c], slot(c, group_.warp()));
  });
  group_.barrier();
  Values before = identities_, total = identities_;
  for (int32_t w = 0; w < warps; ++w) {
    Value* const number = b_.getInt32(static_cast<uint32_t>(w));
    Value* const is_here = b_.CreateICmpEQ(group_.warp(), number);
    Values sum;
    for (size_t c = 0; c < prefix.size(); ++c) {
      before[c] = b_.CreateSelect(is_here, total[c], before[c]);
      sum.push_back(b_.CreateLoad(prefix[c]->getType(), slot(c, number)));
    }
    total = accumulators_.combine(total, sum);
  }
  return {before, total};
}

void GroupScan::run(Value* index, const Values& before) {
  const Region& body = i_.regions[0];
  k_.set(body.parameters[0], k_.uniform(index));
  memory_.set_divisor(body.parameters[0], 1);
  for (size_t c = 0; c < before.size(); ++c) {
    Reg r = k_.uniform(before[c]);
    r.wide = is_half(k_.dtype(i_.results[c]));
    r.representable_in_16_bits = false;
    k_.set(body.parameters[c + 1], r);
  }
  k_.run(body);
}

Values GroupScan::tile(Value* first, const Values& carries) {
  Value* const index = k_.add(first, group_.rank());
  Value* const valid = i_.extent % group_.size() == 0 ? nullptr : b_.CreateICmpSLT(index, k_.integer(i_.extent));
  Values prefix;
  {
    const ThreadGroup::PerThreadScope each(group_);
    prefix = group_.where(valid, identities_, [&] { return contributions(index); });
  }
  prefix = prefix_warp(prefix);
  const Warps warps = combine_warps(prefix);
  Values exclusive = group_.shuffle(DeviceOp::shuffle_up, prefix, b_.getInt32(1));
  Value* const is_first = b_.CreateICmpEQ(group_.lane(), b_.getInt32(0));
  for (size_t c = 0; c < exclusive.size(); ++c) exclusive[c] = b_.CreateSelect(is_first, identities_[c], exclusive[c]);
  exclusive = accumulators_.combine(carries, accumulators_.combine(warps.before, exclusive));
  {
    const ThreadGroup::PerThreadScope each(group_);
    group_.when(valid, [&] { run(index, exclusive); });
  }
  return accumulators_.combine(carries, warps.total);
}

void GroupScan::emit() {
  const bool contended = memory_.stores_contended(i_.regions[0]);
  const Values initial = accumulators_.initial();
  if (group_.warps() > 1)
    for (size_t c = 0; c < i_.results.size(); ++c)
      slots_.push_back(group_.allocate_shared(int64_t{8} * group_.warps()));
  if (contended) group_.barrier();
  const Values last = k_.counted(k_.integer(0), k_.integer(i_.extent), group_.size(), initial,
                                 [&](Value* first, const Values& carries) { return tile(first, carries); });
  if (contended) group_.barrier();
  accumulators_.set_results(last);
}

}  // namespace calque::codegen
