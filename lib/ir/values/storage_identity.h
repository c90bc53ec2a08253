#pragma once
// An identity of storages that does not read their bytes.
#include "calque/ir/any_array.h"

namespace calque {

/// An address that identifies the buffer while it is alive; buffers on a device are not copied to the host. Null for an
/// empty storage. Throws DeviceError when the buffer was donated, Error when it is absent.
inline const void* storage_identity(const detail::Storage& storage) {
  const void* const device = storage.device_memory();
  return device != nullptr ? device : storage.data_on_host();
}

}  // namespace calque
