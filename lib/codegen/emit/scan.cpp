// Vectorised cumulative loops. The extent and the number of lanes determine the order of the additions: the prefixes
// within a vector are combined at doubling distances (1, 2, 4 ...), vectors sequentially within a block of 256, blocks
// sequentially, and each element is (sum of the blocks before) + ((sum of the vectors before) + prefix). The remainder
// past the last whole vector is a separate block. A sum of n terms passes through at most
// log2(lanes) + 256 + n / (256 lanes) additions, a plain loop through n. On several threads the blocks are first summed
// and then scanned, one chunk that fits in cache at a time; both methods give the same bits.
#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Combiner;
using kernel::Id;
using kernel::Instruction;
using kernel::Op;
using kernel::Region;
using llvm::Value;

namespace {

constexpr int64_t kBlockVectors = 256;
/// Blocks of a chunk, which is summed and then scanned: 2 MiB of 64-byte vectors.
constexpr int64_t kChunkBlocks = 128;
/// Blocks that a thread processes at a time.
constexpr int64_t kGrainBlocks = 4;

bool uses(const Instruction& i, const std::vector<bool>& marked) {
  for (const Id o : i.operands)
    if (marked[static_cast<size_t>(o)]) return true;
  for (const Region& region : i.regions)
    for (const Instruction& inner : region.instructions)
      if (uses(inner, marked)) return true;
  return false;
}

}  // namespace

KernelEmitter::Scan KernelEmitter::scan_of(const Instruction& i) const {
  Scan scan{i, std::vector<int>(i.regions[0].instructions.size(), -1), {}};
  scan.needs_carry.resize(scan.carry.size());
  std::vector<bool> cumulated(kernel_.values.size());
  const Region& body = i.regions[0];
  const Instruction& yield = body.instructions.back();
  for (size_t c = 0; c < i.results.size(); ++c) cumulated[static_cast<size_t>(body.parameters[c + 1])] = true;
  for (size_t n = 0; n < scan.carry.size(); ++n) {
    const Instruction& at = body.instructions[n];
    for (size_t c = 0; c < yield.operands.size(); ++c)
      if (!at.results.empty() && at.results[0] == yield.operands[c]) scan.carry[n] = static_cast<int>(c);
    scan.needs_carry[n] = at.op == Op::store || uses(at, cumulated);
    if (scan.needs_carry[n])
      for (const Id r : at.results) cumulated[static_cast<size_t>(r)] = true;
  }
  return scan;
}

Value* KernelEmitter::carry_identity(const Instruction& i, size_t carry) {
  const DType d = dtype(i.results[carry]);
  // -0 + x is x for every x, +0 + -0 is not.
  if (i.combiners[carry] == Combiner::add && is_floating(d))
    return splat(llvm::ConstantFP::getNegativeZero(ops_.register_type(d)));
  return identities(i, true)[carry];
}

// Lane l of the result combines lanes 0 to l.
Value* KernelEmitter::prefixes(const Instruction& i, size_t carry, Value* v) {
  for (unsigned distance = 1; distance < vectors_.lanes(); distance *= 2) {
    llvm::SmallVector<int, 64> from;
    for (unsigned l = 0; l < vectors_.lanes(); ++l)
      from.push_back(static_cast<int>(l < distance ? vectors_.lanes() + l : l - distance));
    v = combine_one(i.combiners[carry], dtype(i.results[carry]),
                    b_.CreateShuffleVector(v, carry_identity(i, carry), from), v);
  }
  return v;
}

// One vector of iterations. `before`: the combination of the preceding vectors of the block, in every lane; `offsets`,
// unless empty, that of everything before the block. Unless `whole`, computes only what the carries depend on. Returns
// the next carries.
Values KernelEmitter::scan_vector(const Scan& scan, Value* index, const Values& before, const Values& offsets,
                                  bool whole) {
  const Instruction& i = scan.loop;
  const Region& body = i.regions[0];
  env_[body.parameters[0]] = {index, Reg::Form::linear, false, true, 1};
  Values next = before;
  for (size_t n = 0; n + 1 < body.instructions.size(); ++n) {
    const Instruction& at = body.instructions[n];
    if (scan.carry[n] < 0) {
      if (whole || !scan.needs_carry[n]) emit(at);
      continue;
    }
    const auto c = static_cast<size_t>(scan.carry[n]);
    const auto combined = [&](Value* a, Value* b) { return combine_one(i.combiners[c], dtype(i.results[c]), a, b); };
    Value* v = as_vector(get(at.operands[at.operands[0] == body.parameters[c + 1] ? 1 : 0]));
    if (vectors_.mask()) v = b_.CreateSelect(vectors_.mask(), v, carry_identity(i, c));
    v = prefixes(i, c, v);
    const llvm::SmallVector<int, 64> last(vectors_.lanes(), static_cast<int>(vectors_.lanes() - 1));
    next[c] = combined(before[c], b_.CreateShuffleVector(v, last));
    if (!whole) continue;
    v = combined(before[c], v);
    env_[at.results[0]] = varying(offsets.empty() ? v : combined(offsets[c], v));
  }
  interleaved_.flush_all();
  return next;
}

