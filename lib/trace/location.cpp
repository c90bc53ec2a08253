// Lines inside headers that the user did not write are of no use to the user: an operator on tracers that Eigen calls
// names a line of Eigen. The last line of the user's own, recorded just before, is near enough.
#include <array>
#include <string_view>

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

/// What is known of files, by the address of their names: compilers keep one copy for each file.
struct Known {
  const char* file = nullptr;
  bool foreign = false;
};
thread_local std::array<Known, 64> known_files;
thread_local Location last;
thread_local uint64_t last_trace = 0;
/// The header of the last operation where that was no line of the user's.
thread_local const char* last_header = nullptr;

}  // namespace

Location user_location(Location at) {
  const Builder* b = innermost();
  bool foreign = true;
  if (at.known()) {
    const char* file = at.file_name();
    Known& k = known_files[(reinterpret_cast<uintptr_t>(file) >> 3) % known_files.size()];
    if (k.file != file) k = {file, is_foreign(file)};
    foreign = k.foreign;
    last_header = foreign ? file : nullptr;
  }
  if (!foreign) {
    last = at;
    last_trace = b == nullptr ? 0 : b->id();
    return at;
  }
  // A line of a trace that is over says nothing of this one.
  if (last_trace == 0 || b == nullptr) return at;
  while (b->parent() != nullptr) b = b->parent();
  return last_trace >= b->id() ? Location(last.file_name(), last.line()) : at;
}

std::string_view last_foreign_header() { return last_header == nullptr ? std::string_view() : last_header; }

}  // namespace calque::detail
