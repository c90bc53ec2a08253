#include <numeric>

#include "cumsum/cumsum.h"

void cumsum_plain(const float* x, float* y, size_t n) { std::partial_sum(x, x + n, y); }
