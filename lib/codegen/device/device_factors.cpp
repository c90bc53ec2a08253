// Loads of a step's factors into shared memory. Factors whose 16-byte chunks are the same there as in global memory are
// copied asynchronously; all others are computed in registers, element by element. Elements beyond the edge of a matrix
// are never accessed: a row or column that does not exist is a copy of the last one, whose accumulators are discarded,
// and a K element that does not exist is zero.
#include <algorithm>

#include "codegen/device/device_contraction.h"

namespace calque::codegen {

using kernel::Op;
using llvm::Value;

namespace {

/// A thread's elements of a factor in a step are unrolled, and held in registers, up to this many instructions and
/// elements; beyond, they are computed and stored in a loop, several elements at a time.
constexpr int64_t kHeldInstructions = 768, kHeldElements = 32;
constexpr int64_t kShortElement = 64, kUnrolledElements = 4;

bool is_straight(const kernel::Region& region) {
  return std::all_of(region.instructions.begin(), region.instructions.end(),
                     [](const kernel::Instruction& i) { return i.regions.empty(); });
}

}  // namespace

// Chooses the direction in which threads traverse the factor, and whether it is copied or computed. A copy needs every
// chunk to be aligned in memory.
void DeviceContraction::choose_copy(Factor& f) {
  const size_t k_parameter = f.which == 0 ? 1 : 0;
  const int64_t free = f.access.stride[1 - k_parameter], k = f.access.stride[k_parameter];
  f.along_k = k == 1 && free != 1;
  if (!f.access.plain || (k != 1 && free != 1)) return;
  const kernel::Buffer& buffer = k_.kernel().buffers[static_cast<size_t>(f.access.buffer)];
  const auto bytes = static_cast<int64_t>(size_of(buffer.dtype));
  if (bytes != element_bytes_ || buffer.extent == 0 || buffer.alignment % kChunkBytes != 0) return;
  const int64_t length = kChunkBytes / bytes;
  const auto& parameters = i_.regions[f.which].parameters;
  memory_.set_divisor(parameters[k_parameter], f.along_k ? length : 1);
  memory_.set_divisor(parameters[1 - k_parameter], f.along_k ? 1 : length);
  f.async = memory_.divisor(f.access.index) % length == 0;
  for (const kernel::Id p : parameters) memory_.forget_divisor(p);
}

DeviceContraction::TileCoordinate DeviceContraction::coordinate(Value* number, int64_t row_chunks) {
  Value* const i = number->getType()->isIntegerTy(64) ? b_.CreateTrunc(number, b_.getInt32Ty()) : number;
  if (row_chunks > t_.threads) {
    const int64_t rounds = row_chunks / t_.threads;
    return {b_.CreateUDiv(i, word(rounds)), add(thread_, mul(b_.CreateURem(i, word(rounds)), t_.threads))};
  }
  return {add(b_.CreateUDiv(thread_, word(row_chunks)), mul(i, t_.threads / row_chunks)),
          b_.CreateURem(thread_, word(row_chunks))};
}

/// Whether the thread has any of these items. Null: all threads do.
Value* DeviceContraction::participates(int64_t chunks) {
  return chunks >= t_.threads ? nullptr : b_.CreateICmpULT(thread_, word(chunks));
}

/// Offset of a byte of a row within the stage.
Value* DeviceContraction::swizzled_offset(const Factor& f, Value* row, Value* byte) {
  Value* swizzled = byte;
  if (f.mask != 0) {
    Value* const swizzle = b_.CreateAnd(b_.CreateLShr(row, uint64_t{f.shift}), word(f.mask));
    swizzled = b_.CreateXor(byte, mul(swizzle, kChunkBytes));
  }
  return add(add(mul(row, f.row_bytes), swizzled), word(f.offset));
}

// The address of a plain factor's element.
Value* DeviceContraction::address(const Factor& f, Value* free, Value* k) {
  const kernel::Region& region = i_.regions[f.which];
  const size_t k_parameter = f.which == 0 ? 1 : 0;
  k_.set(region.parameters[k_parameter], k_.uniform(k));
  k_.set(region.parameters[1 - k_parameter], k_.uniform(free));
  for (const kernel::Instruction& i : region.instructions)
    if (i.op != Op::load && i.op != Op::yield) k_.emit(i);
  return k_.buffers().address(f.access.buffer, k_.get(f.access.index).v);
}

// Addresses of the first step; they advance by the same distance in every step.
void DeviceContraction::prepare_copies(Factor& f) {
  const int64_t row = f.row_length(step_k_) * element_bytes_ / kChunkBytes, length = kChunkBytes / element_bytes_;
  const int64_t chunks = row * f.rows(step_k_);
  const bool ragged = f.ragged();
  for (int64_t n = 0; n < per_thread(chunks); ++n) {
    const TileCoordinate p = coordinate(n, row);
    Value* const along = mul(wide(p.column), length);
    Value* free = add(f.first, f.inner ? wide(p.row) : along);
    Value* valid = nullptr;
    if (ragged && f.inner) free = smaller(free, integer(f.whole - 1));
    if (ragged && !f.inner) {
      Value* const left = mul(b_.CreateSub(integer(f.whole), free), element_bytes_);
      valid = b_.CreateTrunc(
          smaller(integer(kChunkBytes), b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, integer(0))),
          b_.getInt32Ty());
      free = smaller(free, integer((f.whole - 1) / length * length));
    }
    f.from.push_back(address(f, free, f.inner ? along : wide(p.row)));
    f.valid.push_back(valid);
  }
}

