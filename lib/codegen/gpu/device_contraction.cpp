// Products of matrices on a GPU. A block computes one tile of sums, its warps parts of it, and goes through the depth
// in steps: the factors of several steps are in shared memory or on their way there while those of one are multiplied.
// Every sum adds its terms in the order of the depth: one by one with the scalar unit, by a fused multiply-add (strict:
// rounded twice), and by sixteens (tf32: eights) with the matrix units, which add what they sum to what came before.
// Absent terms of the last step are zeros. Neither tiles nor the number of blocks change a sum.
#include "codegen/gpu/device_contraction.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// Rows of square tiles that are computed side by side, so that their factors are met again in the cache: what runs at
/// once should be about as high as it is wide.
constexpr int64_t kTogether = 8;
/// Shared memory that every device has for a block.
constexpr int64_t kSharedMemory = 99 * 1024;
/// Sums of a warp whose block has a processor to itself: while its warps meet, no other block works.
constexpr int64_t kLoneWarpTile = 64 * 64;
/// Terms of a step where 16-bit floats are multiplied as f32.
constexpr int64_t kWidenedDepth = 8;
/// What is done with a sum is repeated up to so many instructions, so that several loads are under way.
constexpr int64_t kShortEpilogue = 16, kEpilogues = 4;
/// What is done with sums is done with 16 bytes of them at once up to so many instructions.
constexpr int64_t kVectorEpilogue = 48;

}  // namespace

DeviceContraction::DeviceContraction(DeviceEmitter& kernel, const kernel::Instruction& i)
    : k_(kernel),
      b_(kernel.b_),
      i_(i),
      t_(*kernel::choose_tiles(kernel.kernel_, i, kernel.options_.fast_math)),
      factor_(kernel.dtype(i.regions[0].instructions.back().operands[0])),
      sum_(kernel.dtype(i.regions[2].parameters[2])),
      depth_(t_.depth) {
  if (kernel.options_.strict && !is_scalar()) {
    t_.unit = Unit::scalar;
    depth_ = kWidenedDepth;
  }
  if (!is_scalar()) {
    unit_ = t_.unit == Unit::tf32 ? b_.getInt32Ty() : b_.getInt16Ty();
    total_ = b_.getFloatTy();
  } else if (is_integer(sum_) && size_of(sum_) < 4) {
    unit_ = total_ = b_.getInt32Ty();
  } else {
    unit_ = total_ = k_.ops_.register_type(sum_);
  }
  unit_bytes_ = static_cast<int64_t>(unit_->getPrimitiveSizeInBits() / 8);
  thread_rows_ = t_.warp_rows / kLaneRows;
  thread_columns_ = t_.warp_columns / kLaneColumns;
  steps_ = ceil_div(i.extent, depth_);
  for (Factor* f : {&lhs_, &rhs_}) {
    f->which = f == &lhs_ ? 0 : 1;
    f->tile = f->which == 0 ? t_.rows : t_.columns;
    f->whole = f->which == 0 ? i.rows : i.columns;
    f->access = access_of(kernel.kernel_, i.regions[f->which]);
    choose_copy(*f);
    choose_layout(*f);
    const int64_t beyond = f->whole - f->tile, length = f->async && !f->inner ? kPiece / unit_bytes_ : 1;
    f->shifted = beyond > 0 && beyond % f->tile != 0 && beyond % length == 0;
    if (!f->async) computed_.push_back(f);
    f->offset = stage_bytes_;
    stage_bytes_ += f->bytes;
  }
  // What comes through registers is at most one step ahead.
  stages_ = std::min<int64_t>({t_.stages, kSharedMemory / stage_bytes_, steps_ + 1});
  if (!is_asynchronous()) stages_ = 2;
  reads_ahead_ = !is_scalar() && computed_.empty() && t_.warp_rows * t_.warp_columns >= kLoneWarpTile;
}

void DeviceContraction::choose_layout(Factor& f) {
  f.inner = f.along_depth && (f.async || !is_scalar());
  const int64_t row = f.row_length(depth_) * unit_bytes_;
  int64_t pad = 0;
  if (f.inner || unit_bytes_ == 2) {
    const int64_t pieces = std::min<int64_t>(8, row / kPiece);
    f.mask = static_cast<unsigned>(pieces - 1);
    for (int64_t r = pieces; r < 8; r *= 2) ++f.shift;
  } else if (t_.unit == Unit::tf32) {
    pad = 2 * kPiece;
  } else if (!f.async) {
    pad = kPiece;
  }
  f.row_bytes = row + pad;
  f.bytes = f.row_bytes * f.rows(depth_);
}

