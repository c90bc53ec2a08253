#pragma once
// A bounded table from keys to shared values. Threads that miss on one key at the same time make its value once: the
// first makes it while the others wait. A maker that throws leaves no trace; those who waited then try for themselves.
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace calque::runtime {

/// Thrown (and translated by callers, who know the name) when a thread asks for the value that it is making, itself or
/// through other threads that wait for it.
struct RecursiveFlight {};

/// Which threads wait for which, over all tables: a circle of them would wait forever. Only threads that must wait
/// come here.
class Waits {
 public:
  /// The calling thread is about to wait for what `maker` makes in `slot`. Throws RecursiveFlight when `maker` waits,
  /// through however many others, for the calling thread.
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
  /// The value of the slot is there, or will not be: nobody waits for it any more, though some may not have woken yet.
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
    static Waits& all = *new Waits;  // calls may still run while the program ends
    return all;
  }
  std::mutex mutex_;
  std::unordered_map<std::thread::id, Wait> waits_;
};

template <class Key, class Value>
class FlightCache {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// Keeps the `capacity` values used last.
  explicit FlightCache(size_t capacity) : capacity_(capacity) {}

  /// The value of `key`, made by `make()` when it is not there. `View` compares equal to Key; `copy()` makes the Key.
  /// `made` tells whether this call made it. Evicted values are appended to `evicted`.
  template <class View, class Make>
  Pointer get(const View& key, uint64_t hash, Make&& make, bool& made, std::vector<Pointer>& evicted) {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto slot = find(key, hash);
      if (slot == slots_.end()) break;
      if (slot->value) {
        slots_.splice(slots_.begin(), slots_, slot);
        made = false;
        return slot->value;
      }
      slot->awaited = true;
      Waits::enter(&*slot, slot->maker);
      ready_.wait(lock);
      Waits::leave();
    }
    slots_.push_front(Slot{Key(key), hash, nullptr, std::this_thread::get_id()});
    const auto mine = slots_.begin();
    index_.emplace(hash, mine);
    lock.unlock();
    Pointer value;
    try {
      value = make();
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
    ++ready_count_;
    made = true;
    if (mine->cleared) {
      take(mine, evicted);
    } else {
      trim(evicted);
    }
    ready_.notify_all();
    return value;
  }

  /// The value if it is there and made.
  template <class View>
  Pointer find_ready(const View& key, uint64_t hash) {
    std::lock_guard lock(mutex_);
    const auto slot = find(key, hash);
    return slot == slots_.end() ? nullptr : slot->value;
  }

  size_t size() const {
    std::lock_guard lock(mutex_);
    return ready_count_;
  }
  /// Takes everything out; what is being made now is not kept either.
  std::vector<Pointer> clear() {
    std::lock_guard lock(mutex_);
    std::vector<Pointer> values;
    for (auto slot = slots_.begin(); slot != slots_.end();) {
      const auto at = slot++;
      if (at->value) {
        take(at, values);
      } else {
        at->cleared = true;
      }
    }
    return values;
  }
  template <class View>
  void erase(const View& key, uint64_t hash, std::vector<Pointer>& erased) {
    std::lock_guard lock(mutex_);
    const auto slot = find(key, hash);
    if (slot != slots_.end() && slot->value) take(slot, erased);
  }
  /// Takes out the values that `unwanted` is true for.
  template <class Predicate>
  void erase_if(Predicate&& unwanted, std::vector<Pointer>& erased) {
    std::lock_guard lock(mutex_);
    for (auto slot = slots_.begin(); slot != slots_.end();) {
      const auto at = slot++;
      if (at->value && unwanted(*at->value)) take(at, erased);
    }
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
  struct Slot {
    Key key;
    uint64_t hash;
    Pointer value;
    std::thread::id maker;
    bool cleared = false;
    bool awaited = false;
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
  void remove(typename Slots::iterator slot) {
    const auto [first, last] = index_.equal_range(slot->hash);
    for (auto it = first; it != last; ++it) {
      if (it->second == slot) {
        index_.erase(it);
        break;
      }
    }
    slots_.erase(slot);
  }
  void take(typename Slots::iterator slot, std::vector<Pointer>& out) {
    out.push_back(std::move(slot->value));
    --ready_count_;
    remove(slot);
  }
  void trim(std::vector<Pointer>& evicted) {
    for (auto slot = slots_.end(); ready_count_ > capacity_ && slot != slots_.begin();) {
      const auto at = --slot;
      if (!at->value) continue;
      ++slot;
      take(at, evicted);
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  Slots slots_;  // most recently used first
  std::unordered_multimap<uint64_t, typename Slots::iterator> index_;
  size_t capacity_;
  size_t ready_count_ = 0;
};

}  // namespace calque::runtime
