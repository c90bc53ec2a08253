// The host's copy of an array is made under a lock, so that concurrent readers fetch it only once.
#include "runtime/device/device_memory.h"

namespace calque::runtime {

void* ArrayMemory::host() {
  std::lock_guard lock(mutex_);
  if (!copy_) {
    detail::Storage copy = detail::Storage::allocate(bytes_);
    if (bytes_ != 0) api_.download(copy.data(), address_, bytes_, mark_.get());
    copy_ = std::move(copy);
    mark_.reset();
  }
  return copy_.data();
}

void ArrayMemory::written(std::shared_ptr<const Mark> mark) {
  std::lock_guard lock(mutex_);
  copy_ = {};  // of a donated argument that had this memory
  mark_ = std::move(mark);
}

detail::Storage allocate_on(DeviceApi& api, size_t bytes) {
  return detail::Storage::on_device(std::make_unique<ArrayMemory>(api, bytes), bytes);
}

detail::Storage upload_to(DeviceApi& api, const void* data, size_t bytes) {
  auto memory = std::make_unique<ArrayMemory>(api, bytes);
  if (bytes != 0) api.upload(memory->address(), data, bytes);
  return detail::Storage::on_device(std::move(memory), bytes);
}

void* device_address(const AnyArray& array) {
  array.storage().data_on_host();  // throws for donated arrays
  return static_cast<const ArrayMemory*>(array.storage().device_memory())->address();
}

}  // namespace calque::runtime
