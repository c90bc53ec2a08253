// One expression: a separate line per operation would cost a pass over memory each.
#include <Eigen/Core>

#include "chain/chain.h"

void chain_eigen(const float* from, float* result, size_t n) {
  Eigen::Map<const Eigen::ArrayXf> x(from, Eigen::Index(n));
  Eigen::Map<Eigen::ArrayXf>(result, Eigen::Index(n)) = x.unaryExpr([](float v) { return chain(v); });
}