// The whole vectors from `begin` to `end`.
Values KernelEmitter::scan_block(const Scan& scan, Value* begin, Value* end, const Values& offsets, bool whole) {
  Values start;
  for (size_t c = 0; c < scan.loop.results.size(); ++c) start.push_back(carry_identity(scan.loop, c));
  return counted(begin, end, vectors_.lanes(), start,
                 [&](Value* index, const Values& before) { return scan_vector(scan, index, before, offsets, whole); });
}

Values KernelEmitter::combine_carries(const Instruction& i, const Values& a, const Values& b) {
  Values out;
  for (size_t c = 0; c < a.size(); ++c) out.push_back(combine_one(i.combiners[c], dtype(i.results[c]), a[c], b[c]));
  return out;
}

void KernelEmitter::scan(const Instruction& i, unsigned lanes) {
  const VectorScope scope(vectors_, lanes);
  const Scan scan = scan_of(i);
  const auto number = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const int64_t full = i.extent / lanes * lanes, block = kBlockVectors * lanes, blocks = (full + block - 1) / block;
  Values offsets;
  for (size_t c = 0; c < i.results.size(); ++c) offsets.push_back(as_vector(get(i.operands[c])));
  const auto in_order = [&] {
    return counted(number(0), number(blocks), 1, offsets, [&](Value* at, const Values& sums) {
      Value* begin = b_.CreateMul(at, number(block), "", true, true);
      Value* end = b_.CreateAdd(begin, number(block), "", true, true);
      if (full % block != 0) end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, number(full));
      return combine_carries(i, sums, scan_block(scan, begin, end, sums, true));
    });
  };
  if (i.threads && blocks > kGrainBlocks) {
    llvm::BasicBlock *several = KernelEmitter::block("threads"), *one = KernelEmitter::block("thread"),
                     *after = KernelEmitter::block("scanned");
    b_.CreateCondBr(b_.CreateICmpSGT(num_threads(), b_.getInt32(1)), several, one);
    b_.SetInsertPoint(several);
    const Values chunked = scan_chunks(scan, full, offsets);
    llvm::BasicBlock* const chunked_end = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(one);
    const Values in_sequence = in_order();
    llvm::BasicBlock* const in_sequence_end = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    offsets = phis(chunked, chunked_end);
    add_incoming(offsets, in_sequence, in_sequence_end);
  } else if (full > 0) {
    offsets = in_order();
  }
  if (full != i.extent) {
    const MaskScope active(vectors_, first_lanes(number(i.extent - full)));
    offsets = scan_vector(scan, number(full), offsets, {}, true);
  }
  for (size_t c = 0; c < offsets.size(); ++c)
    env_[i.results[c]] = uniform(b_.CreateExtractElement(offsets[c], uint64_t{0}));
}

// For each chunk: threads sum its blocks, the sums become the offsets of the blocks, and threads scan the blocks.
Values KernelEmitter::scan_chunks(const Scan& scan, int64_t full, const Values& initial) {
  const Instruction& i = scan.loop;
  const auto number = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const int64_t block = kBlockVectors * vectors_.lanes(), blocks = (full + block - 1) / block;
  const int64_t chunk = std::min(blocks, kChunkBlocks), chunks = (blocks + chunk - 1) / chunk;
  Values sums;
  for (const Id r : i.results)
    sums.push_back(local(llvm::ArrayType::get(ops_.register_type(dtype(r)), static_cast<uint64_t>(chunk))));
  const auto slot = [&](size_t c, Value* at) {
    return b_.CreateInBoundsGEP(ops_.register_type(dtype(i.results[c])), sums[c], at);
  };
  const auto load = [&](Value* at) {
    Values v;
    for (size_t c = 0; c < sums.size(); ++c)
      v.push_back(splat(b_.CreateLoad(ops_.register_type(dtype(i.results[c])), slot(c, at))));
    return v;
  };
  const auto store = [&](Value* at, const Values& v) {
    for (size_t c = 0; c < sums.size(); ++c) b_.CreateStore(b_.CreateExtractElement(v[c], uint64_t{0}), slot(c, at));
  };
  return counted(number(0), number(chunks), 1, initial, [&](Value* at, const Values& before) {
    Value* const first = b_.CreateMul(at, number(chunk), "", true, true);
    Value* const count =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number(chunk), b_.CreateSub(number(blocks), first));
    const auto each = [&](const std::function<void(Value*, Value*, Value*)>& body) {
      parallel_for(chunk, kGrainBlocks, [&](Value* from, Value* limit) {
        Value* const to = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, limit, count);
        where_any(b_.CreateICmpSLT(from, to), {}, [&] {
          return counted(from, to, 1, {}, [&](Value* index, const Values&) {
            Value* begin = b_.CreateMul(b_.CreateAdd(first, index), number(block), "", true, true);
            Value* end = b_.CreateAdd(begin, number(block), "", true, true);
            body(index, begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, number(full)));
            return Values{};
          });
        });
      });
    };
    each([&](Value* index, Value* begin, Value* end) { store(index, scan_block(scan, begin, end, {}, false)); });
    const Values after = counted(number(0), count, 1, before, [&](Value* index, const Values& offsets) {
      const Values sum = load(index);
      store(index, offsets);
      return combine_carries(i, offsets, sum);
    });
    each([&](Value* index, Value* begin, Value* end) { scan_block(scan, begin, end, load(index), true); });
    return after;
  });
}

}  // namespace calque::codegen
