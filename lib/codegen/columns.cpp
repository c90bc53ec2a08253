// Sums of long columns side by side. Each column is summed in the order that reduction.cpp describes, but memory is
// read row after row, a tile of columns at a time: the four accumulators of every column, and the sums that wait to be
// combined pairwise, lie in a cache in place of registers.
#include <bit>

#include "codegen/emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using llvm::Value;

namespace {
/// Columns of a tile: four accumulators of 4-byte elements fill 16 KiB.
constexpr int64_t kTile = 1024;
constexpr int64_t kAccumulators = 4;
}  // namespace

void KernelEmitter::columns(const Instruction& loop, const Instruction& sum, Value* begin, Value* end) {
  const auto number = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const auto least = [&](Value* a, Value* b) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); };
  const kernel::Region& body = loop.regions[0];
  const auto at_sum = static_cast<size_t>(&sum - body.instructions.data());
  const int64_t lanes = lanes_;
  const Blocks blocks = blocks_of(sum, 1);
  const Values types = identities(sum, false);
  // For each result: four rows of accumulators, then a row for each level of waiting sums.
  const int64_t levels = std::bit_width(static_cast<uint64_t>(blocks.count));
  std::vector<llvm::ArrayType*> rows;
  Values memory;
  for (Value* v : types) {
    rows.push_back(llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(kTile / lanes)));
    memory.push_back(local(llvm::ArrayType::get(rows.back(), static_cast<uint64_t>(kAccumulators + levels))));
  }

  counted(begin, end, kTile, {}, [&](Value* tile, const Values&) {
    Value* const tile_end = least(b_.CreateAdd(tile, number(kTile), "", true, true), end);
    // `part(slot)`, where slot(r, n) is row n of result r, for the vectors of the tile; the last one may overlap.
    const auto each = [&](const std::function<void(const Slot&)>& part) {
      counted(tile, tile_end, lanes, {}, [&](Value* index, const Values&) {
        Value* const column = b_.CreateUDiv(b_.CreateSub(index, tile), number(lanes));
        env_[body.parameters[0]] = {least(index, b_.CreateSub(end, number(lanes))), Reg::Form::linear, false, true, 1};
        for (size_t n = 0; n < at_sum; ++n) emit(body.instructions[n]);
        part([&](size_t r, Value* row) { return b_.CreateInBoundsGEP(rows[r], memory[r], {row, column}); });
        return Values{};
      });
    };
    const auto store = [&](const Slot& slot, int64_t row, const Values& v) {
      for (size_t r = 0; r < v.size(); ++r) b_.CreateStore(v[r], slot(r, number(row)));
    };
    counted(number(0), number(blocks.count), 1, {}, [&](Value* block, const Values&) {
      Value* const first = b_.CreateMul(block, number(blocks.extent), "", true, true);
      Value* const last = least(b_.CreateAdd(first, number(blocks.extent), "", true, true), number(blocks.grouped));
      each([&](const Slot& slot) {
        for (int64_t a = 0; a < kAccumulators; ++a) store(slot, a, types);
      });
      counted(first, last, kAccumulators, {}, [&](Value* row, const Values&) {
        each([&](const Slot& slot) {
          for (int64_t a = 0; a < kAccumulators; ++a) {
            const Values term = contributions(sum, b_.CreateAdd(row, number(a), "", true, true), false);
            store(slot, a, combine(sum, waiting(types, number(a), slot), term));
          }
        });
        return Values{};
      });
      each([&](const Slot& slot) {
        Values part[kAccumulators];
        for (int64_t a = 0; a < kAccumulators; ++a) part[a] = waiting(types, number(a), slot);
        const Slot level = [&](size_t r, Value* n) { return slot(r, b_.CreateAdd(n, number(kAccumulators))); };
        carry_up(sum, block, combine(sum, combine(sum, part[0], part[1]), combine(sum, part[2], part[3])), level);
      });
      return Values{};
    });
    each([&](const Slot& slot) {
      const Slot level = [&](size_t r, Value* n) { return slot(r, b_.CreateAdd(n, number(kAccumulators))); };
      Values total = fold_levels(sum, blocks.count, types, level);
      if (blocks.grouped < sum.extent) total = combine(sum, total, sum_rest(sum, blocks));
      finish(sum, total);
      for (size_t n = at_sum + 1; n < body.instructions.size(); ++n) emit(body.instructions[n]);
    });
    return Values{};
  });
}

}  // namespace calque::codegen
