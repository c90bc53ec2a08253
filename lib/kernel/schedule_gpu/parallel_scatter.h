#pragma once
// Parallelizes sequential loops that update memory at computed indices.
#include <functional>
#include <optional>

#include "kernel/schedule_gpu/instruction_copier.h"

namespace calque::kernel {

/// A sequential loop without carries whose only effect is one store, possibly inside parallel loops.
struct Scatter {
  const Instruction* store = nullptr;
  /// The store combines the old value with `update`; otherwise it replaces it, and the last update wins.
  bool combines = false;
  /// No two updates have the same index.
  bool disjoint = false;
  Combiner combiner = Combiner::add;
  Id update = kNone;
  const Instruction *load = nullptr, *combination = nullptr;
};

/// Recognizes loops whose updates can run in parallel: combinations that the hardware has as atomic operations (of
/// floats only where their order may vary), and replacements.
std::optional<Scatter> scatter_of(const Kernel& kernel, const Instruction& loop, bool deterministic);

/// Emits the loop with all updates in parallel: atomic if they combine, plain stores if they are disjoint.
void update_in_parallel(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter);

/// Replacements take three loops and an i32 for every element of the buffer (`winners`): the first clears those of the
/// elements that are updated, or all if there are as many updates; the second atomically stores the greatest update
/// number of each element; in the third, the updates with that number store.
void clear_winners(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners,
                   int64_t extent);
void claim(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners);
void store_winners(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners);

}  // namespace calque::kernel
