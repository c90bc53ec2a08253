#include <algorithm>

#include "sort/sort.h"

void histogram_plain(const float* x, size_t n, int32_t* counts, int bins) {
  std::fill_n(counts, bins, 0);
  const float scale = float(bins) / 2;
  for (size_t i = 0; i < n; ++i) {
    const int bin = int((x[i] + 1) * scale);
    ++counts[std::min(bin, bins - 1)];
  }
}
