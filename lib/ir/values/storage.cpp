// A block and its bytes are one allocation. Guarded buffers (CALQUE_GUARD=1) are separate mappings that end at an
// inaccessible page, so that an access past the end faults immediately. AddressSanitizer knows the exact end of others.
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "calque/ir/any_array.h"
#include "calque/ir/errors.h"

#include "ir/environment.h"
#include "ir/fork.h"
#include "xxhash.h"

#if defined(__SANITIZE_ADDRESS__)
#define CALQUE_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALQUE_POISON 1
#endif
#endif
#ifdef CALQUE_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace calque::detail {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLarge = size_t{1} << 20;  // from here on the size is compared with the host's memory
/// Two cache lines, since processors prefetch them in pairs: with one, a loop over ten arrays of 8 MB is 10 % slower.
constexpr size_t kHeader = 2 * kAlignment;
static_assert(sizeof(Storage::Block) <= kHeader);

std::atomic<const StorageAllocator*> installed_allocator{nullptr};

bool guarded() {
  return process_wide([] { return new const bool(is_on("CALQUE_GUARD")); });
}

size_t page_size() {
  return process_wide([] { return new const size_t(static_cast<size_t>(sysconf(_SC_PAGESIZE))); });
}

/// Larger requests fail here: the system overcommits memory and kills programs that use too much.
size_t host_memory() {
  return process_wide([] {
    const long pages = sysconf(_SC_PHYS_PAGES);
    return new const size_t(pages > 0 ? static_cast<size_t>(pages) * page_size() : SIZE_MAX / 2);
  });
}

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

[[noreturn]] void out_of_memory(size_t bytes) {
  throw DeviceError("allocate: the host is out of memory, " + std::to_string(bytes) + " bytes asked for");
}

/// The guarded mappings that a thread has freed and will use again: making one anew takes three system calls, which are
/// most of the time of a program with many small arrays. Each has so many pages before its inaccessible one.
class FreeMappings {
 public:
  static constexpr size_t kMaxPages = 8;

  FreeMappings() = default;
  ~FreeMappings() {
    alive = false;
    for (size_t pages = 0; pages <= kMaxPages; ++pages) {
      while (std::byte* base = take(pages)) munmap(base, (pages + 1) * page_size());
    }
  }
  FreeMappings(const FreeMappings&) = delete;
  FreeMappings& operator=(const FreeMappings&) = delete;

  /// The list of this thread; null while the thread ends.
  static FreeMappings* mine() {
    thread_local FreeMappings mappings;
    return alive ? &mappings : nullptr;
  }

  std::byte* take(size_t pages) {
    if (pages > kMaxPages || count_[pages] == 0) return nullptr;
    return bases_[pages][--count_[pages]];
  }

  /// False if there are enough.
  bool keep(std::byte* base, size_t pages) {
    if (pages > kMaxPages || count_[pages] == kEach) return false;
    // What reads the memory now, or before it is written again, gets NaNs.
    std::memset(base, 0xff, pages * page_size());
    bases_[pages][count_[pages]++] = base;
    return true;
  }

 private:
  static constexpr size_t kEach = 32;
  static constinit thread_local bool alive;
  std::array<std::array<std::byte*, kEach>, kMaxPages + 1> bases_;
  std::array<size_t, kMaxPages + 1> count_{};
};
constinit thread_local bool FreeMappings::alive = true;

void* map_guarded(size_t bytes) {
  const size_t body = round_up(bytes, page_size());
  if (FreeMappings* free = FreeMappings::mine()) {
    if (std::byte* base = free->take(body / page_size())) return base + body - bytes;
  }
  void* base = mmap(nullptr, body + page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) out_of_memory(bytes);
  auto* guard = static_cast<std::byte*>(base) + body;
  if (mprotect(guard, page_size(), PROT_NONE) != 0) {
    munmap(base, body + page_size());
    out_of_memory(bytes);
  }
  return guard - bytes;
}

/// Under AddressSanitizer the bytes of a block after its last element are out of bounds.
void mark_end([[maybe_unused]] std::byte* chunk, [[maybe_unused]] size_t bytes, [[maybe_unused]] size_t used) {
#ifdef CALQUE_POISON
  ASAN_POISON_MEMORY_REGION(chunk + used, bytes - used);
#endif
}

