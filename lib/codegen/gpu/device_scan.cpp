// A thread group runs a cumulative loop in tiles of one iteration per thread. Within a tile, prefixes are combined at
// doubling distances (1, 2, 4, 8, 16 lanes), then across warps in order; the total of the previous tiles is combined
// from the left. Each element is (previous tiles) + ((previous warps) + (previous lanes + its own)), associated in this
// way; the tiles of one group are accumulated sequentially.
#include "codegen/gpu/device_emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using kernel::Op;
using kernel::Region;
using llvm::Value;

// The contribution of one iteration to each carry: the part of its body that does not depend on carries.
Values DeviceEmitter::scan_contributions(const Scan& scan, Value* index) {
  const Instruction& i = scan.loop;
  const Region& body = i.regions[0];
  env_[body.parameters[0]] = uniform(index);
  divisors_[body.parameters[0]] = 1;
  for (size_t n = 0; n < body.instructions.size(); ++n)
    if (!scan.needs_carry[n] && body.instructions[n].op != Op::yield) emit(body.instructions[n]);
  Values out;
  for (size_t c = 0; c < i.results.size(); ++c) {
    const DType d = dtype(i.results[c]);
    const Instruction& next = *defined_.at(body.instructions.back().operands[c]);
    const kernel::Id other = next.operands[next.operands[0] == body.parameters[c + 1] ? 1 : 0];
    Reg r = get(other);
    if (is_half(d)) r = widened(r, d);
    out.push_back(r.v);
  }
  return out;
}

// Inclusive scan: lane l gets the combination of lanes 0 to l.
Values DeviceEmitter::prefix_warp(const Instruction& i, Values v) {
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const Values before = shuffle(DeviceOp::shuffle_up, v, b_.getInt32(distance));
    const Values sum = combine(i, before, v);
    Value* const has = b_.CreateICmpUGE(lane_, b_.getInt32(distance));
    for (size_t c = 0; c < v.size(); ++c) v[c] = b_.CreateSelect(has, sum[c], v[c]);
  }
  return v;
}

void DeviceEmitter::group_scan(const Instruction& i) {
  const Scan scan = scan_of(i);
  const Region& body = i.regions[0];
  const bool contended = stores_contended(body);
  const int32_t warps = group_size_ / 32;
  const size_t n = i.results.size();
  const Values nothing = identities(i, false);
  Values initial;
  for (size_t c = 0; c < n; ++c) {
    Reg r = get(i.operands[c]);
    if (is_half(dtype(i.results[c]))) r = widened(r, dtype(i.results[c]));
    initial.push_back(r.v);
  }
  Values slots;
  if (warps > 1)
    for (size_t c = 0; c < n; ++c) slots.push_back(shared(allocate_shared(int64_t{8} * warps)));
  if (contended) barrier();
  const Values last =
      counted(integer(0), integer(i.extent), group_size_, initial, [&](Value* tile, const Values& carries) {
        Value* const index = add(tile, rank_);
        Value* const valid = i.extent % group_size_ == 0 ? nullptr : b_.CreateICmpSLT(index, integer(i.extent));
        Values prefix;
        thread_scope([&] { prefix = where(valid, nothing, [&] { return scan_contributions(scan, index); }); });
        prefix = prefix_warp(i, prefix);
        // The combination of the previous warps of the tile, and the tile's total.
        Values before = nothing, total;
        if (warps > 1) {
          barrier();
          when(b_.CreateICmpEQ(lane_, b_.getInt32(31)), [&] {
            for (size_t c = 0; c < n; ++c)
              b_.CreateStore(prefix[c], b_.CreateInBoundsGEP(prefix[c]->getType(), slots[c], {warp_}));
          });
          barrier();
          total = nothing;
          for (int32_t w = 0; w < warps; ++w) {
            Value* const is_here = b_.CreateICmpEQ(warp_, b_.getInt32(static_cast<uint32_t>(w)));
            Values sum;
            for (size_t c = 0; c < n; ++c) {
              before[c] = b_.CreateSelect(is_here, total[c], before[c]);
              sum.push_back(b_.CreateLoad(
                  prefix[c]->getType(),
                  b_.CreateInBoundsGEP(prefix[c]->getType(), slots[c], {b_.getInt32(static_cast<uint32_t>(w))})));
            }
            total = combine(i, total, sum);
          }
        } else {
          total = shuffle(DeviceOp::shuffle_index, prefix, b_.getInt32(31));
        }
        Values exclusive = shuffle(DeviceOp::shuffle_up, prefix, b_.getInt32(1));
        Value* const is_first = b_.CreateICmpEQ(lane_, b_.getInt32(0));
        for (size_t c = 0; c < n; ++c) exclusive[c] = b_.CreateSelect(is_first, nothing[c], exclusive[c]);
        exclusive = combine(i, carries, combine(i, before, exclusive));
        thread_scope([&] {
          when(valid, [&] {
            env_[body.parameters[0]] = uniform(index);
            divisors_[body.parameters[0]] = 1;
            for (size_t c = 0; c < n; ++c) {
              const DType d = dtype(i.results[c]);
              Reg r = uniform(exclusive[c]);
              r.wide = is_half(d);
              r.representable_in_16_bits = false;
              env_[body.parameters[c + 1]] = r;
            }
            run(body);
          });
        });
        return combine(i, carries, total);
      });
  if (contended) barrier();
  for (size_t c = 0; c < n; ++c) {
    Reg& out = env_[i.results[c]];
    out = uniform(last[c]);
    out.wide = is_half(dtype(i.results[c]));
    out.representable_in_16_bits = !out.wide;
  }
}

}  // namespace calque::codegen