void DeviceContraction::copy(const Factor& f, Value* stage, Value* step) {
  const int64_t row = f.row_length(step_k_) * element_bytes_ / kChunkBytes;
  const int64_t chunks = row * f.rows(step_k_), stride = f.access.stride[f.which == 0 ? 1 : 0];
  Value* const first = mul(step, step_k_);
  Value* const moved = mul(first, stride * element_bytes_);
  group_.when(participates(chunks), [&] {
    for (int64_t n = 0; n < per_thread(chunks); ++n) {
      const TileCoordinate p = coordinate(n, row);
      Value* valid = f.valid[static_cast<size_t>(n)];
      if (i_.extent % step_k_ != 0) {
        Value* const k = add(first, f.inner ? mul(wide(p.column), kChunkBytes / element_bytes_) : wide(p.row));
        Value* left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(integer(i_.extent), k), integer(0));
        if (f.inner) {
          valid = b_.CreateTrunc(smaller(mul(left, element_bytes_), integer(kChunkBytes)), b_.getInt32Ty());
        } else {
          Value* const exists = b_.CreateICmpSGT(left, integer(0));
          valid = b_.CreateSelect(exists, valid ? valid : word(kChunkBytes), word(0));
        }
      }
      Value* const to = at(stage, swizzled_offset(f, p.row, mul(p.column, kChunkBytes)));
      group_.op(DeviceOp::async_copy,
                {to, b_.CreatePtrAdd(f.from[static_cast<size_t>(n)], moved), valid ? valid : word(kChunkBytes)});
    }
  });
}

// ---- computed factors

bool DeviceContraction::is_short(const Factor& f) const {
  const kernel::Region& region = i_.regions[f.which];
  const int64_t elements = per_thread(packed_count(f)) * pack(f);
  return is_straight(region) && elements <= kHeldElements &&
         elements * instruction_count(k_.kernel(), region) <= kHeldInstructions;
}

