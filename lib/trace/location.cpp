// Lines in headers that the user did not write do not help: an operator on tracers called by Eigen has a location in
// Eigen. The last user line recorded before it is reported instead.
#include <array>
#include <string_view>

#include "ir/graph/persistent.h"
#include "trace/builder.h"

namespace calque::detail {
namespace {

bool is_foreign(std::string_view file) {
  for (std::string_view part :
       {"/Eigen/", "/eigen3/", "/usr/include/", "/usr/lib/", "/include/c++/", "/include/calque/"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return false;
}

/// Cache of is_foreign, by the address of a file's interned name.
struct KnownFile {
  const char* file = nullptr;
  bool foreign = false;
};
thread_local std::array<KnownFile, 64> known_files;

}  // namespace

Location Builder::locate_elsewhere(Location at) {
  if (at.known()) {
    const Location found = persistent(at);
    const char* file = found.file_name();
    KnownFile& k = known_files[(reinterpret_cast<uintptr_t>(file) >> 3) % known_files.size()];
    if (k.file != file) k = {file, is_foreign(file)};
    header_ = k.foreign ? file : nullptr;
    if (!k.foreign) {
      last_name_ = at.file_name();
      return last_ = found;
    }
  }
  return last_.known() ? Location(last_.file_name(), last_.line()) : at;
}

Location user_location(Location at) {
  Builder* b = innermost();
  return b == nullptr ? at : b->locate(at);
}

std::string_view last_foreign_header() {
  const Builder* b = innermost();
  return b == nullptr || b->foreign_header() == nullptr ? std::string_view() : b->foreign_header();
}

}  // namespace calque::detail
