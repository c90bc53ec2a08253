// File names of locations are never freed: compilers give static strings, computed ones are interned.
#include "calque/ir/location.h"

#include <ostream>

#include "calque/ir/attribute.h"

namespace calque {

const char* intern_file(std::string_view name) { return intern(name).data(); }

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