Value* DeviceContraction::element(const Factor& f, Value* free, Value* k, bool whole) {
  const kernel::Region& region = i_.regions[f.which];
  const size_t k_parameter = f.which == 0 ? 1 : 0;
  Value* exists = nullptr;
  if (f.ragged()) free = smaller(free, integer(f.whole - 1));
  if (!whole && i_.extent % step_k_ != 0) {
    exists = b_.CreateICmpSLT(k, integer(i_.extent));
    k = smaller(k, integer(i_.extent - 1));
  }
  k_.set(region.parameters[k_parameter], k_.uniform(k));
  k_.set(region.parameters[1 - k_parameter], k_.uniform(free));
  const kernel::Instruction* yield = k_.run(region);
  Reg value = k_.get(yield->operands[0]);
  if (is_half(factor_dtype_)) value = is_scalar() ? k_.widened(value, factor_dtype_) : k_.bits(value, factor_dtype_);
  Value* v = value.v;
  if (t_.unit == Unit::tf32) v = b_.CreateBitCast(v, element_type_);
  if (v->getType() != element_type_) v = b_.CreateZExt(v, element_type_);
  return exists ? b_.CreateSelect(exists, v, llvm::Constant::getNullValue(element_type_)) : v;
}

/// One element, or two neighbouring 16-bit elements in a word.
Value* DeviceContraction::packed(const Factor& f, const TileCoordinate& p, Value* step, bool whole) {
  Value* const first = mul(step, step_k_);
  Value* out = nullptr;
  for (int64_t n = 0; n < pack(f); ++n) {
    Value* const along = add(mul(wide(p.column), pack(f)), integer(n));
    Value* v = f.along_k ? element(f, add(f.first, wide(p.row)), add(first, along), whole)
                         : element(f, add(f.first, along), add(first, wide(p.row)), whole);
    if (pack(f) == 2) v = b_.CreateShl(b_.CreateZExt(v, b_.getInt32Ty()), uint64_t(16 * n));
    out = out ? b_.CreateOr(out, v) : v;
  }
  return out;
}

void DeviceContraction::store_packed(const Factor& f, const TileCoordinate& p, Value* stage, Value* v) {
  const int64_t bytes = element_bytes_ * pack(f);
  Value* const to = f.along_k == f.inner ? swizzled_offset(f, p.row, mul(p.column, bytes))
                                         : swizzled_offset(f, p.column, mul(p.row, bytes));
  b_.CreateAlignedStore(v, at(stage, to), llvm::Align(static_cast<uint64_t>(bytes)));
}

Values DeviceContraction::fetch(const Factor& f, Value* step) {
  Values out;
  const int64_t count = per_thread(packed_count(f));
  // Threads without elements repeat those of the first threads.
  for (int64_t n = 0; n < count; ++n) {
    TileCoordinate p = coordinate(n, packed_row(f));
    if (packed_count(f) < t_.threads) p.row = b_.CreateURem(p.row, word(packed_count(f) / packed_row(f)));
    out.push_back(packed(f, p, step, true));
  }
  return out;
}

void DeviceContraction::store(const Factor& f, Value* stage, const Values& values) {
  group_.when(participates(packed_count(f)), [&] {
    for (size_t n = 0; n < values.size(); ++n)
      store_packed(f, coordinate(static_cast<int64_t>(n), packed_row(f)), stage, values[n]);
  });
}

void DeviceContraction::compute(const Factor& f, Value* stage, Value* step) {
  const kernel::Region& region = i_.regions[f.which];
  const int64_t count = per_thread(packed_count(f));
  int64_t unroll =
      is_straight(region) && instruction_count(k_.kernel(), region) <= kShortElement ? kUnrolledElements : 1;
  while (count % unroll != 0) unroll /= 2;
  group_.when(participates(packed_count(f)), [&] {
    k_.counted(integer(0), integer(count), unroll, {}, [&](Value* number, const Values&) {
      std::vector<std::pair<TileCoordinate, Value*>> made;
      for (int64_t n = 0; n < unroll; ++n) {
        const TileCoordinate p = coordinate(n == 0 ? number : add(number, integer(n)), packed_row(f));
        made.emplace_back(p, packed(f, p, step, false));
      }
      for (const auto& [p, v] : made) store_packed(f, p, stage, v);
      return Values{};
    });
  });
}

}  // namespace calque::codegen
