// Reductions of long columns side by side. Each column is summed in the order that reduction.cpp describes, but memory
// is read row by row, one tile of columns at a time: the four accumulators of every column, and the pending partial
// sums of the pairwise combination, are in a cache instead of registers.
#include <bit>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using llvm::Value;

namespace {
constexpr int64_t kAccumulators = 4;
}  // namespace

void KernelEmitter::columns(const Instruction& loop, Value* begin, Value* end) {
  const auto number = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const auto least = [&](Value* a, Value* b) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); };
  const kernel::Region& body = loop.regions[0];
  std::vector<const Instruction*> reductions;
  for (const Instruction& i : body.instructions)
    if (i.op == kernel::Op::loop) reductions.push_back(&i);
  const int64_t lanes = vectors_.lanes(), width = loop.column_tile;
  // All use the same blocks: those of a reduction that rounds, if there is one.
  Blocks blocks = blocks_of(*reductions[0], 1);
  for (const Instruction* reduction : reductions)
    if (is_rounded(kernel_, *reduction)) blocks = blocks_of(*reduction, 1);
  // For each result of a reduction: four rows of accumulators, then a row for each level of pending partial sums.
  const int64_t levels = std::bit_width(static_cast<uint64_t>(blocks.count));
  struct Rows {
    Values types, memory;
  };
  std::vector<Rows> all_rows;
  const auto row_type = [&](Value* v) {
    return llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(width / lanes));
  };
  for (const Instruction* reduction : reductions) {
    all_rows.push_back({identities(*reduction, false), {}});
    for (Value* v : all_rows.back().types)
      all_rows.back().memory.push_back(
          local(llvm::ArrayType::get(row_type(v), static_cast<uint64_t>(kAccumulators + levels))));
  }

  counted(begin, end, width, {}, [&](Value* tile, const Values&) {
    Value* const tile_end = least(b_.CreateAdd(tile, number(width), "", true, true), end);
    // For each vector of the tile; the last one may overlap.
    const auto each = [&](const std::function<void(Value * column)>& body_of_vector) {
      counted(tile, tile_end, lanes, {}, [&](Value* index, const Values&) {
        env_[body.parameters[0]] = {least(index, b_.CreateSub(end, number(lanes))), Reg::Form::linear, false, true, 1};
        for (size_t n = 0; &body.instructions[n] != reductions[0]; ++n) emit(body.instructions[n]);
        interleaved_.flush_all();
        body_of_vector(b_.CreateUDiv(b_.CreateSub(index, tile), number(lanes)));
        return Values{};
      });
    };
    const auto slots = [&](const Rows& rows, Value* column, int64_t first) -> Slot {
      return [&, column, first](size_t r, Value* row) {
        Value* const at = b_.CreateAdd(row, number(first));
        return b_.CreateInBoundsGEP(row_type(rows.types[r]), rows.memory[r], {at, column});
      };
    };
    const auto store = [&](const Slot& slot, int64_t row, const Values& v) {
      for (size_t r = 0; r < v.size(); ++r) b_.CreateStore(v[r], slot(r, number(row)));
    };
    const auto block_of = [&](const Instruction& reduction, const Rows& rows, Value* block) {
      Value* const first = b_.CreateMul(block, number(blocks.extent), "", true, true);
      Value* const last = least(b_.CreateAdd(first, number(blocks.extent), "", true, true), number(blocks.blocked));
      each([&](Value* column) {
        for (int64_t a = 0; a < kAccumulators; ++a) store(slots(rows, column, 0), a, rows.types);
      });
      counted(first, last, kAccumulators, {}, [&](Value* row, const Values&) {
        each([&](Value* column) {
          const Slot slot = slots(rows, column, 0);
          for (int64_t a = 0; a < kAccumulators; ++a) {
            const Values term = contributions(reduction, b_.CreateAdd(row, number(a), "", true, true), false);
            store(slot, a, combine(reduction, load_partials(rows.types, number(a), slot), term));
          }
        });
        return Values{};
      });
      each([&](Value* column) {
        Values partial[kAccumulators];
        for (int64_t a = 0; a < kAccumulators; ++a)
          partial[a] = load_partials(rows.types, number(a), slots(rows, column, 0));
        add_partial(
            reduction, block,
            combine(reduction, combine(reduction, partial[0], partial[1]), combine(reduction, partial[2], partial[3])),
            slots(rows, column, kAccumulators));
      });
    };
    counted(number(0), number(blocks.count), 1, {}, [&](Value* block, const Values&) {
      for (size_t s = 0; s < reductions.size(); ++s) block_of(*reductions[s], all_rows[s], block);
      return Values{};
    });
    each([&](Value* column) {
      size_t s = 0;
      for (const Instruction *i = reductions[0], *past = body.instructions.data() + body.instructions.size(); i != past;
           ++i) {
        if (s == reductions.size() || i != reductions[s]) {
          emit(*i);
          continue;
        }
        const Rows& rows = all_rows[s++];
        Values total = fold_levels(*i, blocks.count, rows.types, slots(rows, column, kAccumulators));
        if (blocks.blocked < i->extent) total = combine(*i, total, sum_remainder(*i, blocks));
        finish(*i, total);
      }
      interleaved_.flush_all();
    });
    return Values{};
  });
}

}  // namespace calque::codegen
