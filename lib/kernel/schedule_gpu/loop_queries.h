#pragma once
// Questions about the shape of a kernel's code that decide how it is mapped to a GPU.
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Threads that a block may have, and that one streaming multiprocessor holds at a time.
inline constexpr int32_t kMaxBlockThreads = 1024;
inline constexpr int64_t kThreadsPerProcessor = 2048;

constexpr int64_t ceil_div(int64_t n, int64_t by) { return (n + by - 1) / by; }

inline bool is_cumulative(const Instruction& i) {
  return is_loop(i, LoopKind::sequential) && !i.combiners.empty() && !i.results.empty();
}

inline bool is_counted(const Instruction& i) { return i.op == Op::loop || i.op == Op::contraction; }
inline bool has_loops(const Region& region) { return contains(region, is_counted); }
bool has_loops(const Instruction& i);
bool has_stores(const Region& region);

/// Values that the instruction uses and does not define itself.
std::vector<Id> free_values(const Instruction& i);
/// The same of its regions alone, without its operands.
std::vector<Id> free_in_regions(const Instruction& i);

/// Instructions that one run of the region runs, loops counted.
double work(const Kernel& kernel, const Region& region);
double work(const Kernel& kernel, const Instruction& i);

/// Parallel loops nested in one another with nothing but scalar code between them, the outermost first.
std::vector<const Instruction*> nest_of(const Instruction& loop);

/// How addresses move.
class Strides {
 public:
  explicit Strides(const Kernel& kernel);
  /// The step of `id` for one step of `variable`; nothing when it is not a fixed one.
  std::optional<int64_t> step(Id id, Id variable) const;
  struct Accesses {
    int64_t unit = 0, fixed = 0, other = 0;  ///< stepping by one (or minus one), not at all, otherwise
  };
  /// Of the loads and stores of a region for one step of `variable`.
  Accesses accesses(const Region& region, Id variable) const;

 private:
  std::optional<int64_t> step(Id id, Id variable, std::unordered_map<Id, std::optional<int64_t>>& known) const;
  void index(const Region& region);
  std::vector<const Instruction*> defined_;
};

}  // namespace calque::kernel
