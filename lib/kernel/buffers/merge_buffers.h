#pragma once
// Makes two buffers of a list of steps one, where no read comes too late. Asked for thousands of pairs of one list, as
// for the carries of a loop, each question looks only at the steps that touch the pair.
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// The steps belong to the merger as long as it lives: nobody else changes them.
class BufferMerger {
 public:
  BufferMerger(Program& program, std::vector<Step>& steps);
  ~BufferMerger();
  BufferMerger(const BufferMerger&) = delete;
  BufferMerger& operator=(const BufferMerger&) = delete;

  /// Makes buffers `from` and `to` one, which is then called `from`, when every read of `from` in these steps comes
  /// before the write to the same element of `to`. Kernels that are bound to both are rewritten; stores that change
  /// nothing go, and so do kernels that only had such. A kernel that writes before the last read is put behind it where
  /// it can be. False when a read might come too late.
  bool merge(int32_t from, int32_t to);

  /// How many steps were looked at so far.
  size_t steps_visited() const { return visited_; }

 private:
  /// Where the steps read `from` last and touch `to` first.
  struct Range {
    size_t first_write = 0, last_read = 0;
    bool read = false;
  };
  using StepId = uint32_t;  ///< of a step whose position changes

  Range range_of(int32_t from, int32_t to);
  const std::vector<StepId>& touching(int32_t buffer) const;
  bool independent(size_t writer, size_t last);
  void write_late(int32_t from, int32_t to);
  bool can_merge(int32_t from, int32_t to);
  void replace(int32_t from, int32_t to);
  void replace(StepId id, int32_t from, int32_t to);
  void move_behind(size_t writer, size_t last);
  BufferMerger& block(StepId id, size_t number);

  Program& program_;
  std::vector<Step>& steps_;
  std::vector<StepId> order_;                                  ///< by position
  std::vector<size_t> position_;                               ///< by step
  std::vector<bool> dropped_;                                  ///< by step: does nothing any more, and goes in the end
  std::unordered_map<int32_t, std::vector<StepId>> touching_;  ///< by buffer; dropped steps may be among them
  std::unordered_map<StepId, std::vector<std::unique_ptr<BufferMerger>>> blocks_;
  size_t visited_ = 0;
};

}  // namespace calque::kernel
