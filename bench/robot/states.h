#pragma once
// Loops over states for any scalar of numbers.h: how rivals call the templates.
#include <algorithm>
#include <utility>
#include <vector>

#include "robot/dynamics.h"
#include "robot/numbers.h"
#include "robot/robot.h"

namespace states {

template <class S>
inline constexpr size_t kLanes = 1;
template <>
inline constexpr size_t kLanes<numbers::Lanes> = numbers::Lanes::kCount;

inline double& lane(double& x, size_t) { return x; }
inline auto&& lane(numbers::Lanes& x, size_t i) { return reinterpret_cast<double*>(&x.v)[i]; }

template <int N, class S>
using Vector = Eigen::Matrix<S, N, 1>;

/// body(first, used, q) for each batch of states; the last batch repeats its last state.
template <int N, class S, class Body>
void each(const Robot& robot, Body body) {
  for (size_t first = 0; first < robot.count; first += kLanes<S>) {
    const size_t used = std::min(kLanes<S>, robot.count - first);
    std::array<S, 3 * N> x;
    for (size_t k = 0; k < 3 * N; ++k)
      for (size_t i = 0; i < kLanes<S>; ++i) lane(x[k], i) = robot.states[(first + std::min(i, used - 1)) * 3 * N + k];
    body(first, used, x);
  }
}

template <int N, class S>
Vector<N, S> dynamics(const std::vector<robot::Link>& links, const std::array<S, 3 * N>& x) {
  Vector<N, S> part[3];
  for (size_t k = 0; k < 3 * N; ++k) part[k / N][Eigen::Index(k % N)] = x[k];
  return robot::forward_dynamics<N, S>(links, part[0], part[1], part[2]);
}

template <int N, class S>
void accelerations(const Robot& robot, double* out) {
  const auto links = robot::arm(N);
  each<N, S>(robot, [&](size_t first, size_t used, const std::array<S, 3 * N>& x) {
    Vector<N, S> a = dynamics<N, S>(links, x);
    for (size_t i = 0; i < used; ++i)
      for (size_t j = 0; j < N; ++j) out[(first + i) * N + j] = lane(a[Eigen::Index(j)], i);
  });
}

/// K columns of the Jacobian at a time.
template <int N, size_t K, class S>
void jacobians(const Robot& robot, double* out) {
  static_assert(3 * N % K == 0);
  using D = numbers::Dual<S, K>;
  const auto links = robot::arm(N);
  each<N, S>(robot, [&](size_t first, size_t used, const std::array<S, 3 * N>& x) {
    std::array<D, 3 * N> seeded;
    for (size_t from = 0; from < 3 * N; from += K) {
      for (size_t k = 0; k < 3 * N; ++k)
        seeded[k] = D::make(x[k], [&](size_t column) { return S(from + column == k ? 1.0 : 0.0); });
      Vector<N, D> a = dynamics<N, D>(links, seeded);
      for (size_t i = 0; i < used; ++i)
        for (size_t j = 0; j < N; ++j)
          for (size_t k = 0; k < K; ++k)
            out[((first + i) * N + j) * 3 * N + from + k] = lane(a[Eigen::Index(j)].slopes[k], i);
    }
  });
}

}  // namespace states
