// The factors of a contraction: elements and vectors of them, and their packed forms.
#include "codegen/cpu/emit_contraction.h"

namespace calque::codegen {

using kernel::Op;
using llvm::Value;

namespace {

/// Packed factors of at most this size are on the stack.
constexpr int64_t kStackBytes = 48 * 1024;

}  // namespace

Value* ContractionEmitter::factor(size_t which, Value* first, Value* second, int along, const Lanes& lanes) {
  const kernel::Region& region = i_.regions[which];
  Value* const at[2] = {first, second};
  const VectorScope scope(k_.vectors(), lanes.count, lanes.mask);
  for (size_t p = 0; p < 2; ++p) {
    const bool runs_along = lanes.count != 0 && static_cast<int>(p) == along;
    k_.set(region.parameters[p], runs_along ? k_.linear(at[p]) : k_.uniform(at[p]));
  }
  const kernel::Instruction* yield = k_.run(region);
  Reg value = k_.get(yield->operands[0]);
  if (is_half(factor_)) value = t_.pairs ? k_.bits(value, factor_) : k_.widened(value, factor_);
  return k_.as_value(value, lanes.count != 0);
}

Value* ContractionEmitter::address(size_t which, Value* first, Value* second) {
  const kernel::Region& region = i_.regions[which];
  const kernel::FactorAccess& access = which == 0 ? lhs_ : rhs_;
  k_.set(region.parameters[0], k_.uniform(first));
  k_.set(region.parameters[1], k_.uniform(second));
  for (const kernel::Instruction& i : region.instructions)
    if (i.op != Op::load && i.op != Op::yield) k_.emit(i);
  return k_.buffers().address(access.buffer, k_.get(access.index).v);
}

// a0 b0 a1 b1 ...: pairs of 16-bit values as 32-bit units.
Value* ContractionEmitter::interleave(Value* a, Value* b, unsigned lanes) {
  llvm::SmallVector<int, 64> order;
  for (unsigned l = 0; l < lanes; ++l) {
    order.push_back(static_cast<int>(l));
    order.push_back(static_cast<int>(l + lanes));
  }
  return b_.CreateBitCast(b_.CreateShuffleVector(a, b, order), vector(b_.getInt32Ty(), lanes));
}

// Transposes squares of parts of registers, all at once: of n registers, element c of each square's row r becomes
// element r of its row c. Interleaves elements within the squares, then pairs of elements and so on, which leaves the
// rows in the order of their reversed bits.
Values ContractionEmitter::transposed_squares(const Values& from, unsigned lanes) {
  const auto n = static_cast<unsigned>(from.size());
  Values rows = from;
  for (unsigned step = 1; step < n; step *= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned l = 0; l < lanes; ++l) {
      const unsigned run = l % n / step;
      const unsigned source = (run % 2 == 0 ? 0 : lanes) + l / n * n + run / 2 * step + l % step;
      low.push_back(static_cast<int>(source));
      high.push_back(static_cast<int>(source + n / 2));
    }
    for (unsigned r = 0; r < n; ++r) {
      if (r & step) continue;
      Value *a = rows[r], *b = rows[r + step];
      rows[r] = b_.CreateShuffleVector(a, b, low);
      rows[r + step] = b_.CreateShuffleVector(a, b, high);
    }
  }
  Values in_order(n);
  for (unsigned r = 0; r < n; ++r) {
    unsigned reversed = 0;
    for (unsigned bit = 1; bit < n; bit *= 2) reversed = 2 * reversed + ((r & bit) != 0 ? 1 : 0);
    in_order[reversed] = rows[r];
  }
  return in_order;
}

void ContractionEmitter::allocate() {
  const auto bytes = static_cast<int64_t>(size_of(sum_));
  const int64_t units = t_.pairs ? ceil_div(t_.k_block, 2) : t_.k_block;
  const int64_t padded_rows = round_up(t_.rows, k_.target().vector_bits / 8 / bytes);
  // An odd number of cache lines from row to row, so that the rows do not map to the same cache set.
  const int64_t per_line = static_cast<int64_t>(kLine) / (t_.pairs ? 2 : bytes);
  row_step_ = (ceil_div(t_.k_block, per_line) | 1) * per_line;
  int64_t size = 0;
  const auto reserve = [&](int64_t n) {
    const int64_t from = size;
    size = round_up(size + n * bytes, static_cast<int64_t>(kLine));
    return from;
  };
  const int64_t panels = ceil_div(t_.column_block, panel_);
  int64_t lhs = -1, rhs = -1, partials = -1;
  if (t_.pack_lhs)
    lhs = reserve(lhs_by_columns() ? units * padded_rows : t_.rows * (t_.pairs ? row_step_ / 2 : row_step_));
  if (t_.pack_rhs) rhs = reserve(panels * panel_ * units);
  if (blocks_ > 1) partials = reserve(ceil_div(row_block_, t_.rows) * t_.rows * panels * panel_);
  if (size == 0) return;
  Value* memory = nullptr;
  if (size <= kStackBytes) {
    llvm::AllocaInst* local = k_.local(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<uint64_t>(size)));
    local->setAlignment(llvm::Align(kLine));
    memory = local;
  } else {
    memory = k_.runtime().scratch(size);
  }
  const auto slice = [&](int64_t from) { return from < 0 ? nullptr : at(b_.getInt8Ty(), memory, from); };
  packed_lhs_ = slice(lhs);
  packed_rhs_ = slice(rhs);
  partial_sums_ = slice(partials);
}

