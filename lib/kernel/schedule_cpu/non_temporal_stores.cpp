// Buffers larger than the caches are written past them: an ordinary store first reads the cache line that it is about
// to fill.
#include <algorithm>
#include <limits>

#include "kernel/schedule_cpu/vector_loops.h"

namespace calque::kernel {

namespace {

// With more instructions a vector takes longer to compute than to write to memory.
constexpr int64_t kMostForNonTemporal = 64;

// Adds the stores of a region that runs `times` times; `rewrites`: it may write an element more than once.
void count_stores(const Region& region, double times, bool rewrites, std::vector<double>& written) {
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::store)
      written[static_cast<size_t>(i.buffer)] += rewrites ? std::numeric_limits<double>::infinity() : times;
    const bool parallel = is_parallel(i);
    for (const Region& inner : i.regions)
      count_stores(inner, parallel ? times * static_cast<double>(i.extent) : times, rewrites || !parallel, written);
  }
}

}  // namespace

std::vector<double> elements_written(const Kernel& kernel) {
  std::vector<double> written(kernel.buffers.size(), 0);
  count_stores(kernel.body, 1, false, written);
  return written;
}

namespace {

// By buffer: it is large, and the kernel writes it once, in parallel loops, and does not read it.
std::vector<bool> large_results(const CpuKernel& k) {
  const std::vector<double> written = elements_written(k.kernel);
  std::vector<bool> large(k.kernel.buffers.size());
  for (size_t i = 0; i < large.size(); ++i) {
    const Buffer& buffer = k.kernel.buffers[i];
    large[i] = written[i] > 0 && written[i] <= static_cast<double>(buffer.extent) &&
               !k.analysis.loaded(static_cast<int32_t>(i)) && !k.overlaps[i] &&
               written[i] * static_cast<double>(size_of(buffer.dtype)) >= kNonTemporalBytes;
  }
  return large;
}

// A short loop without nested regions that stores into a large result.
bool is_suitable(const CpuKernel& k, const Instruction& loop, const std::vector<bool>& large) {
  const LoopFacts& facts = k.analysis.facts(loop);
  const int64_t full = loop.extent / loop.lanes;
  const auto& body = loop.regions[0].instructions;
  return facts.cost <= kMostForNonTemporal && full > unrolled_vectors(facts, full) && is_repeatable(k, loop) &&
         std::any_of(body.begin(), body.end(),
                     [&](const Instruction& i) {
                       return i.op == Op::store && i.operands.size() == 2 && large[static_cast<size_t>(i.buffer)];
                     }) &&
         std::all_of(body.begin(), body.end(), [](const Instruction& i) { return i.regions.empty(); });
}

}  // namespace

bool has_non_temporal_stores(const Instruction& loop) {
  const auto& body = loop.regions[0].instructions;
  return std::any_of(body.begin(), body.end(), [](const Instruction& i) { return i.non_temporal; });
}

void mark_non_temporal_stores(const CpuKernel& k) {
  if (!k.target.non_temporal_stores) return;
  const std::vector<bool> large = large_results(k);
  if (std::find(large.begin(), large.end(), true) == large.end()) return;
  for_each_loop(k.kernel.body, [&](Instruction& loop) {
    if (!is_parallel(loop) || vector_lanes(loop) == 0 || !is_suitable(k, loop, large)) return;
    for (Instruction& i : loop.regions[0].instructions)
      if (i.op == Op::store) i.non_temporal = large[static_cast<size_t>(i.buffer)];
  });
}

}  // namespace calque::kernel
