// Blocks up to a megabyte live in lists of the thread that freed them, by size class; larger ones in one store with a
// lock. A block is always as large as its class, so a block freed anywhere serves anyone of that class.
#include "runtime/memory.h"

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

#include "calque/device.h"
#include "calque/ir/attribute.h"

#include "ir/bytes.h"
#include "runtime/function_state.h"
#include "runtime/gpu/device_dispatch.h"

namespace calque::runtime {
namespace {

constexpr size_t kStep = 64;
constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kHuge = size_t{4} << 20;  // from here on: own mappings, huge pages asked for
constexpr size_t kThreadKeeps = size_t{4} << 20;
constexpr size_t kStoreKeeps = size_t{2} << 30;
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

// Trivially destructible, so that arrays which die after the thread's destructors still find it.
thread_local Lists* lists = nullptr;
thread_local bool over = false;

void free_lists(Lists& l) {
  for (Free*& head : l.heads) {
    while (head != nullptr) std::free(std::exchange(head, head->next));
  }
  l.bytes = 0;
}

struct ThreadEnd {
  Lists mine;
  ~ThreadEnd() {
    over = true;
    lists = nullptr;
    free_lists(mine);
  }
};

Lists* create_lists() {
  if (over) return nullptr;
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
        kept_ -= bytes;
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
      kept_ += bytes;
      while (kept_ > kStoreKeeps || blocks_.size() > kStoreBlocks) {
        surplus.push_back(blocks_.front());
        kept_ -= blocks_.front().bytes;
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
      kept_ = 0;
    }
    for (const Block& block : all) drop(block);
  }
  size_t kept() {
    std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  struct Block {
    void* memory;
    size_t bytes;
  };
  static void* fresh(size_t bytes) {
    if (bytes < kHuge) return std::aligned_alloc(64, bytes);
    // Aligned to huge pages by cutting a larger mapping.
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

  std::mutex mutex_;
  std::vector<Block> blocks_;  // oldest first
  size_t kept_ = 0;
};

Store& store() {
  static Store& one = *new Store;
  return one;
}

/// Eight classes for each power of two: at most an eighth is lost.
size_t large_class(size_t bytes) {
  const size_t grain = std::bit_floor(bytes) / 8;
  return (bytes + grain - 1) / grain * grain;
}

/// Bytes that callers of the pool hold in large blocks.
std::atomic<size_t> held{0}, most_held{0};

void* take_large(size_t bytes) {
  void* memory = store().take(large_class(bytes));
  if (memory == nullptr) return nullptr;
  const size_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t most = most_held.load(std::memory_order_relaxed);
  while (most < now && !most_held.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
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
    held.fetch_sub(bytes, std::memory_order_relaxed);
    store().give(memory, large_class(bytes));
    return;
  }
  const size_t index = class_of(bytes);
  const size_t size = size_of_class(index);
  Lists* mine = lists != nullptr ? lists : create_lists();
  if (mine == nullptr || mine->bytes + size > kThreadKeeps) {
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
  static const bool installed = [] {
    detail::set_storage_allocator(&kPool);
    return true;
  }();
  (void)installed;
}

void trim_pool() {
  if (lists != nullptr) free_lists(*lists);
  store().trim();
}

size_t kept_bytes() { return store().kept(); }
size_t held_bytes() { return held.load(std::memory_order_relaxed); }
size_t most_held_bytes(bool reset) {
  return reset ? most_held.exchange(held_bytes(), std::memory_order_relaxed)
               : most_held.load(std::memory_order_relaxed);
}

namespace {

detail::Storage copy_of(const AnyArray& array) {
  const detail::Storage copy = detail::Storage::allocate(array.bytes());
  if (array.bytes() != 0) std::memcpy(copy.data(), array.data(), array.bytes());
  return copy;
}

}  // namespace

namespace {

/// The bytes between a leaf's first element and past its last one.
std::pair<const std::byte*, const std::byte*> span_of(const detail::LeafRef& leaf) {
  const auto* first = static_cast<const std::byte*>(leaf.data);
  const auto* past = first;
  int64_t last = 0;
  const Shape shape = leaf.type().shape;
  if (shape.num_elements() == 0) return {first, past};
  if (!leaf.dense_rows) {
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t reach = (shape[d] - 1) * leaf.strides()[d] * static_cast<int64_t>(size_of(leaf.dtype));
      (reach < 0 ? first : past) += reach;
    }
  } else {
    last = (shape.num_elements() - 1) * static_cast<int64_t>(size_of(leaf.dtype));
  }
  return {first, past + last + size_of(leaf.dtype)};
}

bool is_passed_again(std::span<const detail::LeafRef> leaves, size_t i) {
  const auto mine = span_of(leaves[i]);
  for (size_t j = 0; j < leaves.size(); ++j) {
    if (j == i || leaves[j].kind == detail::LeafRef::Kind::scalar) continue;
    const auto other = span_of(leaves[j]);
    if (std::less<>()(mine.first, other.second) && std::less<>()(other.first, mine.second)) return true;
  }
  return false;
}

/// By leaf, for very many of them: the same, in order of their first byte.
std::vector<bool> passed_again(std::span<const detail::LeafRef> leaves) {
  std::vector<bool> again(leaves.size(), false);
  std::vector<size_t> order;
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].kind != detail::LeafRef::Kind::scalar) order.push_back(i);
  const auto first = [&](size_t i) { return span_of(leaves[i]).first; };
  const auto end = [&](size_t i) { return span_of(leaves[i]).second; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return std::less<>()(first(a), first(b)); });
  for (size_t k = 1, furthest = 0; k < order.size(); ++k) {
    // What overlaps another one also overlaps the one before it that reaches furthest.
    if (std::less<>()(first(order[k]), end(order[furthest]))) again[order[k]] = again[order[furthest]] = true;
    if (std::less<>()(end(order[furthest]), end(order[k]))) furthest = k;
  }
  return again;
}

/// Where an error says that an argument went. Lives as long as the program.
const char* donation(const detail::FunctionState& function, size_t position) {
  const std::string text = "argument " + std::to_string(position) + " of " + function.title();
  return intern(text + where_text(function.location)).data();
}

}  // namespace

