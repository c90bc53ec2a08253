// Epochs only grow, from block to block too, so cells need no clearing between blocks.
#include "runtime/gpu/shared_shadow.h"

namespace calque::runtime {

/// One cell per 4 bytes serves until something smaller is accessed.
void SharedShadow::refine(size_t bytes) {
  const size_t times = grain_ / bytes;
  std::vector<Cell> finer;
  finer.reserve(cells_.size() * times);
  for (const Cell& cell : cells_) finer.insert(finer.end(), times, cell);
  cells_ = std::move(finer);
  grain_ = bytes;
}

SharedMistake SharedShadow::check_read(const Cell& cell, const SharedAccess& by, int32_t& other) const {
  other = cell.writer;
  if (cell.write_epoch < first_) return SharedMistake::unwritten;
  if (cell.in_flight) return SharedMistake::in_flight;
  return ordered_behind_write(cell, by) ? SharedMistake::none : SharedMistake::read_write;
}

SharedMistake SharedShadow::check_write(const Cell& cell, const SharedAccess& by, int32_t& other) const {
  other = cell.writer;
  if (cell.in_flight && cell.write_epoch >= first_) return SharedMistake::in_flight;
  if (!ordered_behind_write(cell, by)) return SharedMistake::write_write;
  if (cell.read_epoch != by.epoch) return SharedMistake::none;
  const bool together = cell.reader_warp == by.warp();
  if (together && (cell.read_warp_epoch != by.warp_epoch || cell.reader == by.thread)) return SharedMistake::none;
  other = cell.reader;
  return SharedMistake::read_write;
}

void SharedShadow::note_read(Cell& cell, const SharedAccess& by) {
  const auto thread = static_cast<int16_t>(by.thread);
  if (cell.read_epoch != by.epoch) {
    cell.reader_warp = static_cast<int16_t>(by.warp());
    cell.reader = thread;
  } else if (cell.reader_warp != by.warp()) {
    cell.reader_warp = kSeveral;
  } else if (cell.read_warp_epoch != by.warp_epoch) {
    cell.reader = thread;
  } else if (cell.reader != thread) {
    cell.reader = kSeveral;
  }
  cell.read_epoch = by.epoch;
  cell.read_warp_epoch = by.warp_epoch;
}

void SharedShadow::note_write(Cell& cell, const SharedAccess& by) {
  cell.write_epoch = by.epoch;
  cell.write_warp_epoch = by.warp_epoch;
  cell.writer = static_cast<int16_t>(by.thread);
  cell.in_flight = false;
}

SharedMistake SharedShadow::load(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other) {
  for (Cell& cell : cells(offset, bytes)) {
    const SharedMistake mistake = check_read(cell, by, other);
    if (mistake != SharedMistake::none) return mistake;
    note_read(cell, by);
  }
  return SharedMistake::none;
}

SharedMistake SharedShadow::store(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other) {
  for (Cell& cell : cells(offset, bytes)) {
    const SharedMistake mistake = check_write(cell, by, other);
    if (mistake != SharedMistake::none) return mistake;
    note_write(cell, by);
  }
  return SharedMistake::none;
}

SharedMistake SharedShadow::atomic(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other) {
  for (const Cell& cell : cells(offset, bytes)) {
    const SharedMistake mistake = check_read(cell, by, other);
    if (mistake != SharedMistake::none) return mistake;
  }
  return SharedMistake::none;
}

SharedMistake SharedShadow::begin_copy(size_t offset, size_t bytes, const SharedAccess& by, int32_t& other) {
  const SharedMistake mistake = store(offset, bytes, by, other);
  if (mistake == SharedMistake::none)
    for (Cell& cell : cells(offset, bytes)) cell.in_flight = true;
  return mistake;
}

void SharedShadow::end_copy(size_t offset, size_t bytes, const SharedAccess& by) {
  for (Cell& cell : cells(offset, bytes)) note_write(cell, by);
}

}  // namespace calque::runtime
