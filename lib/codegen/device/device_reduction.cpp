// Reductions combine in an order that is fixed by the extent, the size of the thread group and the number of lanes.
//
// A single thread reduces blocks of about sqrt(extent) elements, each into four accumulators that are combined as
// (a0+a1)+(a2+a3), and then the blocks in order: at most 2 sqrt(n) dependent additions, without local memory.
//
// In a thread group of G, thread t reduces the vectors t, t + G, t + 2G ..., into four separate accumulators while four
// vectors are left. Then its accumulators, its lanes, the lanes of the warp (xor 16, 8, 4, 2, 1) and the warps of the
// block are combined, each pair in the same way in all threads, so that all hold the same bits. The initial
// value comes first of all. A sum of n terms passes through n / (4 G lanes) + log2(4 G lanes) additions or so: rows of
// one group are short in comparison, since longer ones are split over the grid.
#include "codegen/device/device_reduction.h"

#include <bit>
#include <optional>

#include "codegen/device/device_memory.h"
#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"
#include "codegen/loops/reduction.h"

namespace calque::codegen {

using kernel::Instruction;
using llvm::Value;

namespace {

constexpr int64_t kInOrder = 16;
// Larger bodies are not repeated for each accumulator.
constexpr int64_t kRepeatedBody = 12;

bool is_repeated(KernelEmitter& kernel, const Instruction& i) {
  const kernel::LoopFacts& facts = kernel.analysis().facts(i);
  return facts.cost <= kRepeatedBody && !facts.nested;
}

}  // namespace

void emit_thread_reduction(KernelEmitter& kernel, const Instruction& i) {
  if (i.extent <= kInOrder) return emit_sequential_reduction(kernel, i);
  ReductionBlocks blocks;
  blocks.repeat = is_repeated(kernel, i);
  const auto root = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(i.extent)));
  blocks.extent =
      is_rounded(kernel.kernel(), i) ? int64_t{1} << ((std::bit_width(static_cast<uint64_t>(root)) + 1) / 2) : i.extent;
  blocks.extent = std::max(blocks.extent / kAccumulators * kAccumulators, kAccumulators);
  blocks.count = i.extent / blocks.extent;
  blocks.blocked = blocks.count * blocks.extent;
  const Accumulators accumulators(kernel, i);
  ReductionEmitter reduction(kernel, i, blocks);
  const auto block = [&](Value* begin) { return reduction.block(begin, kernel.advance(begin, blocks.extent)); };
  Values total = blocks.count == 1
                     ? block(kernel.integer(0))
                     : kernel.counted(kernel.integer(0), kernel.integer(blocks.blocked), blocks.extent,
                                      accumulators.identities(false), [&](Value* begin, const Values& sum) {
                                        return accumulators.combine(sum, block(begin));
                                      });
  if (blocks.blocked < i.extent) total = accumulators.combine(total, reduction.remainder());
  accumulators.finish(total);
}

GroupReduction::GroupReduction(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory, const Instruction& i)
    : k_(kernel),
      b_(kernel.builder()),
      group_(group),
      memory_(memory),
      i_(i),
      accumulators_(kernel, i),
      separate_(is_repeated(kernel, i) ? kAccumulators : 1) {}

void GroupReduction::emit() {
  const bool contended = memory_.stores_contended(i_.regions[0]);
  if (contended) group_.barrier();
  Values mine;
  {
    const ThreadGroup::PerThreadScope each(group_);
    const unsigned lanes = vector_lanes(i_);
    mine = lanes == 0 ? fold_strided() : fold_vectors(lanes);
  }
  if (contended) group_.barrier();
  accumulators_.finish(combine_group(std::move(mine)));
}

Values GroupReduction::combine_separate(const Values& sums) const {
  return separate_ == kAccumulators ? accumulators_.combine_four(sums) : sums;
}

Values GroupReduction::fold_strided() {
  const Values nothing = accumulators_.identities(false);
  const int64_t threads = group_.size(), stride = separate_ * threads;
  const int64_t rounds_of_all = i_.extent / stride, rest = i_.extent - rounds_of_all * stride;
  const auto n = static_cast<std::ptrdiff_t>(nothing.size());
  Values sums;
  for (int64_t a = 0; a < separate_; ++a) sums.append(nothing);
  if (rounds_of_all > 0) {
    Value* const end = k_.integer(rounds_of_all * stride);
    sums = k_.counted(group_.rank(), end, stride, sums, [&](Value* index, const Values& carries) {
      Values next;
      for (int64_t a = 0; a < separate_; ++a) {
        const Values mine(carries.begin() + a * n, carries.begin() + (a + 1) * n);
        const Values term = accumulators_.contributions(k_.advance(index, a * threads), false);
        next.append(accumulators_.combine(mine, term));
      }
      return next;
    });
  }
  const Values total = combine_separate(sums);
  if (rest == 0) return total;
  Value* const first = k_.advance(group_.rank(), rounds_of_all * stride);
  Value* const some = rest >= threads ? nullptr : b_.CreateICmpSLT(group_.rank(), k_.integer(rest));
  return group_.where(some, total, [&] {
    return k_.counted(first, k_.integer(i_.extent), threads, total, [&](Value* index, const Values& carries) {
      return accumulators_.combine(carries, accumulators_.contributions(index, false));
    });
  });
}

