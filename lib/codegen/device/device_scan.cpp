// A thread group runs a cumulative loop in tiles. In a tile each warp has a run of consecutive iterations: its lanes
// have neighbouring vectors of V iterations (16 bytes of the widest element that is loaded or stored), S times in
// sequence. Every access of a warp is then of 512 consecutive bytes, whole lines, and the S loads of a thread are
// independent of each other and precede the first barrier. With V S = 16 values of 4 bytes a thread has 64 bytes in
// flight; the 4 or more blocks of 256 threads that fit on a multiprocessor with up to 64 registers have 64 KB, where
// the latency of memory times its bandwidth is about 40 KB. While one block waits at its barrier the others load.
//
// A combination of n iterations is associated in the following way, which depends on the extent, the launch and the
// body, never on timing:
//   vector    in order: ((x0 + x1) + x2) + x3, and the same for each prefix
//   lanes     prefixes of the totals of vectors at doubling distances (1, 2, 4, 8, 16)
//   warp      the S totals of 32 vectors, in order
//   tile      the totals of warps at doubling distances
//   group     tiles in order, from the initial value
// Element j is ((tiles + warps) + (vectors of the warp + lanes)) + prefix of its own vector. Iterations past the last
// whole tile are a tile of fewer vectors for each thread, those past the last whole vector a tile of single elements.
//
// Bodies with accesses that vectors do not suit (other strides than 0 and 1, rows that begin unaligned, predicates)
// have V = 1, which keeps accesses of a warp contiguous. Bodies with many instructions or wide carries have fewer
// iterations per thread, for the sake of registers. What an iteration computes before its carries are known stays in
// registers. Threads whose vector does not exist compute the last one and discard it. Totals of warps alternate between
// two slots in shared memory, so that a tile needs one barrier: who writes a slot has passed the barrier of the tile
// before, which all threads reach after they have read that slot.
#include "codegen/device/device_scan.h"

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/device/device_memory.h"
#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"
#include "kernel/ir/strides.h"
#include "kernel/ir/walk.h"

