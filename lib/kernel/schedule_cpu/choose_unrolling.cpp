// A vectorised loop has a main loop of unrolled whole vectors and one more copy of the body for the tail, or only that
// copy if the body is not short. If iterations may be repeated, the last vector of the tail starts at extent - lanes,
// so that no mask is needed.
#include <algorithm>

#include "kernel/ir/walk.h"
#include "kernel/schedule/column_limits.h"
#include "kernel/schedule_cpu/vector_loops.h"
#include "primitives/registry.h"

namespace calque::kernel {

namespace {

using namespace primitives;

// Bodies of at most this many instructions are unrolled, to amortise the overhead of the loop.
constexpr int64_t kUnrollByFour = 4, kUnrollByTwo = 8;
// Larger bodies are emitted once: if the last vector may overlap the previous one, and if it needs a mask.
constexpr int64_t kOnce = 12, kOnceMasked = 400;
// Shorter reductions that are not vectorised run in order.
constexpr int64_t kInOrder = 16;
// Larger bodies of reductions are not emitted once for each accumulator; the accumulators rotate instead.
constexpr int64_t kRepeatedBody = 40;
constexpr uint8_t kAccumulators = 4;
// The least rows of columns that are reduced side by side, and the most columns of a tile: four accumulators of 4-byte
// elements take 16 KiB.
constexpr int64_t kLeastRows = 32, kColumnTile = 1024;

/// Whether the operation rounds no product.
bool has_no_product(PrimitiveId p) {
  constexpr PrimitiveId kOps[] = {id_of<Add>,      id_of<Sub>,    id_of<Neg>,   id_of<Abs>,   id_of<Sign>,
                                  id_of<Floor>,    id_of<Ceil>,   id_of<Trunc>, id_of<Round>, id_of<Sqrt>,
                                  id_of<Max>,      id_of<Min>,    id_of<Div>,   id_of<Clamp>, id_of<Select>,
                                  id_of<Copysign>, id_of<Convert>};
  return std::ranges::find(kOps, p) != std::end(kOps);
}

/// Whether which products are contracted may depend on the vectors of an iteration: they may have products in common,
/// and sums are contracted with products of their block.
bool contracts_by_copies(const CpuKernel& k) {
  if (k.target.strict) return false;
  const auto is_float = [&](Id v) { return is_floating(k.kernel.values[static_cast<size_t>(v)]); };
  size_t products = 0;
  bool leaves_block = false;
  walk_regions(k.kernel.body, [&](const Region& region) {
    for (const Instruction& i : region.instructions) {
      const bool multiplies = std::ranges::find(i.combiners, Combiner::mul) != i.combiners.end();
      const bool computes = i.op == Op::scalar && !has_no_product(i.primitive);
      if (i.op == Op::contraction) leaves_block = true;
      if (!(computes || multiplies) || std::ranges::none_of(i.results, is_float)) continue;
      ++products;
      for (const Instruction& user : region.instructions)
        for (const Region& inner : user.regions)
          walk(inner, [&](const Instruction& x) {
            for (const Id o : x.operands) leaves_block |= std::ranges::find(i.results, o) != i.results.end();
          });
    }
  });
  return leaves_block || products > 1;
}

bool is_column_reduction(const CpuKernel& k, const Instruction& i) {
  if (i.loop != LoopKind::reduction || i.threads || i.extent < kLeastRows) return false;
  if (i.results.size() > 4 || instruction_count(k.kernel, i.regions[0]) > kColumnBody) return false;
  bool reads = false;
  for (const Instruction& inner : i.regions[0].instructions) {
    if (!inner.regions.empty()) return false;
    reads |= inner.op == Op::load && k.analysis.varying(inner.results[0]);
  }
  return reads;
}

// Whether the loop's columns are so long and its rows so wide that traversing memory row by row is faster. Its
// reductions then have the same extent and do not depend on each other.
bool reduces_columns(const CpuKernel& k, const Instruction& loop) {
  if (loop.extent < kWideRow) return false;
  const Instruction* first = nullptr;
  std::vector<bool> later(k.kernel.values.size());
  for (const Instruction& i : loop.regions[0].instructions) {
    if (i.op == Op::loop) {
      if (!is_column_reduction(k, i) || (first && i.extent != first->extent)) return false;
      for (const Instruction& inner : i.regions[0].instructions)
        for (const Id o : inner.operands)
          if (later[static_cast<size_t>(o)]) return false;
      if (!first) first = &i;
    } else if (!i.regions.empty() && !first) {
      return false;
    }
    if (first)
      for (const Id r : i.results) later[static_cast<size_t>(r)] = true;
  }
  return first != nullptr;
}

void unroll_parallel(const CpuKernel& k, Instruction& loop, bool compact) {
  const LoopFacts& facts = k.analysis.facts(loop);
  const int64_t full = loop.extent / loop.lanes, rest = loop.extent % loop.lanes;
  const bool repeatable = is_repeatable(k, loop) && full > 0;
  const bool non_temporal = has_non_temporal_stores(loop);
  if (repeatable && reduces_columns(k, loop))
    loop.column_tile = static_cast<int32_t>(std::min(kColumnTile, round_up(loop.extent, loop.lanes)));
  const bool large = repeatable ? compact || facts.cost > kOnce : k.target.lane_masks && facts.cost > kOnceMasked;
  const bool once = full == 0 || (rest != 0 && large && !non_temporal);
  const int64_t vectors = unrolled_vectors(facts, full);
  loop.unroll = once ? 0 : compact && vectors * loop.lanes != loop.extent ? 1 : static_cast<uint8_t>(vectors);
  loop.overlapping_tail = repeatable && (rest != 0 || non_temporal);
}

void unroll_reduction(const CpuKernel& k, Instruction& loop, bool compact) {
  const LoopFacts& facts = k.analysis.facts(loop);
  const unsigned lanes = vector_lanes(loop);
  const bool small = facts.cost <= kRepeatedBody && !facts.nested;
  const bool in_order = lanes == 0 && (loop.extent <= kInOrder || !(is_rounded(k.kernel, loop) || small));
  // Without rounding all orders give the same bits: one accumulator does.
  const bool single = lanes != 0 && compact && !loop.threads && !is_rounded(k.kernel, loop);
  loop.unroll = in_order || single ? 0 : small && !compact ? kAccumulators : 1;
  loop.overlapping_tail = lanes != 0 && loop.extent >= lanes && loop.extent % lanes != 0 && facts.idempotent;
}

void unroll_cumulative(const CpuKernel& k, Instruction& loop, bool compact) {
  const bool ragged = loop.extent > loop.lanes && loop.extent % loop.lanes != 0;
  loop.unroll = compact && ragged && k.target.lane_masks && !loop.threads && !is_rounded(k.kernel, loop) ? 1 : 0;
}

}  // namespace

bool is_compact(const CpuKernel& k) { return k.target.compact && !contracts_by_copies(k); }

int64_t unrolled_vectors(const LoopFacts& facts, int64_t full) {
  const int64_t most = facts.nested || facts.cost > kUnrollByTwo ? 1 : facts.cost > kUnrollByFour ? 2 : 4;
  return std::max<int64_t>(1, std::min(most, full));
}

bool is_repeatable(const CpuKernel& k, const Instruction& loop) {
  return k.analysis.facts(loop).idempotent && std::find(k.overlaps.begin(), k.overlaps.end(), true) == k.overlaps.end();
}

void choose_unrolling(const CpuKernel& k) {
  const bool compact = is_compact(k);
  for_each_loop(k.kernel.body, [&](Instruction& loop) {
    if (is_reduction(loop)) unroll_reduction(k, loop, compact);
    if (loop.loop == LoopKind::sequential && vector_lanes(loop) != 0) unroll_cumulative(k, loop, compact);
    if (is_parallel(loop) && vector_lanes(loop) != 0) unroll_parallel(k, loop, compact);
  });
}

}  // namespace calque::kernel
