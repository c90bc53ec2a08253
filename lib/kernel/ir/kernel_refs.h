#pragma once
// How the steps of a program's text name kernels: by name and, where several kernels have it, `#` and the number among
// them.
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// The numbers of the kernels of each name.
inline std::unordered_map<std::string_view, std::vector<int32_t>> kernels_by_name(const std::vector<Kernel>& kernels) {
  std::unordered_map<std::string_view, std::vector<int32_t>> numbers;
  for (size_t k = 0; k < kernels.size(); ++k) numbers[kernels[k].name].push_back(static_cast<int32_t>(k));
  return numbers;
}

}  // namespace calque::kernel
