// Interleaved stores. Stores whose lanes are a few elements apart, such as those to the columns of an array, often fill
// rows of memory together. They are deferred until their region ends; then vectors of columns are interleaved into
// vectors of rows, which are stored whole. A store without adjacent columns becomes a scatter.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// The operand of a sum that is added to a constant, which is added to `offset`.
Value* without_constants(Value* index, int64_t& offset) {
  while (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index)) {
    if (sum->getOpcode() != llvm::Instruction::Add) break;
    const bool first = llvm::isa<llvm::ConstantInt>(sum->getOperand(0));
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(first ? 0 : 1));
    if (!constant) break;
    offset += constant->getSExtValue();
    index = sum->getOperand(first ? 1 : 0);
  }
  return index;
}

/// As DeinterleavedLoads::base_of.
std::pair<std::array<Value*, 2>, int64_t> base_and_offset(Value* index) {
  int64_t offset = 0;
  Value* const rest = without_constants(index, offset);
  auto* const sum = llvm::dyn_cast<llvm::BinaryOperator>(rest);
  if (!sum || sum->getOpcode() != llvm::Instruction::Add) return {{nullptr, rest}, offset};
  std::array<Value*, 2> addends{};
  for (unsigned o = 0; o < 2; ++o) addends[o] = without_constants(sum->getOperand(o), offset);
  if (std::less<>()(addends[1], addends[0])) std::swap(addends[0], addends[1]);
  return {addends, offset};
}

}  // namespace

bool InterleavedStores::can_defer(const kernel::Instruction& i, const Reg& index) const {
  const VectorContext& vectors = k_.vectors();
  return vectors.lanes() > 1 && !vectors.mask() && i.operands.size() == 2 && index.form == Reg::Form::linear &&
         index.stride > 1 && index.stride <= kFarthestRow && !k_.buffers().overlaps(i.buffer) &&
         !k_.analysis().loaded(i.buffer) && size_of(k_.kernel().buffers[static_cast<size_t>(i.buffer)].dtype) >= 4;
}

void InterleavedStores::flush(int32_t buffer) {
  std::vector<PendingStore> now, later;
  for (PendingStore& s : pending_) (s.buffer == buffer ? now : later).push_back(s);
  pending_ = std::move(later);
  emit(std::move(now));
}

void InterleavedStores::flush_all() { emit(std::exchange(pending_, {})); }

void InterleavedStores::emit(std::vector<PendingStore> now) {
  // Grouped by buffer, stride and base of the index.
  while (!now.empty()) {
    const PendingStore first = now.front();
    const std::array<Value*, 2> base = base_and_offset(first.index.v).first;
    std::map<int64_t, PendingStore> row;
    std::vector<PendingStore> rest, others;
    for (const PendingStore& s : now) {
      if (s.buffer != first.buffer) {
        others.push_back(s);
        continue;
      }
      const auto [of_base, offset] = base_and_offset(s.index.v);
      const bool fits = s.index.stride == first.index.stride && of_base == base && rest.empty();
      // Another element of the same row. Stores to the same element, or to another row, keep their order.
      const bool inside = fits && (row.empty() || (offset < row.begin()->first + s.index.stride &&
                                                   offset > row.rbegin()->first - s.index.stride));
      if (!inside || !row.emplace(offset, s).second) rest.push_back(s);
    }
    store_row(row);
    now = std::move(rest);
    now.insert(now.end(), others.begin(), others.end());
  }
}

void InterleavedStores::store_row(const std::map<int64_t, PendingStore>& row) {
  std::vector<PendingStore> run;
  int64_t next = 0;
  const auto flush = [&] {
    store_run(run);
    run.clear();
  };
  for (const auto& [offset, store] : row) {
    if (!run.empty() && offset != next) flush();
    run.push_back(store);
    next = offset + 1;
  }
  flush();
}

// Stores of adjacent columns.
void InterleavedStores::store_run(llvm::ArrayRef<PendingStore> run) {
  const TargetInfo& target = k_.target();
  while (!run.empty()) {
    const int32_t buffer = run[0].buffer;
    const auto bytes = static_cast<unsigned>(size_of(k_.kernel().buffers[static_cast<size_t>(buffer)].dtype));
    const unsigned widest =
        std::min(k_.vectors().lanes(), std::bit_floor(static_cast<unsigned>(target.vector_bits) / 8 / bytes));
    const auto left = static_cast<unsigned>(std::min<size_t>(run.size(), widest));
    // A mask excludes columns that do not exist.
    const bool padded = target.avx512 && left > 2 && !std::has_single_bit(left);
    const unsigned width = padded ? std::bit_ceil(left) : std::bit_floor(left);
    const unsigned columns = std::min(left, width);
    if (columns == 1) {
      k_.buffers().scatter(buffer, k_.as_vector(run[0].index), run[0].value, nullptr);
    } else {
      store_rows(run.take_front(columns), width);
    }
    run = run.drop_front(columns);
  }
}

