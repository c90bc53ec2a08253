#pragma once
// A pool of released blocks of device memory. They may be reused at once, since work is executed in submission order.
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace calque::runtime {

class MemoryPool {
 public:
  struct Block {
    void* memory = nullptr;
    size_t bytes = 0;
  };

  /// The size that a block for `bytes` bytes has: at most a quarter more, in steps of 256 bytes.
  static size_t block_bytes(size_t bytes);
  /// A block of block_bytes(bytes), or null when there is none.
  void* take(size_t bytes);
  void give(void* memory, size_t bytes) noexcept;
  /// Removes blocks, largest first, until at most `most` bytes are kept, and returns them.
  std::vector<Block> clear(size_t most = 0);
  size_t kept_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<size_t, std::vector<void*>> blocks_;
  size_t kept_ = 0;
};

}  // namespace calque::runtime
