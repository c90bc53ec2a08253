// Mapping of iterations to threads. A nest of loops that are mapped to thread groups is flattened, the innermost loop
// varying fastest, and distributed grid-stride: group g runs iterations g, g + groups and so on. A loop that is mapped
// to threads gives iteration k to thread k mod group size (with vectors: as many neighbours as a vector has lanes), so
// that neighbouring threads access neighbouring memory. A nest with thread tiles is distributed in rectangles of two of
// its loops: a block of threads runs one rectangle of iterations, a thread a small one inside it, whose rows are
// vectors.
#include "codegen/device/device_loops.h"

#include <algorithm>
#include <numeric>

#include "codegen/device/device_contraction.h"
#include "codegen/device/device_memory.h"
#include "codegen/device/device_reduction.h"
#include "codegen/device/device_scan.h"
#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using kernel::LoopKind;
using kernel::Op;
using kernel::ParallelMapping;
using llvm::Value;

namespace {

const Instruction* inner_group_loop(const Instruction& loop) {
  for (const Instruction& i : loop.regions[0].instructions)
    if ((i.op == Op::loop || i.op == Op::contraction) && i.mapping == ParallelMapping::groups) return &i;
  return nullptr;
}

}  // namespace

DeviceLoops::DeviceLoops(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory)
    : k_(kernel), b_(kernel.builder()), group_(group), memory_(memory), unmapped_(kernel) {}

void DeviceLoops::emit(const Instruction& i) {
  if (i.mapping == ParallelMapping::groups) {
    if (const auto index = indices_.find(&i); index != indices_.end())
      return iteration(i, index->second, &i == vector_loop_ ? vector_lanes_ : 0);
    return group_loop(i);
  }
  if (i.mapping == ParallelMapping::threads && group_.is_cooperative()) {
    if (i.loop == LoopKind::parallel) return thread_loop(i);
    if (i.loop == LoopKind::reduction) return GroupReduction(k_, group_, memory_, i).emit();
    return GroupScan(k_, group_, memory_, i).emit();
  }
  if (i.loop == LoopKind::reduction) return emit_thread_reduction(k_, i);
  unmapped_.emit(i);
}

void DeviceLoops::iteration(const Instruction& i, Value* index, unsigned lanes) {
  const kernel::Region& body = i.regions[0];
  const VectorScope scope(k_.vectors(), lanes);
  k_.set(body.parameters[0], lanes == 0 ? k_.uniform(index) : k_.linear(index));
  memory_.bind_locals(i);
  memory_.set_divisor(body.parameters[0], lanes != 0 ? lanes : &i == tiled_loop_ ? row_divisor_ : 1);
  k_.run(body);
}

// Distributes the numbers [first, end) grid-stride over the thread groups. With `repeat` above 1 a block takes that
// many consecutive runs of neighbouring numbers at a time, so that its accesses are contiguous.
void DeviceLoops::distribute(int64_t first, int64_t end, int64_t repeat, const std::function<void(Value*)>& body) {
  const int64_t at_once = repeat * group_.launch().groups;
  const int64_t threads = group_.launch().threads;
  Value* begin = group_.index();
  if (repeat > 1) {
    Value* const block = b_.CreateUDiv(group_.index(), k_.integer(threads));
    begin = k_.add(group_.index(), k_.mul(block, (repeat - 1) * threads));
  }
  begin = k_.advance(begin, first);
  const auto at = [&](Value* number, int64_t r) { return r == 0 ? number : k_.advance(number, r * threads); };
  const auto exists = [&](Value* number) { return b_.CreateICmpSLT(number, k_.integer(end)); };
  const auto whole = [&](Value* number) {
    for (int64_t r = 0; r < repeat; ++r) body(at(number, r));
  };
  const int64_t rounds = (end - first) / at_once;
  if (rounds == 1) whole(begin);
  if (rounds > 1)
    k_.counted(begin, k_.advance(begin, rounds * at_once), at_once, {}, [&](Value* number, const Values&) {
      whole(number);
      return Values{};
    });
  if (rounds * at_once == end - first) return;
  Value* const rest = rounds == 0 ? begin : k_.advance(begin, rounds * at_once);
  // If the thread's last number exists, all of them do.
  Value* const all = exists(at(rest, repeat - 1));
  group_.when(all, [&] { whole(rest); });
  if (repeat == 1) return;
  group_.when(b_.CreateNot(all), [&] {
    for (int64_t r = 0; r + 1 < repeat; ++r) group_.when(exists(at(rest, r)), [&] { body(at(rest, r)); });
  });
}

int64_t DeviceLoops::Nest::count() const {
  int64_t count = 1;
  for (const int64_t e : extents) count *= e;
  return count;
}

