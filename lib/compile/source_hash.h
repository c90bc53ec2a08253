#pragma once
#include <string_view>

namespace calque::runtime {

/// A hash of the library's sources and of the compiler that built them: code that another build stored is not loaded.
extern const std::string_view kSourceHash;

}  // namespace calque::runtime
