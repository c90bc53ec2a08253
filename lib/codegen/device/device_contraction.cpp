// Matrix products on a GPU. A block computes one tile of accumulators, each warp a part of it, in a software-pipelined
// loop over K: the factors of several steps are in shared memory or being copied there while one step is multiplied.
// Every accumulator adds its products in the order of K: one at a time with the scalar unit, by a fused multiply-add
// (strict: rounded twice), and 16 at a time (tf32: 8) with the matrix units, which add the sum of these to the
// accumulator. K elements that the last step lacks are zeros. Neither tiles nor the number of blocks change a result.
#include "codegen/device/device_contraction.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// Rows of square tiles in a band that is computed together, so that factors are reused from the cache: the tiles that
/// run at the same time should cover an area about as high as it is wide.
constexpr int64_t kBandRows = 8;
/// Shared memory that every device has for a block.
constexpr int64_t kSharedMemory = 99 * 1024;
/// Accumulators of a warp whose block has a multiprocessor to itself: no other block runs during its barriers.
constexpr int64_t kLoneWarpTile = 64 * 64;
/// K of a step where 16-bit floats are multiplied as f32.
constexpr int64_t kWidenedK = 8;
/// Epilogues of up to this many instructions are unrolled, so that several loads are in flight.
constexpr int64_t kShortEpilogue = 16, kEpilogues = 4;
/// Epilogues of up to this many instructions are vectorized: 16 bytes of accumulators at a time.
constexpr int64_t kVectorEpilogue = 48;

}  // namespace

DeviceContraction::DeviceContraction(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory,
                                     const kernel::Instruction& i)
    : k_(kernel),
      b_(kernel.builder()),
      group_(group),
      memory_(memory),
      i_(i),
      t_(*i.gpu_tiles),
      factor_dtype_(kernel.dtype(i.regions[0].instructions.back().operands[0])),
      accumulator_dtype_(kernel.dtype(i.regions[2].parameters[2])),
      step_k_(t_.step_k) {
  if (kernel.options().strict && !is_scalar()) {
    t_.unit = Unit::scalar;
    step_k_ = kWidenedK;
  }
  if (!is_scalar()) {
    element_type_ = t_.unit == Unit::tf32 ? b_.getInt32Ty() : b_.getInt16Ty();
    accumulator_type_ = b_.getFloatTy();
  } else if (is_integer(accumulator_dtype_) && size_of(accumulator_dtype_) < 4) {
    element_type_ = accumulator_type_ = b_.getInt32Ty();
  } else {
    element_type_ = accumulator_type_ = k_.ops().register_type(accumulator_dtype_);
  }
  element_bytes_ = static_cast<int64_t>(element_type_->getPrimitiveSizeInBits() / 8);
  thread_rows_ = t_.warp_rows / kLaneRows;
  thread_columns_ = t_.warp_columns / kLaneColumns;
  steps_ = ceil_div(i.extent, step_k_);
  for (Factor* f : {&lhs_, &rhs_}) {
    f->which = f == &lhs_ ? 0 : 1;
    f->tile = f->which == 0 ? t_.rows : t_.columns;
    f->whole = f->which == 0 ? i.rows : i.columns;
    f->access = access_of(kernel.kernel(), i.regions[f->which]);
    choose_copy(*f);
    choose_layout(*f);
    const int64_t beyond = f->whole - f->tile, length = f->async && !f->inner ? kChunkBytes / element_bytes_ : 1;
    f->shifted = beyond > 0 && beyond % f->tile != 0 && beyond % length == 0;
    if (!f->async) computed_.push_back(f);
    f->offset = stage_bytes_;
    stage_bytes_ += f->bytes;
  }
  // Factors that go through registers are at most one step ahead.
  stages_ = std::min<int64_t>({t_.stages, kSharedMemory / stage_bytes_, steps_ + 1});
  if (!is_asynchronous()) stages_ = 2;
  reads_ahead_ = !is_scalar() && computed_.empty() && t_.warp_rows * t_.warp_columns >= kLoneWarpTile;
}

void DeviceContraction::choose_layout(Factor& f) {
  f.inner = f.along_k && (f.async || !is_scalar());
  const int64_t row = f.row_length(step_k_) * element_bytes_;
  int64_t pad = 0;
  if (f.inner || element_bytes_ == 2) {
    const int64_t chunks = std::min<int64_t>(8, row / kChunkBytes);
    f.mask = static_cast<unsigned>(chunks - 1);
    for (int64_t r = chunks; r < 8; r *= 2) ++f.shift;
  } else if (t_.unit == Unit::tf32) {
    pad = 2 * kChunkBytes;
  } else if (!f.async) {
    pad = kChunkBytes;
  }
  f.row_bytes = row + pad;
  f.bytes = f.row_bytes * f.rows(step_k_);
}

