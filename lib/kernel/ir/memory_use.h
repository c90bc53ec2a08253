#pragma once
// Which memory steps read and write, and which of them may therefore not be reordered or overlap in time.
#include <string_view>
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Bytes [begin, end) of memory that a step uses, in all iterations or in those of a loop with this remainder.
struct MemoryUse {
  int32_t memory = -1;
  int64_t begin = 0, end = INT64_MAX;
  bool written = false;
  int32_t loop = -1;
  int64_t period = 1, remainder = 0;

  bool conflicts(const MemoryUse& other) const;
};

/// Whether one of the uses writes what another one, of the other list, uses.
bool conflict(const std::vector<MemoryUse>& a, const std::vector<MemoryUse>& b);

class MemoryUses {
 public:
  /// `has_offsets`: buffers of the workspace have their offsets, and those that share bytes are the same memory.
  explicit MemoryUses(const Program& program, bool has_offsets = false);

  /// The uses of the step and of those inside it.
  std::vector<MemoryUse> of(const Step& step) const;

 private:
  /// Where a buffer begins.
  struct Origin {
    int32_t memory;
    int64_t offset;
  };
  void append(const Step& step, std::vector<MemoryUse>& out) const;
  void append(const View& view, int64_t bytes, bool written, std::vector<MemoryUse>& out) const;

  const Program& program_;
  std::vector<Origin> memory_;  ///< by buffer
};

/// The calls of a list of steps that were started and are not complete. Until then other steps must not touch their
/// results, nor write to their operands.
class PendingCalls {
 public:
  PendingCalls(const Program& program, const MemoryUses& uses) : program_(program), uses_(uses) {}

  /// Passes the next step of the list. Returns the rule that it breaks, or an empty text.
  std::string_view pass(const Step& step);
  bool empty() const { return calls_.empty(); }

 private:
  struct Call {
    const Step* start;
    std::vector<MemoryUse> uses;
  };
  const Program& program_;
  const MemoryUses& uses_;
  std::vector<Call> calls_;
};

}  // namespace calque::kernel
