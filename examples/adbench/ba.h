#pragma once
// ADBench's BA: the reprojection errors of bundle adjustment and their sparse Jacobian. One residual is written with
// Eigen's small vectors; jacfwd gives its Jacobian, vmap the function of all observations.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "adbench/reader.h"

namespace adbench::ba {

using D = cq::Tracer<double>;
using Vector2 = Eigen::Matrix<D, 2, 1>;
using Vector3 = Eigen::Matrix<D, 3, 1>;

/// The parameters of one observation: 15 numbers.
template <class A>
struct Observation {
  std::array<A, 11> camera;  // rotation (3), centre (3), focal length, principal point (2), radial distortion (2)
  std::array<A, 3> point;
  A weight;
};

/// v rotated about the axis r by the angle |r|: Rodrigues' formula.
inline Vector3 rotate(const Vector3& r, const Vector3& v) {
  const D squared = r.squaredNorm();
  // At r = 0 the quotients are replaced by their limits, and the root's argument by one at which it is differentiable.
  const auto still = squared == 0.0;
  const D angle = sqrt(where(still, 1.0, squared));
  const D cosine = where(still, 1.0, cos(angle));
  const D along = where(still, 0.5, (1.0 - cos(angle)) / (angle * angle));
  const D across = where(still, 1.0, sin(angle) / angle);
  return cosine * v + across * r.cross(v) + (along * r.dot(v)) * r;
}

/// The distance of the projection of a point from its observed position.
inline const auto kResidual = [](const auto& seen, auto feature) {
  const Eigen::Map<const Eigen::Matrix<D, 11, 1>> camera(seen.camera.data());
  const Eigen::Map<const Vector3> point(seen.point.data());
  const Vector3 y = rotate(camera.head<3>(), point - camera.segment<3>(3));
  const Vector2 p = y.head<2>() / y[2];
  const D s = p.squaredNorm(), distortion = 1.0 + camera[9] * s + camera[10] * s * s;
  const Vector2 image = camera[6] * distortion * p + camera.segment<2>(7);
  const Vector2 residual = seen.weight * (image - Vector2(feature));
  return std::array{residual[0], residual[1]};
};

/// The residuals of one observation [2].
inline const auto kErrors = [](const auto& seen, auto feature) { return cq::stack(kResidual(seen, feature), 0); };

/// Their Jacobian [2, 15], by camera, point and weight. Derivatives of one scalar by one scalar are traced separately:
/// values that do not depend on the scalar cost nothing, and vmap vectorizes the rest over all observations.
inline const auto kRows = [](const auto& seen, auto feature) {
  std::vector<D> entries;
  for (const Observation<D>& by : cq::jacfwd(kResidual)(seen, feature)) {
    entries.insert(entries.end(), by.camera.begin(), by.camera.end());
    entries.insert(entries.end(), by.point.begin(), by.point.end());
    entries.push_back(by.weight);
  }
  return reshape(cq::stack(entries, 0), {2, 15});
};

/// n cameras, m points, p observations.
struct Problem {
  int64_t n, m, p;
  cq::Array<double> cameras, points, weights, features;  // [n, 11], [m, 3], [p], [p, 2]
  cq::Array<int32_t> camera, point;                      // [p]: camera and point of each observation
};

/// N numbers for each observation, gathered from those of its camera or point.
template <size_t N>
std::array<D, N> columns(const D& rows, const cq::Array<int32_t>& seen) {
  std::array<D, N> result;
  const D gathered = take(rows, seen, 0);
  for (size_t i = 0; i < N; ++i) result[i] = gathered.at(cq::all, i);
  return result;
}
inline auto observations(const Problem& problem) {
  return [camera = problem.camera, point = problem.point](auto cameras, auto points, auto weights) {
    return Observation<D>{columns<11>(cameras, camera), columns<3>(points, point), weights};
  };
}

/// Residuals [p, 2] and weight errors [p].
inline auto errors(const Problem& problem) {
  return [seen = observations(problem)](auto cameras, auto points, auto weights, auto features) {
    return std::pair{cq::vmap(kErrors)(seen(cameras, points, weights), features), 1.0 - weights * weights};
  };
}

/// The nonzeros of the sparse Jacobian: of the residuals' rows [p, 2, 15], then of the weight errors' [p].
inline auto jacobian(const Problem& problem) {
  return [seen = observations(problem)](auto cameras, auto points, auto weights, auto features) {
    return std::pair{cq::vmap(kRows)(seen(cameras, points, weights), features), -2.0 * weights};
  };
}

/// A row of `count` numbers, repeated.
inline cq::Array<double> replicated(const cq::Array<double>& row, int64_t count) {
  return tile(row.reshape({1, row.size()}), {count, 1});
}

inline Problem read(const std::string& path) {
  constexpr int64_t kMost = INT32_MAX;
  Reader file(path);
  Problem problem;
  problem.n = file.integer("n, the number of cameras", 1, kMost);
  problem.m = file.integer("m, the number of points", 1, kMost);
  problem.p = file.integer("p, the number of observations", 1, kMost);
  problem.cameras = replicated(file.numbers("the camera", {11}), problem.n);
  problem.points = replicated(file.numbers("the point", {3}), problem.m);
  problem.weights = cq::Array<double>::full({problem.p}, file.number("the weight"));
  problem.features = replicated(file.numbers("the feature", {2}), problem.p);
  file.finish();
  const auto observation = cq::Array<int32_t>::arange(problem.p);
  problem.camera = observation % static_cast<int32_t>(problem.n);
  problem.point = observation % static_cast<int32_t>(problem.m);
  return problem;
}

}  // namespace adbench::ba