void DeviceContraction::emit(Value* tile) {
  if (group_.size() != t_.threads)
    k_.refuse("a product's tiles take thread groups of " + std::to_string(t_.threads) + " threads, not " +
              std::to_string(group_.size()));
  const ThreadGroup::PerThreadScope each(group_);
  const int64_t staged = slices() == 0 ? 0 : t_.threads / 32 * slice_rows() * staged_row() * accumulator_bytes();
  shared_ = group_.allocate_shared(std::max(stages_ * stage_bytes_, staged));
  thread_ = group_.op(DeviceOp::thread);
  compute_tile(tile);
  compute_lanes();
  for (Factor* f : {&lhs_, &rhs_}) {
    prepare_fragments(*f);
    if (f->async) prepare_copies(*f);
  }
  group_.op(DeviceOp::barrier);
  k_loop();
}

// Tiles are numbered column by column within bands of several rows of tiles.
void DeviceContraction::compute_tile(Value* tile) {
  const int64_t down = ceil_div(i_.rows, t_.rows), across = ceil_div(i_.columns, t_.columns);
  const int64_t band_rows = std::max<int64_t>(1, kBandRows * t_.columns / t_.rows);
  Value *row = nullptr, *column = nullptr;
  if (down <= band_rows) {
    row = b_.CreateURem(tile, integer(down));
    column = b_.CreateUDiv(tile, integer(down));
  } else {
    Value* const band = b_.CreateUDiv(tile, integer(band_rows * across));
    Value* const within = b_.CreateURem(tile, integer(band_rows * across));
    Value* const height = smaller(integer(band_rows), b_.CreateSub(integer(down), mul(band, band_rows)));
    row = add(mul(band, band_rows), b_.CreateURem(within, height));
    column = b_.CreateUDiv(within, height);
  }
  const auto begin = [&](Factor& f, Value* number) {
    f.begin = f.first = mul(number, f.tile);
    if (f.shifted) f.first = smaller(f.begin, integer(f.whole - f.tile));
  };
  begin(lhs_, row);
  begin(rhs_, column);
}

void DeviceContraction::compute_lanes() {
  const int64_t across = t_.columns / t_.warp_columns;
  warp_row_ = mul(b_.CreateUDiv(group_.warp(), word(across)), t_.warp_rows);
  warp_column_ = mul(b_.CreateURem(group_.warp(), word(across)), t_.warp_columns);
  lane_row_ = b_.CreateUDiv(group_.lane(), word(kLaneColumns));
  lane_column_ = b_.CreateURem(group_.lane(), word(kLaneColumns));
}

// One barrier per step: after it, the factors to be multiplied next have arrived, and the stage that was multiplied may
// be overwritten.
void DeviceContraction::k_loop() {
  const int64_t ahead = stages_ - 1;
  for (int64_t s = 0; s < ahead; ++s) {
    Value* const stage = at(shared_, s * stage_bytes_);
    if (s < steps_) {
      begin_copies(stage, integer(s));
      const bool whole = (s + 1) * step_k_ <= i_.extent;
      for (const Factor* f : computed_) {
        if (whole && is_short(*f))
          store(*f, stage, fetch(*f, integer(s)));
        else
          compute(*f, stage, integer(s));
      }
    }
    if (is_asynchronous()) group_.op(DeviceOp::async_commit);
  }
  if (reads_ahead_) step_barrier();
  const int64_t count = is_scalar() ? thread_rows_ * thread_columns_ : int64_t{t_.warp_rows} * t_.warp_columns / 32;
  Values initial(static_cast<size_t>(count), llvm::Constant::getNullValue(accumulator_type_));
  if (reads_ahead_) initial.append(fragments(shared_, 0));
  // Offsets of the stage that is multiplied and of the one that is loaded.
  initial.push_back(word(0));
  initial.push_back(word(ahead * stage_bytes_));
  Values last = k_.counted(integer(0), integer(steps_), 1, initial, [&](Value* step, const Values& carries) {
    Step now;
    now.current = carries[carries.size() - 2];
    now.destination = carries.back();
    now.fetched_step = add(step, integer(ahead));
    Value* const following = next_stage(now.current);
    now.next = b_.CreateSelect(b_.CreateICmpSLT(step, integer(steps_ - 1)), following, now.current);
    now.accumulators.assign(carries.begin(), carries.begin() + count);
    now.fragments.assign(carries.begin() + count, carries.end() - 2);
    k_step(now);
    Values next = now.accumulators;
    next.append(now.fragments);
    next.append({following, next_stage(now.destination)});
    return next;
  });
  last.resize(static_cast<size_t>(count));
  group_.op(DeviceOp::barrier);
  finish(last);
}