void DeviceContraction::emit() {
  if (k_.group_ != t_.threads)
    k_.refuse("a product's tiles take groups of " + std::to_string(t_.threads) + " threads, not of " +
              std::to_string(k_.group_));
  k_.own([&] {
    const int64_t staged = slices() == 0 ? 0 : t_.threads / 32 * slice_rows() * staged_row() * total_bytes();
    shared_ = k_.shared(k_.allocate_shared(std::max(stages_ * stage_bytes_, staged)));
    thread_ = k_.op(DeviceOp::thread);
    find_tile();
    find_lanes();
    for (Factor* f : {&lhs_, &rhs_}) {
      prepare_fragments(*f);
      if (f->async) prepare_copies(*f);
    }
    k_.op(DeviceOp::barrier);
    steps();
  });
}

// Tiles are counted down some rows of tiles before the next column of them.
void DeviceContraction::find_tile() {
  const int64_t down = ceil_div(i_.rows, t_.rows), across = ceil_div(i_.columns, t_.columns);
  const int64_t together = std::max<int64_t>(1, kTogether * t_.columns / t_.rows);
  Value *row = nullptr, *column = nullptr;
  if (down <= together) {
    row = b_.CreateURem(k_.tile_, integer(down));
    column = b_.CreateUDiv(k_.tile_, integer(down));
  } else {
    Value* const band = b_.CreateUDiv(k_.tile_, integer(together * across));
    Value* const within = b_.CreateURem(k_.tile_, integer(together * across));
    Value* const height = smaller(integer(together), b_.CreateSub(integer(down), mul(band, together)));
    row = add(mul(band, together), b_.CreateURem(within, height));
    column = b_.CreateUDiv(within, height);
  }
  const auto begin = [&](Factor& f, Value* number) {
    f.begin = f.first = mul(number, f.tile);
    if (f.shifted) f.first = smaller(f.begin, integer(f.whole - f.tile));
  };
  begin(lhs_, row);
  begin(rhs_, column);
}

void DeviceContraction::find_lanes() {
  const int64_t across = t_.columns / t_.warp_columns;
  warp_row_ = mul(b_.CreateUDiv(k_.warp_, word(across)), t_.warp_rows);
  warp_column_ = mul(b_.CreateURem(k_.warp_, word(across)), t_.warp_columns);
  lane_row_ = b_.CreateUDiv(k_.lane_, word(kLaneColumns));
  lane_column_ = b_.CreateURem(k_.lane_, word(kLaneColumns));
}

// One meeting a step: behind it, what is multiplied next is there, and the place of what was multiplied is free.
void DeviceContraction::steps() {
  const int64_t ahead = stages_ - 1;
  for (int64_t s = 0; s < ahead; ++s) {
    Value* const stage = at(shared_, s * stage_bytes_);
    if (s < steps_) {
      begin_copies(stage, integer(s));
      const bool whole = (s + 1) * depth_ <= i_.extent;
      for (const Factor* f : computed_) {
        if (whole && is_short(*f))
          store(*f, stage, fetch(*f, integer(s)));
        else
          compute(*f, stage, integer(s));
      }
    }
    if (is_asynchronous()) k_.op(DeviceOp::async_commit);
  }
  if (reads_ahead_) meet();
  const int64_t sums = is_scalar() ? thread_rows_ * thread_columns_ : int64_t{t_.warp_rows} * t_.warp_columns / 32;
  Values initial(static_cast<size_t>(sums), llvm::Constant::getNullValue(total_));
  if (reads_ahead_) initial.append(fragments(shared_, 0));
  // The places of the step that is multiplied and of the one that is fetched.
  initial.push_back(word(0));
  initial.push_back(word(ahead * stage_bytes_));
  Values last = k_.counted(integer(0), integer(steps_), 1, initial, [&](Value* step, const Values& carries) {
    Step now;
    now.here = carries[carries.size() - 2];
    now.there = carries.back();
    now.fetched = add(step, integer(ahead));
    Value* const following = after(now.here);
    now.following = b_.CreateSelect(b_.CreateICmpSLT(step, integer(steps_ - 1)), following, now.here);
    now.sums.assign(carries.begin(), carries.begin() + sums);
    now.fragments.assign(carries.begin() + sums, carries.end() - 2);
    one_step(now);
    Values next = now.sums;
    next.append(now.fragments);
    next.append({following, after(now.there)});
    return next;
  });
  last.resize(static_cast<size_t>(sums));
  k_.op(DeviceOp::barrier);
  finish(last);
}

