#pragma once
// Cameras that look at points from all sides: a problem of bundle adjustment with noise.
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "calque/ceres.h"

#include "models.h"

namespace calque::test {

struct Scene {
  std::vector<std::array<double, 9>> cameras;
  std::vector<std::array<double, 3>> points;
  std::vector<int32_t> camera, point;  // of each observation
  std::vector<double> u, v;

  Scene(int num_cameras, int num_points, int seen_by, double noise) {
    std::mt19937_64 bits(7);
    const auto random = [&] { return std::ldexp(static_cast<double>(bits() >> 11), -53) * 2 - 1; };
    for (int i = 0; i < num_cameras; ++i) {
      const double angle = 6.283185307179586 * i / num_cameras;
      cameras.push_back({0.05 * random(), angle + 0.05 * random(), 0.05 * random(), 0.2 * random(), 0.2 * random(),
                         -6 + 0.2 * random(), 500 + 20 * random(), 0.01 * random(), 0.001 * random()});
    }
    for (int i = 0; i < num_points; ++i) points.push_back({random(), random(), random()});
    for (int i = 0; i < num_points; ++i) {
      for (int k = 0; k < seen_by; ++k) {
        const int32_t at = (i + k * (num_cameras / seen_by)) % num_cameras;
        double image[2];
        Projection<double>{0, 0}(cameras[static_cast<size_t>(at)].data(), points[static_cast<size_t>(i)].data(), image);
        camera.push_back(at);
        point.push_back(i);
        u.push_back(image[0] + noise * random());
        v.push_back(image[1] + noise * random());
      }
    }
    for (auto& c : cameras) {
      for (size_t i = 0; i < 3; ++i) c[i] += 0.01 * random();
      for (size_t i = 3; i < 6; ++i) c[i] += 0.05 * random();
    }
    for (auto& p : points) {
      for (double& e : p) e += 0.05 * random();
    }
  }
};

/// The observations of a scene as a kind, and as residual blocks of plain Ceres.
void add_scene(ceres::Problem& problem, Scene& scene, ::ceres::LossFunction* loss = nullptr);
void add_plain(::ceres::Problem& problem, Scene& scene);
/// A compiled cost function of one of them.
::ceres::CostFunction* cost_of(const Scene& scene, size_t observation);

}  // namespace calque::test
