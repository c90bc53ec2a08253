// Vectorised cumulative loops. The extent and the number of lanes determine the order of the additions: the prefixes
// within a vector are combined at doubling distances (1, 2, 4 ...), vectors sequentially within a block of 256, blocks
// sequentially, and each element is (sum of the blocks before) + ((sum of the vectors before) + prefix). The remainder
// past the last whole vector is a separate block. A sum of n terms passes through at most
// log2(lanes) + 256 + n / (256 lanes) additions, a plain loop through n. On several threads the blocks are first summed
// and then scanned, one chunk that fits in cache at a time; both methods give the same bits.
#include "codegen/loops/scan.h"

#include <algorithm>

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

CumulativeBody analyze_cumulative(const kernel::Kernel& kernel, const Instruction& i) {
  const Region& body = i.regions[0];
  CumulativeBody out{std::vector<int>(body.instructions.size(), -1), std::vector<bool>(body.instructions.size())};
  std::vector<bool> cumulated(kernel.values.size());
  const Instruction& yield = body.instructions.back();
  for (size_t c = 0; c < i.results.size(); ++c) cumulated[static_cast<size_t>(body.parameters[c + 1])] = true;
  for (size_t n = 0; n < out.carry.size(); ++n) {
    const Instruction& at = body.instructions[n];
    for (size_t c = 0; c < yield.operands.size(); ++c)
      if (!at.results.empty() && at.results[0] == yield.operands[c]) out.carry[n] = static_cast<int>(c);
    out.needs_carry[n] = at.op == Op::store || uses(at, cumulated);
    if (out.needs_carry[n])
      for (const Id r : at.results) cumulated[static_cast<size_t>(r)] = true;
  }
  return out;
}

ScanEmitter::ScanEmitter(KernelEmitter& kernel, const Instruction& loop)
    : k_(kernel),
      i_(loop),
      accumulators_(kernel, loop),
      body_(analyze_cumulative(kernel.kernel(), loop)),
      lanes_(vector_lanes(loop)),
      full_(loop.extent / lanes_ * lanes_),
      block_(kBlockVectors * lanes_),
      blocks_((full_ + block_ - 1) / block_),
      chunk_(std::min(blocks_, kChunkBlocks)) {}

Value* ScanEmitter::identity(size_t carry) {
  const DType d = k_.dtype(i_.results[carry]);
  // -0 + x is x for every x, +0 + -0 is not.
  if (i_.combiners[carry] == Combiner::add && is_floating(d))
    return k_.splat(llvm::ConstantFP::getNegativeZero(k_.ops().register_type(d)));
  return accumulators_.identities(true)[carry];
}

Value* ScanEmitter::combine(size_t carry, Value* a, Value* b) {
  return codegen::combine(k_, i_.combiners[carry], k_.dtype(i_.results[carry]), a, b);
}

Values ScanEmitter::combine(const Values& a, const Values& b) {
  Values out;
  for (size_t c = 0; c < a.size(); ++c) out.push_back(combine(c, a[c], b[c]));
  return out;
}

Value* ScanEmitter::prefixes(size_t carry, Value* v) {
  for (unsigned distance = 1; distance < lanes_; distance *= 2) {
    llvm::SmallVector<int, 64> from;
    for (unsigned l = 0; l < lanes_; ++l) from.push_back(static_cast<int>(l < distance ? lanes_ + l : l - distance));
    v = combine(carry, k_.builder().CreateShuffleVector(v, identity(carry), from), v);
  }
  return v;
}

Values ScanEmitter::vector(Value* index, const Values& before, const Values& offsets, bool whole) {
  llvm::IRBuilder<>& b = k_.builder();
  const Region& body = i_.regions[0];
  k_.set(body.parameters[0], k_.linear(index));
  Values next = before;
  for (size_t n = 0; n + 1 < body.instructions.size(); ++n) {
    const Instruction& at = body.instructions[n];
    if (body_.carry[n] < 0) {
      if (whole || !body_.needs_carry[n]) k_.emit(at);
      continue;
    }
    const auto c = static_cast<size_t>(body_.carry[n]);
    Value* v = k_.as_vector(k_.get(at.operands[at.operands[0] == body.parameters[c + 1] ? 1 : 0]));
    Value* const mask = k_.vectors().mask();
    if (mask) v = b.CreateSelect(mask, v, identity(c));
    v = prefixes(c, v);
    const llvm::SmallVector<int, 64> last(lanes_, static_cast<int>(lanes_ - 1));
    next[c] = combine(c, before[c], b.CreateShuffleVector(v, last));
    if (!whole) continue;
    v = combine(c, before[c], v);
    k_.set(at.results[0], k_.varying(offsets.empty() ? v : combine(c, offsets[c], v)));
  }
  k_.interleaved().flush_all();
  return next;
}

Values ScanEmitter::block(Value* begin, Value* end, const Values& offsets, bool whole) {
  Values start;
  for (size_t c = 0; c < i_.results.size(); ++c) start.push_back(identity(c));
  return k_.counted(begin, end, lanes_, start,
                    [&](Value* index, const Values& before) { return vector(index, before, offsets, whole); });
}

