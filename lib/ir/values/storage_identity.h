#pragma once
// What tells storages apart without reading them.
#include "calque/ir/any_array.h"

namespace calque {

/// Names the bytes of a storage as long as it lives; what is on a device is not fetched. Null for storage without
/// bytes. Throws DeviceError when they were given away, Error when they are absent.
inline const void* storage_identity(const detail::Storage& storage) {
  const void* const device = storage.device_memory();
  return device != nullptr ? device : storage.data_on_host();
}

}  // namespace calque
