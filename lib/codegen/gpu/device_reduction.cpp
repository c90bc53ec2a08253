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
#include <bit>
#include <optional>

#include "codegen/gpu/device_emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using llvm::Value;

namespace {

constexpr int64_t kInOrder = 16;
constexpr int64_t kAccumulators = 4;
// Larger bodies are not repeated for each accumulator.
constexpr int64_t kRepeatedBody = 12;

}  // namespace

// -0 + x is x for every x, +0 + -0 is not -0: the partial of a chunk of a cumulative loop keeps its sign.
Values DeviceEmitter::identities(const Instruction& i, bool vectorised) {
  Values v = KernelEmitter::identities(i, vectorised);
  for (size_t r = 0; r < v.size(); ++r)
    if (i.combiners[r] == kernel::Combiner::add && v[r]->getType()->isFPOrFPVectorTy())
      v[r] = llvm::ConstantFP::getNegativeZero(v[r]->getType());
  return v;
}

void DeviceEmitter::thread_reduction(const Instruction& i) {
  if (i.extent <= kInOrder) return sequential_reduction(i);
  const kernel::LoopFacts& facts = analysis_.facts(i);
  Blocks blocks;
  blocks.repeat = facts.cost <= kRepeatedBody && !facts.nested;
  const auto root = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(i.extent)));
  blocks.extent =
      is_rounded(kernel_, i) ? int64_t{1} << ((std::bit_width(static_cast<uint64_t>(root)) + 1) / 2) : i.extent;
  blocks.extent = std::max(blocks.extent / kAccumulators * kAccumulators, kAccumulators);
  blocks.count = i.extent / blocks.extent;
  blocks.blocked = blocks.count * blocks.extent;
  const auto block = [&](Value* begin) { return sum_block(i, blocks, begin, add(begin, integer(blocks.extent))); };
  Values total = blocks.count == 1
                     ? block(integer(0))
                     : counted(integer(0), integer(blocks.blocked), blocks.extent, identities(i, false),
                               [&](Value* begin, const Values& sum) { return combine(i, sum, block(begin)); });
  if (blocks.blocked < i.extent) total = combine(i, total, sum_remainder(i, blocks));
  finish(i, total);
}

void DeviceEmitter::group_reduction(const Instruction& i) {
  const bool contended = stores_contended(i.regions[0]);
  if (contended) barrier();
  Values mine;
  thread_scope([&] {
    const unsigned lanes = vector_lanes(i);
    mine = lanes == 0 ? fold_strided(i) : fold_vectors(i, lanes);
  });
  if (contended) barrier();
  finish(i, combine_group(i, std::move(mine)));
}

// One element at a time.
Values DeviceEmitter::fold_strided(const Instruction& i) {
  const Values nothing = identities(i, false);
  const kernel::LoopFacts& facts = analysis_.facts(i);
  const bool repeat = facts.cost <= kRepeatedBody && !facts.nested;
  const int64_t at_once = repeat ? kAccumulators : 1, stride = at_once * group_size_;
  const int64_t rounds_of_all = i.extent / stride, rest = i.extent - rounds_of_all * stride;
  const auto n = static_cast<std::ptrdiff_t>(nothing.size());
  Values sums;
  for (int64_t a = 0; a < at_once; ++a) sums.append(nothing);
  if (rounds_of_all > 0) {
    sums = counted(rank_, integer(rounds_of_all * stride), stride, sums, [&](Value* index, const Values& carries) {
      Values next;
      for (int64_t a = 0; a < at_once; ++a) {
        const Values mine(carries.begin() + a * n, carries.begin() + (a + 1) * n);
        next.append(combine(i, mine, contributions(i, add(index, integer(a * group_size_)), false)));
      }
      return next;
    });
  }
  Values total(sums.begin(), sums.begin() + n);
  if (at_once == kAccumulators) {
    Values part[kAccumulators];
    for (std::ptrdiff_t a = 0; a < kAccumulators; ++a) part[a].append(sums.begin() + a * n, sums.begin() + (a + 1) * n);
    total = combine(i, combine(i, part[0], part[1]), combine(i, part[2], part[3]));
  }
  if (rest == 0) return total;
  Value* const first = add(rank_, integer(rounds_of_all * stride));
  Value* const some = rest >= group_size_ ? nullptr : b_.CreateICmpSLT(rank_, integer(rest));
  return where(some, total, [&] {
    return counted(first, integer(i.extent), group_size_, total, [&](Value* index, const Values& carries) {
      return combine(i, carries, contributions(i, index, false));
    });
  });
}

