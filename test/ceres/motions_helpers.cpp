#include "calque/ceres.h"

#include "motions.h"

namespace calque::test {

std::unique_ptr<::ceres::Manifold> motions() {
  return std::unique_ptr<::ceres::Manifold>(ceres::manifold<7, 6>([](auto x, auto step) { return se3_plus(x, step); },
                                                                  [](auto y, auto x) { return se3_minus(y, x); }));
}

}  // namespace calque::test
