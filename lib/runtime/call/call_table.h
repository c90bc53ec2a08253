#pragma once
// The compiled entries of one callable, by signature. The entry used last is found without a lock, by comparing words;
// the others are found in a hash table under a lock.
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_set>
#include <vector>

#include "runtime/call/dispatch.h"
#include "runtime/call/signature_history.h"
#include "runtime/process/flight_cache.h"
#include "runtime/process/hazard_pointers.h"
#include "runtime/process/loaded_module.h"

namespace calque::runtime {

/// A signature as flat words, see detail::Arguments.
struct Signature {
  std::vector<uint64_t> words;
  explicit Signature(std::span<const uint64_t> w) : words(w.begin(), w.end()) {}
  friend bool operator==(const Signature& a, std::span<const uint64_t> b) {
    if (a.words.size() != b.size()) return false;
    // Word by word: the words have just been stored, and wider loads would stall on store forwarding.
    for (size_t i = 0; i < b.size(); ++i) {
      if (a.words[i] != b[i]) return false;
    }
    return true;
  }
};
uint64_t hash_of(std::span<const uint64_t> words);

class TraceTree;

/// The compiled form for one signature.
struct CallEntry {
  explicit CallEntry(std::span<const uint64_t> words) : signature(words) {}
  Signature signature;
  std::vector<Type> leaves;                      ///< types of the argument leaves, for messages
  std::shared_ptr<const Executable> executable;  ///< null: a call runs a program of `tree`
  std::shared_ptr<TraceTree> tree;               ///< the paths through a function that asks about its tracers, or null
  std::vector<AnyArray> lifted;     ///< lifted constants: captured arrays passed as inputs of the executable
  std::vector<AnyArray> constants;  ///< captured arrays that are outputs
  std::vector<OutputSource> sources;
  std::shared_ptr<const void> structure;  ///< the result tree of tracers; its deleter is TracedTree::destroy
  Device device;
  /// A call needs nothing but the executable's entry: it runs on the host and computes all outputs, and no argument is
  /// donated. Valid once the table has the entry.
  bool runs_directly = false;
  mutable bool retired = false;  ///< guarded by the table's lock
  /// Bytes of the captured arrays, without those that the previously made entry captures too: most functions capture
  /// the same arrays under all signatures.
  mutable size_t array_bytes = 0;

  /// Approximate memory in bytes, including the executable.
  size_t bytes() const;
  /// Whether the entry is keyed by an address in the module or refers to its code.
  bool refers_to(const ModuleRange& module) const;
};

struct CallEntryBytes {
  size_t operator()(const CallEntry& entry) const { return entry.bytes(); }
};

class CallTable {
 public:
  /// Caches entries of up to `capacity` bytes in total; the newest entry stays whatever its size.
  explicit CallTable(size_t capacity);
  ~CallTable();

  /// The entry used last, protected by the hazard pointer `pin`, if it has this signature.
  const CallEntry* last(std::span<const uint64_t> words, void*& pin) {
    const CallEntry* entry = last(pin);
    if (entry == nullptr) return nullptr;
    if (entry->signature == words) {
      count_hit(pin);
      return entry;
    }
    unpin(pin);
    pin = nullptr;
    return nullptr;
  }
  /// The entry used last, protected by the hazard pointer `pin`.
  const CallEntry* last(void*& pin) { return static_cast<const CallEntry*>(runtime::pin(last_, pin)); }
  /// Counts a call that found its entry by `last`; `pin` identifies the thread. One thread counts without atomic
  /// read-modify-write operations: the first that calls.
  void count_hit(const void* pin) {
    if (counting_thread_.load(std::memory_order_relaxed) == pin) [[likely]] {
      own_hits_.store(own_hits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_hit_of_another(pin);
    }
  }
  /// The entry of this signature, made by `make` on a miss.
  template <class Make>
  std::shared_ptr<const CallEntry> get(std::span<const uint64_t> words, Make&& make) {
    bool made = false;
    std::vector<std::shared_ptr<const CallEntry>> evicted;
    const auto make_and_count = [&] {
      std::shared_ptr<const CallEntry> entry = make();
      count_arrays(*entry);
      return entry;
    };
    auto entry = entries_.get(SignatureView{words}, hash_of(words), make_and_count, made, evicted);
    (made ? misses_ : hits_).fetch_add(1, std::memory_order_relaxed);
    publish(entry, evicted);
    return entry;
  }
  /// Puts another entry in place of the one of its signature, if that is `old`.
  void replace(const CallEntry& old, const std::shared_ptr<const CallEntry>& entry);
  std::shared_ptr<const CallEntry> find(std::span<const uint64_t> words) {
    return entries_.find_ready(SignatureView{words}, hash_of(words));
  }
  SignatureHistory& history() { return history_; }
  std::vector<std::shared_ptr<const CallEntry>> entries() const { return entries_.values(); }
  uint64_t hits() const {
    return hits_.load(std::memory_order_relaxed) + own_hits_.load(std::memory_order_relaxed) -
           cleared_hits_.load(std::memory_order_relaxed);
  }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return entries_.bytes(); }
  /// Removes every entry and its executable, and resets the counters.
  void clear();
  /// In the child of a fork.
  void forget_other_threads();
  /// Moves the entries that refer to the module to `taken`, including retired entries that were still in use.
  void forget(const ModuleRange& module, std::vector<std::shared_ptr<const CallEntry>>& taken);

 private:
  struct SignatureView {
    std::span<const uint64_t> words;
    explicit operator Signature() const { return Signature(words); }
    friend bool operator==(const Signature& a, const SignatureView& b) { return a == b.words; }
  };
  void publish(const std::shared_ptr<const CallEntry>& entry,
               const std::vector<std::shared_ptr<const CallEntry>>& evicted);
  void retire(const std::vector<std::shared_ptr<const CallEntry>>& entries);
  void count_arrays(const CallEntry& entry);

  std::atomic<const void*> last_{nullptr};
  void count_hit_of_another(const void* pin);

  std::atomic<const void*> counting_thread_{nullptr};
  std::atomic<uint64_t> own_hits_{0};      ///< written by `counting_thread_` alone
  std::atomic<uint64_t> hits_{0};          ///< of other threads, and those found in the table
  std::atomic<uint64_t> cleared_hits_{0};  ///< before the last `clear`
  std::atomic<uint64_t> misses_{0};
  FlightCache<Signature, CallEntry, CallEntryBytes> entries_;
  SignatureHistory history_;
  ForkMutex retiring_;
  Retired retired_;
  std::unordered_set<const void*> newest_arrays_;  ///< captured by the newest entry; guarded by `retiring_`
};

/// Drops the entries of all tables that refer to the module.
void forget_in_all_tables(const ModuleRange& module);

}  // namespace calque::runtime