Values ScanEmitter::in_order(const Values& initial) {
  return k_.counted(k_.integer(0), k_.integer(blocks_), 1, initial, [&](Value* at, const Values& offsets) {
    Value* begin = k_.builder().CreateMul(at, k_.integer(block_), "", true, true);
    Value* end = k_.advance(begin, block_);
    if (full_ % block_ != 0) end = k_.smaller(end, k_.integer(full_));
    return combine(offsets, block(begin, end, offsets, true));
  });
}

void ScanEmitter::emit() {
  const VectorScope scope(k_.vectors(), lanes_);
  Values carries;
  for (const Id initial : i_.operands) carries.push_back(k_.as_vector(k_.get(initial)));
  if (i_.unroll == 1) {  // one body, whose mask is true but at the end
    carries =
        k_.counted(k_.integer(0), k_.integer(i_.extent), lanes_, carries, [&](Value* index, const Values& before) {
          const MaskScope active(k_.vectors(), k_.first_lanes(k_.builder().CreateSub(k_.integer(i_.extent), index)));
          return vector(index, before, {}, true);
        });
  } else if (i_.threads && blocks_ > kGrainBlocks)
    carries = choose_by_threads(carries);
  else if (full_ > 0)
    carries = in_order(carries);
  if (full_ != i_.extent && i_.unroll != 1) {
    const MaskScope active(k_.vectors(), k_.first_lanes(k_.integer(i_.extent - full_)));
    carries = vector(k_.integer(full_), carries, {}, true);
  }
  for (size_t c = 0; c < carries.size(); ++c)
    k_.set(i_.results[c], k_.uniform(k_.builder().CreateExtractElement(carries[c], uint64_t{0})));
}

Values ScanEmitter::choose_by_threads(const Values& initial) {
  llvm::IRBuilder<>& b = k_.builder();
  llvm::BasicBlock *several = k_.block("threads"), *one = k_.block("thread"), *after = k_.block("scanned");
  b.CreateCondBr(b.CreateICmpSGT(k_.runtime().num_threads(), b.getInt32(1)), several, one);
  b.SetInsertPoint(several);
  const Values chunked = chunks(initial);
  llvm::BasicBlock* const chunked_end = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(one);
  const Values in_sequence = in_order(initial);
  llvm::BasicBlock* const in_sequence_end = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  const Values carries = k_.phis(chunked, chunked_end);
  KernelEmitter::add_incoming(carries, in_sequence, in_sequence_end);
  return carries;
}

void ScanEmitter::each_block(Value* first, Value* count, const Block& body) {
  llvm::IRBuilder<>& b = k_.builder();
  k_.runtime().parallel_for(chunk_, kGrainBlocks, [&](Value* from, Value* limit) {
    Value* const to = k_.smaller(limit, count);
    k_.where_any(b.CreateICmpSLT(from, to), {}, [&] {
      return k_.counted(from, to, 1, {}, [&](Value* index, const Values&) {
        Value* begin = b.CreateMul(b.CreateAdd(first, index), k_.integer(block_), "", true, true);
        Value* end = k_.advance(begin, block_);
        body(index, begin, k_.smaller(end, k_.integer(full_)));
        return Values{};
      });
    });
  });
}

Values ScanEmitter::chunks(const Values& initial) {
  llvm::IRBuilder<>& b = k_.builder();
  Values memory, types;
  for (const Id r : i_.results) {
    llvm::Type* const type = k_.ops().register_type(k_.dtype(r));
    types.push_back(llvm::PoisonValue::get(type));
    memory.push_back(k_.local(llvm::ArrayType::get(type, static_cast<uint64_t>(chunk_))));
  }
  const auto slot = [&](size_t c, Value* at) { return b.CreateInBoundsGEP(types[c]->getType(), memory[c], at); };
  const auto load = [&](Value* at) {
    Values v;
    for (size_t c = 0; c < memory.size(); ++c) v.push_back(k_.splat(b.CreateLoad(types[c]->getType(), slot(c, at))));
    return v;
  };
  const auto store = [&](Value* at, const Values& v) {
    for (size_t c = 0; c < memory.size(); ++c) b.CreateStore(b.CreateExtractElement(v[c], uint64_t{0}), slot(c, at));
  };
  const int64_t chunks = (blocks_ + chunk_ - 1) / chunk_;
  return k_.counted(k_.integer(0), k_.integer(chunks), 1, initial, [&](Value* at, const Values& before) {
    Value* const first = k_.mul(at, chunk_);
    Value* const count = k_.smaller(k_.integer(chunk_), b.CreateSub(k_.integer(blocks_), first));
    each_block(first, count,
               [&](Value* index, Value* begin, Value* end) { store(index, block(begin, end, {}, false)); });
    const Values after = k_.counted(k_.integer(0), count, 1, before, [&](Value* index, const Values& offsets) {
      const Values sum = load(index);
      store(index, offsets);
      return combine(offsets, sum);
    });
    each_block(first, count, [&](Value* index, Value* begin, Value* end) { block(begin, end, load(index), true); });
    return after;
  });
}

}  // namespace calque::codegen
