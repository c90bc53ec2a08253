// How the factors of a step come into shared memory. What lies there in pieces of 16 bytes as it does in global memory
// is copied asynchronously; everything else is computed, element by element, in registers. Elements beyond the edge of
// a matrix are never touched: a row or column that does not exist is a copy of the last one, whose sums nobody takes,
// and a term that does not exist is zero.
#include <algorithm>

#include "codegen/gpu/device_contraction.h"

namespace calque::codegen {

using kernel::Op;
using llvm::Value;

namespace {

/// What a thread fetches of a factor in a step is written out, and held in registers, up to so many instructions and
/// elements; beyond, it is computed in place, in a loop, several elements at a time.
constexpr int64_t kHeldInstructions = 768, kHeldElements = 32;
constexpr int64_t kShortElement = 64, kElementsTogether = 4;

bool is_straight(const kernel::Region& region) {
  return std::all_of(region.instructions.begin(), region.instructions.end(),
                     [](const kernel::Instruction& i) { return i.regions.empty(); });
}

}  // namespace

// Which way threads go through the factor, and whether they need to compute anything. Pieces must be aligned in memory
// wherever they begin.
void DeviceContraction::choose_copy(Factor& f) {
  const size_t depth_parameter = f.which == 0 ? 1 : 0;
  const int64_t free = f.access.stride[1 - depth_parameter], depth = f.access.stride[depth_parameter];
  f.along_depth = depth == 1 && free != 1;
  if (!f.access.plain || (depth != 1 && free != 1)) return;
  const kernel::Buffer& buffer = k_.kernel_.buffers[static_cast<size_t>(f.access.buffer)];
  const auto bytes = static_cast<int64_t>(size_of(buffer.dtype));
  if (bytes != unit_bytes_ || buffer.extent == 0 || buffer.alignment % kPiece != 0) return;
  const int64_t length = kPiece / bytes;
  const auto& parameters = i_.regions[f.which].parameters;
  k_.divisors_[parameters[depth_parameter]] = f.along_depth ? length : 1;
  k_.divisors_[parameters[1 - depth_parameter]] = f.along_depth ? 1 : length;
  f.async = k_.divisor(f.access.index) % length == 0;
  for (const kernel::Id p : parameters) k_.divisors_.erase(p);
}

DeviceContraction::Place DeviceContraction::place(Value* number, int64_t row_pieces) {
  Value* const i = number->getType()->isIntegerTy(64) ? b_.CreateTrunc(number, b_.getInt32Ty()) : number;
  if (row_pieces > t_.threads) {
    const int64_t parts = row_pieces / t_.threads;
    return {b_.CreateUDiv(i, word(parts)), add(thread_, mul(b_.CreateURem(i, word(parts)), t_.threads))};
  }
  return {add(b_.CreateUDiv(thread_, word(row_pieces)), mul(i, t_.threads / row_pieces)),
          b_.CreateURem(thread_, word(row_pieces))};
}

/// Null: all threads do.
Value* DeviceContraction::takes_part(int64_t pieces) {
  return pieces >= t_.threads ? nullptr : b_.CreateICmpULT(thread_, word(pieces));
}

/// Where a byte of a row is, from the beginning of the stage.
Value* DeviceContraction::in_row(const Factor& f, Value* row, Value* byte) {
  Value* at_byte = byte;
  if (f.mask != 0) {
    Value* const turn = b_.CreateAnd(b_.CreateLShr(row, uint64_t{f.shift}), word(f.mask));
    at_byte = b_.CreateXor(byte, mul(turn, kPiece));
  }
  return add(add(mul(row, f.row_bytes), at_byte), word(f.offset));
}

// The address of a plain factor's element.
Value* DeviceContraction::address(const Factor& f, Value* free, Value* term) {
  const kernel::Region& region = i_.regions[f.which];
  const size_t depth_parameter = f.which == 0 ? 1 : 0;
  k_.env_[region.parameters[depth_parameter]] = k_.uniform(term);
  k_.env_[region.parameters[1 - depth_parameter]] = k_.uniform(free);
  for (const kernel::Instruction& i : region.instructions)
    if (i.op != Op::load && i.op != Op::yield) k_.emit(i);
  return k_.address(f.access.buffer, k_.get(f.access.index).v);
}

// Addresses of the first step; they move on by the same distance from step to step.
void DeviceContraction::prepare_copies(Factor& f) {
  const int64_t row = f.row_length(depth_) * unit_bytes_ / kPiece, length = kPiece / unit_bytes_;
  const int64_t pieces = row * f.rows(depth_);
  const bool ragged = f.ragged();
  for (int64_t n = 0; n < shares(pieces); ++n) {
    const Place p = place(n, row);
    Value* const along = mul(wide(p.piece), length);
    Value* free = add(f.first, f.inner ? wide(p.row) : along);
    Value* valid = nullptr;
    if (ragged && f.inner) free = smaller(free, integer(f.whole - 1));
    if (ragged && !f.inner) {
      Value* const left = mul(b_.CreateSub(integer(f.whole), free), unit_bytes_);
      valid = b_.CreateTrunc(
          smaller(integer(kPiece), b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, integer(0))), b_.getInt32Ty());
      free = smaller(free, integer((f.whole - 1) / length * length));
    }
    f.from.push_back(address(f, free, f.inner ? along : wide(p.row)));
    f.valid.push_back(valid);
  }
}

