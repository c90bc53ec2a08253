// Free blocks up to a megabyte are in lists of the thread that freed them, by size class; larger ones in one store with
// a lock. A block is always as large as its class, so any thread can reuse it for any size of the class.
#include "runtime/memory/array_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include <sys/mman.h>

#include "ir/fork.h"
#include "ir/values/storage_identity.h"

namespace calque::runtime {
namespace {

constexpr size_t kStep = 64;
constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kHuge = size_t{4} << 20;  // from here on: separate mappings with huge pages requested
constexpr size_t kThreadCacheBytes = size_t{4} << 20;
constexpr size_t kStoreCacheBytes = size_t{2} << 30;
constexpr size_t kStoreBlocks = 256;
constexpr size_t kHugePage = size_t{2} << 20;

/// Sixteen classes of 64 bytes, then four for each power of two.
constexpr size_t class_of(size_t bytes) {
  if (bytes <= 1024) return (bytes + kStep - 1) / kStep;
  const auto power = static_cast<size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power+1)
  const size_t quarter = (bytes - 1 - (size_t{1} << power)) >> (power - 2);
  return 17 + (power - 10) * 4 + quarter;
}
constexpr size_t size_of_class(size_t index) {
  if (index <= 16) return index * kStep;
  const size_t power = (index - 17) / 4 + 10;
  return (size_t{1} << power) + ((index - 17) % 4 + 1) * (size_t{1} << (power - 2));
}
constexpr size_t kClasses = class_of(kLarge) + 1;
static_assert(size_of_class(class_of(1)) == 64 && size_of_class(class_of(1025)) == 1280 &&
              size_of_class(class_of(kLarge)) == kLarge);

struct Free {
  Free* next;
};

struct Lists {
  std::array<Free*, kClasses> heads{};
  size_t bytes = 0;
};

// Trivially destructible: arrays that are destroyed after the thread's destructors still read these.
thread_local Lists* lists = nullptr;
thread_local bool thread_ended = false;

void free_lists(Lists& l) {
  for (Free*& head : l.heads) {
    while (head != nullptr) std::free(std::exchange(head, head->next));
  }
  l.bytes = 0;
}

struct ThreadEnd {
  Lists mine;
  ~ThreadEnd() {
    thread_ended = true;
    lists = nullptr;
    free_lists(mine);
  }
};

Lists* create_lists() {
  if (thread_ended) return nullptr;
  static thread_local ThreadEnd end;
  return lists = &end.mine;
}

class Store {
 public:
  void* take(size_t bytes) {
    {
      std::lock_guard lock(mutex_);
      for (size_t i = blocks_.size(); i-- > 0;) {
        if (blocks_[i].bytes != bytes) continue;
        void* memory = blocks_[i].memory;
        cached_ -= bytes;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
        return memory;
      }
    }
    return fresh(bytes);
  }
  void give(void* memory, size_t bytes) noexcept {
    std::vector<Block> surplus;
    {
      std::lock_guard lock(mutex_);
      if (blocks_.capacity() == 0) blocks_.reserve(kStoreBlocks + 1);
      blocks_.push_back({memory, bytes});
      cached_ += bytes;
      while (cached_ > kStoreCacheBytes || blocks_.size() > kStoreBlocks) {
        surplus.push_back(blocks_.front());
        cached_ -= blocks_.front().bytes;
        blocks_.erase(blocks_.begin());
      }
    }
    for (const Block& block : surplus) drop(block);
  }
  void trim() {
    std::vector<Block> all;
    {
      std::lock_guard lock(mutex_);
      all.swap(blocks_);
      cached_ = 0;
    }
    for (const Block& block : all) drop(block);
  }
  size_t cached() {
    std::lock_guard lock(mutex_);
    return cached_;
  }

 private:
  struct Block {
    void* memory;
    size_t bytes;
  };
  static void* fresh(size_t bytes) {
    if (bytes < kHuge) return std::aligned_alloc(64, bytes);
    // Aligned to huge pages by trimming a larger mapping.
    const size_t whole = bytes + kHugePage;
    auto* base = static_cast<std::byte*>(
        mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base == MAP_FAILED) return nullptr;
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(base) % kHugePage) % kHugePage;
    if (before != 0) munmap(base, before);
    if (kHugePage != before) munmap(base + before + bytes, kHugePage - before);
    madvise(base + before, bytes, MADV_HUGEPAGE);
    return base + before;
  }
  static void drop(const Block& block) {
    if (block.bytes < kHuge) {
      std::free(block.memory);
    } else {
      munmap(block.memory, block.bytes);
    }
  }

  ForkMutex mutex_;
  std::vector<Block> blocks_;  // oldest first
  size_t cached_ = 0;
};

Store& store() {
  return process_wide([] { return new Store; });
}

/// Eight classes per power of two: at most an eighth of a block is wasted.
size_t large_class(size_t bytes) {
  const size_t grain = std::bit_floor(bytes) / 8;
  return (bytes + grain - 1) / grain * grain;
}

/// Bytes of large blocks in use by callers of the pool.
std::atomic<size_t> in_use{0}, peak_in_use{0};

void* take_large(size_t bytes) {
  void* memory = store().take(large_class(bytes));
  if (memory == nullptr) return nullptr;
  const size_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t peak = peak_in_use.load(std::memory_order_relaxed);
  while (peak < now && !peak_in_use.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return memory;
}

void* pool_allocate(size_t bytes) {
  if (bytes > kLarge) return take_large(bytes);
  const size_t index = class_of(bytes);
  if (Lists* mine = lists != nullptr ? lists : create_lists()) {
    if (Free* head = mine->heads[index]) {
      mine->heads[index] = head->next;
      mine->bytes -= size_of_class(index);
      return head;
    }
  }
  return std::aligned_alloc(64, size_of_class(index));
}

void pool_release(void* memory, size_t bytes) noexcept {
  if (bytes > kLarge) {
    in_use.fetch_sub(bytes, std::memory_order_relaxed);
    store().give(memory, large_class(bytes));
    return;
  }
  const size_t index = class_of(bytes);
  const size_t size = size_of_class(index);
  Lists* mine = lists != nullptr ? lists : create_lists();
  if (mine == nullptr || mine->bytes + size > kThreadCacheBytes) {
    std::free(memory);
    return;
  }
  mine->heads[index] = new (memory) Free{mine->heads[index]};
  mine->bytes += size;
}

constexpr detail::StorageAllocator kPool{&pool_allocate, &pool_release};

}  // namespace

void install_pool() {
#if defined(__SANITIZE_ADDRESS__)
  return;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return;
#endif
#endif
  process_wide([] {
    detail::set_storage_allocator(&kPool);
    return &kPool;
  });
}

void trim_pool() {
  if (lists != nullptr) free_lists(*lists);
  store().trim();
}

size_t cached_bytes() { return store().cached(); }
size_t bytes_in_use() { return in_use.load(std::memory_order_relaxed); }
size_t peak_bytes_in_use(bool reset) {
  return reset ? peak_in_use.exchange(bytes_in_use(), std::memory_order_relaxed)
               : peak_in_use.load(std::memory_order_relaxed);
}

}  // namespace calque::runtime
