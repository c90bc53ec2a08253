#pragma once
// Queries about a kernel's loops that decide its mapping to a GPU.
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Maximum threads of a block, and resident threads of a streaming multiprocessor.
inline constexpr int32_t kMaxBlockThreads = 1024;
inline constexpr int64_t kThreadsPerProcessor = 2048;

inline bool is_cumulative(const Instruction& i) {
  return is_loop(i, LoopKind::sequential) && !i.combiners.empty() && !i.results.empty();
}

inline bool is_counted(const Instruction& i) { return i.op == Op::loop || i.op == Op::contraction; }
inline bool has_loops(const Region& region) { return contains(region, is_counted); }
bool has_loops(const Instruction& i);
bool has_stores(const Region& region);

/// Values that the instruction uses but does not define.
std::vector<Id> free_values(const Instruction& i);
/// The same for its regions alone, without its operands.
std::vector<Id> free_in_regions(const Instruction& i);

/// Instructions that one execution of the region executes, including loop iterations.
double work(const Kernel& kernel, const Region& region);
double work(const Kernel& kernel, const Instruction& i);

/// The perfect nest of parallel loops (up to scalar code between them) that starts at `loop`, the outermost first.
std::vector<const Instruction*> nest_of(const Instruction& loop);

}  // namespace calque::kernel