Value* DeviceContraction::next_stage(Value* offset) {
  Value* const next = add(offset, word(stage_bytes_));
  return b_.CreateSelect(b_.CreateICmpEQ(next, word(stages_ * stage_bytes_)), word(0), next);
}

void DeviceContraction::step_barrier() {
  if (is_asynchronous()) group_.op(DeviceOp::async_wait, {word(stages_ - 2)});
  group_.op(DeviceOp::barrier);
}

// Multiplies while later factors are loaded: by asynchronous copies, or into registers that are stored after the
// multiplications. A partial last step, and elements that are expensive to compute, are computed after them.
void DeviceContraction::k_step(Step& now) {
  const bool any = steps_ > stages_ - 1, ragged = i_.extent % step_k_ != 0;
  const auto before = [&](int64_t end) {
    return any ? b_.CreateICmpSLT(now.fetched_step, integer(end)) : static_cast<Value*>(b_.getFalse());
  };
  Value* const more = before(steps_);
  Value* const more_whole = ragged ? before(steps_ - 1) : more;
  Value *const current = at(shared_, now.current), *const destination = at(shared_, now.destination);
  if (!reads_ahead_) step_barrier();
  if (is_asynchronous()) {
    group_.when(more, [&] { begin_copies(destination, now.fetched_step); });
    group_.op(DeviceOp::async_commit);
  }
  std::vector<std::pair<const Factor*, Values>> held;
  for (const Factor* f : computed_) {
    if (!is_short(*f)) continue;
    llvm::Type* const type = pack(*f) == 2 ? b_.getInt32Ty() : element_type_;
    const Values nothing(static_cast<size_t>(per_thread(packed_count(*f))), llvm::PoisonValue::get(type));
    held.emplace_back(f, group_.where(more_whole, nothing, [&] { return fetch(*f, now.fetched_step); }));
  }
  if (is_scalar()) multiply_scalars(current, now.accumulators);
  if (!is_scalar() && !reads_ahead_) now.fragments = fragments(current, 0);
  for (int64_t s = 1; !is_scalar() && s < step_k_ / mma_k(); ++s) multiply_matrices(now, fragments(current, s));
  if (!is_scalar() && !reads_ahead_) multiply_matrices(now, {});
  group_.when(more_whole, [&] {
    for (const auto& [f, values] : held) store(*f, destination, values);
  });
  for (const Factor* f : computed_) {
    if (!any || (is_short(*f) && !ragged)) continue;
    Value* const condition = is_short(*f) ? b_.CreateICmpEQ(now.fetched_step, integer(steps_ - 1)) : more;
    group_.when(condition, [&] { compute(*f, destination, now.fetched_step); });
  }
  if (reads_ahead_) {
    step_barrier();
    multiply_matrices(now, fragments(at(shared_, now.next), 0));
  }
}

void DeviceContraction::begin_copies(Value* stage, Value* step) {
  for (const Factor* f : {&lhs_, &rhs_})
    if (f->async) copy(*f, stage, step);
}

// Accumulators go through shared memory, a few rows of a warp at a time, so that neighbouring lanes run the epilogue
// for, and store, neighbouring columns.
void DeviceContraction::finish(const Values& accumulators) {
  const int64_t bytes = slice_rows() * staged_row() * accumulator_bytes();
  Value* const own = at(shared_, mul(group_.warp(), bytes));
  for (int64_t slice = 0; slice < slices(); ++slice) {
    if (slice != 0) group_.op(DeviceOp::warp_barrier);
    stage_accumulators(accumulators, slice, own);
    group_.op(DeviceOp::warp_barrier);
    finish_slice(slice, own);
  }
}

