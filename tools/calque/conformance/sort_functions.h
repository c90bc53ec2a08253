#pragma once
// The functions of cases that sort.
#include <map>
#include <string_view>
#include <vector>

#include "calque/conformance/case_functions.h"

namespace calque::cli {

const std::map<std::string_view, std::vector<detail::Handle> (*)(const FunctionCall&)>& sort_functions();

}  // namespace calque::cli