// Packs panels of the right factor contiguously: one row of a panel for each K element. If the factor is contiguous
// along the columns it is read row by row, as it is in memory, else panel by panel.
void ContractionEmitter::pack_rhs(Value* n0, Value* full, Value* k0, Value* k_extent) {
  if (rhs_transposed() && lanes_ > 1) {
    each_panel(n0, full, [&](Value* to, Value* n, int64_t vectors, unsigned rest) {
      const int64_t step = (t_.pairs ? 2 : 1) * transposed_units();
      Value* whole = b_.CreateAnd(k_extent, integer(-step));
      pack_transposed(to, n, vectors, rest, k0, whole);
      loop(whole, k_extent, t_.pairs ? 2 : 1, [&](Value* k) { pack_row(to, n, vectors, rest, k0, k, k_extent); });
    });
    return;
  }
  loop(integer(0), k_extent, t_.pairs ? 2 : 1, [&](Value* k) {
    each_panel(n0, full, [&](Value* to, Value* n, int64_t vectors, unsigned rest) {
      pack_row(to, n, vectors, rest, k0, k, k_extent);
    });
  });
}

void ContractionEmitter::each_panel(Value* n0, Value* full, const Panel& body) {
  const int64_t units = t_.pairs ? ceil_div(t_.k_block, 2) : t_.k_block;
  const auto panel_at = [&](Value* number) { return at(unit_, packed_rhs_, mul(number, units * panel_)); };
  loop(integer(0), full, 1, [&](Value* p) { body(panel_at(p), add(n0, mul(p, panel_)), t_.vectors, 0); });
  const int64_t left = i_.columns % panel_;
  if (left == 0) return;
  Value* n = add(n0, mul(full, panel_));
  when(b_.CreateICmpSLT(n, column_end_),
       [&] { body(panel_at(full), n, ceil_div(left, lanes_), static_cast<unsigned>(left % lanes_)); });
}

// One K element, or a pair. Lanes past the last column are undefined: their results are never used.
void ContractionEmitter::pack_row(Value* to, Value* n, int64_t vectors, unsigned rest, Value* k0, Value* k,
                                  Value* k_extent) {
  Value* row = at(unit_, to, mul(t_.pairs ? b_.CreateLShr(k, uint64_t{1}) : k, panel_));
  for (int64_t v = 0; v < vectors; ++v) {
    const Lanes lanes{lanes_, v + 1 == vectors ? first_lanes(rest, lanes_) : nullptr};
    Value* x = factor(1, add(k0, k), add(n, v * lanes_), 1, lanes);
    if (t_.pairs) {
      Value* next = add(k, 1);
      Value* second = factor(1, add(k0, smaller(next, sub(k_extent, integer(1)))), add(n, v * lanes_), 1, lanes);
      Value* exists = b_.CreateICmpSLT(next, k_extent);
      second = b_.CreateSelect(exists, second, llvm::Constant::getNullValue(second->getType()));
      x = interleave(x, second, lanes_);
    }
    b_.CreateAlignedStore(x, at(unit_, row, v * lanes_), llvm::Align(size_of(sum_)));
  }
}

