// Matrix products. The result is computed tile by tile: the accumulators of a tile stay in registers over all K
// elements of a block, each of which multiplies a row of the right factor (vectors) by a column of the left one
// (broadcasts). The surrounding loops keep factors in caches: blocks of the result (tasks), K blocks, rows of tiles,
// tiles. A factor that is used repeatedly is packed first, which turns transposed, converted and computed factors into
// contiguous vectors. Sums run over K in order, in blocks whose length depends on the shape alone; the sums of the
// blocks are added in order.
#include "codegen/cpu/emit_contraction.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// The loop over K is unrolled to about this many products, and at most kMostUnroll times: a tile that fills the
/// registers hides the loop's own instructions behind its products, and more code only costs compile time and spills.
constexpr int64_t kUnrolledProducts = 16, kMostUnroll = 4;
/// The epilogue is unrolled over all registers up to this many instructions, else it is a loop.
constexpr int64_t kShortEpilogue = 12;

}  // namespace

bool ContractionEmitter::constant(Value* v, int64_t& out) {
  const auto* c = llvm::dyn_cast<llvm::ConstantInt>(v);
  if (c) out = c->getSExtValue();
  return c != nullptr;
}

void ContractionEmitter::when(Value* condition, const std::function<void()>& body) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (!known->isZero()) body();
    return;
  }
  llvm::BasicBlock *inside = k_.block("then"), *after = k_.block("join");
  b_.CreateCondBr(condition, inside, after);
  b_.SetInsertPoint(inside);
  body();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void ContractionEmitter::loop(Value* begin, Value* end, int64_t step, const Body& body) {
  when(b_.CreateICmpSLT(begin, end), [&] {
    k_.counted(begin, end, step, {}, [&](Value* i, const Values&) {
      body(i);
      return Values{};
    });
  });
}

Value* ContractionEmitter::first_lanes(unsigned count, unsigned lanes) {
  if (count == 0 || count >= lanes) return nullptr;
  llvm::SmallVector<llvm::Constant*, 64> bits;
  for (unsigned l = 0; l < lanes; ++l) bits.push_back(b_.getInt1(l < count));
  return llvm::ConstantVector::get(bits);
}

// ---- tiles

void ContractionEmitter::emit() {
  if (!i_.threads) {
    allocate();
    loop(integer(0), integer(i_.columns), t_.column_block, [&](Value* n0) {
      loop(integer(0), integer(i_.rows), row_block_,
           [&](Value* m0) { block(m0, n0, smaller(integer(row_block_), sub(integer(i_.rows), m0))); });
    });
    return;
  }
  // Tasks that use the same block of the right factor are adjacent, and those of one chunk share it.
  const int64_t down = ceil_div(i_.rows, t_.row_block), across = ceil_div(i_.columns, t_.column_block);
  k_.runtime().parallel_for(down * across, 1, [&](Value* begin, Value* end) {
    allocate();
    Value *first = b_.CreateUDiv(begin, integer(down)), *last = b_.CreateUDiv(add(end, down - 1), integer(down));
    loop(first, last, 1, [&](Value* column) {
      Value *m = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sub(begin, mul(column, down)), integer(0)),
            *stop = smaller(sub(end, mul(column, down)), integer(down));
      stop = smaller(mul(stop, t_.row_block), integer(i_.rows));
      loop(mul(m, t_.row_block), stop, row_block_,
           [&](Value* m0) { block(m0, mul(column, t_.column_block), smaller(integer(row_block_), sub(stop, m0))); });
    });
  });
}

void ContractionEmitter::block(Value* m0, Value* n0, Value* rows) {
  loop(integer(0), integer(blocks_), 1, [&](Value* number) { block_of_k(m0, n0, rows, number); });
}

