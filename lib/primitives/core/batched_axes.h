#pragma once
// Lists of dimensions under batching, which adds a leading batch dimension.
#include <cstdint>
#include <vector>

namespace calque::primitives {

/// Every dimension incremented by one, for the leading batch dimension.
inline std::vector<int64_t> shifted(const std::vector<int64_t>& axes) {
  std::vector<int64_t> out;
  for (const int64_t a : axes) out.push_back(a + 1);
  return out;
}

/// The list with `first` prepended.
inline std::vector<int64_t> prepended(int64_t first, const std::vector<int64_t>& rest) {
  std::vector<int64_t> out{first};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace calque::primitives
