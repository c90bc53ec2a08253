// Reductions of long columns side by side. Each column is summed in the order that reduction.cpp describes, but memory
// is read row by row, one tile of columns at a time: the four accumulators of every column, and the pending partial
// sums of the pairwise combination, are in a cache instead of registers.
#include "codegen/loops/columns.h"

#include <bit>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using llvm::Value;

ColumnsEmitter::ColumnsEmitter(KernelEmitter& kernel, const Instruction& loop) : k_(kernel), i_(loop) {
  for (const Instruction& i : loop.regions[0].instructions) {
    if (i.op != kernel::Op::loop) continue;
    const Accumulators accumulators(k_, i);
    reductions_.push_back({i, accumulators, accumulators.identities(false), {}});
  }
  // All use the same blocks: those of a reduction that rounds, if there is one.
  blocks_ = reduction_blocks(k_.kernel(), reductions_[0].loop, 1);
  for (const Reduction& reduction : reductions_)
    if (is_rounded(k_.kernel(), reduction.loop)) blocks_ = reduction_blocks(k_.kernel(), reduction.loop, 1);
  const auto rows = static_cast<uint64_t>(kAccumulators + std::bit_width(static_cast<uint64_t>(blocks_.count)));
  for (Reduction& reduction : reductions_)
    for (size_t r = 0; r < reduction.types.size(); ++r)
      reduction.memory.push_back(k_.local(llvm::ArrayType::get(row_type(reduction, r), rows)));
}

llvm::Type* ColumnsEmitter::row_type(const Reduction& reduction, size_t result) const {
  return llvm::ArrayType::get(reduction.types[result]->getType(),
                              static_cast<uint64_t>(i_.column_tile / k_.vectors().lanes()));
}

Value* ColumnsEmitter::slot(const Reduction& reduction, Value* column, size_t result, Value* row) {
  return k_.builder().CreateInBoundsGEP(row_type(reduction, result), reduction.memory[result], {row, column});
}

Values ColumnsEmitter::load(const Reduction& reduction, Value* column, int64_t row) {
  Values v;
  for (size_t r = 0; r < reduction.types.size(); ++r) {
    Value* const from = slot(reduction, column, r, k_.integer(row));
    v.push_back(k_.builder().CreateLoad(reduction.types[r]->getType(), from));
  }
  return v;
}

void ColumnsEmitter::store(const Reduction& reduction, Value* column, int64_t row, const Values& v) {
  for (size_t r = 0; r < v.size(); ++r) k_.builder().CreateStore(v[r], slot(reduction, column, r, k_.integer(row)));
}

PairwiseCombination ColumnsEmitter::pending(const Reduction& reduction, Value* column) {
  return {k_, reduction.accumulators, reduction.types, [this, &reduction, column](size_t r, Value* level) {
            Value* const row = k_.builder().CreateAdd(level, k_.integer(kAccumulators));
            return slot(reduction, column, r, row);
          }};
}

void ColumnsEmitter::each_vector(const Tile& tile, const Column& column) {
  llvm::IRBuilder<>& b = k_.builder();
  const kernel::Region& body = i_.regions[0];
  const int64_t lanes = k_.vectors().lanes();
  k_.counted(tile.begin, tile.end, lanes, {}, [&](Value* index, const Values&) {
    Value* const last = b.CreateSub(tile.columns_end, k_.integer(lanes));
    k_.set(body.parameters[0], k_.linear(k_.smaller(index, last)));
    for (size_t n = 0; &body.instructions[n] != &reductions_[0].loop; ++n) k_.emit(body.instructions[n]);
    k_.interleaved().flush_all();
    column(b.CreateUDiv(b.CreateSub(index, tile.begin), k_.integer(lanes)));
    return Values{};
  });
}

void ColumnsEmitter::add_block(const Tile& tile, const Reduction& reduction, Value* block) {
  const Accumulators& accumulators = reduction.accumulators;
  Value* const first = k_.mul(block, blocks_.extent);
  Value* const last = k_.smaller(k_.advance(first, blocks_.extent), k_.integer(blocks_.blocked));
  each_vector(tile, [&](Value* column) {
    for (int64_t a = 0; a < kAccumulators; ++a) store(reduction, column, a, reduction.types);
  });
  k_.counted(first, last, kAccumulators, {}, [&](Value* row, const Values&) {
    each_vector(tile, [&](Value* column) {
      for (int64_t a = 0; a < kAccumulators; ++a) {
        const Values term = accumulators.contributions(k_.advance(row, a), false);
        store(reduction, column, a, accumulators.combine(load(reduction, column, a), term));
      }
    });
    return Values{};
  });
  each_vector(tile, [&](Value* column) {
    Values partials;
    for (int64_t a = 0; a < kAccumulators; ++a) partials.append(load(reduction, column, a));
    pending(reduction, column).add(block, accumulators.combine_four(partials));
  });
}

Values ColumnsEmitter::total(const Reduction& reduction, Value* column) {
  const Values blocked = pending(reduction, column).total(blocks_.count);
  if (blocks_.blocked == reduction.loop.extent) return blocked;
  return reduction.accumulators.combine(blocked, ReductionEmitter(k_, reduction.loop, blocks_).remainder());
}

void ColumnsEmitter::finish_column(Value* column) {
  const auto& instructions = i_.regions[0].instructions;
  auto next = reductions_.begin();
  auto at = instructions.begin();
  while (&*at != &next->loop) ++at;
  for (; at != instructions.end(); ++at) {
    if (next == reductions_.end() || &*at != &next->loop) {
      k_.emit(*at);
      continue;
    }
    next->accumulators.finish(total(*next, column));
    ++next;
  }
  k_.interleaved().flush_all();
}

void ColumnsEmitter::emit(Value* begin, Value* end) {
  const int64_t width = i_.column_tile;
  k_.counted(begin, end, width, {}, [&](Value* from, const Values&) {
    const Tile tile{from, k_.smaller(k_.advance(from, width), end), end};
    k_.counted(k_.integer(0), k_.integer(blocks_.count), 1, {}, [&](Value* block, const Values&) {
      for (const Reduction& reduction : reductions_) add_block(tile, reduction, block);
      return Values{};
    });
    each_vector(tile, [&](Value* column) { finish_column(column); });
    return Values{};
  });
}

}  // namespace calque::codegen
