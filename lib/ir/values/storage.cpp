// A block and its bytes are one allocation. Guarded buffers (CALQUE_GUARD=1) are separate mappings that end at an
// inaccessible page, so that an access past the end faults immediately. AddressSanitizer knows the exact end of others.
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
constexpr size_t kHeader = (sizeof(Storage::Block) + kAlignment - 1) / kAlignment * kAlignment;

std::atomic<const StorageAllocator*> installed_allocator{nullptr};

bool guarded() {
  static const bool on = is_on("CALQUE_GUARD");
  return on;
}

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

/// Larger requests fail here: the system overcommits memory and kills programs that use too much.
size_t host_memory() {
  static const size_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? static_cast<size_t>(pages) * page_size() : SIZE_MAX / 2;
  }();
  return bytes;
}

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

[[noreturn]] void out_of_memory(size_t bytes) {
  throw DeviceError("allocate: the host is out of memory, " + std::to_string(bytes) + " bytes asked for");
}

void* map_guarded(size_t bytes) {
  const size_t body = round_up(bytes, page_size());
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

void unmap_guarded(void* data, size_t bytes) {
  const size_t body = round_up(bytes, page_size());
  munmap(static_cast<std::byte*>(data) + bytes - body, body + page_size());
}

}  // namespace

void set_storage_allocator(const StorageAllocator* allocator) {
  installed_allocator.store(allocator, std::memory_order_release);
}

Storage Storage::allocate(size_t bytes) {
  if (bytes > host_memory()) out_of_memory(bytes);
  Storage storage;
  if (guarded()) {
    void* data = map_guarded(bytes);
    storage.block_ = new Block;
    storage.block_->data = data;
  } else {
    const StorageAllocator* allocator = installed_allocator.load(std::memory_order_acquire);
    const size_t chunk = round_up(kHeader + bytes, kAlignment);
    void* memory = allocator ? allocator->allocate(chunk) : std::aligned_alloc(kAlignment, chunk);
    if (memory == nullptr) out_of_memory(bytes);
    storage.block_ = new (memory) Block;
    storage.block_->data = static_cast<std::byte*>(memory) + kHeader;
    storage.block_->allocator = allocator;
    storage.block_->chunk = chunk;
    if (allocator == nullptr) mark_end(static_cast<std::byte*>(memory), chunk, kHeader + bytes);
  }
  storage.block_->bytes = bytes;
  return storage;
}

Storage Storage::borrow(void* data, size_t bytes, std::function<void()> release) {
  Storage storage;
  storage.block_ = new Block;
  storage.block_->owned = false;
  storage.block_->data = data;
  storage.block_->bytes = bytes;
  storage.block_->on_release = std::move(release);
  return storage;
}

Storage Storage::absent(size_t bytes, ContentHash hash) {
  Storage storage = borrow(nullptr, bytes, {});
  storage.block_->absent = true;
  storage.block_->hash = hash;
  return storage;
}

Storage Storage::on_device(std::unique_ptr<DeviceMemory> memory, size_t bytes) {
  Storage storage;
  storage.block_ = new Block;
  storage.block_->device = std::move(memory);
  storage.block_->bytes = bytes;
  return storage;
}

void Storage::give_away(const char* to) const {
  if (block_->given_to != nullptr) return;
  block_->given_to = to;
  if (block_->home == nullptr && block_->owned && block_->chunk == 0 && block_->data != nullptr)
    unmap_guarded(block_->data, block_->bytes);
  block_->data = nullptr;
  block_->device.reset();
}

Storage Storage::hand_over(const char* to) const {
  Storage storage;
  storage.block_ = new Block;
  storage.block_->bytes = block_->bytes;
  storage.block_->data = std::exchange(block_->data, nullptr);
  storage.block_->device = std::move(block_->device);
  block_->given_to = to;
  if (block_->home != nullptr || block_->chunk != 0) {
    storage.block_->home = block_->home != nullptr ? block_->home : block_;
    storage.block_->home->references.fetch_add(1, std::memory_order_relaxed);
  }
  return storage;
}

void* Storage::not_here() const {
  if (block_->device != nullptr) return block_->device->host();
  if (block_->given_to != nullptr) {
    throw DeviceError("array: used after it was donated, as " + std::string(block_->given_to));
  }
  if (block_->absent) {
    throw Error("array: its elements are not here, the text that it was read from holds only their hash");
  }
  return nullptr;
}

void Storage::destroy(Block* block) {
  if (block->home != nullptr) {
    Storage home;
    home.block_ = block->home;
    delete block;
  } else if (!block->owned) {
    if (block->on_release) block->on_release();
    delete block;
  } else if (block->chunk == 0) {
    if (block->data != nullptr) unmap_guarded(block->data, block->bytes);
    delete block;
  } else {
    const StorageAllocator* allocator = block->allocator;
    const size_t chunk = block->chunk;
    block->~Block();
    if (allocator) {
      allocator->release(block, chunk);
    } else {
      std::free(block);
    }
  }
}

ContentHash Storage::content_hash(size_t bytes) const {
  if (is_absent()) return block_->hash;
  const XXH128_hash_t hash = XXH3_128bits(data(), bytes);
  return {hash.low64, hash.high64};
}

}  // namespace calque::detail
