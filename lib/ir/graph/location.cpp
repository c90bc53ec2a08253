// Interned file names are never freed. Names from the compiler disappear when their library is unloaded, and another
// library may then have another name at the same address.
#include <array>
#include <cstring>
#include <ostream>

#include "calque/ir/attribute.h"

#include "ir/graph/persistent.h"

namespace calque {

const char* intern_file(std::string_view name) { return intern(name).data(); }

Location persistent(const Location& location) {
  struct Known {
    const char* address = nullptr;
    const char* interned = nullptr;
  };
  thread_local std::array<Known, 32> known_names;
  const char* name = location.file_name();
  Known& known = known_names[(reinterpret_cast<uintptr_t>(name) >> 3) % known_names.size()];
  if (known.address != name || std::strcmp(known.interned, name) != 0) known = {name, intern_file(name)};
  return {known.interned, location.line(), location.column()};
}

std::string to_string(const Location& location) {
  if (!location.known()) return {};
  std::string_view file = location.file_name();
  if (const size_t slash = file.find_last_of("/\\"); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(location.line());
}

std::ostream& operator<<(std::ostream& out, const Location& location) {
  return out << (location.known() ? to_string(location) : "unknown");
}

std::string where_text(const Location& location) {
  return location.known() ? " (" + to_string(location) + ")" : std::string();
}

}  // namespace calque
