// A nest whose innermost body has no loops runs each iteration on one thread. A nest with inner loops (rows) runs each
// iteration on a thread group, whose threads share the inner loops; but on one thread if neighbouring iterations access
// neighbouring memory (columns), or if the inner loops are short.
#include "kernel/schedule_gpu/mapping.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "calque/ir/errors.h"

#include "kernel/ir/analysis.h"
#include "kernel/ir/cost.h"
#include "kernel/ir/strides.h"
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
/// Maximum thread groups of a grid; beyond, groups run several iterations.
constexpr int64_t kMostGroups = int64_t{1} << 30;
/// Bodies of up to this many instructions are unrolled.
constexpr int64_t kUnrollByFour = 8, kUnrollByTwo = 20;
constexpr int64_t kVectorBytes = 16, kMostLanes = 8;
/// Longer bodies hide the latency of their loads by themselves, and need the registers.
constexpr int64_t kMostInVectors = 250;

int64_t count_of(const std::vector<const Instruction*>& nest) {
  int64_t n = 1;
  for (const Instruction* l : nest) n *= l->extent;
  return n;
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
      if (is_flat(*nest.back())) return elements(nest);
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
    if (!is_flat(loop)) return false;
    const auto a = strides_.accesses(loop.regions[0], loop.regions[0].parameters[0]);
    return a.unit > 0 && a.unit >= a.other;
  }

  void elements(const std::vector<const Instruction*>& nest) {
    map_nest_to_groups(nest);
    Instruction& last = mutable_ref(nest.back());
    last.vectorize = suits_vectors(last);
    const int64_t count = ceil_div(count_of(nest), last.vectorize ? lanes_of(last.regions[0]) : 1);
    const int32_t threads = count < resident() ? 2 * kWarp : limits_.threads_of_block;
    last.unroll = unroll_factor(last.regions[0]);
    // Many short blocks balance better than a persistent grid: a block that ends makes room for the next one.
    launch_threads(ceil_div(count, count < resident() ? 1 : last.unroll), threads);
    choose_lanes(nest.size() > 1 ? &last : nullptr);
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
    int64_t length = 0;
    for (const Instruction& i : body.instructions) length += cost_of(k_, i).operations;
    return length <= kUnrollByFour ? 4 : length <= kUnrollByTwo ? 2 : 1;
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
        i.vectorize = !is_cumulative(i) && suits_vectors(i);
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
