// From shared memory to accumulators. With the scalar unit a thread loads a few elements of each factor's row and
// computes their outer product. The matrix units take fragments, which the lanes of a warp hold together as the PTX ISA
// lays them out ("Matrix Fragments for mma.m16n8k16 with floating point type" and "for mma.m16n8k8"): with
// lane = 4 * groupID + threadID_in_group, words of the left factor hold rows groupID and groupID + 8, words of the
// right factor column groupID.
#include "codegen/device/device_contraction.h"

namespace calque::codegen {

using llvm::Value;

// As many elements as 16 bytes hold, where they are contiguous.
int64_t DeviceContraction::lane_width(const Factor& f) const {
  if (f.inner) return 1;
  return std::min(kChunkBytes / element_bytes_, f.which == 0 ? thread_rows_ : thread_columns_);
}

// The lane's offsets, one for each swizzle. Row and chunk numbers are sums of a part that is the same in all lanes and
// a part that is not, without bits in common, so that the two parts can be swizzled separately.
void DeviceContraction::prepare_fragments(Factor& f) {
  Value* const warp = f.which == 0 ? warp_row_ : warp_column_;
  Value *row = word(0), *chunk = word(0), *byte = word(0);
  const auto bits = [&](Value* v, uint64_t shift, int64_t mask) {
    return b_.CreateAnd(b_.CreateLShr(v, shift), word(mask));
  };
  if (is_scalar()) {
    Value* const lane = f.which == 0 ? lane_row_ : lane_column_;
    if (f.inner)
      row = add(warp, lane);
    else
      byte = mul(add(warp, mul(lane, lane_width(f))), element_bytes_);
  } else if (!f.inner && element_bytes_ == 4) {
    row = bits(group_.lane(), 0, 3);
    byte = mul(add(warp, b_.CreateLShr(group_.lane(), 2)), element_bytes_);
  } else {
    // Lanes supply the row addresses of four 8 x 8 matrices. These advance along the free index first for the left
    // factor, along K first for the right one.
    const bool low_is_row = f.inner == (f.which == 0);
    Value *const eights = bits(group_.lane(), low_is_row ? 3 : 4, 1), *const other =
                                                                          bits(group_.lane(), low_is_row ? 4 : 3, 1);
    row = add(bits(group_.lane(), 0, 7), mul(eights, 8));
    chunk = other;
    if (f.inner)
      row = add(row, warp);
    else
      chunk = add(chunk, b_.CreateUDiv(mul(warp, element_bytes_), word(kChunkBytes)));
  }
  for (unsigned swizzle = 0; swizzle <= f.mask; ++swizzle) {
    Value* const swizzled = b_.CreateXor(mul(chunk, kChunkBytes), word(swizzle * kChunkBytes));
    f.lane.push_back(swizzled_offset(f, row, add(swizzled, byte)));
  }
}

Value* DeviceContraction::fragment_at(const Factor& f, Value* stage, int64_t row, int64_t chunk, int64_t byte) {
  const auto swizzle = static_cast<size_t>((chunk ^ (row >> f.shift)) & f.mask);
  return at(at(stage, f.lane[swizzle]), row * f.row_bytes + (chunk & ~int64_t{f.mask}) * kChunkBytes + byte);
}

// ---- the scalar unit

Value* DeviceContraction::multiply_add(Value* a, Value* b, Value* sum) {
  if (!is_floating(accumulator_dtype_)) return b_.CreateAdd(sum, b_.CreateMul(a, b));
  if (k_.options().strict) return b_.CreateFAdd(sum, b_.CreateFMul(a, b));
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {a, b, sum});
}

