// A nest whose innermost body has no loops runs each iteration on one thread. A nest with inner loops (rows) runs each
// iteration on a thread group, whose threads share the inner loops; but on one thread if neighbouring iterations access
// neighbouring memory (columns), or if the inner loops are short.
//
// Where the iterations of a nest are distributed along its innermost loop, an access whose unit stride is along another
// loop (a transposed operand) touches a 32-byte sector per element, of which it uses one element. Such nests are
// distributed in rectangles of both loops (ThreadTile). Of f32, a thread runs 4 x 4 iterations, a warp 4 x 8 threads:
//
//   along the innermost loop   a row of the tile is one access of 16 bytes. 8 threads access 128 contiguous bytes, a
//                              warp 4 such lines: 16 sectors per request, all of them whole.
//   along the other loop       a column of the tile is one access of 16 bytes. 4 threads access 64 contiguous bytes, a
//                              warp 8 such half lines: 16 whole sectors per request.
//
// So a request is 512 bytes, as in a copy. Requests of narrower elements are smaller, but what is contiguous in them is
// no less than a sector. Rows whose length is no multiple of the vector are accessed element by element, and tiles are
// smaller where few of them would not fill the device or the body is long: the requests of a block, which accesses 8 or
// more contiguous elements along either loop, then share sectors in its L1 cache. A block covers the whole extent of a
// loop that is shorter than its side.
#include "kernel/schedule_gpu/mapping.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "calque/ir/errors.h"

#include "kernel/ir/analysis.h"
#include "kernel/ir/cost.h"
#include "kernel/ir/strides.h"
#include "kernel/ir/walk.h"
#include "kernel/schedule_gpu/gpu_tiles.h"
#include "kernel/schedule_gpu/loop_queries.h"

namespace calque::kernel {

namespace {

constexpr int32_t kWarp = 32;
/// Inner loops up to this extent run on one thread.
constexpr int64_t kShortLoop = 8;
/// Approximate number of row elements per thread of the only group of a kernel, which is to have many threads.
constexpr int64_t kOfThread = 8;
/// Of rows that run on many groups: a thread's elements are loaded at once, and the fewer threads a group has, the less
/// they wait for each other. Up to this number times a warp, a row has a warp, which needs no barriers.
constexpr int64_t kOfThreadInRows = 32;
/// Maximum threads of a group that runs cumulative loops, if there are enough groups: it has a barrier in each tile,
/// where other groups of the multiprocessor fill the time.
constexpr int32_t kFewThreads = 256;
/// Maximum thread groups of a grid; beyond, groups run several iterations.
constexpr int64_t kMostGroups = int64_t{1} << 30;
/// Bodies of up to this many instructions are unrolled.
constexpr int64_t kUnrollByFour = 8, kUnrollByTwo = 20;
constexpr int64_t kVectorBytes = 16, kMostLanes = 8;
/// Longer bodies hide the latency of their loads by themselves, and need the registers.
constexpr int64_t kMostInVectors = 250;
/// The sides of a thread's tile, and its iterations: as many copies of the body are emitted.
constexpr int64_t kMostTileColumns = 4, kMostTileRows = 8, kMostOfTile = 32, kMostOfLongTile = 16;
/// A shorter innermost loop is distributed together with the next one: a warp accesses several rows anyway.
constexpr int64_t kShortRow = 8;
constexpr int64_t kSectorBytes = 32;

int64_t count_of(const std::vector<const Instruction*>& nest) {
  int64_t n = 1;
  for (const Instruction* l : nest) n *= l->extent;
  return n;
}

// In vectors a cumulative loop has the combinations, but not what precedes each lane.
bool only_combines_carries(const Instruction& loop) {
  const Region& body = loop.regions[0];
  int64_t uses = 0;
  walk(body, [&](const Instruction& i) {
    for (size_t c = 1; c < body.parameters.size(); ++c)
      uses += std::count(i.operands.begin(), i.operands.end(), body.parameters[c]);
  });
  return uses == static_cast<int64_t>(loop.results.size());
}

bool is_flat(const Instruction& loop) { return !has_loops(loop.regions[0]); }

class Mapper {
 public:
  Mapper(Kernel& kernel, const GpuLimits& limits) : k_(kernel), limits_(limits), strides_(kernel) { clear(k_.body); }