void ContractionEmitter::block_of_k(Value* m0, Value* n0, Value* rows, Value* number) {
  k_block_index_ = number;
  Value* k0 = mul(number, t_.k_block);
  Value* k_extent = blocks_ == 1 ? integer(i_.extent) : smaller(integer(t_.k_block), sub(integer(i_.extent), k0));
  Value* columns = smaller(integer(t_.column_block), sub(integer(i_.columns), n0));
  Value* full = b_.CreateUDiv(columns, integer(panel_));
  column_end_ = add(n0, columns);
  if (t_.pack_rhs) pack_rhs(n0, full, k0, k_extent);
  Value* tiles = b_.CreateUDiv(rows, integer(t_.rows));
  TileCoordinates coordinates{m0, n0, k0, k_extent, nullptr, nullptr, t_.rows, t_.vectors, 0};
  loop(integer(0), tiles, 1, [&](Value* row) {
    coordinates.row = row;
    coordinates.m = add(m0, mul(row, t_.rows));
    row_of_tiles(coordinates, full);
  });
  const int64_t left = i_.rows % t_.rows;
  if (left == 0) return;
  coordinates.row = tiles;
  coordinates.m = add(m0, mul(tiles, t_.rows));
  coordinates.rows = left;
  when(b_.CreateICmpSLT(coordinates.m, add(m0, rows)), [&] { row_of_tiles(coordinates, full); });
}

void ContractionEmitter::row_of_tiles(TileCoordinates coordinates, Value* full) {
  if (t_.pack_lhs) pack_lhs(coordinates.m, coordinates.rows, coordinates.k0, coordinates.k_extent);
  Value* const n0 = coordinates.n;
  loop(integer(0), full, 1, [&](Value* panel) {
    coordinates.panel = panel;
    coordinates.n = add(n0, mul(panel, panel_));
    tile(coordinates);
  });
  const int64_t left = i_.columns % panel_;
  if (left == 0) return;
  coordinates.panel = full;
  coordinates.n = add(n0, mul(full, panel_));
  coordinates.vectors = ceil_div(left, lanes_);
  coordinates.rest = static_cast<unsigned>(left % lanes_);
  when(b_.CreateICmpSLT(coordinates.n, column_end_), [&] { tile(coordinates); });
}

void ContractionEmitter::prefetch_line(Value* at, int64_t bytes, bool write) {
  Value* line = b_.CreateGEP(b_.getInt8Ty(), at, integer(bytes));
  constexpr uint32_t kFirstLevel = 3, kSecondLevel = 2, kData = 1;
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {line->getType()},
      {line, b_.getInt32(write ? 1 : 0), b_.getInt32(write ? kFirstLevel : kSecondLevel), b_.getInt32(kData)});
}

// Prefetches data that may not be in a near cache: the partial sums of earlier K blocks, this tile's share of the next
// rows of the left factor, and the next panel of a right factor that is streamed from memory.
void ContractionEmitter::prefetch(const TileCoordinates& p) {
  constexpr auto line = static_cast<int64_t>(kLine);
  const auto bytes = static_cast<int64_t>(size_of(sum_)), width = static_cast<int64_t>(size_of(factor_));
  if (blocks_ > 1) {
    Value* partials = partial_sums(p);
    for (int64_t at = 0; at < p.rows * p.vectors * lanes_ * bytes; at += line) prefetch_line(partials, at, true);
  }
  if (t_.streams_rhs && rhs_.plain) {
    Value* from = address(1, p.k0, p.n);
    for (int64_t k = 0; k < t_.k_block; ++k)
      for (int64_t at = 0; at < panel_ * width; at += line)
        prefetch_line(from, (k * rhs_.stride[0] + panel_) * width + at, false);
  }
  if (!t_.prefetch_lhs) return;
  const int64_t panels = ceil_div(t_.column_block, panel_), lines = ceil_div(t_.k_block * width, line);
  const int64_t share = ceil_div(lines, panels);
  Value* from = b_.CreateGEP(b_.getInt8Ty(), address(0, p.m, p.k0), mul(p.panel, share * line));
  for (int64_t r = 0; r < p.rows; ++r)
    for (int64_t l = 0; l < share; ++l) prefetch_line(from, (p.rows + r) * lhs_.stride[0] * width + l * line, false);
}

