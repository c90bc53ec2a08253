// A bundle adjustment inside ceres::Solve: the images of points in cameras around them, with a Huber loss. One compiled
// call evaluates all reprojections and their Jacobians; the same functor with ceres::AutoDiffCostFunction ends with the
// same cost. Both times are printed. Built where Ceres is installed. Writes bundle_adjustment.svg, the view from above.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include <calque/ceres.h>
#include <ceres/autodiff_cost_function.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

/// The image of a point in a camera: a rotation vector, a translation, the focal length and two radial distortions.
template <class S>
struct Reprojection {
  S u, v;
  template <class T>
  bool operator()(const T* camera, const T* point, T* residuals) const {
    using std::cos, std::sin, std::sqrt;
    const Eigen::Map<const Eigen::Matrix<T, 3, 1>> turn(camera), shift(camera + 3), x(point);
    Eigen::Matrix<T, 3, 1> p = x + turn.cross(x);
    const T square = turn.squaredNorm();
    if (square > T(0.0)) {
      const T angle = sqrt(square);
      const T along = turn.dot(x) * (T(1.0) - cos(angle)) / square;
      p = cos(angle) * x + sin(angle) / angle * turn.cross(x) + along * turn;
    }
    p += shift;
    const T a = p[0] / p[2], b = p[1] / p[2];
    const T r2 = a * a + b * b, scale = camera[6] * (T(1.0) + r2 * (camera[7] + camera[8] * r2));
    residuals[0] = scale * a - u;
    residuals[1] = scale * b - v;
    return true;
  }
};

using Cameras = std::vector<std::array<double, 9>>;
using Points = std::vector<std::array<double, 3>>;

ceres::Solver::Options options() {
  ceres::Solver::Options o;
  o.linear_solver_type = ceres::SPARSE_SCHUR;
  o.max_num_iterations = 40;
  o.function_tolerance = 1e-12;
  o.logging_type = ceres::SILENT;
  return o;
}
double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main() {
  // Cameras on a circle look at the walls of a building, whose points each is seen by every third of them.
  constexpr int kCameras = 24, kPoints = 2000;
  std::mt19937_64 bits(11);
  const auto random = [&] { return std::ldexp(static_cast<double>(bits() >> 11), -52) - 1; };
  Cameras cameras;
  Points points;
  for (int i = 0; i < kCameras; ++i) {
    cameras.push_back({0, 2 * M_PI * i / kCameras, 0, 0.1 * random(), 0.1 * random(), 7, 600, 0.01, -0.001});
  }
  for (int i = 0; i < kPoints; ++i) {
    const double wall = 3 * random(), height = random();
    const std::array<std::array<double, 3>, 4> walls = {
        {{wall, height, 1.8}, {wall, height, -1.8}, {3, height, 0.6 * wall}, {-3, height, 0.6 * wall}}};
    points.push_back(walls[static_cast<size_t>(i % 4)]);
  }
  const Points truth = points;
  std::vector<int32_t> camera, point;
  std::vector<double> u, v;
  for (int32_t i = 0; i < kPoints; ++i) {
    for (int32_t k = i % 3; k < kCameras; k += 3) {
      double image[2];
      Reprojection<double>{0, 0}(cameras[static_cast<size_t>(k)].data(), points[static_cast<size_t>(i)].data(), image);
      const double wrong = u.size() % 50 == 7 ? 60 : 0;  // a match of the wrong point
      camera.push_back(k);
      point.push_back(i);
      u.push_back(image[0] + random() + wrong);
      v.push_back(image[1] + random());
    }
  }
  for (size_t k = 2; k < kCameras; ++k) {  // the first two stay and fix position and scale
    for (size_t i = 0; i < 6; ++i) cameras[k][i] += (i < 3 ? 0.02 : 0.1) * random();
  }
  for (auto& p : points) {
    for (double& x : p) x += 0.25 * random();
  }
  const Points start = points;
  Cameras plain_cameras = cameras;
  Points plain_points = points;

  auto begin = std::chrono::steady_clock::now();
  cq::ceres::Problem problem;
  const cq::ceres::Blocks all_cameras(cameras), all_points(points);
  problem.add(cq::functor<2>(), Reprojection<Array>{Array::from(u), Array::from(v)},
              {all_cameras[camera], all_points[point]}, new ceres::HuberLoss(2.0));
  for (int64_t k = 0; k < 2; ++k) problem->SetParameterBlockConstant(all_cameras.block(k));
  const double made = seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  const auto summary = problem.solve(options());
  const double solved = seconds_since(begin);

  begin = std::chrono::steady_clock::now();
  ceres::Problem plain;
  auto* loss = new ceres::HuberLoss(2.0);
  for (size_t i = 0; i < u.size(); ++i) {
    using Functor = Reprojection<double>;
    plain.AddResidualBlock(new ceres::AutoDiffCostFunction<Functor, 2, 9, 3>(new Functor{u[i], v[i]}), loss,
                           plain_cameras[static_cast<size_t>(camera[i])].data(),
                           plain_points[static_cast<size_t>(point[i])].data());
  }
  for (size_t k = 0; k < 2; ++k) plain.SetParameterBlockConstant(plain_cameras[k].data());
  const double plain_made = seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  ceres::Solver::Summary of_plain;
  ceres::Solve(options(), &plain, &of_plain);
  const double plain_solved = seconds_since(begin);

  std::cout << u.size() << " observations, cost " << summary.initial_cost << " to " << summary.final_cost << ", plain "
            << of_plain.final_cost << "\nmade in " << made << " s, plain " << plain_made << " s; solved in " << solved
            << " s, plain " << plain_solved << " s\nresiduals and Jacobians "
            << summary.residual_evaluation_time_in_seconds + summary.jacobian_evaluation_time_in_seconds << " s in "
            << summary.num_jacobian_evaluations << " evaluations, plain "
            << of_plain.residual_evaluation_time_in_seconds + of_plain.jacobian_evaluation_time_in_seconds << " s in "
            << of_plain.num_jacobian_evaluations << '\n';

  double off = 0;
  pictures::Numbers x0, z0, x1, z1, cx, cz;
  for (size_t i = 0; i < truth.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) off += (points[i][k] - truth[i][k]) * (points[i][k] - truth[i][k]) / kPoints;
    if (i % 3 != 0) continue;  // enough for the picture
    x0.push_back(start[i][0]);
    z0.push_back(start[i][2]);
    x1.push_back(points[i][0]);
    z1.push_back(points[i][2]);
  }
  for (const auto& c : cameras) {
    const Array centre = -cq::angle_axis_rotate(Array{-c[0], -c[1], -c[2]}, Array{c[3], c[4], c[5]});
    cx.push_back(centre(0));
    cz.push_back(centre(2));
  }
  pictures::Plot plot("A bundle adjustment, from above", "x", "z");
  plot.equal_scales();
  plot.points(x0, z0, "#e07b39", 1.5);
  plot.points(x1, z1, "#4c8dd6", 1.5);
  plot.points(cx, cz, "#808080", 4);
  plot.label("points at the start", "#e07b39");
  plot.label("points that were found", "#4c8dd6");
  plot.label("cameras", "#808080");
  plot.write("bundle_adjustment.svg");
  std::cout << "points are off by " << std::sqrt(off) << '\n';
  const bool same = std::abs(summary.final_cost - of_plain.final_cost) < 1e-6 * of_plain.final_cost;
  return same && std::sqrt(off) < 0.05 ? EXIT_SUCCESS : EXIT_FAILURE;
}
