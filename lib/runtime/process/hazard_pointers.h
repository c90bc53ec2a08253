#pragma once
// Hazard pointers: a thread that reads a shared pointer announces it, so that whoever replaces the pointer frees the
// old object only when no thread announces it. Announcing costs one exchange and takes no lock.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace calque::runtime {

/// Announces what `source` holds and returns it, with `pin` to be given to `unpin`. Null, without a pin, when `source`
/// holds null or this thread has too many announcements open.
const void* pin(const std::atomic<const void*>& source, void*& pin);
void unpin(void* pin) noexcept;
/// Whether some thread announces `object`.
bool announced(const void* object);

/// Objects that are out of use but may still be announced. Owned by one table, guarded by its lock.
class Retired {
 public:
  /// Keeps `object` until no thread announces it; frees earlier ones that are free now.
  void add(std::shared_ptr<const void> object);
  void sweep() { take_free(); }
  /// Adds without freeing any.
  void keep(std::shared_ptr<const void> object) { objects_.push_back(std::move(object)); }
  /// Takes out what no thread announces: for the caller to free when it holds no lock that a destructor may want.
  std::vector<std::shared_ptr<const void>> take_free();
  /// Takes out everything, announced or not.
  std::vector<std::shared_ptr<const void>> take() { return std::exchange(objects_, {}); }

 private:
  std::vector<std::shared_ptr<const void>> objects_;
};

}  // namespace calque::runtime
