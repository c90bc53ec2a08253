#include <chrono>
#include <cmath>
#include <memory>
#include <string>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "robot/dynamics.h"
#include "robot/numbers.h"
#include "robot/robot.h"

namespace cq = calque;

namespace {

template <int N, class S>
using Vector = Eigen::Matrix<S, N, 1>;

/// Operations of one evaluation, and additional operations of the derivative along one direction.
template <int N>
std::pair<double, double> operations(const std::vector<robot::Link>& links) {
  using numbers::Counted;
  using D = numbers::Dual<Counted, 1>;
  Vector<N, Counted> x[3];
  Vector<N, D> dx[3];
  for (auto& part : x) part.fill(Counted::variable(0.5));
  for (auto& part : dx) part.fill(D::make(Counted::variable(0.5), [](size_t) { return Counted::variable(0.5); }));
  Counted::operations = 0;
  robot::forward_dynamics<N, Counted>(links, x[0], x[1], x[2]);
  const double value = std::exchange(Counted::operations, 0.0);
  robot::forward_dynamics<N, D>(links, dx[0], dx[1], dx[2]);
  return {value, Counted::operations - value};
}

/// Accelerations on plain numbers, checked first: the inverse dynamics must give torques under which the arm moves with
/// these accelerations.
template <int N>
std::vector<double> reference(const Robot& arm, const std::vector<robot::Link>& links) {
  std::vector<double> out(arm.count * N);
  accelerations_scalar(arm, out.data());
  using Map = Eigen::Map<const Vector<N, double>>;
  for (size_t i = 0; i < arm.count; i += 97) {
    const double* state = arm.states + i * 3 * N;
    const Vector<N, double> torque =
        robot::inverse_dynamics<N, double>(links, Map(state), Map(state + N), Map(out.data() + i * N));
    bench::check("robot: inverse dynamics", std::span(torque.data(), N), std::span(state + 2 * N, N), 1e-8, 1e-8);
  }
  return out;
}

template <int N>
void declare_arm(size_t count) {
  const auto links = robot::arm(N);
  auto states = std::make_shared<std::vector<double>>(bench::random_doubles(count * 3 * N, -1, 1, N));
  const auto problem = [states, count] { return Robot{N, states->data(), count}; };
  const auto [value, slope] = operations<N>(links);
  const double peak = bench::fma_peak_f64(), n = double(count);
  const auto task = [&](const std::string& what, double flops, double outputs) {
    const std::string formula = std::to_string(std::lround(flops)) + " operations / F";
    return bench::Task{"robot " + what,
                       std::to_string(N) + " joints",
                       {n * flops / peak, formula},
                       {n * flops, 8 * n * (3 * N + outputs)}};
  };
  const bench::Task forward_task = task("dynamics", value, N);
  const bench::Task jacobian_task = task("Jacobian", value + 3 * N * slope, 3 * N * N);
  const std::vector<double> expected = reference<N>(problem(), links);
  std::vector<double> slopes(count * N * 3 * N);
  jacobians_scalar(problem(), slopes.data());
  const bench::Tolerance tolerance{1e-6, 1e-6};

  const auto dynamics = [links](auto state) {
    using S = cq::Tracer<double>;
    const Vector<N, S> q = state[cq::range(0, N)], velocity = state[cq::range(N, 2 * N)],
                       torque = state[cq::range(2 * N, 3 * N)];
    return S(robot::forward_dynamics<N, S>(links, q, velocity, torque));
  };
  const auto x = cq::Array<double>::wrap(states->data(), {int64_t(count), 3 * N}, [states](double*) {});
  const auto ours = [&](const bench::Task& of, auto f, const std::vector<double>& wanted) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = f(x);
    const std::chrono::duration<double> first = std::chrono::steady_clock::now() - start;
    bench::record(of.name + " " + of.size + ": first call", first.count(), "s");
    bench::check(of.name + " " + of.size, result.host(), std::span<const double>(wanted), tolerance.rtol,
                 tolerance.atol);
    bench::add_ours(of, [f, x] { return f(x); });
  };
  const auto rival = [&](const bench::Task& of, const std::string& name, void (*run)(const Robot&, double*),
                         const std::vector<double>& wanted) {
    bench::add_rival(of, name, wanted, tolerance, [=](double* out) { run(problem(), out); });
  };
  ours(forward_task, cq::jit(cq::vmap(dynamics)), expected);
  rival(forward_task, "c++", accelerations_scalar, expected);
  rival(forward_task, "c++, 8 states in a vector", accelerations_lanes, expected);
  ours(jacobian_task, cq::jit(cq::vmap(cq::jacfwd(dynamics))), slopes);
  rival(jacobian_task, "c++ dual numbers", jacobians_scalar, slopes);
  rival(jacobian_task, "c++ dual numbers, 8 states in a vector", jacobians_lanes, slopes);
}

void declare() {
  for (const int64_t joints : bench::sizes({7, 30})) {
    if (joints == 7) declare_arm<7>(10'000);
    if (joints == 30) declare_arm<30>(1'000);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
