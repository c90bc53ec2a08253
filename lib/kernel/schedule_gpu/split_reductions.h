#pragma once
// Splits long reductions and cumulative loops into two or three launches: chunks over the grid, then their partials.
#include <functional>
#include <vector>

#include "kernel/schedule_gpu/instruction_copier.h"

namespace calque::kernel {

/// A loop split into `chunks` of `length` iterations and a remainder: fewer than `chunks` iterations of a reduction,
/// fewer than `length` of a cumulative loop.
struct LoopSplit {
  int64_t chunks = 0, length = 0;
  int64_t whole() const { return chunks * length; }
};

/// Where the partials of chunks are stored: buffer numbers by result, and the element index of each chunk.
struct Partials {
  std::vector<int32_t> buffers;
  /// Emits the element index of a chunk.
  std::function<Id(Region& to, Id chunk)> index;
};

/// In the region of one chunk: reduces its iterations from the identity and stores the partials at index(chunk).
void reduce_chunk(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split, Id chunk,
                  const Partials& partials);
/// Completes the reduction from its initial values, the partials and the iterations past the last chunk.
void reduce_partials(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split,
                     const Partials& partials);

/// The same for cumulative loops, whose chunks reduce_chunk reduces too: an exclusive scan replaces each partial by the
/// combination of all earlier chunks, then the iterations past the last chunk run.
void scan_partials(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split,
                   const Partials& partials);
/// Runs the iterations of one chunk.
void scan_chunk(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split, Id chunk,
                const Partials& partials);

}  // namespace calque::kernel
