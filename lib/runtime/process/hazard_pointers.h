#pragma once
// Hazard pointers: a thread that reads a shared pointer announces it, and the thread that replaces the pointer frees
// the old object only when no thread announces it. Announcing takes no lock, and no atomic read-modify-write operation
// or fence where the system has membarrier(2): the rare thread that frees pays for the order of the announcements.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace calque::runtime {

/// The announcements of one thread.
struct alignas(64) HazardRecord {
  static constexpr int kSlots = 8;
  std::atomic<const void*> slots[kSlots] = {};
  std::atomic<bool> taken{true};
  int depth = 0;  ///< number of announcements, of the owning thread alone
  HazardRecord* next = nullptr;

  static constinit thread_local HazardRecord* mine;
  /// Announcing threads leave the fence to the freeing thread. Constant once a record exists.
  static constinit std::atomic<bool> asymmetric;
  static HazardRecord* take();
};

/// Announces the pointer in `source` and returns it; `pin` must be passed to `unpin`. Returns null, without a pin, when
/// `source` is null or this thread has too many open announcements.
inline const void* pin(const std::atomic<const void*>& source, void*& pin) {
  const void* seen = source.load(std::memory_order_acquire);
  if (seen == nullptr) return nullptr;
  HazardRecord* const record = HazardRecord::mine != nullptr ? HazardRecord::mine : HazardRecord::take();
  if (record->depth == HazardRecord::kSlots) return nullptr;
  std::atomic<const void*>& slot = record->slots[record->depth];
  while (true) {
    const void* again;
    if (HazardRecord::asymmetric.load(std::memory_order_relaxed)) [[likely]] {
      slot.store(seen, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // for the compiler; the freeing thread fences the processor
      again = source.load(std::memory_order_acquire);
    } else {
      slot.store(seen, std::memory_order_seq_cst);
      again = source.load(std::memory_order_seq_cst);
    }
    if (again == seen) break;
    seen = again;
    if (seen == nullptr) {
      slot.store(nullptr, std::memory_order_release);
      return nullptr;
    }
  }
  ++record->depth;
  pin = record;
  return seen;
}
inline void unpin(void* pin) noexcept {
  auto* const record = static_cast<HazardRecord*>(pin);
  record->slots[--record->depth].store(nullptr, std::memory_order_release);
}
/// Whether some thread announces `object`.
bool announced(const void* object);

/// Retired objects that may still be announced. Owned by one table, guarded by its lock.
class Retired {
 public:
  /// Retires `object` until no thread announces it, and frees earlier ones that are no longer announced.
  void add(std::shared_ptr<const void> object);
  /// Frees the objects that no thread announces.
  void reclaim() { take_free(); }
  /// Retires `object` without freeing any.
  void keep(std::shared_ptr<const void> object) { objects_.push_back(std::move(object)); }
  /// Removes and returns the objects that no thread announces. The caller frees them while it holds no lock that a
  /// destructor may take.
  std::vector<std::shared_ptr<const void>> take_free();
  /// Removes and returns all objects, announced or not.
  std::vector<std::shared_ptr<const void>> take() { return std::exchange(objects_, {}); }

 private:
  std::vector<std::shared_ptr<const void>> objects_;
};

}  // namespace calque::runtime
