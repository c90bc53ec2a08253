// The elements of an array are stored in row-major order at the start of its storage.
#include "calque/ir/any_array.h"

#include <cstring>
#include <ostream>

#include "calque/ir/errors.h"

#include "ir/text/text.h"
#include "ir/values/bytes.h"

namespace calque {

std::string to_string(const Device& device) {
  switch (device.kind) {
    case Device::Kind::cpu:
      return "cpu";
    case Device::Kind::gpu:
      return "gpu:" + std::to_string(device.index);
    case Device::Kind::gpu_sim:
      return "gpu_sim";
  }
  return {};
}

std::ostream& operator<<(std::ostream& out, const Device& device) { return out << to_string(device); }

AnyArray AnyArray::uninitialized(const Type& type) {
  if (!text::addressable(type)) throw ShapeError("array: " + to_string(type) + " is too large");
  return AnyArray(type, detail::Storage::allocate(bytes_of(type)));
}

bool identical(const AnyArray& a, const AnyArray& b) {
  if (a.type() != b.type() || a.empty() != b.empty()) return false;
  if (a.empty() || a.storage() == b.storage()) return true;
  if (!a.has_data() || !b.has_data()) return a.storage().content_hash(a.bytes()) == b.storage().content_hash(b.bytes());
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace calque
