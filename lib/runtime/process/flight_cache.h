#pragma once
// A bounded cache from keys to shared values. When several threads miss on one key at the same time, the first makes
// the value and the others wait for it. A maker that throws leaves no entry; the waiting threads then retry themselves.
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/fork.h"
#include "runtime/process/lirs.h"

namespace calque::runtime {

/// Thrown when a thread asks for the value that it is making, directly or through other threads that wait for it.
/// Callers translate it, since they know the name of the function.
struct RecursiveFlight {};

/// The wait-for graph of threads over all caches: a cycle would be a deadlock. Only threads that have to wait use it.
class Waits {
 public:
  /// The calling thread is about to wait for the value that `maker` makes in `slot`. Throws RecursiveFlight when
  /// `maker` waits, directly or indirectly, for the calling thread.
  static void enter(const void* slot, std::thread::id maker) {
    const std::thread::id self = std::this_thread::get_id();
    Waits& all = one();
    std::lock_guard lock(all.mutex_);
    for (std::thread::id at = maker; at != self;) {
      const auto next = all.waits_.find(at);
      if (next == all.waits_.end()) {
        all.waits_[self] = {slot, maker};
        return;
      }
      at = next->second.maker;
    }
    all.waits_.erase(self);
    throw RecursiveFlight{};
  }
  /// The calling thread has woken.
  static void leave() {
    Waits& all = one();
    std::lock_guard lock(all.mutex_);
    all.waits_.erase(std::this_thread::get_id());
  }
  /// In the child of a fork, where no other thread waits.
  static void forget() {
    Waits& all = one();
    std::lock_guard lock(all.mutex_);
    all.waits_.clear();
  }
  /// The value of the slot has been made or has failed: no thread waits for it any more, even if some are yet to wake.
  static void landed(const void* slot) {
    Waits& all = one();
    std::lock_guard lock(all.mutex_);
    std::erase_if(all.waits_, [slot](const auto& wait) { return wait.second.slot == slot; });
  }

 private:
  struct Wait {
    const void* slot;
    std::thread::id maker;
  };
  static Waits& one() {
    return process_wide([] { return new Waits; });
  }
  ForkMutex mutex_;
  std::unordered_map<std::thread::id, Wait> waits_;
};

/// Measures every value as one byte, so that the capacity is a number of values.
struct CountOne {
  template <class Value>
  size_t operator()(const Value&) const {
    return 1;
  }
};

template <class Key, class Value, class Bytes = CountOne>
class FlightCache {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// Caches values of up to `capacity` bytes in total, as measured by `Bytes`; Lirs selects which.
  explicit FlightCache(size_t capacity) : policy_(capacity) {}

  /// The value of `key`, made by `make()` on a miss. `View` is comparable with and convertible to Key. `made` tells
  /// whether this call made it. Evicted values are appended to `evicted`.
  template <class View, class Make>
  Pointer get(const View& key, uint64_t hash, Make&& make, bool& made, std::vector<Pointer>& evicted) {
    std::unique_lock lock(mutex_);
    auto mine = slots_.end();
    while (true) {
      mine = find(key, hash);
      if (mine == slots_.end() || (!mine->value && !mine->in_flight)) break;
      if (mine->value) {
        slots_.splice(slots_.begin(), slots_, mine);
        policy_.touch(*mine);
        forget();
        made = false;
        return mine->value;
      }
      mine->awaited = true;
      Waits::enter(&*mine, mine->maker);
      ready_.wait(lock);
      Waits::leave();
    }
    if (mine == slots_.end()) {
      mine = slots_.emplace(slots_.begin(), Key(key), hash);
      mine->self = mine;
      index_.emplace(hash, mine);
    } else {
      slots_.splice(slots_.begin(), slots_, mine);
    }
    mine->in_flight = true;
    mine->awaited = false;
    mine->maker = std::this_thread::get_id();
    lock.unlock();
    Pointer value;
    size_t bytes = 0;
    try {
      value = make();
      bytes = Bytes()(*value);
    } catch (...) {
      lock.lock();
      if (mine->awaited) Waits::landed(&*mine);
      remove(mine);
      ready_.notify_all();
      throw;
    }
    lock.lock();
    if (mine->awaited) Waits::landed(&*mine);
    mine->value = value;
    mine->in_flight = false;
    ++ready_count_;
    made = true;
    if (mine->cleared) {
      take(mine, evicted);
    } else {
      policy_.insert(*mine, bytes);
      trim(evicted);
    }
    ready_.notify_all();
    return value;
  }

  /// The value if it is cached and made.
  template <class View>
  Pointer find_ready(const View& key, uint64_t hash) {
    std::lock_guard lock(mutex_);
    const auto slot = find(key, hash);
    return slot == slots_.end() ? nullptr : slot->value;
  }

  /// Puts another value in place of that of the key, if that is `old`, which is appended to `evicted`.
  template <class View>
  bool replace(const View& key, uint64_t hash, const Value* old, const Pointer& value, std::vector<Pointer>& evicted) {
    std::lock_guard lock(mutex_);
    const auto slot = find(key, hash);
    if (slot == slots_.end() || slot->value.get() != old) return false;
    evicted.push_back(std::exchange(slot->value, value));
    policy_.remove(*slot);
    policy_.insert(*slot, Bytes()(*value));
    trim(evicted);
    return true;
  }

