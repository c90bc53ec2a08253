// Sizes are rounded up to size classes, so that blocks can be reused for similar sizes.
#include "runtime/device/device_pool.h"

#include <algorithm>
#include <bit>

namespace calque::runtime {

size_t MemoryPool::block_bytes(size_t bytes) {
  constexpr size_t kStep = 256, kSmall = 4 * kStep;
  const size_t step = bytes <= kSmall ? kStep : std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

void* MemoryPool::take(size_t bytes) {
  const size_t size = block_bytes(bytes);
  std::lock_guard lock(mutex_);
  const auto found = blocks_.find(size);
  if (found == blocks_.end() || found->second.empty()) return nullptr;
  void* memory = found->second.back();
  found->second.pop_back();
  kept_ -= size;
  return memory;
}

void MemoryPool::give(void* memory, size_t bytes) noexcept {
  const size_t size = block_bytes(bytes);
  std::lock_guard lock(mutex_);
  blocks_[size].push_back(memory);
  kept_ += size;
}

std::vector<MemoryPool::Block> MemoryPool::clear(size_t most) {
  std::vector<Block> cleared;
  std::lock_guard lock(mutex_);
  for (auto size = blocks_.rbegin(); size != blocks_.rend(); ++size) {
    while (kept_ > most && !size->second.empty()) {
      cleared.push_back({size->second.back(), size->first});
      size->second.pop_back();
      kept_ -= size->first;
    }
  }
  return cleared;
}

size_t MemoryPool::kept_bytes() const {
  std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace calque::runtime