namespace calque::codegen {

using kernel::Id;
using kernel::Instruction;
using kernel::Op;
using kernel::Region;
using llvm::Value;

namespace {

constexpr int64_t kWarp = 32;
/// Iterations of a thread in a tile: those of a short body whose carries have 4 bytes, and most vectors.
constexpr int64_t kTileIterations = 16, kTileVectors = 8;
/// Bodies of up to this many instructions are short, up to the second half as many iterations run at a time, up to the
/// third a quarter, and longer ones one.
constexpr int64_t kShortBody = 24, kMediumBody = 48, kLongBody = 96;
/// Threads of larger groups have few registers.
constexpr int32_t kLargeGroup = 512;

void add_operands(const Instruction& i, std::set<Id>& ids) {
  ids.insert(i.operands.begin(), i.operands.end());
  for (const Region& r : i.regions)
    for (const Instruction& inner : r.instructions) add_operands(inner, ids);
}

bool has_one_of(const std::vector<Id>& some, const std::set<Id>& ids) {
  return std::any_of(some.begin(), some.end(), [&](Id id) { return ids.count(id) != 0; });
}

llvm::Type* memory_type(llvm::IRBuilder<>& b, Value* x) {
  return x->getType()->isIntegerTy(1) ? static_cast<llvm::Type*>(b.getInt8Ty()) : x->getType();
}

}  // namespace

GroupScan::GroupScan(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory, const Instruction& i)
    : k_(kernel),
      b_(kernel.builder()),
      group_(group),
      memory_(memory),
      i_(i),
      accumulators_(kernel, i),
      body_(analyze_cumulative(kernel.kernel(), i)),
      identities_(accumulators_.identities(false)) {
  const Region& body = i_.regions[0];
  for (size_t c = 0; c < i_.results.size(); ++c) {
    const Instruction& next = memory_.definition(body.instructions.back().operands[c]);
    contributed_.push_back(next.operands[next.operands[0] == body.parameters[c + 1] ? 1 : 0]);
  }
  find_early();
}

// Early are instructions that depend on no carry and have no effect, but loads of what the iteration itself has stored
// are late, unless a contribution depends on them.
void GroupScan::find_early() {
  const Region& body = i_.regions[0];
  const auto& all = body.instructions;
  early_.assign(all.size(), false);
  std::set<Id> wanted(contributed_.begin(), contributed_.end());
  for (size_t n = all.size(); n-- > 0;) {
    if (body_.needs_carry[n] || !has_one_of(all[n].results, wanted)) continue;
    early_[n] = true;
    add_operands(all[n], wanted);
  }
  std::set<Id> late;
  std::set<int32_t> stored;
  for (size_t n = 0; n < all.size(); ++n) {
    const Region alone{{}, {all[n]}};
    std::set<Id> used;
    add_operands(all[n], used);
    const bool loads_stored = kernel::contains(
        alone, [&](const Instruction& at) { return at.op == Op::load && stored.count(at.buffer) != 0; });
    bool stores = false;
    kernel::walk(alone, [&](const Instruction& at) {
      if (at.op == Op::store || at.op == Op::contraction) stored.insert(at.buffer), stores = true;
    });
    const bool depends = std::any_of(used.begin(), used.end(), [&](Id id) { return late.count(id) != 0; });
    if (!early_[n] && !body_.needs_carry[n] && !loads_stored && !stores && !depends && all[n].op != Op::yield)
      early_[n] = true;
    if (!early_[n]) late.insert(all[n].results.begin(), all[n].results.end());
  }
  kept_.push_back(body.parameters[0]);
  for (size_t n = 0; n < all.size(); ++n)
    if (early_[n]) kept_.insert(kept_.end(), all[n].results.begin(), all[n].results.end());
}

unsigned GroupScan::choose_lanes() const {
  const unsigned lanes = vector_lanes(i_);
  if (lanes == 0) return 1;
  const Region& body = i_.regions[0];
  const kernel::Strides strides(k_.kernel());
  auto along = strides.along(body.parameters[0]);
  memory_.set_divisor(body.parameters[0], lanes);
  for (const Instruction& at : body.instructions) {
    if (at.op != Op::load && at.op != Op::store) continue;
    if (at.operands.size() > (at.op == Op::load ? 1 : 2) || !at.combiners.empty()) return 1;
    const auto stride = along(at.operands[0]);
    if (stride && *stride != 0 && !(*stride == 1 && memory_.is_aligned(at.buffer, at.operands[0], lanes))) return 1;
  }
  return lanes;
}

int64_t GroupScan::iterations_of_thread() const {
  const kernel::LoopFacts& facts = k_.analysis().facts(i_);
  if (facts.nested || facts.cost > kLongBody) return 1;
  int64_t words = 0;
  for (const Value* identity : identities_)
    words += std::max<int64_t>(1, static_cast<int64_t>(identity->getType()->getScalarSizeInBits()) / 32);
  int64_t iterations = kTileIterations / (facts.cost <= kShortBody ? 1 : facts.cost <= kMediumBody ? 2 : 4);
  if (group_.size() > kLargeGroup) iterations /= 2;
  return std::max<int64_t>(1, iterations / words);
}

Values GroupScan::select(Value* condition, const Values& a, const Values& b) {
  Values out;
  for (size_t c = 0; c < a.size(); ++c) out.push_back(b_.CreateSelect(condition, a[c], b[c]));
  return out;
}

GroupScan::Vector GroupScan::contribute(const Tile& t, Value* index, Value* exists) {
  const Region& body = i_.regions[0];
  const bool vector = t.lanes > 1;
  Vector out;
  out.exists = exists;
  Values contributed;
  {
    const VectorScope scope(k_.vectors(), vector ? t.lanes : 0);
    k_.set(body.parameters[0], vector ? k_.linear(index) : k_.uniform(index));
    memory_.set_divisor(body.parameters[0], t.lanes);
    for (size_t n = 0; n < body.instructions.size(); ++n)
      if (early_[n]) k_.emit(body.instructions[n]);
    for (const Id id : kept_) out.registers.push_back(k_.get(id));
    for (size_t c = 0; c < contributed_.size(); ++c) {
      const DType d = k_.dtype(i_.results[c]);
      Reg r = k_.get(contributed_[c]);
      if (is_half(d)) r = k_.widened(r, d);
      contributed.push_back(k_.as_value(r, vector));
    }
  }
  for (unsigned l = 0; l < t.lanes; ++l) {
    Values x;
    for (Value* v : contributed) x.push_back(vector ? b_.CreateExtractElement(v, uint64_t{l}) : v);
    out.prefixes.push_back(l == 0 ? x : accumulators_.combine(out.prefixes.back(), x));
  }
  out.total = exists ? select(exists, out.prefixes.back(), identities_) : out.prefixes.back();
  return out;
}

void GroupScan::scan_warp(std::vector<Values*> values, uint32_t lanes) {
  for (uint32_t distance = 1; distance < lanes; distance *= 2) {
    Value* const has = b_.CreateICmpUGE(group_.lane(), b_.getInt32(distance));
    for (Values* v : values) {
      const Values before = group_.shuffle(DeviceOp::shuffle_up, *v, b_.getInt32(distance));
      *v = select(has, accumulators_.combine(before, *v), *v);
    }
  }
}

GroupScan::Warps GroupScan::combine_warps(const Values& total, Value* slot) {
  const auto warps = static_cast<uint32_t>(group_.warps());
  Value *const lane = group_.lane(), *const warp = group_.warp();
  Value* const first_slot = b_.CreateMul(slot, b_.getInt32(warps), "", true, true);
  const auto address = [&](size_t c, Value* number) {
    return b_.CreateInBoundsGEP(memory_type(b_, total[c]), slots_[c], {b_.CreateAdd(first_slot, number)});
  };
  group_.when(b_.CreateICmpEQ(lane, b_.getInt32(0)), [&] {
    for (size_t c = 0; c < total.size(); ++c)
      b_.CreateStore(b_.CreateZExtOrBitCast(total[c], memory_type(b_, total[c])), address(c, warp));
  });
  group_.barrier();
  Value* const from =
      warps == kWarp ? lane : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, lane, b_.getInt32(warps - 1));
  Values all;
  for (size_t c = 0; c < total.size(); ++c) {
    Value* const x = b_.CreateLoad(memory_type(b_, total[c]), address(c, from));
    all.push_back(b_.CreateTruncOrBitCast(x, total[c]->getType()));
  }
  scan_warp({&all}, warps);
  Value* const is_first = b_.CreateICmpEQ(warp, b_.getInt32(0));
  Value* const previous = b_.CreateSelect(is_first, warp, b_.CreateSub(warp, b_.getInt32(1)));
  return {select(is_first, identities_, group_.shuffle(DeviceOp::shuffle_index, all, previous)),
          group_.shuffle(DeviceOp::shuffle_index, all, b_.getInt32(warps - 1))};
}

