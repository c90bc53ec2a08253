#pragma once
// Device memory that is owned by an array or by a call.
#include <mutex>

#include "calque/ir/any_array.h"

#include "ir/fork.h"
#include "runtime/device/device_api.h"

namespace calque::runtime {

/// The bytes of an array. Copied to the host at most once.
class ArrayMemory final : public detail::DeviceMemory {
 public:
  ArrayMemory(DeviceApi& api, size_t bytes) : api_(api), address_(api.allocate(bytes)), bytes_(bytes) {}
  ~ArrayMemory() override { api_.release(address_, bytes_); }
  void* host() override;
  /// The bytes are written by the work before `mark`.
  void written(std::shared_ptr<const Mark> mark);
  void* address() const { return address_; }

 private:
  DeviceApi& api_;
  void* const address_;
  const size_t bytes_;
  ForkMutex mutex_;
  detail::Storage copy_;
  std::shared_ptr<const Mark> mark_;  ///< the work that a fetch waits for; null: all
};

/// Memory that is released at the end of the scope.
class ScopedMemory {
 public:
  ScopedMemory(DeviceApi& api, size_t bytes) : api_(api), address_(api.allocate(bytes)), bytes_(bytes) {}
  ScopedMemory(const ScopedMemory&) = delete;
  ScopedMemory& operator=(const ScopedMemory&) = delete;
  ~ScopedMemory() { api_.release(address_, bytes_); }
  std::byte* address() const { return static_cast<std::byte*>(address_); }

 private:
  DeviceApi& api_;
  void* const address_;
  const size_t bytes_;
};

/// Bytes for a new array on the device.
detail::Storage allocate_on(DeviceApi& api, size_t bytes);
/// A copy of the host's bytes on the device.
detail::Storage upload_to(DeviceApi& api, const void* data, size_t bytes);
/// The address of an array's bytes on its device. Throws DeviceError if the array was donated.
void* device_address(const AnyArray& array);

}  // namespace calque::runtime
