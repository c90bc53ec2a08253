// Interleaved stores. Stores whose lanes are a few elements apart, such as those to the columns of an array, often fill
// rows of memory together. They are deferred until their region ends; then vectors of columns are interleaved into
// vectors of rows, which are stored whole. A store without adjacent columns becomes a scatter.
#include <algorithm>
#include <bit>
#include <map>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// Longer rows are assumed to be rows of a matrix.
constexpr int64_t kLongestRow = 256;

/// Splits an index into a base and a constant offset.
std::pair<Value*, int64_t> base_and_offset(Value* index) {
  int64_t offset = 0;
  while (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index)) {
    if (sum->getOpcode() != llvm::Instruction::Add) break;
    const bool first = llvm::isa<llvm::ConstantInt>(sum->getOperand(0));
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(first ? 0 : 1));
    if (!constant) break;
    offset += constant->getSExtValue();
    index = sum->getOperand(first ? 1 : 0);
  }
  return {index, offset};
}

}  // namespace

// Whether a store may be deferred: it happens in every lane, and nothing else in the kernel reads or may overlap the
// buffer.
bool KernelEmitter::can_defer(const Instruction& i, const Reg& index) const {
  const int32_t buffer = i.buffer;
  return lanes_ > 1 && !mask_ && i.operands.size() == 2 && index.form == Reg::Form::linear && index.stride > 1 &&
         index.stride <= kLongestRow && !overlaps_[static_cast<size_t>(buffer)] && !analysis_.loaded(buffer) &&
         size_of(kernel_.buffers[static_cast<size_t>(buffer)].dtype) >= 4;
}

// Emits the pending stores of one buffer, or (-1) of all.
void KernelEmitter::flush_pending_stores(int32_t buffer) {
  std::vector<PendingStore> now, later;
  for (PendingStore& s : pending_stores_) (buffer < 0 || s.buffer == buffer ? now : later).push_back(s);
  pending_stores_ = std::move(later);
  // Grouped by buffer, stride and base of the index.
  while (!now.empty()) {
    const PendingStore first = now.front();
    const Value* base = base_and_offset(first.index.v).first;
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

void KernelEmitter::store_row(const std::map<int64_t, PendingStore>& row) {
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
void KernelEmitter::store_run(llvm::ArrayRef<PendingStore> run) {
  while (!run.empty()) {
    const int32_t buffer = run[0].buffer;
    const auto bytes = static_cast<unsigned>(size_of(kernel_.buffers[static_cast<size_t>(buffer)].dtype));
    const unsigned widest = std::min(lanes_, std::bit_floor(static_cast<unsigned>(target_.vector_bits) / 8 / bytes));
    const auto left = static_cast<unsigned>(std::min<size_t>(run.size(), widest));
    // A mask excludes columns that do not exist.
    const bool padded = target_.avx512 && left > 2 && !std::has_single_bit(left);
    const unsigned width = padded ? std::bit_ceil(left) : std::bit_floor(left);
    const unsigned columns = std::min(left, width);
    if (columns == 1) {
      scatter(buffer, as_vector(run[0].index), run[0].value, nullptr);
    } else {
      store_rows(run.take_front(columns), width);
    }
    run = run.drop_front(columns);
  }
}

void KernelEmitter::store_rows(llvm::ArrayRef<PendingStore> columns, unsigned width) {
  Values rows;
  for (const PendingStore& s : columns) rows.push_back(s.value);
  while (rows.size() < width) rows.push_back(llvm::PoisonValue::get(rows[0]->getType()));
  llvm::SmallVector<int, 64> low, high;
  for (unsigned l = 0; l < lanes_; ++l) {
    const unsigned from = l / 2 + (l % 2 ? lanes_ : 0);
    low.push_back(static_cast<int>(from));
    high.push_back(static_cast<int>(from + lanes_ / 2));
  }
  for (unsigned half = width / 2, step = half; step >= 1; step /= 2) {
    Values mixed;
    for (unsigned n = 0; n < half; ++n) {
      mixed.push_back(b_.CreateShuffleVector(rows[n], rows[n + half], low));
      mixed.push_back(b_.CreateShuffleVector(rows[n], rows[n + half], high));
    }
    rows = mixed;
  }
  const PendingStore& first = columns[0];
  const auto at = [&](int64_t element) {
    Value* offset = b_.getInt64(static_cast<uint64_t>(element));
    return address(first.buffer, b_.CreateAdd(first.index.v, offset, "", false, true));
  };
  if (first.index.stride == static_cast<int64_t>(columns.size()) && columns.size() == width) {
    for (unsigned n = 0; n < width; ++n)
      b_.CreateAlignedStore(rows[n], at(static_cast<int64_t>(n) * lanes_), alignment(first.buffer));
    return;
  }
  llvm::SmallVector<llvm::Constant*, 16> exists;
  for (unsigned c = 0; c < width; ++c) exists.push_back(b_.getInt1(c < columns.size()));
  for (unsigned l = 0; l < lanes_; ++l) {
    llvm::SmallVector<int, 16> lanes_of_row;
    for (unsigned c = 0; c < width; ++c) lanes_of_row.push_back(static_cast<int>(l * width % lanes_ + c));
    Value* row = b_.CreateShuffleVector(rows[l * width / lanes_], lanes_of_row);
    Value* to = at(static_cast<int64_t>(l) * first.index.stride);
    if (columns.size() == width)
      b_.CreateAlignedStore(row, to, alignment(first.buffer));
    else
      b_.CreateMaskedStore(row, to, alignment(first.buffer), llvm::ConstantVector::get(exists));
  }
}

}  // namespace calque::codegen
