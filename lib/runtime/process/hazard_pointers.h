#pragma once
// Hazard pointers: a thread that reads a shared pointer announces it, and the thread that replaces the pointer frees
// the old object only when no thread announces it. Announcing costs one exchange and takes no lock.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace calque::runtime {

/// Announces the pointer in `source` and returns it; `pin` must be passed to `unpin`. Returns null, without a pin, when
/// `source` is null or this thread has too many open announcements.
const void* pin(const std::atomic<const void*>& source, void*& pin);
void unpin(void* pin) noexcept;
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
