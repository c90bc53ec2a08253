// Arrays on the host are storages without device memory; they do not come from `allocate`.
#include "runtime/device/host_device.h"

#include <cstring>
#include <new>
#include <string>

#include "calque/device.h"

#include "ir/fork.h"

namespace calque::runtime {
namespace {

constexpr std::align_val_t kAlignment{256};

class HostDevice final : public DeviceApi {
 public:
  HostDevice() : DeviceApi(cpu()) {}
  /// The host's target is part of every key.
  std::string code_key() const override { return {}; }
  /// Neither the number of threads nor their timing changes the order of sums.
  bool varies_order_of_sums() const override { return false; }
  void* allocate(size_t bytes) override {
    if (bytes == 0) return nullptr;
    if (void* const memory = ::operator new(bytes, kAlignment, std::nothrow)) return memory;
    throw DeviceFailure("cpu: out of memory, " + std::to_string(bytes) + " bytes asked for");
  }
  void release(void* memory, size_t) noexcept override { ::operator delete(memory, kAlignment); }
  void upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes, const Mark*) override { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  AnyArray put(const AnyArray& array) override;
  void synchronize() override {}
};

AnyArray HostDevice::put(const AnyArray& array) {
  if (array.device() == device() && array.storage().device_memory() == nullptr) return array;
  // The storage caches its host copy, which all readers share.
  return AnyArray(array.type(), detail::Storage::borrow(const_cast<void*>(array.data()), array.bytes(),
                                                        [keep = array.storage()] { (void)keep; }));
}

}  // namespace

DeviceApi& host_device() {
  return process_wide([] { return new HostDevice; });
}

}  // namespace calque::runtime
