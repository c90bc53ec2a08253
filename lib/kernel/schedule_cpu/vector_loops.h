#pragma once
// How loops run in the vectors of a CPU.
#include <vector>

#include "kernel/ir/analysis.h"
#include "kernel/ir/kernel.h"
#include "kernel/schedule_cpu/target_limits.h"

namespace calque::kernel {

/// A kernel with what decisions about it depend on.
struct CpuKernel {
  Kernel& kernel;
  const KernelAnalysis& analysis;
  /// By buffer: it may overlap another buffer of the kernel, and one of the two is written.
  const std::vector<bool>& overlaps;
  const TargetLimits& target;
};

/// Sets `lanes` of vectorised loops.
void choose_lanes(const CpuKernel& k);
/// Marks the stores to large buffers that the kernel writes once, in parallel loops, and does not read. Needs lanes.
void mark_non_temporal_stores(const CpuKernel& k);
/// By buffer: how many elements the kernel's stores write; infinite if it may write one of them more than once.
std::vector<double> elements_written(const Kernel& kernel);
/// Sets `unroll`, `overlapping_tail` and `column_tile` of loops. Needs lanes and non-temporal stores.
void choose_unrolling(const CpuKernel& k);

/// The target's code is to be compact, and the kernel's bits do not depend on it.
bool is_compact(const CpuKernel& k);
/// Vectors in an iteration of the main loop of a vectorised parallel loop, which has `full` whole vectors.
int64_t unrolled_vectors(const LoopFacts& facts, int64_t full);
/// The iterations of the loop may run twice: nothing that they read is written.
bool is_repeatable(const CpuKernel& k, const Instruction& loop);
/// Some store of the loop's body is non-temporal.
bool has_non_temporal_stores(const Instruction& loop);

/// `visit(loop)` for every loop of a region, the outer ones first.
template <class Visit>
void for_each_loop(Region& region, const Visit& visit) {
  for (Instruction& i : region.instructions) {
    if (i.op == Op::loop) visit(i);
    for (Region& inner : i.regions) for_each_loop(inner, visit);
  }
}

}  // namespace calque::kernel