void DeviceContraction::stage_accumulators(const Values& accumulators, int64_t slice, Value* to) {
  const int64_t bytes = accumulator_bytes(), row = staged_row() * bytes;
  const llvm::Align align(static_cast<uint64_t>(bytes));
  if (is_scalar()) {
    const int64_t width = lane_width(rhs_);
    Value* const lane = add(mul(lane_row_, row), mul(lane_column_, width * bytes));
    for (int64_t c = 0; c < thread_columns_; ++c) {
      const int64_t column = c / width * width * kLaneColumns + c % width;
      b_.CreateAlignedStore(accumulators[static_cast<size_t>(slice * thread_columns_ + c)],
                            at(at(to, lane), column * bytes), align);
    }
    return;
  }
  Value* const lane =
      add(mul(b_.CreateLShr(group_.lane(), 2), row), mul(b_.CreateAnd(group_.lane(), word(3)), 2 * bytes));
  const int64_t across = t_.warp_columns / kFragmentColumns;
  for (int64_t n = 0; n < across; ++n) {
    for (int64_t half = 0; half < 2; ++half) {
      const auto from = static_cast<size_t>((slice * across + n) * 4 + 2 * half);
      Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(accumulator_type_, 2));
      pair = b_.CreateInsertElement(pair, accumulators[from], uint64_t{0});
      pair = b_.CreateInsertElement(pair, accumulators[from + 1], uint64_t{1});
      b_.CreateAlignedStore(pair, at(at(to, lane), half * kFragmentColumns * row + n * kFragmentColumns * bytes),
                            llvm::Align(8));
    }
  }
}

// Accumulators per vector of the epilogue: 16 bytes of neighbours, where rows hold a whole number of vectors.
int64_t DeviceContraction::finished_lanes() const {
  const kernel::Region& region = i_.regions[2];
  const int64_t lanes = kChunkBytes / accumulator_bytes();
  const bool straight = std::all_of(region.instructions.begin(), region.instructions.end(),
                                    [](const kernel::Instruction& i) { return i.regions.empty(); });
  const bool fits = i_.columns % lanes == 0 && slice_rows() * t_.warp_columns % (32 * lanes) == 0;
  return fits && straight && instruction_count(k_.kernel(), region) <= kVectorEpilogue ? lanes : 1;
}

void DeviceContraction::finish_slice(int64_t slice, Value* from) {
  const int64_t lanes = finished_lanes(), count = slice_rows() * t_.warp_columns / 32 / lanes;
  const int64_t most = instruction_count(k_.kernel(), i_.regions[2]) <= kShortEpilogue ? kEpilogues / lanes : 1;
  const int64_t repeat = most > 1 && count % most == 0 ? most : 1;
  llvm::Type* const type =
      lanes == 1 ? accumulator_type_ : llvm::FixedVectorType::get(accumulator_type_, static_cast<unsigned>(lanes));
  const auto one = [&](Value* number) {
    Value* const position = mul(add(mul(b_.CreateTrunc(number, b_.getInt32Ty()), 32), group_.lane()), lanes);
    Value* const row = b_.CreateUDiv(position, word(t_.warp_columns));
    Value* const column = b_.CreateURem(position, word(t_.warp_columns));
    Value* const sum =
        b_.CreateAlignedLoad(type, at(from, mul(add(mul(row, staged_row()), column), accumulator_bytes())),
                             llvm::Align(static_cast<uint64_t>(lanes * accumulator_bytes())));
    Value* in_warp = add(row, word(slice * kFragmentRows));
    if (is_scalar()) {
      const int64_t width = lane_width(lhs_);
      in_warp = add(mul(row, width), word(slice / width * width * kLaneRows + slice % width));
    }
    Value* const m = add(lhs_.first, wide(add(warp_row_, in_warp)));
    Value* const n = add(rhs_.first, wide(add(warp_column_, column)));
    Value* inside = nullptr;
    for (const auto& [f, index] : {std::pair(&lhs_, m), std::pair(&rhs_, n)}) {
      if (f->shifted) inside = k_.and_mask(inside, b_.CreateICmpSGE(index, f->begin));
      if (f->ragged()) inside = k_.and_mask(inside, b_.CreateICmpSLT(index, integer(f->whole)));
    }
    group_.when(inside, [&] { epilogue(m, n, sum, lanes); });
  };
  k_.counted(integer(0), integer(count), repeat, {}, [&](Value* number, const Values&) {
    for (int64_t u = 0; u < repeat; ++u) one(u == 0 ? number : add(number, integer(u)));
    return Values{};
  });
}

void DeviceContraction::epilogue(Value* m, Value* n, Value* sum, int64_t lanes) {
  const kernel::Region& region = i_.regions[2];
  llvm::Type* const type = k_.ops().same_lanes(k_.ops().register_type(accumulator_dtype_), sum);
  if (sum->getType() != type) sum = b_.CreateTrunc(sum, type);
  const VectorScope scope(k_.vectors(), lanes == 1 ? 0 : static_cast<unsigned>(lanes));
  k_.set(region.parameters[0], k_.uniform(m));
  k_.set(region.parameters[1], k_.uniform(n));
  if (lanes > 1) k_.set(region.parameters[1], {n, Reg::Form::linear, false, true, 1});
  k_.set(region.parameters[2], k_.of(sum));
  memory_.set_divisor(region.parameters[1], lanes);
  k_.run(region);
}

}  // namespace calque::codegen
