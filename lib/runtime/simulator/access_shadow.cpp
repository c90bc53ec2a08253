// Epochs grow from block to block too, so cells need not be cleared between blocks.
#include "runtime/simulator/access_shadow.h"

namespace calque::runtime {

/// Cells cover 4 bytes until a smaller access refines them.
void AccessShadow::refine(size_t bytes) {
  const size_t times = grain_ / bytes;
  std::vector<Cell> finer;
  finer.reserve(cells_.size() * times);
  for (const Cell& cell : cells_) finer.insert(finer.end(), times, cell);
  cells_ = std::move(finer);
  grain_ = bytes;
}

/// Checks a non-atomic access against the last write.
AccessMistake AccessShadow::check_written(const Cell& cell, const AccessTime& by) const {
  if (cell.write_epoch >= by.first) return cell.in_flight ? AccessMistake::in_flight : AccessMistake::none;
  return scope_ == Scope::grid && cell.write_epoch != 0 ? AccessMistake::between_blocks : AccessMistake::none;
}

AccessMistake AccessShadow::check_readers(const Cell& cell, const AccessTime& by, int32_t& other) const {
  if (scope_ == Scope::grid && cell.read_epoch != 0 && cell.read_epoch < by.first) return AccessMistake::between_blocks;
  if (cell.read_epoch != by.epoch) return AccessMistake::none;
  const bool together = cell.reader_warp == by.warp();
  if (together && (cell.read_warp_epoch != by.warp_epoch || cell.reader == by.thread)) return AccessMistake::none;
  other = cell.reader;
  return AccessMistake::read_write;
}

AccessMistake AccessShadow::check_read(const Cell& cell, const AccessTime& by, int32_t& other) const {
  other = cell.writer;
  if (scope_ == Scope::block && cell.write_epoch < by.first) return AccessMistake::unwritten;
  const AccessMistake mistake = check_written(cell, by);
  if (mistake != AccessMistake::none) return mistake;
  return ordered_behind_write(cell, by) ? AccessMistake::none : AccessMistake::read_write;
}

AccessMistake AccessShadow::check_write(const Cell& cell, const AccessTime& by, int32_t& other) const {
  other = cell.writer;
  const AccessMistake mistake = check_written(cell, by);
  if (mistake != AccessMistake::none) return mistake;
  return ordered_behind_write(cell, by) ? check_readers(cell, by, other) : AccessMistake::write_write;
}

AccessMistake AccessShadow::check_atomic(const Cell& cell, const AccessTime& by, int32_t& other) const {
  other = cell.writer;
  if (scope_ == Scope::block && cell.write_epoch < by.first) return AccessMistake::unwritten;
  if (scope_ == Scope::grid && cell.store_epoch != 0 && cell.store_epoch < by.first)
    return AccessMistake::between_blocks;
  if (cell.atomic) return check_readers(cell, by, other);
  const AccessMistake mistake = check_written(cell, by);
  if (mistake != AccessMistake::none) return mistake;
  return ordered_behind_write(cell, by) ? check_readers(cell, by, other) : AccessMistake::read_write;
}

void AccessShadow::record_read(Cell& cell, const AccessTime& by) {
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

void AccessShadow::record_write(Cell& cell, const AccessTime& by) {
  cell.write_epoch = cell.store_epoch = by.epoch;
  cell.write_warp_epoch = by.warp_epoch;
  cell.writer = static_cast<int16_t>(by.thread);
  cell.in_flight = cell.atomic = false;
}

void AccessShadow::record_atomic(Cell& cell, const AccessTime& by) {
  const bool alone = !cell.atomic || cell.write_epoch != by.epoch || cell.writer == by.thread;
  const uint32_t stored = cell.store_epoch;
  record_write(cell, by);
  cell.store_epoch = stored;
  cell.atomic = true;
  if (!alone) cell.writer = kSeveral;
}

AccessMistake AccessShadow::load(size_t offset, size_t bytes, const AccessTime& by, int32_t& other) {
  for (Cell& cell : cells(offset, bytes)) {
    const AccessMistake mistake = check_read(cell, by, other);
    if (mistake != AccessMistake::none) return mistake;
    record_read(cell, by);
  }
  return AccessMistake::none;
}

AccessMistake AccessShadow::store(size_t offset, size_t bytes, const AccessTime& by, int32_t& other) {
  for (Cell& cell : cells(offset, bytes)) {
    const AccessMistake mistake = check_write(cell, by, other);
    if (mistake != AccessMistake::none) return mistake;
    record_write(cell, by);
  }
  return AccessMistake::none;
}

AccessMistake AccessShadow::atomic(size_t offset, size_t bytes, const AccessTime& by, int32_t& other) {
  for (Cell& cell : cells(offset, bytes)) {
    const AccessMistake mistake = check_atomic(cell, by, other);
    if (mistake != AccessMistake::none) return mistake;
    record_atomic(cell, by);
  }
  return AccessMistake::none;
}

AccessMistake AccessShadow::begin_copy(size_t offset, size_t bytes, const AccessTime& by, int32_t& other) {
  const AccessMistake mistake = store(offset, bytes, by, other);
  if (mistake == AccessMistake::none)
    for (Cell& cell : cells(offset, bytes)) cell.in_flight = true;
  return mistake;
}

void AccessShadow::end_copy(size_t offset, size_t bytes, const AccessTime& by) {
  for (Cell& cell : cells(offset, bytes)) record_write(cell, by);
}

}  // namespace calque::runtime
