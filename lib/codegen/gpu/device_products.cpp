// From shared memory to sums. With the scalar unit a thread reads a few elements of each factor's row and multiplies
// each with each. The matrix units take fragments, which the lanes of a warp hold together as the PTX ISA lays them out
// ("Matrix Fragments for mma.m16n8k16 with floating point type" and "for mma.m16n8k8"): with lane = 4 * group + place,
// words of the left factor hold row `group` and, eight rows on, the same; words of the right factor column `group`.
#include "codegen/gpu/device_contraction.h"

namespace calque::codegen {

using llvm::Value;

// Neighbouring elements of the free index that one thread holds: as many as 16 bytes take where they follow each other.
int64_t DeviceContraction::group(const Factor& f) const {
  if (f.inner) return 1;
  return std::min(kPiece / unit_bytes_, f.which == 0 ? thread_rows_ : thread_columns_);
}

// Where the lane begins, by what is permuted on top: the numbers of rows and pieces that are the same in all lanes and
// those that are not have no bits in common, so that both are permuted apart.
void DeviceContraction::prepare_fragments(Factor& f) {
  Value* const warp = f.which == 0 ? warp_row_ : warp_column_;
  Value *row = word(0), *piece = word(0), *byte = word(0);
  const auto bits = [&](Value* v, uint64_t shift, int64_t mask) {
    return b_.CreateAnd(b_.CreateLShr(v, shift), word(mask));
  };
  if (is_scalar()) {
    Value* const lane = f.which == 0 ? lane_row_ : lane_column_;
    if (f.inner)
      row = add(warp, lane);
    else
      byte = mul(add(warp, mul(lane, group(f))), unit_bytes_);
  } else if (!f.inner && unit_bytes_ == 4) {
    row = bits(k_.lane_, 0, 3);
    byte = mul(add(warp, b_.CreateLShr(k_.lane_, 2)), unit_bytes_);
  } else {
    // Lanes name the rows of four matrices of eight. Of the left factor they follow each other first along the free
    // index, of the right one along the depth.
    const bool low_is_row = f.inner == (f.which == 0);
    Value *const eights = bits(k_.lane_, low_is_row ? 3 : 4, 1), *const other = bits(k_.lane_, low_is_row ? 4 : 3, 1);
    row = add(bits(k_.lane_, 0, 7), mul(eights, 8));
    piece = other;
    if (f.inner)
      row = add(row, warp);
    else
      piece = add(piece, b_.CreateUDiv(mul(warp, unit_bytes_), word(kPiece)));
  }
  for (unsigned turn = 0; turn <= f.mask; ++turn) {
    Value* const turned = b_.CreateXor(mul(piece, kPiece), word(turn * kPiece));
    f.lane.push_back(in_row(f, row, add(turned, byte)));
  }
}

Value* DeviceContraction::fragment_at(const Factor& f, Value* stage, int64_t row, int64_t piece, int64_t byte) {
  const auto turn = static_cast<size_t>((piece ^ (row >> f.shift)) & f.mask);
  return at(at(stage, f.lane[turn]), row * f.row_bytes + (piece & ~int64_t{f.mask}) * kPiece + byte);
}

// ---- the scalar unit

Value* DeviceContraction::multiply_add(Value* a, Value* b, Value* sum) {
  if (!is_floating(sum_)) return b_.CreateAdd(sum, b_.CreateMul(a, b));
  if (k_.options_.strict) return b_.CreateFAdd(sum, b_.CreateFMul(a, b));
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {a, b, sum});
}

// The thread's elements of one term. Rows along the depth give several terms at once: `held` keeps them.
Values DeviceContraction::terms(const Factor& f, Value* stage, int64_t term, Values& held) {
  const int64_t count = f.which == 0 ? thread_rows_ : thread_columns_;
  const int64_t lanes = f.which == 0 ? kLaneRows : kLaneColumns;
  const auto load = [&](int64_t width, Value* from) {
    return b_.CreateAlignedLoad(llvm::FixedVectorType::get(unit_, static_cast<unsigned>(width)), from,
                                llvm::Align(static_cast<uint64_t>(width * unit_bytes_)));
  };
  Values out;
  if (f.inner) {
    const int64_t width = kPiece / unit_bytes_;
    if (term % width == 0) {
      held.clear();
      for (int64_t n = 0; n < count; ++n) held.push_back(load(width, fragment_at(f, stage, n * lanes, term / width)));
    }
    for (Value* v : held) out.push_back(b_.CreateExtractElement(v, static_cast<uint64_t>(term % width)));
    return out;
  }
  const int64_t width = group(f);
  for (int64_t n = 0; n < count; n += width) {
    Value* const v = load(width, fragment_at(f, stage, term, 0, n * lanes * unit_bytes_));
    for (int64_t e = 0; e < width; ++e) out.push_back(b_.CreateExtractElement(v, static_cast<uint64_t>(e)));
  }
  return out;
}

