#pragma once
// The functions with NumPy's names and the layers that cases name.
#include <map>
#include <string_view>
#include <vector>

#include "calque/conformance/case_functions.h"

namespace calque::cli {

/// By name: the function that records a call.
const std::map<std::string_view, std::vector<detail::Handle> (*)(const FunctionCall&)>& numpy_functions();

}  // namespace calque::cli
