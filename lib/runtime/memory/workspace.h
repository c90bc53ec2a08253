#pragma once
// Memory that calls need while they run, cached per thread between calls: workspaces of entries, scratch of kernels.
#include <atomic>
#include <cstddef>

#include "calque/ir/any_array.h"
#include "calque/ir/errors.h"

namespace calque::runtime {

/// A failed call, without the name of the user's function; callers that know the function rethrow it with the name.
class CallFailure : public DeviceError {
  using DeviceError::DeviceError;
};

/// A call needs more memory than is available.
class OutOfMemory : public CallFailure {
 public:
  /// `what`: workspace, memory of a thread.
  OutOfMemory(const char* what, size_t bytes);
};

/// For tests: the largest block that a thread may get.
extern std::atomic<size_t> largest_thread_memory;

/// A block of one thread. Like an array it comes from the pool, or ends at an inaccessible page (CALQUE_GUARD=1).
/// Trivially destructible: `clear` releases the memory.
class ThreadMemory {
 public:
  /// At least `bytes` bytes with arbitrary contents, 64-byte aligned (page-aligned unless guarded), valid until the
  /// next call. Throws DeviceError when out of memory.
  void* get(size_t bytes);
  void clear() noexcept;

  /// Whether a call uses it now.
  bool taken = false;

 private:
  // A larger block is released when half of it would suffice.
  static constexpr size_t kLargestCached = size_t{16} << 20;
  detail::Storage* storage_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// The workspace of one call of an entry: 64-byte aligned bytes until the end of the scope. A nested call (from a host
/// function) gets separate memory. Throws OutOfMemory.
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
