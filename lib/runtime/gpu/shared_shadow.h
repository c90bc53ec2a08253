#pragma once
// What the simulator remembers of each piece of a block's shared memory: who wrote it last, who has read it since the
// last barrier, and whether a copy is still on its way there. Time is counted in epochs: the block's end at its
// barriers, a warp's at its own.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace calque::runtime {

/// Who accesses, and when.
struct SharedAccess {
  int32_t thread = 0;
  uint32_t epoch = 0;       ///< of the block
  uint32_t warp_epoch = 0;  ///< of the thread's warp
  int32_t warp() const { return thread / 32; }
};

enum class SharedMistake : uint8_t {
  none,
  unwritten,   ///< reads what nobody has written since the block began
  in_flight,   ///< touches what a copy, not yet waited for, writes
  read_write,  ///< reads what another wrote, or the other way round, and no barrier lies between
  write_write,
};

class SharedShadow {
 public:
  explicit SharedShadow(size_t bytes) : cells_(bytes / kCoarse + 1) {}

  /// From here on what was written before `epoch` is forgotten.
  void begin_block(uint32_t epoch) { first_ = epoch; }
  /// Notes an access to bytes within the memory, aligned to its size (a power of two, 16 at most). Where it is a
  /// mistake, `other` is the other thread, or -1.
  SharedMistake load(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other);
  SharedMistake store(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other);
  SharedMistake atomic(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other);
  /// A copy that begins is a store that nobody may touch before it `arrives`.
  SharedMistake begin_copy(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other);
  void end_copy(size_t offset, size_t bytes, const SharedAccess& by);

 private:
  static constexpr size_t kCoarse = 4;
  static constexpr int16_t kSeveral = -2;  ///< readers
  // Epoch 0 is never.
  struct Cell {
    uint32_t write_epoch = 0, write_warp_epoch = 0;
    uint32_t read_epoch = 0, read_warp_epoch = 0;
    int16_t writer = -1;
    int16_t reader_warp = -1;  ///< kSeveral: of several warps
    int16_t reader = -1;       ///< kSeveral: of one warp, in one epoch of it
    bool in_flight = false;
  };
  void refine(size_t bytes);
  /// The cells of a piece of memory, made finer when they are too coarse for it.
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
  SharedMistake check_read(const Cell& cell, const SharedAccess& by, int32_t& other) const;
  SharedMistake check_write(const Cell& cell, const SharedAccess& by, int32_t& other) const;
  static bool ordered_behind_write(const Cell& cell, const SharedAccess& by) {
    return cell.write_epoch != by.epoch || cell.writer == by.thread ||
           (cell.writer / 32 == by.warp() && cell.write_warp_epoch != by.warp_epoch);
  }
  static void note_read(Cell& cell, const SharedAccess& by);
  static void note_write(Cell& cell, const SharedAccess& by);

  size_t grain_ = kCoarse;  ///< bytes of a cell
  uint32_t first_ = 1;
  std::vector<Cell> cells_;
};

}  // namespace calque::runtime
