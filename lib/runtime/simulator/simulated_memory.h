#pragma once
// Global memory of the simulated GPU: host memory whose allocations the simulator knows to the byte. Gaps separate
// neighbouring allocations, and released ones stay known (and unused) for a while.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "ir/fork.h"

namespace calque::runtime {

class SimulatedMemory {
 public:
  static constexpr size_t kAlignment = 256;

  SimulatedMemory() = default;
  SimulatedMemory(const SimulatedMemory&) = delete;
  SimulatedMemory& operator=(const SimulatedMemory&) = delete;

  /// Exactly `bytes` bytes, aligned to kAlignment, each 0xff: NaN as a float. Never null. Throws std::bad_alloc.
  void* allocate(size_t bytes);
  /// Throws DeviceError if the address is no allocation, or was released before.
  void release(void* address);

  struct Range {
    uintptr_t begin = 0, end = 0;
    bool released = false;
    bool holds(uintptr_t address, size_t bytes) const {
      return address >= begin && address <= end && bytes <= end - address;
    }
  };
  /// The allocation at the address, or else the nearest one; empty if there are none.
  Range find(const void* address) const;
  size_t live_bytes() const;
  size_t live_allocations() const;

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    size_t bytes = 0;
    bool released = false;
  };
  using Blocks = std::map<uintptr_t, Block>;
  void forget_oldest();

  mutable ForkMutex mutex_;
  Blocks blocks_;
  std::deque<uintptr_t> released_;  ///< oldest first
  size_t released_bytes_ = 0, live_bytes_ = 0;
};

}  // namespace calque::runtime