// Neighbouring threads take neighbouring vectors; the first threads take one each of the elements past the last vector.
Values DeviceEmitter::fold_vectors(const Instruction& i, unsigned lanes) {
  const int64_t vectors = i.extent / lanes, rest = i.extent % lanes;
  const kernel::LoopFacts& facts = analysis_.facts(i);
  const int64_t at_once = facts.cost <= kRepeatedBody && !facts.nested ? kAccumulators : 1;
  std::optional<VectorScope> scope(std::in_place, vectors_, lanes);
  const Values nothing = identities(i, true);
  const auto n = static_cast<std::ptrdiff_t>(nothing.size());
  const auto vector = [&](Value* number, const Values& sum) {
    divisors_[i.regions[0].parameters[0]] = lanes;
    const Values v = contributions(i, b_.CreateMul(number, integer(lanes), "", true, true), true);
    return combine(i, sum, v);
  };
  const int64_t whole = vectors / (at_once * group_size_) * at_once * group_size_;
  Values total = nothing;
  if (whole > 0) {
    Values sums;
    for (int64_t a = 0; a < at_once; ++a) sums.append(nothing);
    sums = counted(rank_, integer(whole), at_once * group_size_, sums, [&](Value* number, const Values& carries) {
      Values next;
      for (int64_t a = 0; a < at_once; ++a)
        next.append(vector(add(number, integer(a * group_size_)),
                           Values(carries.begin() + a * n, carries.begin() + (a + 1) * n)));
      return next;
    });
    total.assign(sums.begin(), sums.begin() + n);
    if (at_once == kAccumulators) {
      Values part[kAccumulators];
      for (std::ptrdiff_t a = 0; a < kAccumulators; ++a)
        part[a].append(sums.begin() + a * n, sums.begin() + (a + 1) * n);
      total = combine(i, combine(i, part[0], part[1]), combine(i, part[2], part[3]));
    }
  }
  if (whole < vectors) {
    Value* const some = vectors - whole >= group_size_ ? nullptr : b_.CreateICmpSLT(rank_, integer(vectors - whole));
    total = where(some, total, [&] {
      return counted(add(rank_, integer(whole)), integer(vectors), group_size_, total,
                     [&](Value* number, const Values& carries) { return vector(number, carries); });
    });
  }
  total = fold_lanes(i, total);
  scope.reset();
  if (rest == 0) return total;
  divisors_[i.regions[0].parameters[0]] = 1;
  return where(b_.CreateICmpSLT(rank_, integer(rest)), total,
               [&] { return combine(i, total, contributions(i, add(rank_, integer(vectors * lanes)), false)); });
}

Value* DeviceEmitter::shuffle(DeviceOp mode, Value* v, Value* operand) {
  llvm::Type* const type = v->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type* const word = b_.getInt32Ty();
  Value* raw = b_.CreateBitCast(v, b_.getIntNTy(bits));
  if (bits <= 32) {
    Value* const there = op(mode, {b_.CreateZExt(raw, word), operand});
    return b_.CreateBitCast(b_.CreateTrunc(there, raw->getType()), type);
  }
  Value* const low = op(mode, {b_.CreateTrunc(raw, word), operand});
  Value* const high = op(mode, {b_.CreateTrunc(b_.CreateLShr(raw, 32), word), operand});
  raw = b_.CreateOr(b_.CreateZExt(low, b_.getInt64Ty()), b_.CreateShl(b_.CreateZExt(high, b_.getInt64Ty()), 32));
  return b_.CreateBitCast(raw, type);
}

Values DeviceEmitter::shuffle(DeviceOp mode, const Values& v, Value* operand) {
  Values out;
  for (Value* x : v) out.push_back(shuffle(mode, x, operand));
  return out;
}

Values DeviceEmitter::combine_warp(const Instruction& i, Values v) {
  for (uint32_t distance = 16; distance >= 1; distance /= 2)
    v = combine(i, v, shuffle(DeviceOp::shuffle_xor, v, b_.getInt32(distance)));
  return v;
}

// All-reduce: every thread gets the combination over its group.
Values DeviceEmitter::combine_group(const Instruction& i, Values v) {
  v = combine_warp(i, std::move(v));
  const int32_t warps = group_size_ / 32;
  if (warps <= 1) return v;
  const Values nothing = identities(i, false);
  Values slots;
  for (Value* x : v) {
    const int64_t bytes = std::max(x->getType()->getScalarSizeInBits() / 8, 1u);
    slots.push_back(shared(allocate_shared(bytes * warps)));
  }
  const auto memory = [&](Value* x) {
    return x->getType()->isIntegerTy(1) ? static_cast<llvm::Type*>(b_.getInt8Ty()) : x->getType();
  };
  barrier();  // the previous reduction's slots have been read
  when(b_.CreateICmpEQ(lane_, b_.getInt32(0)), [&] {
    for (size_t r = 0; r < v.size(); ++r)
      b_.CreateStore(b_.CreateZExtOrBitCast(v[r], memory(v[r])), b_.CreateInBoundsGEP(memory(v[r]), slots[r], {warp_}));
  });
  barrier();
  Value* const there = b_.CreateICmpULT(lane_, b_.getInt32(static_cast<uint32_t>(warps)));
  Values other;
  for (size_t r = 0; r < v.size(); ++r) {
    Value* const lane = warps == 32 ? lane_ : b_.CreateSelect(there, lane_, b_.getInt32(0));
    Value* x = b_.CreateLoad(memory(v[r]), b_.CreateInBoundsGEP(memory(v[r]), slots[r], {lane}));
    x = b_.CreateTruncOrBitCast(x, v[r]->getType());
    other.push_back(warps == 32 ? x : b_.CreateSelect(there, x, nothing[r]));
  }
  return combine_warp(i, std::move(other));
}

}  // namespace calque::codegen