void DeviceContraction::copy(const Factor& f, Value* stage, Value* step) {
  const int64_t row = f.row_length(depth_) * unit_bytes_ / kPiece;
  const int64_t pieces = row * f.rows(depth_), stride = f.access.stride[f.which == 0 ? 1 : 0];
  Value* const first = mul(step, depth_);
  Value* const moved = mul(first, stride * unit_bytes_);
  k_.when(takes_part(pieces), [&] {
    for (int64_t n = 0; n < shares(pieces); ++n) {
      const Place p = place(n, row);
      Value* valid = f.valid[static_cast<size_t>(n)];
      if (i_.extent % depth_ != 0) {
        Value* const term = add(first, f.inner ? mul(wide(p.piece), kPiece / unit_bytes_) : wide(p.row));
        Value* left =
            b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(integer(i_.extent), term), integer(0));
        if (f.inner) {
          valid = b_.CreateTrunc(smaller(mul(left, unit_bytes_), integer(kPiece)), b_.getInt32Ty());
        } else {
          Value* const there = b_.CreateICmpSGT(left, integer(0));
          valid = b_.CreateSelect(there, valid ? valid : word(kPiece), word(0));
        }
      }
      Value* const to = at(stage, in_row(f, p.row, mul(p.piece, kPiece)));
      k_.op(DeviceOp::async_copy,
            {to, b_.CreatePtrAdd(f.from[static_cast<size_t>(n)], moved), valid ? valid : word(kPiece)});
    }
  });
}

// ---- computed factors

bool DeviceContraction::is_short(const Factor& f) const {
  const kernel::Region& region = i_.regions[f.which];
  const int64_t elements = shares(units(f)) * pack(f);
  return is_straight(region) && elements <= kHeldElements &&
         elements * instruction_count(k_.kernel_, region) <= kHeldInstructions;
}

Value* DeviceContraction::element(const Factor& f, Value* free, Value* term, bool whole) {
  const kernel::Region& region = i_.regions[f.which];
  const size_t depth_parameter = f.which == 0 ? 1 : 0;
  Value* there = nullptr;
  if (f.ragged()) free = smaller(free, integer(f.whole - 1));
  if (!whole && i_.extent % depth_ != 0) {
    there = b_.CreateICmpSLT(term, integer(i_.extent));
    term = smaller(term, integer(i_.extent - 1));
  }
  k_.env_[region.parameters[depth_parameter]] = k_.uniform(term);
  k_.env_[region.parameters[1 - depth_parameter]] = k_.uniform(free);
  const kernel::Instruction* yield = k_.run(region);
  Reg value = k_.get(yield->operands[0]);
  if (is_half(factor_)) value = is_scalar() ? k_.widened(value, factor_) : k_.bits(value, factor_);
  Value* v = value.v;
  if (t_.unit == Unit::tf32) v = b_.CreateBitCast(v, unit_);
  if (v->getType() != unit_) v = b_.CreateZExt(v, unit_);
  return there ? b_.CreateSelect(there, v, llvm::Constant::getNullValue(unit_)) : v;
}

/// One element, or two neighbours of 16 bits in a word.
Value* DeviceContraction::unit(const Factor& f, const Place& p, Value* step, bool whole) {
  Value* const first = mul(step, depth_);
  Value* out = nullptr;
  for (int64_t n = 0; n < pack(f); ++n) {
    Value* const along = add(mul(wide(p.piece), pack(f)), integer(n));
    Value* v = f.along_depth ? element(f, add(f.first, wide(p.row)), add(first, along), whole)
                             : element(f, add(f.first, along), add(first, wide(p.row)), whole);
    if (pack(f) == 2) v = b_.CreateShl(b_.CreateZExt(v, b_.getInt32Ty()), uint64_t(16 * n));
    out = out ? b_.CreateOr(out, v) : v;
  }
  return out;
}

void DeviceContraction::store_unit(const Factor& f, const Place& p, Value* stage, Value* v) {
  const int64_t bytes = unit_bytes_ * pack(f);
  Value* const to =
      f.along_depth == f.inner ? in_row(f, p.row, mul(p.piece, bytes)) : in_row(f, p.piece, mul(p.row, bytes));
  b_.CreateAlignedStore(v, at(stage, to), llvm::Align(static_cast<uint64_t>(bytes)));
}

Values DeviceContraction::fetch(const Factor& f, Value* step) {
  Values out;
  const int64_t count = shares(units(f));
  // Of threads that have no part, the first ones' again.
  for (int64_t n = 0; n < count; ++n) {
    Place p = place(n, run(f));
    if (units(f) < t_.threads) p.row = b_.CreateURem(p.row, word(units(f) / run(f)));
    out.push_back(unit(f, p, step, true));
  }
  return out;
}

void DeviceContraction::store(const Factor& f, Value* stage, const Values& units_of_thread) {
  k_.when(takes_part(units(f)), [&] {
    for (size_t n = 0; n < units_of_thread.size(); ++n)
      store_unit(f, place(static_cast<int64_t>(n), run(f)), stage, units_of_thread[n]);
  });
}

void DeviceContraction::compute(const Factor& f, Value* stage, Value* step) {
  const kernel::Region& region = i_.regions[f.which];
  const int64_t count = shares(units(f));
  int64_t together =
      is_straight(region) && instruction_count(k_.kernel_, region) <= kShortElement ? kElementsTogether : 1;
  while (count % together != 0) together /= 2;
  k_.when(takes_part(units(f)), [&] {
    k_.counted(integer(0), integer(count), together, {}, [&](Value* number, const Values&) {
      std::vector<std::pair<Place, Value*>> made;
      for (int64_t n = 0; n < together; ++n) {
        const Place p = place(n == 0 ? number : add(number, integer(n)), run(f));
        made.emplace_back(p, unit(f, p, step, false));
      }
      for (const auto& [p, v] : made) store_unit(f, p, stage, v);
      return Values{};
    });
  });
}

}  // namespace calque::codegen
