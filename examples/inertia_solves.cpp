// Accelerations of a robot arm in 100,000 states: the joints' inertia matrix, 6 x 6, is the Jacobian of the torques by
// the accelerations, and the accelerations solve a system with it. Many small systems are one kernel over the batch,
// with matrices in the lanes of vectors. Timed beside a loop over Eigen's LDLT, both on one thread, and checked against
// it and against the articulated body algorithm, which has no matrix. Writes inertia_solves.svg: times by batch size.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "pictures/plot.h"
#include "robot/dynamics.h"

namespace cq = calque;

constexpr int kJoints = 6;
constexpr int64_t kStates = 100'000;

using Array = cq::Array<double>;
using Scalar = cq::Tracer<double>;
using Vector = cq::Vector<double, kJoints>;
using Number6 = Eigen::Matrix<double, kJoints, 1>;
using Number66 = Eigen::Matrix<double, kJoints, kJoints>;

/// The time of one call, the least of many.
template <class F>
double seconds(const F& f) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  const auto end = Clock::now() + std::chrono::milliseconds(60);
  for (int i = 0; i < 5 || Clock::now() < end; ++i) {
    const auto start = Clock::now();
    f();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

int main() {
  setenv("CALQUE_NUM_THREADS", "1", 0);
  const auto links = robot::arm(kJoints);
  const auto torques = [&links](const auto& q, const auto& velocity, const auto& acceleration) {
    return Scalar(robot::inverse_dynamics<kJoints, Scalar>(links, Vector(q), Vector(velocity), Vector(acceleration)));
  };
  // Torques are linear in accelerations: the inertia matrix times them, and what the state needs without any.
  const auto system = [torques](const auto& q, const auto& velocity) {
    auto none = cq::zeros<double>({kJoints});
    auto by_acceleration = [=](const auto& a) { return torques(q, velocity, a); };
    return std::pair{cq::jacfwd(by_acceleration)(none), by_acceleration(none)};
  };

  const auto keys = cq::random::split(cq::random::key(2008), 3);
  const Array q = 3.0 * cq::random::normal<double>(keys[0], {kStates, kJoints});
  const Array velocity = cq::random::normal<double>(keys[1], {kStates, kJoints});
  const Array torque = 5.0 * cq::random::normal<double>(keys[2], {kStates, kJoints});
  const auto [inertia, rest] = cq::jit(cq::vmap(system))(q, velocity);  // [states, 6, 6] and [states, 6]
  const Array force = torque - rest;

  const auto solve = cq::jit(cq::vmap([](const auto& m, const auto& f) { return cq::linalg::solve(m, f); }));
  const auto cho_solve =
      cq::jit(cq::vmap([](const auto& m, const auto& f) { return cq::linalg::cho_solve(cq::linalg::cholesky(m), f); }));
  // The whole way in one kernel: inertia matrices stay in registers.
  const auto accelerations = cq::jit(cq::vmap([system](const auto& q, const auto& velocity, const auto& torque) {
    auto [m, rest] = system(q, velocity);
    return cq::linalg::cho_solve(cq::linalg::cholesky(m), torque - rest);
  }));
  const Array by_solve = solve(inertia, force), by_cholesky = cho_solve(inertia, force);
  const Array by_all = accelerations(q, velocity, torque);

  // Eigen's matrices are stored by columns, ours by rows: the same of symmetric ones.
  std::vector<Number6> by_eigen(kStates);
  const auto at = [](const Array& a, int64_t i) { return Eigen::Map<const Number6>(a.host().data() + kJoints * i); };
  const auto loop = [&](int64_t n) {
    const double* m = inertia.host().data();
    for (int64_t i = 0; i < n; ++i)
      by_eigen[size_t(i)] = Eigen::Map<const Number66>(m + kJoints * kJoints * i).ldlt().solve(at(force, i));
  };

  pictures::Plot plot("Solving 6 x 6 systems, one thread", "log10 of the number of systems", "ns for each");
  pictures::Numbers x, of_solve, of_cholesky, of_eigen;
  for (int64_t n = 1; n <= kStates; n *= 10) {
    const Array some = inertia.at(cq::range(0, n)), right = force.at(cq::range(0, n));
    const double ns = 1e9 / double(n);
    x.push_back(std::log10(double(n)));
    of_solve.push_back(ns * seconds([&] { return solve(some, right); }));
    of_cholesky.push_back(ns * seconds([&] { return cho_solve(some, right); }));
    of_eigen.push_back(ns * seconds([&] { loop(n); }));
  }
  const double all = 1e9 / kStates * seconds([&] { return accelerations(q, velocity, torque); });
  std::cout << kStates << " systems, ns for each: solve " << of_solve.back() << ", cho_solve " << of_cholesky.back()
            << ", Eigen's ldlt in a loop " << of_eigen.back() << ": " << of_eigen.back() / of_solve.back() << " and "
            << of_eigen.back() / of_cholesky.back() << " times as long\nwith the matrices, from the state: " << all
            << '\n';
  const auto draw = [&](const char* text, const pictures::Numbers& ns, const char* color) {
    plot.curve(x, ns, color, 2);
    plot.points(x, ns, color, 4);
    plot.label(text, color);
  };
  draw("Eigen's ldlt in a loop", of_eigen, "#808080");
  draw("solve, by LU with pivots", of_solve, "#e07b39");
  draw("cho_solve(cholesky)", of_cholesky, "#4c8dd6");
  plot.reach(0);
  plot.reach(1.3 * of_eigen.back());
  plot.write("inertia_solves.svg");

  bool right = true;
  double of_factors = 0, of_bodies = 0;  // the greatest differences, relative to the accelerations
  for (int64_t i = 0; i < kStates; ++i) {
    const Number6& a = by_eigen[size_t(i)];
    const auto difference = [&](const Number6& other) {
      const double d = (other - a).norm() / a.norm();
      right &= d < 1e-10;
      return d;
    };
    for (const Array* other : {&by_solve, &by_cholesky, &by_all})
      of_factors = std::max(of_factors, difference(at(*other, i)));
    const Number6 bodies = robot::forward_dynamics<kJoints, double>(links, at(q, i), at(velocity, i), at(torque, i));
    of_bodies = std::max(of_bodies, difference(bodies));
  }
  std::cout << "differences of the accelerations: " << of_factors << " between the solvers, " << of_bodies
            << " from the articulated body algorithm\n";
  if (!right) std::cout << "wrong: the accelerations differ\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