  void grid() {
    for (Instruction& i : k_.body.instructions) {
      if (i.op == Op::contraction) return product({}, i);
      if (!is_parallel(i)) continue;
      const auto nest = nest_of(i);
      for (Instruction& inner : body_of(nest))
        if (inner.op == Op::contraction) return product(nest, inner);
      if (is_flat(*nest.back()) && nest.back()->locals.empty()) return elements(nest);
      return rows(nest);
    }
  }

  void group() {
    const int64_t longest = longest_loop(k_.body);
    const bool shared = map_inner_loops(k_.body);
    const int32_t threads = shared ? threads_for(longest, kOfThread) : kWarp;
    k_.launch = Launch{1, shared ? threads : 1, threads};
    choose_lanes(nullptr);
  }

 private:
  static void clear(Region& r) {
    for (Instruction& i : r.instructions) {
      i.vectorize = i.threads = false;
      i.grain = i.lanes = i.unroll = 0;
      i.mapping = ParallelMapping::replicated;
      i.thread_tile = {};
      for (Region& inner : i.regions) clear(inner);
    }
  }
  // Queries return const pointers into the kernel, which this class may modify.
  static Instruction& mutable_ref(const Instruction* i) { return const_cast<Instruction&>(*i); }
  static std::vector<Instruction>& body_of(const std::vector<const Instruction*>& nest) {
    return mutable_ref(nest.back()).regions[0].instructions;
  }
  int64_t resident() const { return limits_.processors * kThreadsPerProcessor; }

  void map_nest_to_groups(const std::vector<const Instruction*>& nest) {
    for (const Instruction* l : nest) mutable_ref(l).mapping = ParallelMapping::groups;
  }

  // Most accesses have unit stride along the innermost loop.
  bool suits_vectors(const Instruction& loop) const {
    if (!is_flat(loop) || !loop.locals.empty()) return false;
    const auto a = strides_.accesses(loop.regions[0], loop.regions[0].parameters[0]);
    return a.unit > 0 && a.unit >= a.other;
  }

  void elements(const std::vector<const Instruction*>& nest) {
    map_nest_to_groups(nest);
    if (in_rectangles(nest)) return;
    Instruction& last = mutable_ref(nest.back());
    last.vectorize = suits_vectors(last);
    const int64_t count = ceil_div(count_of(nest), last.vectorize ? lanes_of(last.regions[0]) : 1);
    const int32_t threads = count < resident() ? 2 * kWarp : limits_.threads_of_block;
    last.unroll = unroll_factor(last.regions[0]);
    // Many short blocks balance better than a persistent grid: a block that ends makes room for the next one.
    launch_threads(ceil_div(count, count < resident() ? 1 : last.unroll), threads);
    choose_lanes(nest.size() > 1 ? &last : nullptr);
  }

  /// The accesses of a nest's body whose unit stride is along a loop other than the innermost one.
  struct Transposed {
    const Instruction* loop = nullptr;
    int64_t sum = 0;  ///< of the bytes of their elements
    /// Of the widest elements accessed with unit stride along that loop, and along the innermost one.
    int64_t bytes = 0, bytes_of_innermost = 0;
  };
  /// By loop, those along which most bytes are accessed so first.
  std::vector<Transposed> transposed(const std::vector<const Instruction*>& nest) const {
    const Region& body = nest.back()->regions[0];
    const auto is_unit = [](std::optional<int64_t> stride) { return stride == 1 || stride == -1; };
    Strides::Along innermost = strides_.along(body.parameters[0]);
    std::vector<Transposed> found;
    for (size_t l = nest.size() - 1; l-- > 0;) {
      Transposed t{nest[l]};
      Strides::Along other = strides_.along(nest[l]->regions[0].parameters[0]);
      walk(body, [&](const Instruction& i) {
        if (!is_load(i) && !is_store(i)) return;
        const auto bytes = static_cast<int64_t>(size_of(k_.buffers[static_cast<size_t>(i.buffer)].dtype));
        const std::optional<int64_t> stride = innermost(i.operands[0]);
        if (is_unit(stride)) {
          t.bytes_of_innermost = std::max(t.bytes_of_innermost, bytes);
        } else if (stride && *stride != 0 && is_unit(other(i.operands[0]))) {
          t.sum += bytes;
          t.bytes = std::max(t.bytes, bytes);
        }
      });
      if (t.bytes_of_innermost == 0) t.bytes_of_innermost = t.bytes;
      if (t.sum == 0 || t.loop->extent == 1) continue;
      const auto before = [](const Transposed& a, const Transposed& b) {
        return a.sum != b.sum ? a.sum > b.sum : a.loop->extent > b.loop->extent;
      };
      found.insert(std::upper_bound(found.begin(), found.end(), t, before), t);
    }
    return found;
  }

