// Lines in headers that the user did not write do not help: an operator on tracers called by Eigen has a location in
// Eigen. The last user line recorded before it is reported instead.
#include <array>
#include <string_view>

#include "ir/graph/persistent.h"
#include "trace/builder.h"

namespace calque::detail {
namespace {

/// Whose line an operation was recorded in.
enum class Owner : uint8_t { user, eigen, library };

/// Users keep headers below /usr/include and /usr/lib too, so only folders of Eigen, of the standard library, of
/// compilers and of this library are known.
Owner owner_of(std::string_view file) {
  const auto has = [&](std::string_view part) { return file.find(part) != std::string_view::npos; };
  if (has("/Eigen/src/") || has("/eigen3/")) return Owner::eigen;
  if (has("/include/c++/") || has("/lib/gcc/") || has("/lib/clang/") || has("/include/calque/") ||
      file.starts_with("include/calque/")) {
    return Owner::library;
  }
  return Owner::user;
}

/// Cache of owner_of, by the address of a file's interned name.
struct KnownFile {
  const char* file = nullptr;
  Owner owner = Owner::user;
};
thread_local std::array<KnownFile, 64> known_files;

}  // namespace

Location Builder::locate_elsewhere(Location at) {
  if (at.known()) {
    const Location found = persistent(at);
    const char* file = found.file_name();
    KnownFile& k = known_files[(reinterpret_cast<uintptr_t>(file) >> 3) % known_files.size()];
    if (k.file != file) k = {file, owner_of(file)};
    // Operators such as && have lines of this library, also when Eigen calls them: Eigen's header remains.
    if (k.owner != Owner::library) header_ = k.owner == Owner::eigen ? file : nullptr;
    if (k.owner == Owner::user) {
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

std::string_view last_eigen_header() {
  const Builder* b = innermost();
  return b == nullptr || b->eigen_header() == nullptr ? std::string_view() : b->eigen_header();
}

}  // namespace calque::detail
