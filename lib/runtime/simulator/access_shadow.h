#pragma once
// Shadow state of memory: the last writer, the readers since the last barrier, and whether an asynchronous copy to it
// is in flight. Time is counted in epochs, which only grow: a block's epoch ends at its barriers, a warp's at the
// warp's.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace calque::runtime {

/// The accessing thread, and the time of the access.
struct AccessTime {
  int32_t thread = 0;
  uint32_t first = 1;       ///< epoch in which the block began
  uint32_t epoch = 1;       ///< of the block
  uint32_t warp_epoch = 0;  ///< of the thread's warp
  int32_t warp() const { return thread / 32; }
};

enum class AccessMistake : uint8_t {
  none,
  unwritten,   ///< reads shared memory that no thread has written since the block began
  in_flight,   ///< accesses the target of a copy that has not been waited for
  read_write,  ///< a read and a write by different threads without a barrier between them
  write_write,
  between_blocks,  ///< two blocks of a launch access it, one of them writing
};

/// Shadow of a range of memory that belongs to one block at a time, which must write before it reads, or to all blocks.
class AccessShadow {
 public:
  enum class Scope : uint8_t { block, grid };
  AccessShadow(Scope scope, size_t bytes) : scope_(scope), cells_(bytes / kCoarse + 1) {}

  /// Records an access to bytes within the memory, aligned to its size (a power of two, 16 at most). If it is a
  /// mistake, `other` is the other thread, or negative.
  AccessMistake load(size_t offset, size_t bytes, const AccessTime& by, int32_t& other);
  AccessMistake store(size_t offset, size_t bytes, const AccessTime& by, int32_t& other);
  /// Atomic operations do not race with one another, but with all other accesses.
  AccessMistake atomic(size_t offset, size_t bytes, const AccessTime& by, int32_t& other);
  /// The start of a copy is a store whose target must not be accessed before the copy has ended.
  AccessMistake begin_copy(size_t offset, size_t bytes, const AccessTime& by, int32_t& other);
  void end_copy(size_t offset, size_t bytes, const AccessTime& by);

 private:
  static constexpr size_t kCoarse = 4;
  static constexpr int16_t kSeveral = -2;
  // Epoch 0 means never.
  struct Cell {
    uint32_t write_epoch = 0, write_warp_epoch = 0;
    uint32_t store_epoch = 0;  ///< of the last write that was not atomic
    uint32_t read_epoch = 0, read_warp_epoch = 0;
    int16_t writer = -1;       ///< kSeveral: of atomic operations
    int16_t reader_warp = -1;  ///< kSeveral: of several warps
    int16_t reader = -1;       ///< kSeveral: of one warp, in one epoch of it
    bool in_flight = false;
    bool atomic = false;
  };
  /// The cells of a range of memory, refined if they are too coarse for it.
  struct Span {
    Cell* begin_;
    Cell* end_;
    Cell* begin() const { return begin_; }
    Cell* end() const { return end_; }
  };
  Span cells(size_t offset, size_t bytes) {
    if (bytes < grain_) refine(bytes);
    Cell* first = cells_.data() + offset / grain_;
    return {first, first + bytes / grain_};
  }
  void refine(size_t bytes);
  AccessMistake check_written(const Cell& cell, const AccessTime& by) const;
  static bool ordered_behind_write(const Cell& cell, const AccessTime& by) {
    return cell.write_epoch != by.epoch || cell.writer == by.thread ||
           (cell.writer >= 0 && cell.writer / 32 == by.warp() && cell.write_warp_epoch != by.warp_epoch);
  }
  AccessMistake check_readers(const Cell& cell, const AccessTime& by, int32_t& other) const;
  AccessMistake check_read(const Cell& cell, const AccessTime& by, int32_t& other) const;
  AccessMistake check_write(const Cell& cell, const AccessTime& by, int32_t& other) const;
  AccessMistake check_atomic(const Cell& cell, const AccessTime& by, int32_t& other) const;
  static void record_read(Cell& cell, const AccessTime& by);
  static void record_write(Cell& cell, const AccessTime& by);
  static void record_atomic(Cell& cell, const AccessTime& by);

  Scope scope_;
  size_t grain_ = kCoarse;  ///< bytes of a cell
  std::vector<Cell> cells_;
};

}  // namespace calque::runtime
