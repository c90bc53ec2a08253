#pragma once
// The one file that a path is compiled into: objects in a compiler cache serve every folder of the project.
#include <string>

namespace bench {

/// The root of the source tree that this program was built from.
std::string source_folder();

}  // namespace bench
