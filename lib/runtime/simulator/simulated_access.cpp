// Checks of single accesses. The fast path is an access within the allocation and the page of the operation's last one.
#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/simulator/simulated_block.h"

namespace calque::runtime {

namespace {

using codegen::SimulatorTable;

constexpr uintptr_t kPageBytes = 4096;
// Limit of global memory that is checked for races in one launch.
constexpr size_t kWatchedPages = 2048;

}  // namespace

void SimulatedBlock::access(BlockThread& t, const void* address, int64_t bytes, int32_t kind, int32_t number) {
  const auto a = reinterpret_cast<uintptr_t>(address);
  Mistake access{
      .thread = t.thread, .access = kind & ~SimulatorTable::shared, .address = a, .bytes = bytes, .site = number};
  if ((a & (static_cast<uintptr_t>(bytes) - 1)) != 0) {
    access.kind = Mistake::misaligned;
    fail(access);
  }
  (kind & SimulatorTable::shared) != 0 ? access_shared(t, access) : access_global(t, access);
}

void SimulatedBlock::access_global(const BlockThread& t, const Mistake& access) {
  Site& s = site(access.site);
  if (!s.range.holds(access.address, static_cast<size_t>(access.bytes))) find_allocation(access);
  const uintptr_t page = access.address / kPageBytes;
  if (s.page != page) {
    s.page = page;
    s.shadow = shadow_of(page);
  }
  if (s.shadow) record(*s.shadow, access.address % kPageBytes, t, access, Mistake::global);
}

void SimulatedBlock::find_allocation(const Mistake& access) {
  SimulatedMemory::Range& range = site(access.site).range;
  range = memory_.find(reinterpret_cast<const void*>(access.address));
  if (!range.released && range.holds(access.address, static_cast<size_t>(access.bytes))) return;
  range = {};
  Mistake mistake = access;
  mistake.kind = Mistake::global_bounds;
  fail(mistake);
}

AccessShadow* SimulatedBlock::shadow_of(uintptr_t page) {
  const auto known = pages_.find(page);
  if (known != pages_.end()) return &known->second;
  if (pages_.size() >= kWatchedPages) return nullptr;
  return &pages_.try_emplace(page, AccessShadow::Scope::grid, kPageBytes).first->second;
}

/// Splits accesses whose size is no power of two, as of a copy that is padded with zeros.
void SimulatedBlock::record(AccessShadow& shadow, size_t offset, const BlockThread& t, const Mistake& access,
                            Mistake::Kind kind) {
  Mistake mistake = access;
  const AccessTime time = now(t);
  for (auto left = static_cast<size_t>(access.bytes); left > 0;) {
    const size_t bytes = std::bit_floor(left);
    switch (access.access) {
      case SimulatorTable::load:
        mistake.how = shadow.load(offset, bytes, time, mistake.other);
        break;
      case SimulatorTable::store:
        mistake.how = shadow.store(offset, bytes, time, mistake.other);
        break;
      default:
        mistake.how = shadow.atomic(offset, bytes, time, mistake.other);
    }
    if (mistake.how != AccessMistake::none) {
      mistake.kind = kind;
      fail(mistake);
    }
    offset += bytes;
    left -= bytes;
  }
}

size_t SimulatedBlock::shared_offset(const Mistake& access) {
  const auto begin = reinterpret_cast<uintptr_t>(shared_);
  const auto bytes = static_cast<uintptr_t>(access.bytes), size = static_cast<uintptr_t>(function_.shared_bytes);
  if (access.address >= begin && access.address - begin <= size && bytes <= size - (access.address - begin))
    return access.address - begin;
  Mistake mistake = access;
  mistake.kind = Mistake::shared_bounds;
  fail(mistake);
}

void SimulatedBlock::access_shared(const BlockThread& t, const Mistake& access) {
  record(shadow_, shared_offset(access), t, access, Mistake::shared);
}

void SimulatedBlock::begin_copy(BlockThread& t, void* shared, const void* global, int32_t valid, int32_t site) {
  constexpr int64_t kBytes = 16;
  if (valid > 0) {
    const auto source = reinterpret_cast<uintptr_t>(global);
    Mistake read{.thread = t.thread, .access = SimulatorTable::load, .address = source, .bytes = valid, .site = site};
    if (source % kBytes != 0) {
      read.kind = Mistake::misaligned;
      read.bytes = kBytes;
      fail(read);
    }
    access_global(t, read);
  }
  const auto target = reinterpret_cast<uintptr_t>(shared);
  Mistake write{.thread = t.thread, .access = SimulatorTable::store, .address = target, .bytes = kBytes, .site = site};
  if (target % kBytes != 0) {
    write.kind = Mistake::misaligned;
    fail(write);
  }
  const size_t offset = shared_offset(write);
  write.how = shadow_.begin_copy(offset, kBytes, now(t), write.other);
  if (write.how != AccessMistake::none) {
    write.kind = Mistake::shared;
    fail(write);
  }
  t.copies.push_back({offset, static_cast<const std::byte*>(global), std::clamp<int32_t>(valid, 0, kBytes), t.commits});
}

void SimulatedBlock::end_copies(BlockThread& t, uint32_t pending) {
  const auto done = [&](const AsyncCopy& copy) {
    if (copy.group + pending >= t.commits) return false;
    std::memset(shared_ + copy.offset, 0, 16);
    std::memcpy(shared_ + copy.offset, copy.global, static_cast<size_t>(copy.valid));
    shadow_.end_copy(copy.offset, 16, now(t));
    return true;
  };
  std::erase_if(t.copies, done);
}

}  // namespace calque::runtime