// Neighbouring threads take neighbouring vectors; the first threads take one each of the elements past the last vector.
Values GroupReduction::fold_vectors(unsigned lanes) {
  const int64_t vectors = i_.extent / lanes, rest = i_.extent % lanes, threads = group_.size();
  std::optional<VectorScope> scope(std::in_place, k_.vectors(), lanes);
  const Values nothing = accumulators_.identities(true);
  const auto n = static_cast<std::ptrdiff_t>(nothing.size());
  const auto vector = [&](Value* number, const Values& sum) {
    memory_.set_divisor(i_.regions[0].parameters[0], lanes);
    return accumulators_.combine(sum, accumulators_.contributions(k_.mul(number, lanes), true));
  };
  const int64_t whole = vectors / (separate_ * threads) * separate_ * threads;
  Values total = nothing;
  if (whole > 0) {
    Values sums;
    for (int64_t a = 0; a < separate_; ++a) sums.append(nothing);
    sums = k_.counted(group_.rank(), k_.integer(whole), separate_ * threads, sums,
                      [&](Value* number, const Values& carries) {
                        Values next;
                        for (int64_t a = 0; a < separate_; ++a)
                          next.append(vector(k_.advance(number, a * threads),
                                             Values(carries.begin() + a * n, carries.begin() + (a + 1) * n)));
                        return next;
                      });
    total = combine_separate(sums);
  }
  if (whole < vectors) {
    Value* const some =
        vectors - whole >= threads ? nullptr : b_.CreateICmpSLT(group_.rank(), k_.integer(vectors - whole));
    total = group_.where(some, total, [&] {
      return k_.counted(k_.advance(group_.rank(), whole), k_.integer(vectors), threads, total,
                        [&](Value* number, const Values& carries) { return vector(number, carries); });
    });
  }
  total = accumulators_.fold_lanes(total);
  scope.reset();
  if (rest == 0) return total;
  memory_.set_divisor(i_.regions[0].parameters[0], 1);
  return group_.where(b_.CreateICmpSLT(group_.rank(), k_.integer(rest)), total, [&] {
    const Values term = accumulators_.contributions(k_.advance(group_.rank(), vectors * lanes), false);
    return accumulators_.combine(total, term);
  });
}

Values GroupReduction::combine_warp(Values v) {
  for (uint32_t distance = 16; distance >= 1; distance /= 2)
    v = accumulators_.combine(v, group_.shuffle(DeviceOp::shuffle_xor, v, b_.getInt32(distance)));
  return v;
}

Values GroupReduction::combine_group(Values v) {
  v = combine_warp(std::move(v));
  const int32_t warps = group_.warps();
  if (warps <= 1) return v;
  const Values nothing = accumulators_.identities(false);
  Value *const lane = group_.lane(), *const warp = group_.warp();
  Values slots;
  for (Value* x : v) {
    const int64_t bytes = std::max(x->getType()->getScalarSizeInBits() / 8, 1u);
    slots.push_back(group_.allocate_shared(bytes * warps));
  }
  const auto memory = [&](Value* x) {
    return x->getType()->isIntegerTy(1) ? static_cast<llvm::Type*>(b_.getInt8Ty()) : x->getType();
  };
  group_.barrier();  // the previous reduction's slots have been read
  group_.when(b_.CreateICmpEQ(lane, b_.getInt32(0)), [&] {
    for (size_t r = 0; r < v.size(); ++r)
      b_.CreateStore(b_.CreateZExtOrBitCast(v[r], memory(v[r])), b_.CreateInBoundsGEP(memory(v[r]), slots[r], {warp}));
  });
  group_.barrier();
  Value* const there = b_.CreateICmpULT(lane, b_.getInt32(static_cast<uint32_t>(warps)));
  Values other;
  for (size_t r = 0; r < v.size(); ++r) {
    Value* const from = warps == 32 ? lane : b_.CreateSelect(there, lane, b_.getInt32(0));
    Value* x = b_.CreateLoad(memory(v[r]), b_.CreateInBoundsGEP(memory(v[r]), slots[r], {from}));
    x = b_.CreateTruncOrBitCast(x, v[r]->getType());
    other.push_back(warps == 32 ? x : b_.CreateSelect(there, x, nothing[r]));
  }
  return combine_warp(std::move(other));
}

}  // namespace calque::codegen