void ContractionEmitter::tile(const TileCoordinates& p) {
  prefetch(p);
  const Values zeros(static_cast<size_t>(p.rows * p.vectors), llvm::Constant::getNullValue(vector(element_, lanes_)));
  Values accumulators = accumulate(p, zeros);
  if (blocks_ == 1) return finish(p, accumulators);
  accumulators = add_partial_sums(p, accumulators);
  llvm::BasicBlock *last = k_.block("last"), *more = k_.block("more"), *after = k_.block("join");
  b_.CreateCondBr(b_.CreateICmpEQ(k_block_index_, integer(blocks_ - 1)), last, more);
  b_.SetInsertPoint(more);
  store_partial_sums(p, accumulators);
  b_.CreateBr(after);
  b_.SetInsertPoint(last);
  finish(p, accumulators);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// The address of a tile's partial sums between two K blocks.
Value* ContractionEmitter::partial_sums(const TileCoordinates& p) {
  const int64_t panels = ceil_div(t_.column_block, panel_);
  Value* number = add(mul(p.row, panels), p.panel);
  return at(element_, partial_sums_, mul(number, t_.rows * panel_));
}

// Adds the accumulators of this K block to the partial sums of the blocks before it, if there are any.
Values ContractionEmitter::add_partial_sums(const TileCoordinates& p, const Values& accumulators) {
  auto* type = vector(element_, lanes_);
  llvm::BasicBlock *before = b_.GetInsertBlock(), *again = k_.block("again"), *ready = k_.block("ready");
  b_.CreateCondBr(b_.CreateICmpEQ(k_block_index_, integer(0)), ready, again);
  b_.SetInsertPoint(again);
  Value* from = partial_sums(p);
  Values totals;
  for (size_t n = 0; n < accumulators.size(); ++n) {
    Value* earlier =
        b_.CreateAlignedLoad(type, at(element_, from, static_cast<int64_t>(n) * lanes_), llvm::Align(size_of(sum_)));
    totals.push_back(is_floating(sum_) ? b_.CreateFAdd(earlier, accumulators[n])
                                       : b_.CreateAdd(earlier, accumulators[n]));
  }
  b_.CreateBr(ready);
  b_.SetInsertPoint(ready);
  const Values out = k_.phis(accumulators, before);
  KernelEmitter::add_incoming(out, totals, again);
  return out;
}

void ContractionEmitter::store_partial_sums(const TileCoordinates& p, const Values& accumulators) {
  Value* to = partial_sums(p);
  for (size_t n = 0; n < accumulators.size(); ++n)
    b_.CreateAlignedStore(accumulators[n], at(element_, to, static_cast<int64_t>(n) * lanes_),
                          llvm::Align(size_of(sum_)));
}

// Whether the loop over K is fully unrolled. Elements of the left factor that many tiles share then stay in registers,
// unless there are too many of them.
bool ContractionEmitter::is_unrolled(const TileCoordinates& p, int64_t k_extent) const {
  constexpr int64_t kMostProducts = 64;
  if (i_.columns > 2 * panel_ && k_extent * p.rows > kernel::kSharedElements) return false;
  if (t_.computed_rhs != 0) return k_extent * p.vectors * (p.rows + t_.computed_rhs) <= kernel::kUnrolledInstructions;
  return k_extent * p.vectors * p.rows <= kMostProducts;
}

ContractionEmitter::Source ContractionEmitter::lhs_source(const TileCoordinates& p) {
  if (!t_.pack_lhs) {
    llvm::Type* element = k_.buffers().element(lhs_.buffer);
    const int64_t k_step = t_.pairs ? 2 : 1;
    return {address(0, p.m, p.k0), lhs_.stride[0], k_step * lhs_.stride[1], element, t_.pairs ? unit_ : element};
  }
  if (!lhs_by_columns()) return {packed_lhs_, t_.pairs ? row_step_ / 2 : row_step_, 1, unit_, unit_};
  const int64_t lanes = k_.target().vector_bits / 8 / static_cast<int64_t>(size_of(sum_));
  return {packed_lhs_, 1, round_up(t_.rows, lanes), unit_, unit_};
}

ContractionEmitter::Source ContractionEmitter::rhs_source(const TileCoordinates& p) {
  if (t_.pack_rhs) {
    const int64_t units = t_.pairs ? ceil_div(t_.k_block, 2) : t_.k_block;
    return {at(unit_, packed_rhs_, mul(p.panel, units * panel_)), 0, panel_, unit_, unit_};
  }
  if (!rhs_.plain) return {};
  llvm::Type* element = k_.buffers().element(rhs_.buffer);
  return {address(1, p.k0, p.n), 0, rhs_.stride[0], element, element};
}

Values ContractionEmitter::accumulate(const TileCoordinates& p, const Values& start) {
  const Source a = lhs_source(p), b = rhs_source(p);
  Value* end = t_.pairs ? b_.CreateLShr(add(p.k_extent, 1), uint64_t{1}) : p.k_extent;
  int64_t known = 0;
  Values accumulators = start;
  if (constant(end, known) && is_unrolled(p, known)) {
    for (int64_t k = 0; k < known; ++k) accumulators = rank_one_update(a, b, p, integer(0), k, accumulators);
    return accumulators;
  }
  const auto several = [&](Value* begin, Value* stop, int64_t step) {
    if (constant(b_.CreateICmpSLT(begin, stop), known) && known == 0) return;
    const auto body = [&](Value* k, const Values& from) {
      Values next = from;
      for (int64_t u = 0; u < step; ++u) next = rank_one_update(a, b, p, k, u, next);
      return next;
    };
    if (llvm::isa<llvm::Constant>(begin) && llvm::isa<llvm::Constant>(stop)) {
      accumulators = k_.counted(begin, stop, step, accumulators, body);
      return;
    }
    const Values before = accumulators;
    llvm::BasicBlock *from = b_.GetInsertBlock(), *inside = k_.block("k_loop"), *after = k_.block("join");
    b_.CreateCondBr(b_.CreateICmpSLT(begin, stop), inside, after);
    b_.SetInsertPoint(inside);
    const Values next = k_.counted(begin, stop, step, accumulators, body);
    llvm::BasicBlock* end_block = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    accumulators = k_.phis(before, from);
    KernelEmitter::add_incoming(accumulators, next, end_block);
  };
  const int64_t unroll = std::clamp<int64_t>(kUnrolledProducts / (p.rows * p.vectors), 1, kMostUnroll);
  Value* whole = unroll == 1 ? end : b_.CreateMul(b_.CreateUDiv(end, integer(unroll)), integer(unroll));
  several(integer(0), whole, unroll);
  several(whole, end, 1);
  return accumulators;
}

Values ContractionEmitter::rank_one_update(const Source& a, const Source& b, const TileCoordinates& p, Value* k,
                                           int64_t ahead, const Values& accumulators) {
  Values row, out = accumulators;
  for (int64_t v = 0; v < p.vectors; ++v) row.push_back(rhs_at(b, p, k, ahead, v));
  for (int64_t r = 0; r < p.rows; ++r) {
    Value* x = b_.CreateVectorSplat(lanes_, lhs_at(a, k, ahead, r));
    for (int64_t v = 0; v < p.vectors; ++v) {
      const auto n = static_cast<size_t>(r * p.vectors + v);
      out[n] = multiply_add(x, row[static_cast<size_t>(v)], out[n]);
    }
  }
  return out;
}

Value* ContractionEmitter::lhs_at(const Source& a, Value* k, int64_t ahead, int64_t row) {
  Value* p = at(a.type, at(a.type, a.base, mul(k, a.by_k)), ahead * a.by_k + row * a.by_row);
  const llvm::Align alignment =
      t_.pack_lhs ? llvm::Align(t_.pairs ? 2 : size_of(sum_)) : k_.buffers().alignment(lhs_.buffer);
  Value* x = b_.CreateAlignedLoad(a.unit, p, alignment);
  return t_.pack_lhs || t_.pairs ? x : widened(k_.ops().from_memory(x, factor_));
}

Value* ContractionEmitter::rhs_at(const Source& b, const TileCoordinates& p, Value* k, int64_t ahead, int64_t v) {
  if (!b.base) {
    const Lanes lanes{lanes_, v + 1 == p.vectors ? first_lanes(p.rest, lanes_) : nullptr};
    return factor(1, add(p.k0, add(k, ahead)), add(p.n, v * lanes_), 1, lanes);
  }
  Value* from = at(b.type, at(b.type, b.base, mul(k, b.by_k)), ahead * b.by_k + v * lanes_);
  auto* type = vector(b.type, lanes_);
  if (t_.pack_rhs) return b_.CreateAlignedLoad(type, from, llvm::Align(size_of(sum_)));
  Value* mask = v + 1 == p.vectors ? first_lanes(p.rest, lanes_) : nullptr;
  Value* x;
  if (!mask) {
    x = b_.CreateAlignedLoad(type, from, k_.buffers().alignment(rhs_.buffer));
  } else if (k_.target().masked_memory(static_cast<int>(size_of(factor_)))) {
    x = b_.CreateMaskedLoad(type, from, k_.buffers().alignment(rhs_.buffer), mask, llvm::Constant::getNullValue(type));
  } else {
    x = llvm::Constant::getNullValue(type);
    for (unsigned l = 0; l < p.rest; ++l)
      x = b_.CreateInsertElement(
          x, b_.CreateAlignedLoad(b.type, at(b.type, from, l), k_.buffers().alignment(rhs_.buffer)), uint64_t{l});
  }
  return widened(k_.ops().from_memory(x, factor_));
}

Value* ContractionEmitter::multiply_add(Value* a, Value* b, Value* sum) {
  if (t_.pairs) {
    auto* type = vector(b_.getBFloatTy(), 2 * lanes_);
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                              {sum, b_.CreateBitCast(a, type), b_.CreateBitCast(b, type)});
  }
  if (!is_floating(sum_)) return b_.CreateAdd(sum, b_.CreateMul(a, b));
  if (k_.options().strict || !k_.target().fma) return b_.CreateFAdd(sum, b_.CreateFMul(a, b));
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {a, b, sum});
}

