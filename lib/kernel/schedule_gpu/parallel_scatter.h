#pragma once
// Loops that update memory at computed places, one update after another, as loops whose updates run side by side.
#include <functional>
#include <optional>

#include "kernel/schedule_gpu/instruction_copier.h"

namespace calque::kernel {

/// A sequential loop without carries whose only effect is one store, perhaps inside parallel loops.
struct Scatter {
  const Instruction* store = nullptr;
  /// The store combines what is there with `update`; otherwise it replaces it, and the last update stays.
  bool combines = false;
  /// No two updates are at the same place.
  bool disjoint = false;
  Combiner combiner = Combiner::add;
  Id update = kNone;
  const Instruction *load = nullptr, *combination = nullptr;
};

/// What the loop is, where its updates can run side by side: combinations that the hardware has as atomic operations
/// (of floats only where their order may vary), and replacements.
std::optional<Scatter> scatter_of(const Kernel& kernel, const Instruction& loop, bool deterministic);

/// The loop with all its updates side by side, each combined atomically; or stored, where they are disjoint.
void update_side_by_side(Copier& c, Region& to, const Instruction& loop, const Scatter& scatter);

/// Replacements take three loops, with an i32 for every element of the buffer (`winners`): all are -1; every update
/// leaves its number where it is the greatest; and those updates store that find their own.
void clear_winners(Copier& c, Region& to, int32_t winners, int64_t extent);
void claim(Copier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners);
void store_winners(Copier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners);

}  // namespace calque::kernel