  // The side of a thread's tile along a loop. A short loop is divided without a rest.
  static int64_t side(int64_t side, int64_t extent) {
    while (side > 1 && (side > extent || (extent % side != 0 && extent < 4 * side))) side /= 2;
    return side;
  }

  // The side of a block, in threads: a power of two, of which a last block uses the larger part.
  static int64_t block_side(int64_t threads, int64_t most) {
    const auto all = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(threads)));
    if (all <= most) return all;
    return 2 * round_up(threads, most) <= 3 * threads ? most : std::max<int64_t>(most / 2, 1);
  }

  /// Distributes the nest in rectangles of two loops. Returns false where it is as well or better distributed along its
  /// innermost loop.
  bool in_rectangles(const std::vector<const Instruction*>& nest) {
    const std::vector<Transposed> found = transposed(nest);
    return std::any_of(found.begin(), found.end(), [&](const Transposed& t) { return in_rectangles(nest, t); });
  }
  bool in_rectangles(const std::vector<const Instruction*>& nest, const Transposed& t) {
    Instruction& last = mutable_ref(nest.back());
    const int64_t count = count_of(nest), enough = resident() / 4;
    if (last.extent < kShortRow || count < std::max<int64_t>(enough, 1)) return false;
    int64_t columns = 1, rows = 1;
    if (is_straight(last.regions[0])) {
      columns = std::clamp<int64_t>(kVectorBytes / t.bytes_of_innermost, 1, kMostTileColumns);
      while (columns > 1 && last.extent % columns != 0) columns /= 2;
      rows = side(std::clamp<int64_t>(kVectorBytes / t.bytes, 1, kMostTileRows), t.loop->extent);
      const int64_t length = operations(last.regions[0]);
      const int64_t most = length <= kUnrollByFour ? kMostOfTile : length <= kUnrollByTwo ? kMostOfLongTile : columns;
      while (rows > 1 && rows * columns > most) rows /= 2;
    }
    const auto tiles = [&] {
      return count / (t.loop->extent * last.extent) * ceil_div(t.loop->extent, rows) * ceil_div(last.extent, columns);
    };
    while (rows * columns > 1 && tiles() < enough) (rows >= columns ? rows : columns) /= 2;

    struct Block {
      int64_t tile_rows, tile_columns, rows, columns;  // of the loops, and of the block
    };
    const auto block_of = [&] {
      const auto threads = static_cast<int64_t>(
          tiles() < resident() ? 2 * kWarp : std::bit_floor(static_cast<uint32_t>(limits_.threads_of_block)));
      const int64_t most = threads <= 2 * kWarp ? 8 : 16;
      Block b{ceil_div(t.loop->extent, rows), ceil_div(last.extent, columns), 0, 0};
      b.rows = block_side(b.tile_rows, threads / block_side(b.tile_columns, most));
      b.columns = block_side(b.tile_columns, threads / b.rows);
      return b;
    };
    Block block = block_of();
    // Short loops have blocks of few threads. If they are the innermost two, a block that is distributed along the
    // innermost loop accesses all of several rectangles.
    if (block.rows * block.columns < 2 * kWarp && nest[nest.size() - 2] == t.loop) return false;
    for (; block.rows * block.columns < 2 * kWarp && rows * columns > 1; block = block_of())
      (rows >= columns ? rows : columns) /= 2;
    if (block.rows * block.columns < 2 * kWarp) return false;
    const int64_t wanted_rows = 4 * rows * t.bytes < kSectorBytes ? 8 : 4;
    const int64_t warp_columns = std::min(kWarp / std::min(wanted_rows, block.rows), block.columns);
    const auto tile = [](int64_t iterations, int64_t warp, int64_t of_block) {
      return ThreadTile{static_cast<int32_t>(iterations), static_cast<int32_t>(warp), static_cast<int32_t>(of_block)};
    };
    mutable_ref(t.loop).thread_tile = tile(rows, kWarp / warp_columns, block.rows);
    last.thread_tile = tile(columns, warp_columns, block.columns);
    last.vectorize = columns > 1;
    last.lanes = static_cast<uint16_t>(last.vectorize ? columns : 0);

    const int64_t blocks = count / (t.loop->extent * last.extent) * ceil_div(block.tile_rows, block.rows) *
                           ceil_div(block.tile_columns, block.columns);
    const auto threads = static_cast<int32_t>(block.rows * block.columns);
    k_.launch = Launch{std::min(blocks, kMostGroups / threads) * threads, 1, threads};
    return true;
  }

