// Readers protect an entry with a hazard pointer only when they load it from `last_`. An evicted entry is therefore
// cleared from `last_` first and freed when no hazard pointer refers to it.
#include "runtime/call/call_table.h"

#include <algorithm>
#include <typeinfo>
#include <unordered_set>

#include <xxhash.h>

#include "ir/fork.h"
#include "ir/values/storage_identity.h"
#include "runtime/call/trace_tree.h"

namespace calque::runtime {
namespace {

/// All live tables, for operations on every table.
struct Tables {
  ForkMutex mutex;
  std::unordered_set<CallTable*> all;
};
Tables& tables() {
  return process_wide([] {
    static constinit ForkHooks hooks{.in_child = [] {
      Waits::forget();
      std::lock_guard lock(tables().mutex);
      for (CallTable* table : tables().all) table->forget_other_threads();
    }};
    at_fork(hooks);
    return new Tables;
  });
}

/// A host function's type_info lies in the module that contains its code.
bool is_code_of(const Opaque& function, const ModuleRange& module) { return module.contains(&typeid(function)); }

bool calls_into(const Graph& graph, const ModuleRange& module) {
  for (const Equation& e : graph.equations()) {
    for (const Attribute& attribute : e.attributes()) {
      const auto* function = std::get_if<std::shared_ptr<const Opaque>>(&attribute.value);
      if (function != nullptr && *function != nullptr && is_code_of(**function, module)) return true;
    }
    for (const Graph& inner : e.subgraphs()) {
      if (calls_into(inner, module)) return true;
    }
  }
  return false;
}

}  // namespace

CallTable::CallTable(size_t capacity) : entries_(capacity) {
  std::lock_guard lock(tables().mutex);
  tables().all.insert(this);
}
CallTable::~CallTable() {
  std::lock_guard lock(tables().mutex);
  tables().all.erase(this);
}

bool CallEntry::refers_to(const ModuleRange& module) const {
  if (module.contains(reinterpret_cast<const void*>(signature.words.front()))) return true;  // the types' tag
  const auto* destroy = std::get_deleter<detail::TracedTree::Destroy>(structure);
  if (destroy != nullptr && module.contains(reinterpret_cast<const void*>(*destroy))) return true;
  const auto calls = [&](const Executable& code) {
    for (const kernel::HostFunctionRef& f : code.host_functions) {
      if (f.function != nullptr && is_code_of(*f.function, module)) return true;
    }
    return code.graph != nullptr && calls_into(*code.graph, module);
  };
  if (executable != nullptr && calls(*executable)) return true;
  return tree != nullptr && std::ranges::any_of(tree->executables(), [&](const Executable* e) { return calls(*e); });
}

uint64_t hash_of(std::span<const uint64_t> words) { return XXH3_64bits(words.data(), words.size_bytes()); }

size_t CallEntry::bytes() const {
  constexpr size_t kOutput = 64, kLeaf = 128;
  return sizeof(CallEntry) + signature.words.size() * sizeof(uint64_t) + leaves.size() * kLeaf +
         sources.size() * kOutput + array_bytes + (executable ? executable->bytes() : 0) + (tree ? tree->bytes() : 0);
}

void CallTable::count_arrays(const CallEntry& entry) {
  if (entry.lifted.empty() && entry.constants.empty()) return;
  std::unordered_set<const void*> arrays;
  std::lock_guard lock(retiring_);
  for (const auto* list : {&entry.lifted, &entry.constants}) {
    for (const AnyArray& array : *list) {
      const void* const identity = storage_identity(array.storage());
      if (arrays.insert(identity).second && !newest_arrays_.contains(identity)) entry.array_bytes += array.bytes();
    }
  }
  newest_arrays_ = std::move(arrays);
}

void CallTable::publish(const std::shared_ptr<const CallEntry>& entry,
                        const std::vector<std::shared_ptr<const CallEntry>>& evicted) {
  std::vector<std::shared_ptr<const void>> free;  // destroyed without the lock: a host function may own a callable
  std::lock_guard lock(retiring_);
  retire(evicted);
  if (!evicted.empty()) free = retired_.take_free();
  // Another thread may have cleared the table since the lookup: a retired entry must not be published, since nothing
  // would retire it again.
  if (!entry->retired) last_.store(entry.get(), std::memory_order_seq_cst);
}

void CallTable::replace(const CallEntry& old, const std::shared_ptr<const CallEntry>& entry) {
  const std::span<const uint64_t> words = entry->signature.words;
  std::vector<std::shared_ptr<const CallEntry>> evicted;
  count_arrays(*entry);
  if (entries_.replace(SignatureView{words}, hash_of(words), &old, entry, evicted)) publish(entry, evicted);
}

void CallTable::count_hit_of_another(const void* pin) {
  const void* none = nullptr;
  if (counting_thread_.compare_exchange_strong(none, pin, std::memory_order_relaxed)) return count_hit(pin);
  hits_.fetch_add(1, std::memory_order_relaxed);
}

void CallTable::retire(const std::vector<std::shared_ptr<const CallEntry>>& entries) {
  for (const auto& entry : entries) {
    entry->retired = true;
    if (last_.load(std::memory_order_relaxed) == entry.get()) last_.store(nullptr, std::memory_order_seq_cst);
  }
  for (const auto& entry : entries) retired_.keep(entry);
}

void CallTable::forget_other_threads() {
  entries_.forget_other_threads();
  for (const auto& entry : entries_.values()) {
    if (entry->tree != nullptr) entry->tree->forget_other_threads();
  }
}

void CallTable::forget(const ModuleRange& module, std::vector<std::shared_ptr<const CallEntry>>& taken) {
  std::vector<std::shared_ptr<const CallEntry>> mine;
  entries_.erase_if([&](const CallEntry& entry) { return entry.refers_to(module); }, mine);
  std::lock_guard lock(retiring_);
  retire(mine);
  for (auto& object : retired_.take()) {
    auto entry = std::static_pointer_cast<const CallEntry>(object);
    if (entry->refers_to(module)) {
      taken.push_back(std::move(entry));
    } else {
      retired_.keep(std::move(object));
    }
  }
}

void forget_in_all_tables(const ModuleRange& module) {
  std::vector<std::shared_ptr<const CallEntry>> taken;
  {
    std::lock_guard lock(tables().mutex);
    for (CallTable* table : tables().all) table->forget(module, taken);
  }
  // The last user of an entry would destroy it after its code has been unloaded, so entries in use are leaked. The
  // others are destroyed here.
  auto& leaked = process_wide([] { return new std::vector<std::shared_ptr<const CallEntry>>; });
  for (const auto& entry : taken) {
    if (entry.use_count() == 1 && !announced(entry.get())) continue;
    std::lock_guard lock(tables().mutex);
    leaked.push_back(entry);
  }
}

void CallTable::clear() {
  const auto taken = entries_.clear();
  {
    std::vector<std::shared_ptr<const void>> free;
    std::lock_guard lock(retiring_);
    retire(taken);
    free = retired_.take_free();
    cleared_hits_.fetch_add(hits(), std::memory_order_relaxed);
    misses_.store(0, std::memory_order_relaxed);
  }
  history_.clear();
  std::unordered_set<const Executable*> executables;
  for (const auto& entry : taken) {
    executables.insert(entry->executable.get());
    if (entry->tree == nullptr) continue;
    for (const Executable* e : entry->tree->executables()) executables.insert(e);
  }
  forget_executables(executables);
}

}  // namespace calque::runtime
