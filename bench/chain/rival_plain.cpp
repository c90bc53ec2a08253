#include "chain/chain.h"

void chain_plain(const float* x, float* __restrict result, size_t n) {
  for (size_t i = 0; i < n; ++i) result[i] = chain(x[i]);
}
