// The vectors of a loop are as wide as the target's registers hold of its widest elements; short loops and those that
// wait for each other's results differ.
#include <algorithm>
#include <bit>
#include <vector>

#include "kernel/ir/local_buffers.h"
#include "kernel/schedule_cpu/vector_loops.h"

namespace calque::kernel {

namespace {

// A body of at most this many instructions needs few registers.
constexpr int64_t kFewInstructions = 8;
// Bytes of the local buffers of all lanes, which are on the stack: larger ones run in fewer lanes.
constexpr int64_t kMostLocalBytes = 72 * 1024;

// Columns that are reduced or scanned side by side: accesses to short rows would cost more than the work on them.
int columns_side_by_side(const Kernel& kernel, const Instruction& loop) {
  if (loop.loop != LoopKind::parallel) return 1;
  int vectors = 1;
  for (const Instruction& i : loop.regions[0].instructions) {
    if (i.op != Op::loop) {
      if (!i.regions.empty()) return 1;
      continue;
    }
    // Four accumulators of four vectors, and as many operands, fill the registers.
    if (i.loop == LoopKind::parallel || i.results.size() != 1 ||
        instruction_count(kernel, i.regions[0]) > kFewInstructions)
      return 1;
    vectors = 4;
  }
  return vectors;
}

/// Whether every load of a loop's body is at an address that depends on the carries.
bool loads_by_carries(const Instruction& loop) {
  for (const Region& r : loop.regions) {
    const size_t first_carry = loop.op == Op::loop ? 1 : 0;
    std::vector<Id> dependent(r.parameters.begin() + static_cast<ptrdiff_t>(first_carry), r.parameters.end());
    for (const Instruction& i : r.instructions) {
      const bool depends = std::any_of(i.operands.begin(), i.operands.end(), [&](Id o) {
        return std::find(dependent.begin(), dependent.end(), o) != dependent.end();
      });
      if (i.op == Op::load && !depends) return false;
      if (depends) dependent.insert(dependent.end(), i.results.begin(), i.results.end());
    }
  }
  return true;
}

/// A short loop whose steps depend on each other: of arithmetic, or of look-ups such as those of a search.
bool is_chain(const Kernel& kernel, const Instruction& i) {
  constexpr int64_t kShortLoop = 32;
  constexpr size_t kFewCarries = 4;
  if (i.op != Op::while_ && (i.op != Op::loop || i.loop != LoopKind::sequential)) return false;
  int64_t cost = 0;
  for (const Region& r : i.regions) {
    cost += instruction_count(kernel, r);
    for (const Instruction& inner : r.instructions)
      if (!inner.regions.empty() || inner.op == Op::store) return false;
  }
  return !i.results.empty() && i.results.size() <= kFewCarries && cost <= kShortLoop && loads_by_carries(i);
}

// Several vectors in flight hide the latency of chains.
int64_t vectors_in_flight(const Kernel& kernel, const Instruction& loop, const TargetLimits& target) {
  int64_t vectors = 1;
  for (const Instruction& i : loop.regions[0].instructions) {
    if (i.regions.empty()) continue;
    if (!is_chain(kernel, i)) return 1;
    vectors = std::max<int64_t>(vectors, target.lane_masks || i.op == Op::loop ? 4 : 2);
  }
  return vectors;
}

// Short loops use fewer lanes: with lane masks the next power of two, which holds all iterations; without them the
// previous one, which they fill.
uint16_t lanes_of(const CpuKernel& k, const Instruction& loop, bool short_code) {
  // In strict mode scans that round run in the order of the loop.
  if (k.target.strict && loop.loop == LoopKind::sequential && is_rounded(k.kernel, loop)) return 1;
  const int64_t widest = k.target.vector_bits / 8 / k.analysis.facts(loop).element_bytes;
  const int columns = columns_side_by_side(k.kernel, loop);
  // Lanes of other loops are part of the order of their sums.
  const bool compact = short_code && loop.loop == LoopKind::parallel;
  const int64_t vectors = compact ? 1
                                  : std::max<int64_t>(k.target.lane_masks ? columns : (columns + 1) / 2,
                                                      vectors_in_flight(k.kernel, loop, k.target));
  const auto extent = static_cast<uint64_t>(loop.extent);
  const uint64_t fitting = k.target.lane_masks ? std::bit_ceil(extent) : std::bit_floor(extent);
  const int64_t bytes = local_bytes(k.kernel, loop);
  const uint64_t stored = bytes == 0 ? fitting : std::bit_floor(static_cast<uint64_t>(kMostLocalBytes / bytes));
  return static_cast<uint16_t>(
      std::max<uint64_t>(1, std::min({static_cast<uint64_t>(widest * vectors), fitting, stored})));
}

}  // namespace

void choose_lanes(const CpuKernel& k) {
  const bool compact = is_compact(k);
  for_each_loop(k.kernel.body, [&](Instruction& loop) {
    if (loop.vectorize) loop.lanes = lanes_of(k, loop, compact);
  });
}

}  // namespace calque::kernel