  size_t size() const {
    std::lock_guard lock(mutex_);
    return ready_count_;
  }
  /// Total size of the cached values.
  size_t bytes() const {
    std::lock_guard lock(mutex_);
    return policy_.bytes();
  }
  /// Values above the new capacity are evicted when the next value is made.
  void set_capacity(size_t capacity) {
    std::lock_guard lock(mutex_);
    policy_.set_capacity(capacity);
    forget();
  }
  /// Removes and returns all values; values that are being made now will not be cached either.
  std::vector<Pointer> clear() {
    std::lock_guard lock(mutex_);
    std::vector<Pointer> values;
    for (Slot& slot : slots_) {
      if (slot.in_flight) {
        slot.cleared = true;
        continue;
      }
      if (slot.value) values.push_back(std::move(slot.value));
      policy_.remove(slot);
    }
    forget();
    for (auto slot = slots_.begin(); slot != slots_.end();) {
      const auto at = slot++;
      if (!at->in_flight) unlink(at);
    }
    ready_count_ = 0;
    return values;
  }
  template <class View>
  void erase(const View& key, uint64_t hash, std::vector<Pointer>& erased) {
    std::lock_guard lock(mutex_);
    const auto slot = find(key, hash);
    if (slot != slots_.end() && slot->value) take(slot, erased);
  }
  /// Removes the values for which `unwanted` returns true.
  template <class Predicate>
  void erase_if(Predicate&& unwanted, std::vector<Pointer>& erased) {
    std::lock_guard lock(mutex_);
    for (auto slot = slots_.begin(); slot != slots_.end();) {
      const auto at = slot++;
      if (!at->value || !unwanted(*at->value)) continue;
      erased.push_back(std::move(at->value));
      --ready_count_;
      policy_.remove(*at);
      unlink(at);
    }
    forget();  // after the loop: it may unlink any slot
  }
  /// In the child of a fork: no thread makes what the others were making, and none waits for it.
  void forget_other_threads() {
    std::lock_guard lock(mutex_);
    new (&ready_) std::condition_variable_any;  // a thread may have been about to wait
    for (auto slot = slots_.begin(); slot != slots_.end();) {
      const auto at = slot++;
      at->awaited = false;
      if (!at->in_flight || at->maker == std::this_thread::get_id()) continue;
      policy_.remove(*at);
      unlink(at);
    }
    forget();
  }
  /// The values, most recently used first.
  std::vector<Pointer> values() const {
    std::lock_guard lock(mutex_);
    std::vector<Pointer> all;
    for (const Slot& slot : slots_) {
      if (slot.value) all.push_back(slot.value);
    }
    return all;
  }

 private:
  /// A cached value, a value that is being made, or the ghost of an evicted value.
  struct Slot : Lirs::Node {
    Slot(Key k, uint64_t h) : key(std::move(k)), hash(h) {}
    Key key;
    uint64_t hash;
    Pointer value = nullptr;
    std::thread::id maker = {};
    bool in_flight = false;  ///< being made by `maker`
    bool cleared = false;
    bool awaited = false;
    typename std::list<Slot>::iterator self = {};
  };
  using Slots = std::list<Slot>;

  template <class View>
  typename Slots::iterator find(const View& key, uint64_t hash) {
    const auto [first, last] = index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (!it->second->cleared && it->second->key == key) return it->second;
    }
    return slots_.end();
  }
  void unlink(typename Slots::iterator slot) {
    const auto [first, last] = index_.equal_range(slot->hash);
    for (auto it = first; it != last; ++it) {
      if (it->second == slot) {
        index_.erase(it);
        break;
      }
    }
    slots_.erase(slot);
  }
  void remove(typename Slots::iterator slot) {
    policy_.remove(*slot);
    unlink(slot);
    forget();
  }
  void take(typename Slots::iterator slot, std::vector<Pointer>& out) {
    out.push_back(std::move(slot->value));
    --ready_count_;
    remove(slot);
  }
  void trim(std::vector<Pointer>& evicted) {
    while (Lirs::Node* node = policy_.evict()) {
      const auto slot = static_cast<Slot*>(node)->self;
      evicted.push_back(std::move(slot->value));
      slot->value = nullptr;
      --ready_count_;
      if (!slot->is_ghost()) unlink(slot);
    }
    forget();
  }
  /// Unlinks the ghosts that the policy has forgotten, except those that are being made again.
  void forget() {
    while (Lirs::Node* node = policy_.forget()) {
      const auto slot = static_cast<Slot*>(node)->self;
      if (!slot->in_flight) unlink(slot);
    }
  }

  mutable ForkMutex mutex_;
  std::condition_variable_any ready_;
  Slots slots_;  // most recently used first
  std::unordered_multimap<uint64_t, typename Slots::iterator> index_;
  Lirs policy_;
  size_t ready_count_ = 0;
};

}  // namespace calque::runtime