  void launch_threads(int64_t count, int32_t threads) {
    k_.launch = Launch{ceil_div(std::clamp<int64_t>(count, 1, kMostGroups), threads) * threads, 1, threads};
  }

  // Lanes of 16-byte vectors of the widest elements that are loaded or stored.
  int64_t lanes_of(const Region& body) const {
    int64_t bytes = 1;
    for (const Instruction& i : body.instructions)
      if (i.op == Op::load || i.op == Op::store)
        bytes = std::max(bytes, static_cast<int64_t>(size_of(k_.buffers[static_cast<size_t>(i.buffer)].dtype)));
    return std::clamp<int64_t>(kVectorBytes / bytes, 1, kMostLanes);
  }

  /// How many iterations of a short flat loop a thread runs interleaved, so that their loads overlap.
  uint8_t unroll_factor(const Region& body) const {
    if (has_loops(body)) return 1;
    const int64_t length = operations(body);
    return length <= kUnrollByFour ? 4 : length <= kUnrollByTwo ? 2 : 1;
  }

  int64_t operations(const Region& body) const {
    int64_t sum = 0;
    for (const Instruction& i : body.instructions) sum += cost_of(k_, i).operations;
    return sum;
  }

  /// Vectors of 16 bytes. `rows`: a loop over the elements of several rows, or whose body has such loops; rows whose
  /// length is no multiple of the vector begin unaligned.
  void choose_lanes(const Instruction* rows) {
    const KernelAnalysis analysis(k_);
    choose_lanes(k_.body, analysis, rows, false);
  }
  void choose_lanes(Region& r, const KernelAnalysis& analysis, const Instruction* rows, bool in_rows) {
    for (Instruction& i : r.instructions) {
      if (i.op == Op::loop && i.vectorize) {
        int64_t lanes = is_straight(i.regions[0])
                            ? std::min<int64_t>(kVectorBytes / analysis.facts(i).element_bytes, kMostLanes)
                            : 1;
        const bool whole = in_rows || &i == rows;
        while (lanes > 1 && (lanes > i.extent || (whole && i.extent % lanes != 0))) lanes /= 2;
        i.lanes = static_cast<uint16_t>(std::max<int64_t>(lanes, 1));
      }
      for (Region& inner : i.regions) choose_lanes(inner, analysis, rows, in_rows || &i == rows);
    }
  }
  /// Whether the body may run in vectors: it is short and has no branches or loops.
  bool is_straight(const Region& body) const {
    return instruction_count(k_, body) <= kMostInVectors &&
           std::all_of(body.instructions.begin(), body.instructions.end(),
                       [](const Instruction& i) { return i.regions.empty(); });
  }

  static int64_t longest_loop(const Region& r) {
    int64_t n = 1;
    for (const Instruction& i : r.instructions) {
      if (i.op == Op::loop) n = std::max(n, i.extent);
      for (const Region& inner : i.regions)
        if (i.op != Op::loop || (i.loop == LoopKind::sequential && i.combiners.empty()))
          n = std::max(n, longest_loop(inner));
    }
    return n;
  }