// The factor is contiguous along K. A register is filled with 16 bytes of each of several columns, 16 bytes of their
// neighbours go to the next register, and so on: what is left to transpose are squares of 16 bytes, by instructions
// that interleave within them. Whole vectors are a loop: LLVM takes more than linear time for blocks with many
// shuffles.
void ContractionEmitter::pack_transposed(Value* to, Value* n, int64_t vectors, unsigned rest, Value* k0,
                                         Value* k_extent) {
  const unsigned part = transposed_units();
  const auto bytes = static_cast<uint64_t>(size_of(factor_));
  auto* const loaded = vector(t_.pairs ? b_.getInt32Ty() : k_.buffers().element(rhs_.buffer), part);
  const auto column_of_k = [&](Value* k, Value* column) -> Value* {
    Value* const x = b_.CreateAlignedLoad(loaded, address(1, add(k0, k), add(n, column)), llvm::Align(bytes));
    return t_.pairs ? x : widened(k_.ops().from_memory(x, factor_));
  };
  const auto pack = [&](Value* k, Value* column, unsigned exist) {
    Values rows(part);
    for (unsigned l = 0; l < exist; ++l) {
      Value* const units = column_of_k(k, add(column, l));
      auto* const type = vector(units->getType()->getScalarType(), lanes_);
      if (l == 0) rows.assign(part, llvm::PoisonValue::get(type));
      Value*& row = rows[l % part];
      row = part == lanes_ ? units : b_.CreateInsertVector(type, row, units, uint64_t{l - l % part});
    }
    rows = transposed_squares(rows, lanes_);
    Value* first = t_.pairs ? b_.CreateLShr(k, uint64_t{1}) : k;
    for (unsigned r = 0; r < part; ++r)
      b_.CreateAlignedStore(rows[r], at(unit_, to, add(mul(add(first, r), panel_), column)),
                            llvm::Align(size_of(sum_)));
  };
  const int64_t whole = rest == 0 ? vectors : vectors - 1;
  loop(integer(0), k_extent, t_.pairs ? 2 * part : part, [&](Value* k) {
    if (whole == 1) pack(k, integer(0), lanes_);
    if (whole > 1) loop(integer(0), integer(whole), 1, [&](Value* v) { pack(k, mul(v, lanes_), lanes_); });
    if (rest != 0) pack(k, integer(whole * lanes_), rest);
  });
}

void ContractionEmitter::pack_lhs(Value* m, int64_t rows, Value* k0, Value* k_extent) {
  lhs_by_columns() ? pack_lhs_columns(m, rows, k0, k_extent) : pack_lhs_rows(m, rows, k0, k_extent);
}

// Row by row, in vectors along K.
void ContractionEmitter::pack_lhs_rows(Value* m, int64_t rows, Value* k0, Value* k_extent) {
  auto* narrow = t_.pairs ? b_.getInt16Ty() : element_;
  const unsigned lanes = static_cast<unsigned>(k_.target().vector_bits / 8 / static_cast<int>(size_of(sum_)));
  const auto width = static_cast<uint64_t>(t_.pairs ? 2 : size_of(sum_));
  loop(integer(0), integer(rows), 1, [&](Value* row) {
    Value* to = at(narrow, packed_lhs_, mul(row, row_step_));
    Value* whole = b_.CreateAnd(k_extent, integer(-static_cast<int64_t>(lanes)));
    const auto pack_vector = [&](Value* k, Value* mask) {
      Value* x = factor(0, add(m, row), add(k0, k), 1, {lanes, mask});
      // The second element of a pair may not exist: it is zero then.
      if (mask && t_.pairs) x = b_.CreateSelect(mask, x, llvm::Constant::getNullValue(x->getType()));
      b_.CreateAlignedStore(x, at(narrow, to, k), llvm::Align(width));
    };
    loop(integer(0), whole, lanes, [&](Value* k) { pack_vector(k, nullptr); });
    when(b_.CreateICmpSLT(whole, k_extent), [&] {
      Value* mask = nullptr;
      {
        const VectorScope scope(k_.vectors(), lanes);
        mask = k_.first_lanes(sub(k_extent, whole));
      }
      pack_vector(whole, mask);
    });
  });
}

// For each K element, in vectors along the rows.
void ContractionEmitter::pack_lhs_columns(Value* m, int64_t rows, Value* k0, Value* k_extent) {
  const unsigned lanes = static_cast<unsigned>(k_.target().vector_bits / 8 / static_cast<int>(size_of(sum_)));
  const int64_t padded = round_up(t_.rows, lanes);
  loop(integer(0), k_extent, t_.pairs ? 2 : 1, [&](Value* k) {
    Value* to = at(unit_, packed_lhs_, mul(t_.pairs ? b_.CreateLShr(k, uint64_t{1}) : k, padded));
    for (int64_t r = 0; r < rows; r += lanes) {
      const auto exist = static_cast<unsigned>(std::min<int64_t>(lanes, rows - r));
      const Lanes some{lanes, first_lanes(exist, lanes)};
      Value* x = factor(0, add(m, r), add(k0, k), 0, some);
      if (t_.pairs) {
        Value* next = add(k, 1);
        Value* second = factor(0, add(m, r), add(k0, smaller(next, sub(k_extent, integer(1)))), 0, some);
        Value* exists = b_.CreateICmpSLT(next, k_extent);
        second = b_.CreateSelect(exists, second, llvm::Constant::getNullValue(second->getType()));
        x = interleave(x, second, lanes);
      }
      b_.CreateAlignedStore(x, at(unit_, to, r), llvm::Align(size_of(sum_)));
    }
  });
}

}  // namespace calque::codegen