// ---- epilogue

void ContractionEmitter::epilogue(Value* m, Value* n, Value* sum, unsigned rest) {
  const kernel::Region& region = i_.regions[2];
  const VectorScope scope(k_.vectors(), lanes_, first_lanes(rest, lanes_));
  k_.set(region.parameters[0], k_.uniform(m));
  k_.set(region.parameters[1], k_.linear(n));
  k_.set(region.parameters[2], k_.varying(sum));
  k_.run(region);
}

void ContractionEmitter::finish(const TileCoordinates& p, const Values& accumulators) {
  const auto rest_of = [&](int64_t v) { return v + 1 == p.vectors ? p.rest : 0; };
  if (instruction_count(k_.kernel(), i_.regions[2]) <= kShortEpilogue || accumulators.size() == 1) {
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t v = 0; v < p.vectors; ++v)
        epilogue(add(p.m, r), add(p.n, v * lanes_), accumulators[static_cast<size_t>(r * p.vectors + v)], rest_of(v));
    return;
  }
  auto* type = vector(element_, lanes_);
  if (!spill_) {
    llvm::AllocaInst* local = k_.local(llvm::ArrayType::get(type, static_cast<uint64_t>(t_.rows * t_.vectors)));
    local->setAlignment(llvm::Align(kLine));
    spill_ = local;
  }
  for (size_t n = 0; n < accumulators.size(); ++n)
    b_.CreateAlignedStore(accumulators[n], at(type, spill_, static_cast<int64_t>(n)), llvm::Align(size_of(sum_)));
  const int64_t whole = p.rest == 0 ? p.vectors : p.vectors - 1;
  loop(integer(0), integer(p.rows), 1, [&](Value* r) {
    const auto one = [&](Value* v, unsigned rest) {
      Value* sum = b_.CreateAlignedLoad(type, at(type, spill_, add(mul(r, p.vectors), v)), llvm::Align(size_of(sum_)));
      epilogue(add(p.m, r), add(p.n, mul(v, lanes_)), sum, rest);
    };
    loop(integer(0), integer(whole), 1, [&](Value* v) { one(v, 0); });
    if (p.rest != 0) one(integer(whole), p.rest);
  });
}

}  // namespace calque::codegen