Value* DeviceContraction::after(Value* place) {
  Value* const next = add(place, word(stage_bytes_));
  return b_.CreateSelect(b_.CreateICmpEQ(next, word(stages_ * stage_bytes_)), word(0), next);
}

void DeviceContraction::meet() {
  if (is_asynchronous()) k_.op(DeviceOp::async_wait, {word(stages_ - 2)});
  k_.op(DeviceOp::barrier);
}

// Multiplies while later factors are on their way: copied, or in registers until products are under way. A last step
// that is not whole, and elements that are dear, are computed behind the products.
void DeviceContraction::one_step(Step& now) {
  const bool any = steps_ > stages_ - 1, ragged = i_.extent % depth_ != 0;
  const auto before = [&](int64_t end) {
    return any ? b_.CreateICmpSLT(now.fetched, integer(end)) : static_cast<Value*>(b_.getFalse());
  };
  Value* const more = before(steps_);
  Value* const more_whole = ragged ? before(steps_ - 1) : more;
  Value *const here = at(shared_, now.here), *const there = at(shared_, now.there);
  if (!reads_ahead_) meet();
  if (is_asynchronous()) {
    k_.when(more, [&] { begin_copies(there, now.fetched); });
    k_.op(DeviceOp::async_commit);
  }
  std::vector<std::pair<const Factor*, Values>> held;
  for (const Factor* f : computed_) {
    if (!is_short(*f)) continue;
    llvm::Type* const type = pack(*f) == 2 ? b_.getInt32Ty() : unit_;
    const Values nothing(static_cast<size_t>(shares(units(*f))), llvm::PoisonValue::get(type));
    held.emplace_back(f, k_.where(more_whole, nothing, [&] { return fetch(*f, now.fetched); }));
  }
  if (is_scalar()) multiply_scalars(here, now.sums);
  if (!is_scalar() && !reads_ahead_) now.fragments = fragments(here, 0);
  for (int64_t s = 1; !is_scalar() && s < depth_ / unit_terms(); ++s) multiply_matrices(now, fragments(here, s));
  if (!is_scalar() && !reads_ahead_) multiply_matrices(now, {});
  k_.when(more_whole, [&] {
    for (const auto& [f, values] : held) store(*f, there, values);
  });
  for (const Factor* f : computed_) {
    if (!any || (is_short(*f) && !ragged)) continue;
    Value* const condition = is_short(*f) ? b_.CreateICmpEQ(now.fetched, integer(steps_ - 1)) : more;
    k_.when(condition, [&] { compute(*f, there, now.fetched); });
  }
  if (reads_ahead_) {
    meet();
    multiply_matrices(now, fragments(at(shared_, now.following), 0));
  }
}

void DeviceContraction::begin_copies(Value* stage, Value* step) {
  for (const Factor* f : {&lhs_, &rhs_})
    if (f->async) copy(*f, stage, step);
}

// Sums pass through shared memory, a few rows of a warp at a time, so that neighbouring lanes finish, and store,
// neighbouring columns.
void DeviceContraction::finish(const Values& sums) {
  const int64_t bytes = slice_rows() * staged_row() * total_bytes();
  Value* const own = at(shared_, mul(k_.warp_, bytes));
  for (int64_t slice = 0; slice < slices(); ++slice) {
    if (slice != 0) k_.op(DeviceOp::warp_barrier);
    stage_sums(sums, slice, own);
    k_.op(DeviceOp::warp_barrier);
    finish_slice(slice, own);
  }
}

void DeviceContraction::stage_sums(const Values& sums, int64_t slice, Value* to) {
  const int64_t bytes = total_bytes(), row = staged_row() * bytes;
  const llvm::Align align(static_cast<uint64_t>(bytes));
  if (is_scalar()) {
    const int64_t width = group(rhs_);
    Value* const lane = add(mul(lane_row_, row), mul(lane_column_, width * bytes));
    for (int64_t c = 0; c < thread_columns_; ++c) {
      const int64_t column = c / width * width * kLaneColumns + c % width;
      b_.CreateAlignedStore(sums[static_cast<size_t>(slice * thread_columns_ + c)], at(at(to, lane), column * bytes),
                            align);
    }
    return;
  }
  Value* const lane = add(mul(b_.CreateLShr(k_.lane_, 2), row), mul(b_.CreateAnd(k_.lane_, word(3)), 2 * bytes));
  const int64_t across = t_.warp_columns / kFragmentColumns;
  for (int64_t n = 0; n < across; ++n) {
    for (int64_t half = 0; half < 2; ++half) {
      const auto from = static_cast<size_t>((slice * across + n) * 4 + 2 * half);
      Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(total_, 2));
      pair = b_.CreateInsertElement(pair, sums[from], uint64_t{0});
      pair = b_.CreateInsertElement(pair, sums[from + 1], uint64_t{1});
      b_.CreateAlignedStore(pair, at(at(to, lane), half * kFragmentColumns * row + n * kFragmentColumns * bytes),
                            llvm::Align(8));
    }
  }
}

