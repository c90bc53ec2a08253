#pragma once
// The functions of namespace calque::fft that cases name.
#include <map>
#include <string_view>
#include <vector>

#include "calque/conformance/case_functions.h"

namespace calque::cli {

const std::map<std::string_view, std::vector<detail::Handle> (*)(const FunctionCall&)>& fft_functions();

}  // namespace calque::cli