  static int32_t threads_for(int64_t extent, int64_t of_thread) {
    const auto wanted = static_cast<uint64_t>(std::max<int64_t>(extent / of_thread, kWarp));
    return static_cast<int32_t>(std::min<uint64_t>(std::bit_ceil(wanted), kMaxBlockThreads));
  }

  // Maps the outermost loops of cooperative code to threads. Returns whether there are any.
  bool map_inner_loops(Region& r) {
    bool any = false;
    for (Instruction& i : r.instructions) {
      if (i.op == Op::loop && (is_parallel(i) || is_reduction(i) || is_cumulative(i))) {
        if (i.extent <= 1 && !has_loops(i.regions[0])) continue;
        if (i.extent < kWarp && longest_loop(i.regions[0]) > i.extent && map_inner_loops(i.regions[0])) {
          any = true;
          continue;
        }
        i.mapping = ParallelMapping::threads;
        i.vectorize = suits_vectors(i) && (!is_cumulative(i) || only_combines_carries(i));
        any = true;
      } else {
        for (Region& inner : i.regions) any |= map_inner_loops(inner);
      }
    }
    return any;
  }

  void rows(const std::vector<const Instruction*>& nest) {
    map_nest_to_groups(nest);
    const int64_t count = count_of(nest);
    const int64_t longest = longest_loop(nest.back()->regions[0]);
    const bool many = count >= resident() && longest <= kWarp;
    if (longest <= kShortLoop || many || sums_columns(k_, *nest.front())) return thread_per_iteration(nest);
    if (!map_inner_loops(mutable_ref(nest.back()).regions[0])) return thread_per_iteration(nest);
    int32_t group =
        longest <= kOfThreadInRows * kWarp ? kWarp : std::max(threads_for(longest, kOfThreadInRows), 4 * kWarp);
    if (contains(nest.back()->regions[0], is_cumulative) || count * kFewThreads >= resident() / 2)
      group = std::min(group, kFewThreads);
    while (count * group < resident() / 4 && group < kMaxBlockThreads && group * 4 < longest) group *= 2;
    const int32_t threads = group == kWarp ? 4 * kWarp : group;
    k_.launch = Launch{std::min(count, kMostGroups), group, threads};
    choose_lanes(nest.back());
  }

  void thread_per_iteration(const std::vector<const Instruction*>& nest) {
    const int64_t count = count_of(nest);
    const int32_t threads = count < resident() / 2 ? 2 * kWarp : limits_.threads_of_block;
    k_.launch =
        Launch{std::max<int64_t>(1, std::min(ceil_div(count, threads), resident() / threads)) * threads, 1, threads};
  }

  void product(const std::vector<const Instruction*>& nest, Instruction& i) {
    map_nest_to_groups(nest);
    i.mapping = ParallelMapping::groups;
    const std::optional<GpuTiles> tiles = choose_gpu_tiles(k_, i, limits_.fast_math);
    if (!tiles)
      throw CompileError("map-to-threads: kernel " + k_.name +
                         ": a product is too small for tiles; split-launches expands it");
    i.gpu_tiles = std::make_shared<const GpuTiles>(*tiles);
    k_.launch = Launch{count_of(nest) * tiles->count(i.rows, i.columns), tiles->threads, tiles->threads};
  }

  Kernel& k_;
  const GpuLimits& limits_;
  Strides strides_;
};

}  // namespace

void map_to_grid(Kernel& kernel, const GpuLimits& limits) { Mapper(kernel, limits).grid(); }
void map_to_group(Kernel& kernel, const GpuLimits& limits) { Mapper(kernel, limits).group(); }

bool sums_columns(const Kernel& kernel, const Instruction& nest) {
  const Strides strides(kernel);
  const auto loops = nest_of(nest);
  const Region& body = loops.back()->regions[0];
  int64_t along = 0, across = 0;
  for (const Instruction& i : body.instructions) {
    if (i.op != Op::loop) continue;
    const auto inner = strides.accesses(i.regions[0], i.regions[0].parameters[0]);
    const auto outer = strides.accesses(i.regions[0], body.parameters[0]);
    along += inner.unit - inner.other;
    across += outer.unit - outer.other;
  }
  return across > along;
}

}  // namespace calque::kernel
