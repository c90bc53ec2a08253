// Lines inside headers that the user did not write are of no use to the user: an operator on tracers that Eigen calls
// names a line of Eigen. The last line of the user's own, recorded just before, is near enough.
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

/// What is known of files, by the address of their interned names.
struct Known {
  const char* file = nullptr;
  bool foreign = false;
};
thread_local std::array<Known, 64> known_files;

}  // namespace

Location Builder::locate_elsewhere(Location at) {
  if (at.known()) {
    const Location found = persistent(at);
    const char* file = found.file_name();
    Known& k = known_files[(reinterpret_cast<uintptr_t>(file) >> 3) % known_files.size()];
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
