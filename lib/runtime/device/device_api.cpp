#include "runtime/device/device_api.h"

#include "runtime/device/device_memory.h"

namespace calque::runtime {

AnyArray KernelDevice::put(const AnyArray& array) {
  if (array.device() == device()) return array;
  return AnyArray(array.type(), upload_to(*this, array.data(), array.bytes()), device());  // data() downloads
}

void KernelDevice::submit(const LoadedProgram& program, const Command& command) {
  switch (command.kind) {
    case Command::Kind::launch:
      return launch(program, command.kernel, command.addresses.data());
    case Command::Kind::copy:
      return copy(command.addresses[0], command.addresses[1], command.bytes);
    case Command::Kind::store:
      return store(command.addresses[0], command.value, command.bytes);
  }
}

}  // namespace calque::runtime
