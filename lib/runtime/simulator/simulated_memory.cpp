// The map holds both live and released blocks, by address.
#include "runtime/simulator/simulated_memory.h"

#include <cstring>
#include <string>

#include "calque/ir/errors.h"

namespace calque::runtime {

namespace {

// Gap between allocations.
constexpr size_t kGapBytes = 256;
// Limits of released memory that is kept unused.
constexpr size_t kReleasedBytes = size_t{32} << 20, kReleasedBlocks = 4096;

}  // namespace

void* SimulatedMemory::allocate(size_t bytes) {
  Block block;
  block.bytes = bytes;
  const size_t whole = bytes + kAlignment + 2 * kGapBytes;
  block.memory = std::make_unique_for_overwrite<std::byte[]>(whole);
  const auto raw = reinterpret_cast<uintptr_t>(block.memory.get()) + kGapBytes;
  const uintptr_t begin = (raw + kAlignment - 1) / kAlignment * kAlignment;
  std::byte* const data = block.memory.get() + (begin - reinterpret_cast<uintptr_t>(block.memory.get()));
  std::memset(data, 0xff, bytes);
  const std::lock_guard lock(mutex_);
  blocks_.emplace(begin, std::move(block));
  live_bytes_ += bytes;
  return data;
}

void SimulatedMemory::release(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (found == blocks_.end()) throw DeviceError("gpu_sim: release of memory that was not allocated");
  Block& block = found->second;
  if (block.released)
    throw DeviceError("gpu_sim: memory of " + std::to_string(block.bytes) + " bytes is released twice");
  block.released = true;
  live_bytes_ -= block.bytes;
  released_bytes_ += block.bytes;
  released_.push_back(found->first);
  while (released_bytes_ > kReleasedBytes || released_.size() > kReleasedBlocks) forget_oldest();
}

void SimulatedMemory::forget_oldest() {
  const auto oldest = blocks_.find(released_.front());
  released_.pop_front();
  released_bytes_ -= oldest->second.bytes;
  blocks_.erase(oldest);
}

SimulatedMemory::Range SimulatedMemory::find(const void* address) const {
  const auto a = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const auto range = [](const Blocks::value_type& block) {
    return Range{block.first, block.first + block.second.bytes, block.second.released};
  };
  auto next = blocks_.upper_bound(a);
  if (next == blocks_.begin()) return next == blocks_.end() ? Range{} : range(*next);
  const Range before = range(*std::prev(next));
  if (a < before.end || next == blocks_.end()) return before;
  const Range after = range(*next);
  return a - before.end < after.begin - a ? before : after;
}

size_t SimulatedMemory::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

size_t SimulatedMemory::live_allocations() const {
  const std::lock_guard lock(mutex_);
  return blocks_.size() - released_.size();
}

}  // namespace calque::runtime
