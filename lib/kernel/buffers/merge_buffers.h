#pragma once
// Merges two buffers of a list of steps where no read comes after the overwriting store. For thousands of pairs of one
// list, as for the carries of a loop, each query visits only the steps that use the pair.
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Whether the step is a call that may write its result into the memory of its operand, and that is not there yet.
bool may_overwrite_operand(const Program& program, const Step& step);

/// The merger owns the steps during its lifetime: they must not be changed otherwise.
class BufferMerger {
 public:
  BufferMerger(Program& program, std::vector<Step>& steps);
  ~BufferMerger();
  BufferMerger(const BufferMerger&) = delete;
  BufferMerger& operator=(const BufferMerger&) = delete;

  /// Merges buffer `to` into `from` when every read of `from` in these steps comes before the write to the same element
  /// of `to`. Kernels that are bound to both are rewritten; redundant stores are removed, and so are kernels without
  /// other stores. A kernel that writes before the last read is moved after it where possible. False when a read might
  /// come after the write.
  bool merge(int32_t from, int32_t to);

  /// Whether merge(from, to) would succeed, without delaying a write.
  bool can_merge(int32_t from, int32_t to);

  /// The workspace buffer that a call writes whose operand is the whole of `buffer`, if that call is the last step that
  /// uses `buffer`, and the buffer it writes is one that could take over its memory. -1 if there is none.
  int32_t result_of_last_call(int32_t buffer) const;

  /// The number of steps visited so far.
  size_t steps_visited() const { return visited_; }

 private:
  /// The positions of the last step that uses `from` and of the first step that uses `to`.
  struct Range {
    size_t first_write = 0, last_read = 0;
    bool read = false;
  };
  using StepId = uint32_t;  ///< stable while positions change

  Range range_of(int32_t from, int32_t to);
  const std::vector<StepId>& users(int32_t buffer) const;
  bool independent(size_t writer, size_t last);
  void delay_write(int32_t from, int32_t to);
  void replace(int32_t from, int32_t to);
  void replace(StepId id, int32_t from, int32_t to);
  void move_after(size_t writer, size_t last);
  BufferMerger& block(StepId id, size_t number);

  Program& program_;
  std::vector<Step>& steps_;
  std::vector<StepId> order_;                               ///< by position
  std::vector<size_t> position_;                            ///< by step
  std::vector<bool> dropped_;                               ///< by step: has no effect, removed in the destructor
  std::unordered_map<int32_t, std::vector<StepId>> users_;  ///< by buffer; may include dropped steps
  std::unordered_map<StepId, std::vector<std::unique_ptr<BufferMerger>>> blocks_;
  size_t visited_ = 0;
};

}  // namespace calque::kernel
