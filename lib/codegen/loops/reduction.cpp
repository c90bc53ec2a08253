// Reductions. The extent and the number of lanes determine the order in which terms are combined. Let a unit be one
// vector of contributions (one contribution in a loop that is not vectorised). Unit j goes to accumulator j mod 4; sums
// and products of floats fold the four after every 64 units, (a0+a1)+(a2+a3), and combine these blocks pairwise, like
// the carries of a binary counter; the units past the last multiple of four go to a separate accumulator, combined
// after the blocks; then the upper half of the lanes is combined with the lower half until one lane is left, and the
// initial value is the left operand of the last combination. With at most 15 consecutive additions within a block, the
// error of a sum of n terms stays below that of log2(n) + 19 roundings. Reductions of up to 16 terms that are not
// vectorised run in order from the initial value.
#include "codegen/loops/reduction.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "codegen/emit/emitter.h"
#include "codegen/loops/pairwise.h"

namespace calque::codegen {

using llvm::Value;

namespace {
constexpr int64_t kBlockUnits = 64;
}  // namespace

ReductionBlocks reduction_blocks(const kernel::Kernel& kernel, const kernel::Instruction& i, unsigned step) {
  ReductionBlocks b;
  b.step = step;
  b.repeat = i.unroll > 1;
  b.blocked = b.step > 1 && i.unroll == 0 ? 0 : i.extent / (kAccumulators * b.step) * kAccumulators * b.step;
  const auto divide = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
  // If the order does not matter, there is one block, or one for each chunk.
  b.extent = is_rounded(kernel, i) ? kBlockUnits * b.step
             : i.threads           ? divide(i.grain, kAccumulators * b.step) * kAccumulators * b.step
                                   : std::max<int64_t>(b.blocked, 1);
  b.count = divide(b.blocked, b.extent);
  // A chunk of 2^k blocks is a node of the tree that combines all blocks pairwise.
  if (i.threads)
    b.blocks_per_chunk = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(divide(i.grain, b.extent))));
  if (i.threads) b.chunks = divide(b.count, b.blocks_per_chunk);
  return b;
}

void emit_reduction(KernelEmitter& kernel, const kernel::Instruction& i) {
  const unsigned lanes = vector_lanes(i);
  if (lanes == 0 && i.unroll == 0) return emit_sequential_reduction(kernel, i);
  ReductionEmitter(kernel, i, reduction_blocks(kernel.kernel(), i, std::max(1U, lanes))).emit();
}

void emit_sequential_reduction(KernelEmitter& kernel, const kernel::Instruction& i) {
  const Accumulators accumulators(kernel, i);
  accumulators.set_results(kernel.counted(kernel.integer(0), kernel.integer(i.extent), 1, accumulators.initial(),
                                          [&](Value* index, const Values& carries) {
                                            const Values term = accumulators.contributions(index, false);
                                            return accumulators.combine(carries, term);
                                          }));
}

void ReductionEmitter::emit() {
  std::optional<VectorScope> scope;
  if (is_vectorised()) scope.emplace(k_.vectors(), static_cast<unsigned>(blocks_.step));
  Values total;
  if (blocks_.chunks > 1)
    total = chunks();
  else if (blocks_.count > 0)
    total = some_blocks(k_.integer(0), k_.integer(blocks_.count), blocks_.count);
  if (blocks_.blocked < i_.extent) {
    const Values rest = remainder();
    total = total.empty() ? rest : accumulators_.combine(total, rest);
  }
  if (is_vectorised()) {
    total = accumulators_.fold_lanes(total);
    scope.reset();
  }
  accumulators_.finish(total);
}

Values ReductionEmitter::block(Value* begin, Value* end) {
  const auto n = static_cast<std::ptrdiff_t>(i_.results.size());
  Values start;
  for (int64_t a = 0; a < kAccumulators; ++a) start.append(accumulators_.identities(is_vectorised()));
  const int64_t copies = blocks_.repeat ? kAccumulators : 1;
  const Values sums = k_.counted(begin, end, copies * blocks_.step, start, [&](Value* index, const Values& carries) {
    Values next = carries;
    for (int64_t c = 0; c < copies; ++c) {
      const Values v =
          accumulators_.contributions(c == 0 ? index : k_.advance(index, c * blocks_.step), is_vectorised());
      // The front accumulator is updated and moves to the back: after four units the order is restored.
      const Values sum = accumulators_.combine(Values(next.begin(), next.begin() + n), v);
      next.erase(next.begin(), next.begin() + n);
      next.append(sum);
    }
    return next;
  });
  return accumulators_.combine_four(sums);
}

