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
      separate_(is_repeated(kernel, i) ? kAccumulators : 1),
      unrolled_(is_unrolled(kernel, group, i)) {}

void GroupReduction::emit() {
  const bool contended = memory_.stores_contended(i_.regions[0]);
  if (contended) group_.barrier();
  Values mine;
  {
    const ThreadGroup::PerThreadScope each(group_);
    const unsigned lanes = vector_lanes(i_);
    memory_.begin_row();
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
  const auto contributions = [&](Value* index) {
    memory_.next_of_row(i_.regions[0].parameters[0], 1);
    return accumulators_.contributions(index, false);
  };
  Values sums;
  for (int64_t a = 0; a < separate_; ++a) sums.append(nothing);
  sums =
      group_.repeat({group_.rank(), rounds_of_all, stride, unrolled_}, sums, [&](Value* index, const Values& carries) {
        Values next;
        for (int64_t a = 0; a < separate_; ++a) {
          const Values mine(carries.begin() + a * n, carries.begin() + (a + 1) * n);
          const Values term = contributions(group_.ahead(index, a * threads));
          next.append(accumulators_.combine(mine, term));
        }
        return next;
      });
  const auto one = [&](Value* index, const Values& sum) { return accumulators_.combine(sum, contributions(index)); };
  Value* const first = group_.ahead(group_.rank(), rounds_of_all * stride);
  const int64_t rounds = rest / threads;
  const Values total = group_.repeat({first, rounds, threads, unrolled_}, combine_separate(sums), one);
  if (rest % threads == 0) return total;
  return group_.where(b_.CreateICmpSLT(group_.rank(), k_.integer(rest % threads)), total,
                      [&] { return one(group_.ahead(first, rounds * threads), total); });
}

// Neighbouring threads take neighbouring vectors; the first threads take one each of the elements past the last vector.
Values GroupReduction::fold_vectors(unsigned lanes) {
  const int64_t vectors = i_.extent / lanes, rest = i_.extent % lanes, threads = group_.size();
  std::optional<VectorScope> scope(std::in_place, k_.vectors(), lanes);
  const Values nothing = accumulators_.identities(true);
  const auto n = static_cast<std::ptrdiff_t>(nothing.size());
  const auto vector = [&](Value* index, const Values& sum) {
    memory_.next_of_row(i_.regions[0].parameters[0], lanes);
    return accumulators_.combine(sum, accumulators_.contributions(index, true));
  };
  const int64_t round = threads * lanes;  // elements that the group takes at once
  const int64_t separate_rounds = vectors / (separate_ * threads), whole = separate_rounds * separate_ * threads;
  Value* const begin = k_.mul(group_.rank(), lanes);
  Values sums;
  for (int64_t a = 0; a < separate_; ++a) sums.append(nothing);
  sums = group_.repeat(
      {begin, separate_rounds, separate_ * round, unrolled_}, sums, [&](Value* index, const Values& carries) {
        Values next;
        for (int64_t a = 0; a < separate_; ++a)
          next.append(
              vector(group_.ahead(index, a * round), Values(carries.begin() + a * n, carries.begin() + (a + 1) * n)));
        return next;
      });
  Values total = separate_rounds > 0 ? combine_separate(sums) : nothing;
  const int64_t rounds = (vectors - whole) / threads, last = (vectors - whole) % threads;
  Value* const first = group_.ahead(begin, whole * lanes);
  total = group_.repeat({first, rounds, round, unrolled_}, total, vector);
  if (last != 0)
    total = group_.where(b_.CreateICmpSLT(group_.rank(), k_.integer(last)), total,
                         [&] { return vector(group_.ahead(first, rounds * round), total); });
  total = accumulators_.fold_lanes(total);
  scope.reset();
  if (rest == 0) return total;
  memory_.next_of_row(i_.regions[0].parameters[0], 1);
  return group_.where(b_.CreateICmpSLT(group_.rank(), k_.integer(rest)), total, [&] {
    const Values term = accumulators_.contributions(group_.ahead(group_.rank(), vectors * lanes), false);
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
