#pragma once
// Memory that calls need while they run, kept by the thread between calls: workspaces of entries, scratch of kernels.
#include <atomic>
#include <cstddef>

#include "calque/ir/any_array.h"
#include "calque/ir/errors.h"

namespace calque::runtime {

/// A call failed for a reason that does not know the user's function; callers who do say which.
class CallFailure : public DeviceError {
  using DeviceError::DeviceError;
};

/// A call needs more memory than there is.
class OutOfMemory : public CallFailure {
 public:
  /// `what`: workspace, memory of a thread.
  OutOfMemory(const char* what, size_t bytes);
};

/// For tests: threads get no larger blocks than this.
extern std::atomic<size_t> largest_thread_memory;

/// A block of one thread. Like an array it comes from the pool, or ends at a page that cannot be touched
/// (CALQUE_GUARD=1). Trivially destructible: what belongs to the thread is released by `clear`.
class ThreadMemory {
 public:
  /// At least `bytes` bytes with any contents, 64-byte aligned (to pages, unless guarded), until it is asked again.
  /// Throws DeviceError when there are none.
  void* get(size_t bytes);
  void clear() noexcept;

  /// Somebody uses it now.
  bool taken = false;

 private:
  // More than this is not kept once half of it would do.
  static constexpr size_t kKept = size_t{16} << 20;
  detail::Storage* storage_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Scratch memory for one call of an entry: 64-byte aligned bytes until the end of the scope. A call inside a call
/// (from a host function) gets memory of its own. Throws OutOfMemory.
class Workspace {
 public:
  explicit Workspace(int64_t bytes) {
    if (bytes != 0) take(static_cast<size_t>(bytes));
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    if (thread_owned_ != nullptr) thread_owned_->taken = false;
  }
  void* data() const { return data_; }

 private:
  void take(size_t bytes);

  void* data_ = nullptr;
  ThreadMemory* thread_owned_ = nullptr;
  detail::Storage storage_;
};

/// See codegen::RuntimeTable.
void* scratch(void* context, int64_t bytes) noexcept;
void* private_memory(void* context, int64_t bytes) noexcept;

}  // namespace calque::runtime