// The thread's elements at one k. Rows along K are loaded for several k at once, which `held` keeps.
Values DeviceContraction::thread_elements(const Factor& f, Value* stage, int64_t k, Values& held) {
  const int64_t count = f.which == 0 ? thread_rows_ : thread_columns_;
  const int64_t lanes = f.which == 0 ? kLaneRows : kLaneColumns;
  const auto load = [&](int64_t width, Value* from) {
    return b_.CreateAlignedLoad(llvm::FixedVectorType::get(element_type_, static_cast<unsigned>(width)), from,
                                llvm::Align(static_cast<uint64_t>(width * element_bytes_)));
  };
  Values out;
  if (f.inner) {
    const int64_t width = kChunkBytes / element_bytes_;
    if (k % width == 0) {
      held.clear();
      for (int64_t n = 0; n < count; ++n) held.push_back(load(width, fragment_at(f, stage, n * lanes, k / width)));
    }
    for (Value* v : held) out.push_back(b_.CreateExtractElement(v, static_cast<uint64_t>(k % width)));
    return out;
  }
  const int64_t width = lane_width(f);
  for (int64_t n = 0; n < count; n += width) {
    Value* const v = load(width, fragment_at(f, stage, k, 0, n * lanes * element_bytes_));
    for (int64_t e = 0; e < width; ++e) out.push_back(b_.CreateExtractElement(v, static_cast<uint64_t>(e)));
  }
  return out;
}

void DeviceContraction::multiply_scalars(Value* stage, Values& accumulators) {
  Values held[2];
  for (int64_t k = 0; k < step_k_; ++k) {
    const Values a = thread_elements(lhs_, stage, k, held[0]), b = thread_elements(rhs_, stage, k, held[1]);
    for (size_t m = 0; m < a.size(); ++m)
      for (size_t n = 0; n < b.size(); ++n) {
        Value*& sum = accumulators[m * b.size() + n];
        sum = multiply_add(a[m], b[n], sum);
      }
  }
}

// ---- the matrix units

// Four words: of 16 rows of the left factor, or of two times 8 columns of the right one.
Values DeviceContraction::fragment(const Factor& f, Value* stage, int64_t step, int64_t number) {
  if (!f.inner && element_bytes_ == 4) return transposed_fragment(f, stage, step, number);
  Value* const from =
      f.inner ? fragment_at(f, stage, number * kFragmentRows, 2 * step) : fragment_at(f, stage, step * 16, 2 * number);
  Value* const words = group_.op(f.inner ? DeviceOp::load_matrix : DeviceOp::load_matrix_transposed, {from});
  Values out;
  for (unsigned w = 0; w < 4; ++w) out.push_back(b_.CreateExtractValue(words, w));
  return out;
}

Values DeviceContraction::transposed_fragment(const Factor& f, Value* stage, int64_t step, int64_t number) {
  Values out;
  for (int64_t w = 0; w < 4; ++w) {
    const int64_t eight = f.which == 0 ? w % 2 : w / 2, four = f.which == 0 ? w / 2 : w % 2;
    Value* const from =
        fragment_at(f, stage, step * 8 + four * 4, 0, (number * kFragmentRows + eight * 8) * element_bytes_);
    out.push_back(b_.CreateAlignedLoad(element_type_, from, llvm::Align(4)));
  }
  return out;
}

Values DeviceContraction::fragments(Value* stage, int64_t number) {
  Values out;
  for (int64_t m = 0; m < t_.warp_rows / 16; ++m) out.append(fragment(lhs_, stage, number, m));
  for (int64_t n = 0; n < t_.warp_columns / 16; ++n) out.append(fragment(rhs_, stage, number, n));
  // Rounds to nearest, ties away from zero: the unit truncates to 10 bits of significand.
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
      const auto sum = now.accumulators.begin() + (m * across + n) * 4;
      Values operands(left, left + 4);
      operands.append(right, right + 2);
      operands.append(sum, sum + 4);
      Value* const result = group_.op(operation, operands);
      for (unsigned c = 0; c < 4; ++c) sum[c] = b_.CreateExtractValue(result, c);
    }
  }
  now.fragments = std::move(next);
}

}  // namespace calque::codegen