Values ReductionEmitter::some_blocks(Value* first, Value* count, int64_t most) {
  const auto block_number = [&](Value* number) {
    Value* begin = k_.mul(k_.add(first, number), blocks_.extent);
    Value* end = k_.advance(begin, blocks_.extent);
    if (blocks_.blocked % blocks_.extent != 0) end = k_.smaller(end, k_.integer(blocks_.blocked));
    return block(begin, end);
  };
  if (most == 1) return block_number(k_.integer(0));
  return pairwise(count, most, block_number);
}

Values ReductionEmitter::chunks() {
  llvm::IRBuilder<>& b = k_.builder();
  const Values types = accumulators_.identities(is_vectorised());
  Values partials;
  for (Value* v : types)
    partials.push_back(k_.local(llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(blocks_.chunks))));
  const auto slot = [&](size_t r, Value* chunk) {
    return b.CreateInBoundsGEP(types[r]->getType(), partials[r], chunk);
  };
  k_.runtime().parallel_for(blocks_.chunks, 1, [&](Value* begin, Value* end) {
    k_.counted(begin, end, 1, {}, [&](Value* chunk, const Values&) {
      Value* first = k_.mul(chunk, blocks_.blocks_per_chunk);
      Value* count = k_.smaller(k_.integer(blocks_.blocks_per_chunk), b.CreateSub(k_.integer(blocks_.count), first));
      const Values sums = some_blocks(first, count, blocks_.blocks_per_chunk);
      for (size_t r = 0; r < sums.size(); ++r) b.CreateStore(sums[r], slot(r, chunk));
      return Values{};
    });
  });
  return pairwise(k_.integer(blocks_.chunks), blocks_.chunks, [&](Value* chunk) {
    Values sums;
    for (size_t r = 0; r < types.size(); ++r) sums.push_back(b.CreateLoad(types[r]->getType(), slot(r, chunk)));
    return sums;
  });
}

Values ReductionEmitter::pairwise(Value* count, int64_t most, const std::function<Values(Value*)>& partial) {
  llvm::IRBuilder<>& b = k_.builder();
  const Values types = accumulators_.identities(is_vectorised());
  const int64_t levels = std::bit_width(static_cast<uint64_t>(most));
  Values stacks;
  for (Value* v : types) stacks.push_back(k_.local(llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(levels))));
  const PairwiseCombination pending(k_, accumulators_, types, [&](size_t r, Value* level) {
    return b.CreateInBoundsGEP(types[r]->getType(), stacks[r], level);
  });
  k_.counted(k_.integer(0), count, 1, {}, [&](Value* number, const Values&) {
    pending.add(number, partial(number));
    return Values{};
  });
  if (llvm::isa<llvm::ConstantInt>(count)) return pending.total(most);
  // No pending partial result is a negative zero, so combining it with an identity changes no bit.
  return k_.counted(k_.integer(0), k_.integer(levels), 1, types, [&](Value* level, const Values& total) {
    Value* const set = b.CreateTrunc(b.CreateLShr(count, level), b.getInt1Ty());
    return k_.where_any(set, total, [&] { return accumulators_.combine(pending.load(level), total); });
  });
}

Values ReductionEmitter::remainder() {
  llvm::IRBuilder<>& b = k_.builder();
  const int64_t step = blocks_.step, extent = i_.extent;
  const bool ragged = extent % step != 0;
  return k_.counted(k_.integer(blocks_.blocked), k_.integer(extent), step, accumulators_.identities(is_vectorised()),
                    [&](Value* index, const Values& carries) {
                      if (!ragged) {
                        const Values term = accumulators_.contributions(index, is_vectorised());
                        return accumulators_.combine(carries, term);
                      }
                      Value* valid = nullptr;
                      Values v;
                      if (i_.overlapping_tail) {
                        // The last vector starts earlier; its lanes below `index` are already included.
                        Value* base = k_.smaller(index, k_.integer(extent - step));
                        if (!accumulators_.is_idempotent())
                          valid = b.CreateNot(k_.first_lanes(b.CreateSub(index, base)));
                        v = accumulators_.contributions(base, is_vectorised());
                      } else {
                        valid = k_.first_lanes(b.CreateSub(k_.integer(extent), index));
                        const MaskScope active(k_.vectors(), valid);
                        v = accumulators_.contributions(index, is_vectorised());
                      }
                      return accumulators_.combine(carries, accumulators_.masked(v, valid));
                    });
}

}  // namespace calque::codegen
