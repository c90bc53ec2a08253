#include <ceres/autodiff_cost_function.h>

#include "scene.h"

namespace calque::test {

using D = Array<double>;

void add_plain(::ceres::Problem& problem, Scene& s) {
  for (size_t i = 0; i < s.u.size(); ++i) {
    problem.AddResidualBlock(
        new ::ceres::AutoDiffCostFunction<Projection<double>, 2, 9, 3>(new Projection<double>{s.u[i], s.v[i]}), nullptr,
        s.cameras[static_cast<size_t>(s.camera[i])].data(), s.points[static_cast<size_t>(s.point[i])].data());
  }
}
void add_scene(ceres::Problem& problem, Scene& s, ::ceres::LossFunction* loss) {
  const ceres::Blocks cameras(s.cameras), points(s.points);
  problem.add(functor<2>(), Projection<D>{D::from(s.u), D::from(s.v)}, {cameras[s.camera], points[s.point]}, loss);
}
::ceres::CostFunction* cost_of(const Scene& s, size_t i) {
  return ceres::cost_function<2, 9, 3>(Projection<double>{s.u[i], s.v[i]});
}

}  // namespace calque::test