void GroupScan::finish(const Tile& t, const Vector& vector, const Values& before) {
  const Region& body = i_.regions[0];
  std::vector<Values> after;
  for (const Values& prefix : vector.prefixes) after.push_back(accumulators_.combine(before, prefix));
  const auto lanes = [&](const std::function<Value*(unsigned)>& lane) {
    if (t.lanes == 1) return lane(0);
    Value* v = llvm::PoisonValue::get(llvm::FixedVectorType::get(lane(0)->getType(), t.lanes));
    for (unsigned l = 0; l < t.lanes; ++l) v = b_.CreateInsertElement(v, lane(l), uint64_t{l});
    return v;
  };
  const VectorScope scope(k_.vectors(), t.lanes > 1 ? t.lanes : 0);
  memory_.set_divisor(body.parameters[0], t.lanes);
  for (size_t n = 0; n < kept_.size(); ++n) k_.set(kept_[n], vector.registers[n]);
  std::vector<Reg> next;
  for (size_t c = 0; c < before.size(); ++c) {
    const auto reg = [&](Value* v) {
      Reg r = k_.of(v);
      r.wide = is_half(k_.dtype(i_.results[c]));
      r.representable_in_16_bits = !r.wide;
      return r;
    };
    k_.set(body.parameters[c + 1], reg(lanes([&](unsigned l) { return l == 0 ? before[c] : after[l - 1][c]; })));
    next.push_back(reg(lanes([&](unsigned l) { return after[l][c]; })));
  }
  for (size_t n = 0; n + 1 < body.instructions.size(); ++n) {
    if (body_.carry[n] >= 0)
      k_.set(body.instructions[n].results[0], next[static_cast<size_t>(body_.carry[n])]);
    else if (!early_[n])
      k_.emit(body.instructions[n]);
  }
}

