#include <libxsmm.h>

#include "small_matmul/small_matmul.h"

Products products_libxsmm(int64_t count, int64_t size) {
  const libxsmm_blasint n = libxsmm_blasint(size);
  const float one = 1, zero = 0;
  const int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_PREFETCH_NONE;
  libxsmm_smmfunction kernel = libxsmm_smmdispatch(n, n, n, &n, &n, &n, &one, &zero, &flags, &prefetch);
  if (kernel == nullptr) return {};
  // libxsmm is column-major: the transposed product has its operands exchanged.
  return [=](const float* a, const float* b, float* c) {
    for (int64_t i = 0; i < count; ++i, a += size * size, b += size * size, c += size * size) kernel(b, a, c);
  };
}

std::string libxsmm_version() { return LIBXSMM_VERSION; }