void InterleavedStores::store_rows(llvm::ArrayRef<PendingStore> columns, unsigned width) {
  llvm::IRBuilder<>& b = k_.builder();
  const unsigned lanes = k_.vectors().lanes();
  Values rows;
  for (const PendingStore& s : columns) rows.push_back(s.value);
  while (rows.size() < width) rows.push_back(llvm::PoisonValue::get(rows[0]->getType()));
  llvm::SmallVector<int, 64> low, high;
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned from = l / 2 + (l % 2 ? lanes : 0);
    low.push_back(static_cast<int>(from));
    high.push_back(static_cast<int>(from + lanes / 2));
  }
  for (unsigned half = width / 2, step = half; step >= 1; step /= 2) {
    Values mixed;
    for (unsigned n = 0; n < half; ++n) {
      mixed.push_back(b.CreateShuffleVector(rows[n], rows[n + half], low));
      mixed.push_back(b.CreateShuffleVector(rows[n], rows[n + half], high));
    }
    rows = mixed;
  }
  const PendingStore& first = columns[0];
  const auto at = [&](int64_t element) {
    Value* offset = b.getInt64(static_cast<uint64_t>(element));
    return k_.buffers().address(first.buffer, b.CreateAdd(first.index.v, offset, "", false, true));
  };
  if (first.index.stride == static_cast<int64_t>(columns.size()) && columns.size() == width) {
    for (unsigned n = 0; n < width; ++n)
      b.CreateAlignedStore(rows[n], at(static_cast<int64_t>(n) * lanes), k_.buffers().alignment(first.buffer));
    return;
  }
  llvm::SmallVector<llvm::Constant*, 16> exists;
  for (unsigned c = 0; c < width; ++c) exists.push_back(b.getInt1(c < columns.size()));
  Values pieces;
  for (unsigned l = 0; l < lanes; ++l) {
    llvm::SmallVector<int, 16> lanes_of_row;
    for (unsigned c = 0; c < width; ++c) lanes_of_row.push_back(static_cast<int>(l * width % lanes + c));
    pieces.push_back(b.CreateShuffleVector(rows[l * width / lanes], lanes_of_row));
  }
  const auto row_at = [&](unsigned l) { return at(static_cast<int64_t>(l) * first.index.stride); };
  const uint64_t bytes = size_of(k_.kernel().buffers[static_cast<size_t>(first.buffer)].dtype);
  constexpr uint64_t kLine = NonTemporalStores::kLine;
  if (columns.size() == width && width * bytes == kLine &&
      static_cast<uint64_t>(first.index.stride) * bytes % kLine == 0 && k_.non_temporal().takes_lines(first.buffer)) {
    // All rows are aligned if the first one is.
    store_lines(pieces, row_at, k_.buffers().alignment(first.buffer));
    return;
  }
  for (unsigned l = 0; l < lanes; ++l) {
    Value *row = pieces[l], *to = row_at(l);
    if (columns.size() == width)
      b.CreateAlignedStore(row, to, k_.buffers().alignment(first.buffer));
    else
      b.CreateMaskedStore(row, to, k_.buffers().alignment(first.buffer), llvm::ConstantVector::get(exists));
  }
}

void InterleavedStores::store_lines(llvm::ArrayRef<Value*> lines, const std::function<Value*(unsigned)>& address,
                                    llvm::Align alignment) {
  llvm::IRBuilder<>& b = k_.builder();
  llvm::BasicBlock *aligned = k_.block("lines"), *plain = k_.block("rows"), *after = k_.block("stored");
  Value* const start = b.CreatePtrToInt(address(0), b.getInt64Ty());
  b.CreateCondBr(b.CreateICmpEQ(b.CreateAnd(start, b.getInt64(NonTemporalStores::kLine - 1)), b.getInt64(0)), aligned,
                 plain);
  b.SetInsertPoint(aligned);
  for (unsigned l = 0; l < lines.size(); ++l) k_.non_temporal().store_line(lines[l], address(l));
  b.CreateBr(after);
  b.SetInsertPoint(plain);
  for (unsigned l = 0; l < lines.size(); ++l) b.CreateAlignedStore(lines[l], address(l), alignment);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

}  // namespace calque::codegen
