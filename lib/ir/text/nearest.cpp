#include "ir/text/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace calque::text {
namespace {

/// The optimal string alignment distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view found;
  size_t fewest = word.size() / 2 + 1;  // more would leave less than half of it
  for (const std::string_view name : names) {
    const size_t d = word.size() > 1 && name.starts_with(word) ? 0 : distance(word, name);
    if (d < fewest) fewest = d, found = name;
  }
  return found;
}

}  // namespace calque::text