const char* donation_of(const detail::FunctionState& function, const detail::Arguments& arguments, size_t leaf) {
  const auto ends = arguments.ends();
  return donation(function, static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), leaf) - ends.begin()));
}

Places places_of(const detail::FunctionState& function, const detail::Arguments& arguments,
                 const Executable& executable, Device device) {
  if (device != cpu()) return places_on_device(function, arguments, executable, device);
  Places places;
  if (executable.in_place.empty()) return places;
  places.outputs.resize(executable.in_place.size());
  const auto leaves = arguments.leaves();
  constexpr size_t kFewLeaves = 32;
  std::vector<bool> again;
  if (leaves.size() > kFewLeaves) again = passed_again(leaves);
  for (size_t k = 0; k < executable.in_place.size(); ++k) {
    if (executable.in_place[k] < 0) continue;
    const auto i = static_cast<size_t>(executable.in_place[k]);
    const detail::LeafRef& leaf = leaves[i];
    const bool array = leaf.kind == detail::LeafRef::Kind::array;
    if (array && leaf.array->storage().unique() && !(again.empty() ? is_passed_again(leaves, i) : again[i])) {
      places.outputs[k] = leaf.array->storage().hand_over(donation_of(function, arguments, i));
      continue;
    }
    const Type type = leaf.type();
    const size_t bytes = bytes_of(type);
    places.outputs[k] = detail::Storage::allocate(bytes);
    std::memcpy(places.outputs[k].data(),
                leaf.kind == detail::LeafRef::Kind::scalar ? static_cast<const void*>(leaf.bits.bytes) : leaf.data,
                bytes);
    places.inputs.emplace_back(static_cast<uint32_t>(i), places.outputs[k].data());
  }
  return places;
}

void donate(const detail::FunctionState& function, const detail::Arguments& arguments, detail::OutputArrays& outputs) {
  const auto ends = arguments.ends();
  std::vector<size_t> shared;  // outputs that may be arguments: what was computed has one owner
  for (size_t k = 0; k < outputs.size(); ++k)
    if (!outputs[k].storage().unique()) shared.push_back(k);
  for (int position : function.options.donate) {
    const auto at = static_cast<size_t>(position);
    const char* const to = donation(function, at);
    for (size_t i = at == 0 ? 0 : ends[at - 1]; i < ends[at]; ++i) {
      const detail::LeafRef& leaf = arguments.leaves()[i];
      if (leaf.kind != detail::LeafRef::Kind::array) continue;
      const detail::Storage donated = leaf.array->storage();
      detail::Storage taken;
      std::erase_if(shared, [&](size_t k) {
        if (!(outputs[k].storage() == donated)) return false;
        if (!taken) taken = donated.owned() ? donated.hand_over(to) : copy_of(outputs[k]);
        outputs[k] = AnyArray(outputs[k].type(), taken, outputs[k].device());
        return true;
      });
      donated.give_away(to);
    }
  }
}

}  // namespace calque::runtime
