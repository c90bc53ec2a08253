// Hand-written: prefix sums within a vector by doubling distances, plus the sum of all previous vectors, a serial chain
// of additions in double.
#include "common/vectors.h"
#include "cumsum/cumsum.h"

namespace {

template <int distance>
Vector shifted(Vector v) {
  const Vector zero{};
  IntVector from;
  for (int l = 0; l < int(kLanes); ++l) from[l] = l < distance ? int(kLanes) : l - distance;
  return __builtin_shuffle(v, zero, from);
}

}  // namespace

void cumsum_vectors(const float* x, float* y, size_t n) {
  double before = 0;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Vector v = load(x + i);
    v += shifted<1>(v);
    v += shifted<2>(v);
    v += shifted<4>(v);
    v += shifted<8>(v);
    store(y + i, v + float(before));
    before += double(v[kLanes - 1]);
  }
  for (; i < n; ++i) y[i] = float(before += double(x[i]));
}