DeviceLoops::Nest DeviceLoops::nest_of(const Instruction& i) const {
  Nest nest{{&i}, {}};
  while (!nest.is_product())
    if (const Instruction* inner = inner_group_loop(nest.innermost()))
      nest.loops.push_back(inner);
    else
      break;
  for (const Instruction* l : nest.loops) nest.extents.push_back(l->extent);
  const Instruction& last = nest.innermost();
  if (last.thread_tile) {
    if (!group_.is_single_thread() || nest.is_product()) k_.refuse("thread tiles are for groups of one thread");
    for (size_t l = 0; l < nest.loops.size(); ++l) {
      const kernel::ThreadTile& t = nest.loops[l]->thread_tile;
      if (!t) continue;
      if (nest.loops[l] != &last) nest.tiled = nest.loops[l];
      nest.extents[l] = kernel::ceil_div(nest.extents[l], t.per_block());
    }
    if (!nest.tiled) k_.refuse("one loop alone has a thread tile");
    nest.lanes = vector_lanes(last);
  } else if (nest.is_product()) {
    if (!last.gpu_tiles) k_.refuse("a contraction has no tiles for a GPU");
    nest.extents.back() = last.gpu_tiles->count(last.rows, last.columns);
  } else if (group_.is_single_thread() && vector_lanes(last) != 0) {
    nest.lanes = vector_lanes(last);
    nest.extents.back() /= nest.lanes;
  }
  return nest;
}

void DeviceLoops::group_loop(const Instruction& i) {
  const Nest nest = nest_of(i);
  const Instruction& last = nest.innermost();
  if (nest.tiled) {
    distribute(0, nest.count() * group_.launch().threads, 1, [&](Value* number) { rectangle(nest, number); });
    indices_.clear();
    return;
  }
  const bool interleaved = !nest.is_product() && group_.is_single_thread();
  distribute(0, nest.count(), interleaved ? std::max<int64_t>(1, last.unroll) : 1,
             [&](Value* number) { nest_iteration(nest, number); });
  if (nest.lanes != 0 && last.extent % nest.lanes != 0) {
    const int64_t whole = last.extent / nest.lanes * nest.lanes;
    distribute(whole, last.extent, 1, [&](Value* number) { iteration(last, number, 0); });
  }
  indices_.clear();
}

// The index of each loop in the iteration `number` of the nest, whose innermost loop varies fastest.
void DeviceLoops::find_indices(const Nest& nest, Value* number) {
  const bool narrow = nest.loops.size() > 1 && nest.count() <= INT32_MAX;
  // Division by a constant is shorter in 32 bits.
  Value* rest = narrow ? b_.CreateTrunc(number, b_.getInt32Ty()) : number;
  for (size_t l = nest.loops.size(); l-- > 0;) {
    auto* const extent = llvm::ConstantInt::get(rest->getType(), static_cast<uint64_t>(nest.extents[l]));
    Value* const index = l == 0 ? rest : b_.CreateURem(rest, extent);
    if (l != 0) rest = b_.CreateUDiv(rest, extent);
    indices_[nest.loops[l]] = narrow ? b_.CreateZExt(index, b_.getInt64Ty()) : index;
  }
}

void DeviceLoops::nest_iteration(const Nest& nest, Value* number) {
  const Instruction &first = *nest.loops.front(), &last = nest.innermost();
  find_indices(nest, number);
  if (nest.is_product()) tile_ = indices_[&last];
  if (nest.is_product() && nest.loops.size() == 1) return contraction(last);
  if (nest.lanes == 0) return iteration(first, indices_[&first], 0);
  vector_loop_ = &last;
  vector_lanes_ = nest.lanes;
  Value*& inner = indices_[&last];
  inner = k_.mul(inner, nest.lanes);
  if (nest.loops.size() == 1)
    iteration(last, inner, nest.lanes);
  else
    iteration(first, indices_[&first], 0);
  vector_loop_ = nullptr;
}