// Sums that are finished together: 16 bytes of neighbours, where rows hold a whole number of those.
int64_t DeviceContraction::finished_lanes() const {
  const kernel::Region& region = i_.regions[2];
  const int64_t lanes = kPiece / total_bytes();
  const bool straight = std::all_of(region.instructions.begin(), region.instructions.end(),
                                    [](const kernel::Instruction& i) { return i.regions.empty(); });
  const bool fits = i_.columns % lanes == 0 && slice_rows() * t_.warp_columns % (32 * lanes) == 0;
  return fits && straight && instruction_count(k_.kernel_, region) <= kVectorEpilogue ? lanes : 1;
}

void DeviceContraction::finish_slice(int64_t slice, Value* from) {
  const int64_t lanes = finished_lanes(), count = slice_rows() * t_.warp_columns / 32 / lanes;
  const int64_t most = instruction_count(k_.kernel_, i_.regions[2]) <= kShortEpilogue ? kEpilogues / lanes : 1;
  const int64_t repeat = most > 1 && count % most == 0 ? most : 1;
  llvm::Type* const type = lanes == 1 ? total_ : llvm::FixedVectorType::get(total_, static_cast<unsigned>(lanes));
  const auto one = [&](Value* number) {
    Value* const place = mul(add(mul(b_.CreateTrunc(number, b_.getInt32Ty()), 32), k_.lane_), lanes);
    Value* const row = b_.CreateUDiv(place, word(t_.warp_columns));
    Value* const column = b_.CreateURem(place, word(t_.warp_columns));
    Value* const sum = b_.CreateAlignedLoad(type, at(from, mul(add(mul(row, staged_row()), column), total_bytes())),
                                            llvm::Align(static_cast<uint64_t>(lanes * total_bytes())));
    Value* in_warp = add(row, word(slice * kFragmentRows));
    if (is_scalar()) {
      const int64_t width = group(lhs_);
      in_warp = add(mul(row, width), word(slice / width * width * kLaneRows + slice % width));
    }
    Value* const m = add(lhs_.first, wide(add(warp_row_, in_warp)));
    Value* const n = add(rhs_.first, wide(add(warp_column_, column)));
    Value* here = nullptr;
    for (const auto& [f, index] : {std::pair(&lhs_, m), std::pair(&rhs_, n)}) {
      if (f->shifted) here = k_.and_mask(here, b_.CreateICmpSGE(index, f->begin));
      if (f->ragged()) here = k_.and_mask(here, b_.CreateICmpSLT(index, integer(f->whole)));
    }
    k_.when(here, [&] { epilogue(m, n, sum, lanes); });
  };
  k_.counted(integer(0), integer(count), repeat, {}, [&](Value* number, const Values&) {
    for (int64_t u = 0; u < repeat; ++u) one(u == 0 ? number : add(number, integer(u)));
    return Values{};
  });
}

void DeviceContraction::epilogue(Value* m, Value* n, Value* sum, int64_t lanes) {
  const kernel::Region& region = i_.regions[2];
  llvm::Type* const type = k_.ops_.same_lanes(k_.ops_.register_type(sum_), sum);
  if (sum->getType() != type) sum = b_.CreateTrunc(sum, type);
  k_.lanes_ = lanes == 1 ? 0 : static_cast<unsigned>(lanes);
  k_.env_[region.parameters[0]] = k_.uniform(m);
  k_.env_[region.parameters[1]] = k_.uniform(n);
  if (lanes > 1) k_.env_[region.parameters[1]] = {n, Reg::Form::linear, false, true, 1};
  k_.env_[region.parameters[2]] = k_.of(sum);
  k_.divisors_[region.parameters[1]] = lanes;
  k_.run(region);
  k_.lanes_ = 0;
}

void DeviceEmitter::contraction(const kernel::Instruction& i) {
  if (i.rows == 0 || i.columns == 0) return;
  if (!tile_) return groups(i);
  DeviceContraction(*this, i).emit();
  tile_ = nullptr;
}

}  // namespace calque::codegen
