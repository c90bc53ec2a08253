// An entry is announced by readers through `last_` alone, so it is retired there first and freed when nobody announces
// it.
#include "runtime/call_table.h"

#include <xxhash.h>

#include "ir/storage_identity.h"

namespace calque::runtime {

uint64_t hash_of(std::span<const uint64_t> words) { return XXH3_64bits(words.data(), words.size_bytes()); }

size_t CallEntry::bytes() const {
  constexpr size_t kOutput = 64, kLeaf = 128;
  return sizeof(CallEntry) + signature.words.size() * sizeof(uint64_t) + leaves.size() * kLeaf +
         sources.size() * kOutput + array_bytes + (executable ? executable->bytes() : 0);
}

void CallTable::count_arrays(const CallEntry& entry) {
  if (entry.hidden.empty() && entry.constants.empty()) return;
  std::unordered_set<const void*> arrays;
  std::lock_guard lock(retiring_);
  for (const auto* list : {&entry.hidden, &entry.constants}) {
    for (const AnyArray& array : *list) {
      const void* const identity = storage_identity(array.storage());
      if (arrays.insert(identity).second && !newest_arrays_.contains(identity)) entry.array_bytes += array.bytes();
    }
  }
  newest_arrays_ = std::move(arrays);
}

void CallTable::publish(const std::shared_ptr<const CallEntry>& entry,
                        const std::vector<std::shared_ptr<const CallEntry>>& evicted) {
  std::lock_guard lock(retiring_);
  retire(evicted);
  // Cleared by another thread since it was found: then readers must not see it, for nothing would retire it again.
  if (!entry->retired) last_.store(entry.get(), std::memory_order_seq_cst);
}

void CallTable::retire(const std::vector<std::shared_ptr<const CallEntry>>& entries) {
  for (const auto& entry : entries) {
    entry->retired = true;
    if (last_.load(std::memory_order_relaxed) == entry.get()) last_.store(nullptr, std::memory_order_seq_cst);
  }
  for (const auto& entry : entries) retired_.add(entry);
}

void CallTable::clear() {
  const auto taken = entries_.clear();
  {
    std::lock_guard lock(retiring_);
    retire(taken);
    retired_.sweep();
    hits_.store(0, std::memory_order_relaxed);
    misses_.store(0, std::memory_order_relaxed);
  }
  for (const auto& entry : taken) forget_executable(entry->executable);
}

}  // namespace calque::runtime
