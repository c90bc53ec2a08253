// Interleaved loads. Loads whose lanes are a few elements apart, such as those of the columns of an array or of the
// elements of small matrices, often read rows of memory together. Where the first of them is emitted, vectors of rows
// are read whole and deinterleaved into vectors of columns. A load that differs from every other by more than a
// constant becomes a gather.
//
// The elements that are read lie between the first and the last one that the loads themselves read: a row may be read
// beyond its last column, but only as far as another row follows.
#include "codegen/emit/deinterleave.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "codegen/emit/emitter.h"
#include "primitives/elementwise/arithmetic.h"
#include "primitives/registry.h"

namespace calque::codegen {

using kernel::Id;
using kernel::Instruction;
using kernel::Op;
using llvm::Value;

namespace {

/// The longest rows of an odd number of elements that are read whole: each column takes as many blends.
constexpr int64_t kLongestBlended = 5;
/// Bytes of the parts of longer rows: transpositions of such blocks do not cross the 128-bit lanes of x86's shuffles.
constexpr int64_t kPartBytes = 16;

using Lanes = llvm::SmallVector<int, 64>;

}  // namespace

/// The operand of a sum that is added to a constant, which is added to `offset`.
Id DeinterleavedLoads::without_constants(Id index, int64_t& offset) const {
  while (const Instruction* sum = addition(index)) {
    const auto constant = [&](size_t operand) {
      const kernel::IndexRange range = k_.analysis().range(sum->operands[operand]);
      return range.low == range.high && range.within(INT32_MIN, INT32_MAX);
    };
    const bool first = constant(0);
    if (!first && !constant(1)) break;
    offset += k_.analysis().range(sum->operands[first ? 0 : 1]).low;
    index = sum->operands[first ? 1 : 0];
  }
  return index;
}

const Instruction* DeinterleavedLoads::addition(Id index) const {
  const Instruction* i = k_.analysis().definition(index);
  return i != nullptr && i->op == Op::scalar && i->primitive == primitives::id_of<primitives::Add> ? i : nullptr;
}

/// Splits an index into a base and a constant offset, of a sum or of one of its addends: such as a row's number times
/// its length, and a number of a column.
DeinterleavedLoads::Base DeinterleavedLoads::base_of(Id index) const {
  Base base;
  const Id rest = without_constants(index, base.offset);
  const Instruction* const sum = addition(rest);
  base.addends = {kernel::kNone, rest};  // x is not x + x
  if (sum == nullptr) return base;
  for (size_t o = 0; o < 2; ++o) base.addends[o] = without_constants(sum->operands[o], base.offset);
  if (base.addends[0] > base.addends[1]) std::swap(base.addends[0], base.addends[1]);
  return base;
}

void DeinterleavedLoads::find_groups(const kernel::Region& region) {
  if (k_.vectors().lanes() <= 1 || k_.vectors().mask()) return;
  std::map<std::pair<int32_t, std::array<Id, 2>>, size_t> open;  // by buffer and base: the group that a load joins
  for (const Instruction& i : region.instructions) {
    if (!i.regions.empty()) {
      open.clear();
    } else if (i.op == Op::store) {
      std::erase_if(open, [&](const auto& group) {
        const int32_t buffer = group.first.first;
        return buffer == i.buffer || (k_.buffers().overlaps(buffer) && k_.buffers().overlaps(i.buffer));
      });
    } else if (i.op == Op::load && i.operands.size() == 1 && k_.is_vector(i.results[0])) {
      const auto [addends, offset] = base_of(i.operands[0]);
      const auto [at, is_new] = open.emplace(std::pair(i.buffer, addends), region_.groups.size());
      if (is_new) region_.groups.emplace_back();
      region_.groups[at->second].offsets.push_back(offset);
      region_.members.emplace(&i, Member{at->second, offset});
    }
  }
}

// Chooses the columns that are read together.
void DeinterleavedLoads::plan(Group& group, int32_t buffer, int64_t stride) const {
  group.planned = true;
  std::vector<int64_t>& all = group.offsets;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const int64_t first = all.front(), last = all.back(), lanes = k_.vectors().lanes();
  const int64_t bytes = static_cast<int64_t>(k_.buffers().alignment(buffer).value());
  const int64_t part = std::min(lanes, std::max<int64_t>(2, kPartBytes / bytes));
  const bool regular = stride % 2 == 1
                           ? stride <= kLongestBlended
                           : std::has_single_bit(static_cast<uint64_t>(stride)) && stride <= std::max<int64_t>(4, part);
  const int64_t whole = regular && stride <= lanes ? stride : 0;
  const int64_t least = stride > kLongestRow ? part : all.size() > 1 ? 1 : 2;
  for (auto next = all.begin(); next != all.end();) {
    // A whole row is worth it for half of its columns. Parts of rows take as many loads as a gather, which is slower on
    // many processors, but a single load stays one.
    const auto try_width = [&](int64_t width, int64_t least) {
      const int64_t start = std::max(first, std::min(*next, last - width + 1));
      const auto end = std::lower_bound(next, all.end(), start + width);
      if (end - next < least) return false;
      while (next != end) group.runs.emplace(*next++, Run{start, width});
      return true;
    };
    if (!(whole != 0 && try_width(whole, (whole + 1) / 2)) && !try_width(part, least)) ++next;
  }
}

Value* DeinterleavedLoads::load(const Instruction& load, const Reg& index) {
  if (index.form != Reg::Form::linear || index.stride <= 1 || index.stride > kFarthestRow) return nullptr;
  const auto member = region_.members.find(&load);
  if (member == region_.members.end()) return nullptr;
  const int64_t offset = member->second.offset;
  Group& group = region_.groups[member->second.group];
  if (!group.planned) plan(group, load.buffer, index.stride);
  if (const auto column = group.columns.find(offset); column != group.columns.end()) return column->second;
  const auto run = group.runs.find(offset);
  if (run == group.runs.end()) return nullptr;
  const Tile tile{load.buffer, k_.builder().CreateSub(index.v, k_.integer(offset)), index.stride, group.offsets.back(),
                  run->second};
  const Values columns = tile.run.width == tile.stride ? whole_rows(tile) : parts_of_rows(tile);
  for (unsigned c = 0; c < tile.run.width; ++c) group.columns.emplace(tile.run.first + c, columns[c]);
  return group.columns.at(offset);
}

// Reads consecutive elements. Those beyond the last one of the last row are not read.
Value* DeinterleavedLoads::read(const Tile& tile, int64_t element, unsigned width) {
  llvm::IRBuilder<>& b = k_.builder();
  llvm::Type* element_type = k_.buffers().element(tile.buffer);
  auto* type = llvm::FixedVectorType::get(element_type, width);
  const llvm::Align alignment = k_.buffers().alignment(tile.buffer);
  const auto at = [&](int64_t e) { return k_.buffers().address(tile.buffer, b.CreateAdd(tile.index, k_.integer(e))); };
  const int64_t end = (static_cast<int64_t>(k_.vectors().lanes()) - 1) * tile.stride + tile.last + 1;
  const int64_t exist = std::min<int64_t>(end - element, width);
  if (exist == width) return b.CreateAlignedLoad(type, at(element), alignment);
  Value* v = llvm::PoisonValue::get(type);
  if (k_.target().masked_memory(static_cast<int>(alignment.value()))) {
    llvm::SmallVector<llvm::Constant*, 16> exists;
    for (unsigned c = 0; c < width; ++c) exists.push_back(b.getInt1(c < exist));
    return b.CreateMaskedLoad(type, at(element), alignment, llvm::ConstantVector::get(exists), v);
  }
  for (int64_t c = 0; c < exist; ++c)
    v = b.CreateInsertElement(v, b.CreateAlignedLoad(element_type, at(element + c), alignment),
                              static_cast<uint64_t>(c));
  return v;
}

// As many vectors as there are columns hold all rows.
Values DeinterleavedLoads::whole_rows(const Tile& tile) {
  llvm::IRBuilder<>& b = k_.builder();
  const unsigned lanes = k_.vectors().lanes(), width = static_cast<unsigned>(tile.run.width);
  Values vectors;
  for (unsigned n = 0; n < width; ++n) vectors.push_back(read(tile, tile.run.first + n * lanes, lanes));
  if (width % 2 == 1) return blended(vectors);
  Lanes even, odd;
  for (unsigned l = 0; l < lanes; ++l) {
    even.push_back(static_cast<int>(2 * l));
    odd.push_back(static_cast<int>(2 * l + 1));
  }
  for (unsigned step = width; step > 1; step /= 2) {
    Values mixed(width);
    for (unsigned n = 0; n < width / 2; ++n) {
      mixed[n] = b.CreateShuffleVector(vectors[2 * n], vectors[2 * n + 1], even);
      mixed[n + width / 2] = b.CreateShuffleVector(vectors[2 * n], vectors[2 * n + 1], odd);
    }
    vectors = mixed;
  }
  return vectors;
}

// No two elements of a column are in the same lane of their vectors, as the stride is odd.
Values DeinterleavedLoads::blended(const Values& vectors) {
  llvm::IRBuilder<>& b = k_.builder();
  const unsigned lanes = k_.vectors().lanes(), width = static_cast<unsigned>(vectors.size());
  Values columns;
  for (unsigned c = 0; c < width; ++c) {
    Lanes from(lanes), lane(lanes);
    for (unsigned l = 0; l < lanes; ++l) {
      const unsigned element = l * width + c;
      from[element % lanes] = static_cast<int>(element / lanes);
      lane[l] = static_cast<int>(element % lanes);
    }
    Value* column = vectors[0];
    for (unsigned n = 1; n < width; ++n) {
      Lanes blend;
      for (unsigned l = 0; l < lanes; ++l)
        blend.push_back(static_cast<int>(from[l] == static_cast<int>(n) ? l + lanes : l));
      column = b.CreateShuffleVector(column, vectors[n], blend);
    }
    columns.push_back(b.CreateShuffleVector(column, lane));
  }
  return columns;
}

// Vector n holds parts of the rows n, n + width, n + 2 width ... Blocks of width x width elements are transposed.
Values DeinterleavedLoads::parts_of_rows(const Tile& tile) {
  llvm::IRBuilder<>& b = k_.builder();
  const unsigned lanes = k_.vectors().lanes(), width = static_cast<unsigned>(tile.run.width);
  Values vectors;
  for (unsigned n = 0; n < width; ++n) {
    Values parts;
    for (unsigned row = n; row < lanes; row += width)
      parts.push_back(read(tile, row * tile.stride + tile.run.first, width));
    while (parts.size() > 1) {
      const auto size = llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
      Lanes both(2 * size);
      for (unsigned e = 0; e < 2 * size; ++e) both[e] = static_cast<int>(e);
      Values joined;
      for (size_t p = 0; p < parts.size(); p += 2)
        joined.push_back(b.CreateShuffleVector(parts[p], parts[p + 1], both));
      parts = joined;
    }
    vectors.push_back(parts[0]);
  }
  Lanes low, high;
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned block = l / width * width, from = block + l % width / 2 + (l % 2 ? lanes : 0);
    low.push_back(static_cast<int>(from));
    high.push_back(static_cast<int>(from + width / 2));
  }
  for (unsigned step = width; step > 1; step /= 2) {
    Values mixed;
    for (unsigned n = 0; n < width / 2; ++n) {
      mixed.push_back(b.CreateShuffleVector(vectors[n], vectors[n + width / 2], low));
      mixed.push_back(b.CreateShuffleVector(vectors[n], vectors[n + width / 2], high));
    }
    vectors = mixed;
  }
  return vectors;
}

}  // namespace calque::codegen