// The rectangle of one thread; `number` counts the threads of all blocks. Threads are numbered along the innermost loop
// first, inside a warp, and warps inside a block.
void DeviceLoops::rectangle(const Nest& nest, Value* number) {
  const Instruction &first = *nest.loops.front(), &last = nest.innermost(), &tiled = *nest.tiled;
  const kernel::ThreadTile &columns = last.thread_tile, &rows = tiled.thread_tile;
  const int32_t threads = group_.launch().threads;
  find_indices(nest, b_.CreateUDiv(number, k_.integer(threads)));
  Value* const thread = b_.CreateTrunc(b_.CreateURem(number, k_.integer(threads)), b_.getInt32Ty());
  const auto narrow = [&](int32_t n) { return b_.getInt32(static_cast<uint32_t>(n)); };
  Value* const lane = b_.CreateURem(thread, narrow(32));
  Value* const warp = b_.CreateUDiv(thread, narrow(32));
  const int32_t warps_in_row = columns.block / columns.warp;
  // The first iteration of a loop: blocks, warps and threads before this one along the loop, times their iterations.
  const auto begin = [&](const Instruction& loop, Value* warp_at, Value* lane_at) {
    const kernel::ThreadTile& t = loop.thread_tile;
    Value* const in_block = b_.CreateAdd(b_.CreateMul(warp_at, narrow(t.warp)), lane_at);
    Value* const threads_before = k_.add(k_.mul(indices_[&loop], t.block), b_.CreateZExt(in_block, b_.getInt64Ty()));
    return k_.mul(threads_before, t.iterations);
  };
  Value* const row = begin(tiled, b_.CreateUDiv(warp, narrow(warps_in_row)), b_.CreateUDiv(lane, narrow(columns.warp)));
  Value* const column =
      begin(last, b_.CreateURem(warp, narrow(warps_in_row)), b_.CreateURem(lane, narrow(columns.warp)));

  // Null: always, as the blocks cover the loop exactly.
  const auto fits = [&](const Instruction& loop, Value* at) -> Value* {
    if (loop.extent % loop.thread_tile.per_block() == 0) return nullptr;
    return b_.CreateICmpSLE(at, k_.integer(loop.extent - loop.thread_tile.iterations));
  };
  Value* const whole = k_.and_mask(fits(tiled, row), fits(last, column));
  tiled_loop_ = &tiled;
  group_.when(whole, [&] {
    memory_.align_elements(true);
    vector_loop_ = &last;
    vector_lanes_ = nest.lanes;
    indices_[&last] = column;
    for (int64_t r = 0; r < rows.iterations; ++r) {
      indices_[&tiled] = r == 0 ? row : k_.advance(row, r);
      row_divisor_ = std::gcd(int64_t{rows.iterations}, r);
      iteration(first, indices_[&first], 0);
    }
    vector_loop_ = nullptr;
    row_divisor_ = 1;
    memory_.align_elements(false);
  });
  if (tiled.extent % rows.iterations != 0 || last.extent % columns.iterations != 0)
    group_.when(b_.CreateNot(whole), [&] { partial_rectangle(nest, row, column); });
  tiled_loop_ = nullptr;
}

// The iterations of a thread's rectangle that exist, one after another.
void DeviceLoops::partial_rectangle(const Nest& nest, Value* row, Value* column) {
  const Instruction &first = *nest.loops.front(), &last = nest.innermost(), &tiled = *nest.tiled;
  const auto exists = [&](const Instruction& loop, Value* at) { return b_.CreateICmpSLT(at, k_.integer(loop.extent)); };
  const auto end = [&](const Instruction& loop, Value* at) {
    return k_.smaller(k_.advance(at, loop.thread_tile.iterations), k_.integer(loop.extent));
  };
  group_.when(b_.CreateAnd(exists(tiled, row), exists(last, column)), [&] {
    k_.counted(row, end(tiled, row), 1, {}, [&](Value* r, const Values&) {
      indices_[&tiled] = r;
      k_.counted(column, end(last, column), 1, {}, [&](Value* c, const Values&) {
        indices_[&last] = c;
        iteration(first, indices_[&first], 0);
        return Values{};
      });
      return Values{};
    });
  });
}

void DeviceLoops::thread_loop(const Instruction& i) {
  const bool contended = memory_.stores_contended(i.regions[0]);
  if (contended) group_.barrier();
  {
    const ThreadGroup::PerThreadScope each(group_);
    const unsigned lanes = vector_lanes(i);
    const int64_t step = lanes == 0 ? 1 : lanes, whole = i.extent / step;
    const int64_t threads = group_.size();
    const bool unrolled = is_unrolled(k_, group_, i);
    memory_.begin_row();
    const auto run = [&](Value* index, unsigned lanes_here) {
      memory_.next_of_row(i.regions[0].parameters[0], std::max(lanes_here, 1U));
      iteration(i, index, lanes_here);
    };
    // `count` runs of `width` elements from `first` on, neighbouring runs by neighbouring threads.
    const auto strided = [&](int64_t first, int64_t count, int64_t width, unsigned lanes_here) {
      const int64_t times = count / threads, rest = count % threads;
      Value* const begin = group_.ahead(k_.mul(group_.rank(), width), first);
      group_.repeat({begin, times, width * threads, unrolled}, {}, [&](Value* index, const Values&) {
        run(index, lanes_here);
        return Values{};
      });
      if (rest == 0) return;
      group_.when(b_.CreateICmpSLT(group_.rank(), k_.integer(rest)),
                  [&] { run(group_.ahead(begin, times * width * threads), lanes_here); });
    };
    strided(0, whole, step, lanes);
    strided(whole * step, i.extent - whole * step, 1, 0);
  }
  if (contended) group_.barrier();
}

void DeviceLoops::contraction(const Instruction& i) {
  if (!tile_) return group_loop(i);
  DeviceContraction(k_, group_, memory_, i).emit(tile_);
  tile_ = nullptr;
}

}  // namespace calque::codegen
