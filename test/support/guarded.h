#pragma once

#include <cstdlib>
#include <string_view>

namespace calque::test {

/// Whether buffers end at inaccessible pages (CALQUE_GUARD=1).
inline bool guarded() {
  const char* value = std::getenv("CALQUE_GUARD");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace calque::test
