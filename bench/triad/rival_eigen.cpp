#include <Eigen/Core>

#include "triad/triad.h"

void triad_eigen(float a, const float* x, const float* y, size_t n, void (*use)(const float*)) {
  using Map = Eigen::Map<const Eigen::ArrayXf>;
  Eigen::ArrayXf result = a * Map(x, Eigen::Index(n)) + Map(y, Eigen::Index(n));
  use(result.data());
}