Storage::Block* allocate_guarded(size_t bytes) {
  void* data = map_guarded(bytes);
  auto* block = new Storage::Block;
  block->data = data;
  block->bytes = bytes;
  return block;
}

void unmap_guarded(void* data, size_t bytes) {
  const size_t body = round_up(bytes, page_size());
  std::byte* const base = static_cast<std::byte*>(data) + bytes - body;
  FreeMappings* free = FreeMappings::mine();
  if (free == nullptr || !free->keep(base, body / page_size())) munmap(base, body + page_size());
}

}  // namespace

void set_storage_allocator(const StorageAllocator* allocator) {
  if (!guarded()) installed_allocator.store(allocator, std::memory_order_release);
}

Storage Storage::allocate(size_t bytes) {
  if (bytes > kLarge && bytes > host_memory()) out_of_memory(bytes);
  Storage storage;
  const StorageAllocator* allocator = installed_allocator.load(std::memory_order_acquire);
  if (allocator == nullptr && guarded()) {
    storage.block_ = allocate_guarded(bytes);
    return storage;
  }
  const size_t chunk = round_up(kHeader + bytes, kAlignment);
  void* memory = allocator ? allocator->allocate(chunk) : std::aligned_alloc(kAlignment, chunk);
  if (memory == nullptr) [[unlikely]]
    out_of_memory(bytes);
  Block* const block = new (memory) Block;
  block->data = static_cast<std::byte*>(memory) + kHeader;
  block->bytes = bytes;
  block->allocator = allocator;
  block->chunk = chunk;
  storage.block_ = block;
  if (allocator == nullptr) mark_end(static_cast<std::byte*>(memory), chunk, kHeader + bytes);
  return storage;
}

Storage Storage::borrow(void* data, size_t bytes, std::function<void()> release) {
  Storage storage;
  storage.block_ = new Block;
  storage.block_->owned = false;
  storage.block_->data = data;
  storage.block_->bytes = bytes;
  if (release) storage.block_->with_rare().on_release = std::move(release);
  return storage;
}

Storage Storage::absent(size_t bytes, ContentHash hash) {
  Storage storage = borrow(nullptr, bytes, {});
  storage.block_->absent = true;
  storage.block_->with_rare().hash = hash;
  return storage;
}

Storage Storage::on_device(std::unique_ptr<DeviceMemory> memory, size_t bytes) {
  Storage storage;
  storage.block_ = new Block;
  storage.block_->with_rare().device = std::move(memory);
  storage.block_->bytes = bytes;
  return storage;
}

Storage Storage::hand_over(const char* to) const {
  Storage taken;
  if (block_ == nullptr || (block_->rare != nullptr && block_->rare->given_to != nullptr)) return taken;
  auto left = std::make_unique<Block>();
  left->bytes = block_->bytes;
  left->with_rare().given_to = to;
  taken.block_ = std::exchange(block_, left.release());
  return taken;
}

void* Storage::not_here() const {
  const Rare* const rare = block_->rare.get();
  if (rare != nullptr && rare->device != nullptr) return rare->device->host();
  if (rare != nullptr && rare->given_to != nullptr) {
    throw DeviceError("array: used after it was donated, as " + std::string(rare->given_to));
  }
  if (block_->absent) {
    throw Error("array: its elements are not here, the text that it was read from holds only their hash");
  }
  return nullptr;
}

void Storage::destroy(Block* block) {
  if (const size_t chunk = block->chunk; chunk != 0) [[likely]] {
    const StorageAllocator* allocator = block->allocator;
    block->~Block();
    if (allocator) {
      allocator->release(block, chunk);
    } else {
      std::free(block);
    }
    return;
  }
  const std::unique_ptr<Block> freed(block);
  if (!block->owned) {
    if (block->rare != nullptr && block->rare->on_release) block->rare->on_release();
  } else if (block->data != nullptr) {
    unmap_guarded(block->data, block->bytes);
  }
}

ContentHash Storage::content_hash(size_t bytes) const {
  if (is_absent()) return block_->rare->hash;
  const XXH128_hash_t hash = XXH3_128bits(data(), bytes);
  return {hash.low64, hash.high64};
}

}  // namespace calque::detail