Values GroupScan::tile(const Tile& t, Value* first, Value* slot, const Values& carries) {
  const ThreadGroup::PerThreadScope each(group_);
  const int64_t of_warp = kWarp * t.vectors;
  llvm::Type* const wide = b_.getInt64Ty();
  Value* thread = b_.CreateZExt(group_.lane(), wide);
  if (group_.warps() > 1) thread = k_.add(k_.mul(b_.CreateZExt(group_.warp(), wide), of_warp), thread);
  Value* const begin = k_.add(first, k_.mul(thread, t.lanes));
  std::vector<Vector> vectors;
  for (int64_t s = 0; s < t.vectors; ++s) {
    const int64_t last = of_warp * (group_.warps() - 1) + kWarp * (s + 1);
    Value* index = k_.advance(begin, s * kWarp * t.lanes);
    Value* exists = nullptr;
    if (last > t.count) {
      Value* const number = k_.advance(thread, s * kWarp);
      exists = b_.CreateICmpSLT(number, k_.integer(t.count));
      index = k_.add(first, k_.mul(k_.smaller(number, k_.integer(t.count - 1)), t.lanes));
    }
    vectors.push_back(contribute(t, index, exists));
  }
  // As the barrier of several warps does, this one lies between loads of threads whose vector does not exist and the
  // store of that vector in the thread that has it: the loop may run in place.
  const bool clamped = std::any_of(vectors.begin(), vectors.end(), [](const Vector& v) { return v.exists; });
  if (clamped && group_.warps() == 1) group_.barrier();
  std::vector<Values*> totals;
  for (Vector& v : vectors) totals.push_back(&v.total);
  scan_warp(totals);
  Value* const is_first = b_.CreateICmpEQ(group_.lane(), b_.getInt32(0));
  std::vector<Values> before;
  Values total;
  for (const Vector& v : vectors) {
    const Values lanes = select(is_first, identities_, group_.shuffle(DeviceOp::shuffle_up, v.total, b_.getInt32(1)));
    const Values all = group_.shuffle(DeviceOp::shuffle_index, v.total, b_.getInt32(kWarp - 1));
    before.push_back(total.empty() ? lanes : accumulators_.combine(total, lanes));
    total = total.empty() ? all : accumulators_.combine(total, all);
  }
  Values start = carries;
  if (group_.warps() > 1) {
    const Warps warps = combine_warps(total, slot);
    start = accumulators_.combine(carries, warps.before);
    total = warps.total;
  }
  for (size_t s = 0; s < vectors.size(); ++s)
    group_.when(vectors[s].exists, [&] { finish(t, vectors[s], accumulators_.combine(start, before[s])); });
  return accumulators_.combine(carries, total);
}

void GroupScan::emit() {
  const bool contended = memory_.stores_contended(i_.regions[0]);
  const int64_t threads = group_.size(), most = iterations_of_thread();
  unsigned lanes = choose_lanes();
  while (lanes > most) lanes /= 2;
  const int64_t vectors = i_.extent / lanes, rest = i_.extent % lanes;
  const auto per_thread = [&](int64_t n) { return (n + threads - 1) / threads; };
  Tile whole{lanes, std::max<int64_t>(1, std::min({most / lanes, kTileVectors, per_thread(vectors)}))};
  whole.count = whole.vectors * threads;
  const int64_t tiles = vectors / whole.count, size = whole.count * lanes;
  const int64_t remaining = vectors - tiles * whole.count;
  const Tile last{lanes, per_thread(remaining), remaining};
  const Tile elements{1, per_thread(rest), rest};
  const int64_t count = tiles + (remaining > 0) + (rest > 0);
  Values carries = accumulators_.initial();
  if (group_.warps() > 1) {
    for (const Value* identity : identities_) {
      const int64_t bytes = std::max(identity->getType()->getScalarSizeInBits() / 8, 1u);
      slots_.push_back(group_.allocate_shared(bytes * 2 * group_.warps()));
    }
    // The first tile has the slot of the last one if the group runs the loop again.
    if (count % 2 != 0 || contended) group_.barrier();
  } else if (contended) {
    group_.barrier();
  }
  const auto slot = [&](int64_t number) { return b_.getInt32(static_cast<uint32_t>(number % 2)); };
  if (tiles > 0)
    carries = k_.counted(k_.integer(0), k_.integer(tiles * size), size, carries, [&](Value* first, const Values& c) {
      Value* const number = b_.CreateUDiv(first, k_.integer(size));
      return tile(whole, first, b_.CreateTrunc(b_.CreateAnd(number, k_.integer(1)), b_.getInt32Ty()), c);
    });
  if (remaining > 0) carries = tile(last, k_.integer(tiles * size), slot(tiles), carries);
  if (rest > 0) carries = tile(elements, k_.integer(vectors * lanes), slot(tiles + (remaining > 0)), carries);
  if (contended) group_.barrier();
  accumulators_.set_results(carries);
}

}  // namespace calque::codegen