void DeviceContraction::multiply_scalars(Value* stage, Values& sums) {
  Values held[2];
  for (int64_t term = 0; term < depth_; ++term) {
    const Values a = terms(lhs_, stage, term, held[0]), b = terms(rhs_, stage, term, held[1]);
    for (size_t m = 0; m < a.size(); ++m)
      for (size_t n = 0; n < b.size(); ++n) {
        Value*& sum = sums[m * b.size() + n];
        sum = multiply_add(a[m], b[n], sum);
      }
  }
}

// ---- the matrix units

// Four words: of the left factor those of 16 rows, of the right one those of 8 columns and of the next 8.
Values DeviceContraction::fragment(const Factor& f, Value* stage, int64_t step, int64_t number) {
  if (!f.inner && unit_bytes_ == 4) return turned_fragment(f, stage, step, number);
  Value* const from =
      f.inner ? fragment_at(f, stage, number * kFragmentRows, 2 * step) : fragment_at(f, stage, step * 16, 2 * number);
  Value* const words = k_.op(f.inner ? DeviceOp::load_matrix : DeviceOp::load_matrix_transposed, {from});
  Values out;
  for (unsigned w = 0; w < 4; ++w) out.push_back(b_.CreateExtractValue(words, w));
  return out;
}

Values DeviceContraction::turned_fragment(const Factor& f, Value* stage, int64_t step, int64_t number) {
  Values out;
  for (int64_t w = 0; w < 4; ++w) {
    const int64_t eight = f.which == 0 ? w % 2 : w / 2, four = f.which == 0 ? w / 2 : w % 2;
    Value* const from =
        fragment_at(f, stage, step * 8 + four * 4, 0, (number * kFragmentRows + eight * 8) * unit_bytes_);
    out.push_back(b_.CreateAlignedLoad(unit_, from, llvm::Align(4)));
  }
  return out;
}

Values DeviceContraction::fragments(Value* stage, int64_t number) {
  Values out;
  for (int64_t m = 0; m < t_.warp_rows / 16; ++m) out.append(fragment(lhs_, stage, number, m));
  for (int64_t n = 0; n < t_.warp_columns / 16; ++n) out.append(fragment(rhs_, stage, number, n));
  // To nearest, away from zero: the unit drops the bits beyond the 10 that it takes.
  constexpr int64_t kHalfUnit = 0x1000;
  if (t_.unit == Unit::tf32)
    for (Value*& w : out) w = b_.CreateAdd(w, word(kHalfUnit));
  return out;
}

void DeviceContraction::multiply_matrices(Step& now, Values next) {
  const DeviceOp operation = t_.unit == Unit::f16    ? DeviceOp::mma_f16
                             : t_.unit == Unit::bf16 ? DeviceOp::mma_bf16
                                                     : DeviceOp::mma_tf32;
  const int64_t down = t_.warp_rows / kFragmentRows, across = t_.warp_columns / kFragmentColumns;
  for (int64_t m = 0; m < down; ++m) {
    for (int64_t n = 0; n < across; ++n) {
      const auto left = now.fragments.begin() + m * 4, right = now.fragments.begin() + down * 4 + n * 2;
      const auto sum = now.sums.begin() + (m * across + n) * 4;
      Values operands(left, left + 4);
      operands.append(right, right + 2);
      operands.append(sum, sum + 4);
      Value* const result = k_.op(operation, operands);
      for (unsigned c = 0; c < 4; ++c) sum[c] = b_.CreateExtractValue(result, c);
    }
  }
  now.fragments = std::move(next);
}

}  // namespace calque::codegen
