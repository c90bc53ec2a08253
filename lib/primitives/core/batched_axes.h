#pragma once
// Lists of dimensions under batching: the batch is one more dimension in front.
#include <cstdint>
#include <vector>

namespace calque::primitives {

/// Every dimension one further, behind the batch's.
inline std::vector<int64_t> shifted(const std::vector<int64_t>& axes) {
  std::vector<int64_t> out;
  for (const int64_t a : axes) out.push_back(a + 1);
  return out;
}

/// The list with one more entry in front.
inline std::vector<int64_t> prepended(int64_t first, const std::vector<int64_t>& rest) {
  std::vector<int64_t> out{first};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace calque::primitives
