// Residuals and Jacobians of many observations in one compiled call and one observation at a time, beside the automatic
// derivatives of Ceres; a bundle adjustment inside ceres::Solve with both.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include <calque/ceres.h>

#include "ceres/functors.h"
#include "ceres/rivals.h"
#include "common/harness.h"
#include "common/variants.h"

namespace cq = calque;

namespace {

using D = cq::Array<double>;
using Ints = cq::Array<int32_t>;

/// Observations, with what they refer to.
struct Data {
  int64_t count;
  std::vector<double> columns, first, second;
  std::vector<int32_t> first_of, second_of;

  Observations view() {
    return {count, columns.data(), first_of.data(), second_of.data(), first.data(), second.data()};
  }
  D column(int64_t k) const {
    return D::from(std::span(columns).subspan(static_cast<size_t>(k * count), static_cast<size_t>(count)));
  }
};

std::shared_ptr<Data> random_data(int64_t count, int64_t columns, int64_t n, int64_t m, int64_t firsts,
                                  int64_t seconds) {
  auto d = std::make_shared<Data>();
  d->count = count;
  d->columns = bench::random_doubles(static_cast<size_t>(count * columns), -1, 1, 1);
  d->first = bench::random_doubles(static_cast<size_t>(firsts * n), -0.5, 0.5, 2);
  d->second = bench::random_doubles(static_cast<size_t>(seconds * m), -0.5, 0.5, 3);
  for (int64_t i = 0; i < count; ++i) {
    d->first_of.push_back(static_cast<int32_t>(i % firsts));
    d->second_of.push_back(static_cast<int32_t>(i * 7 % seconds));
  }
  return d;
}

using Rival = void (*)(const Observations&, double*, double*);

/// The residuals and Jacobians of the observations, of the functors, all blocks and their indices; with a loss those
/// that are corrected for it.
template <int R, class... Loss>
auto over_observations(const std::string& name, const Loss&... loss) {
  const auto one = [=](const auto& of, auto first, auto second) {
    const auto term = cq::residuals_and_jacobians(cq::functor<R>())(of, first, second);
    if constexpr (sizeof...(Loss) == 0) {
      return term;
    } else {
      return cq::corrected(loss..., term.first, term.second);
    }
  };
  return cq::jit(
      [one](const auto& of, auto first, auto second, auto first_of, auto second_of) {
        return cq::vmap(one)(of, take(first, first_of, 0, cq::mode::clip), take(second, second_of, 0, cq::mode::clip));
      },
      {.name = name, .branches = cq::branches::all});
}

/// seen: the functors of all observations, a struct of columns; one(i): that of one observation, cq::none to leave out
/// calls for each.
template <int R, int N, int M, class Seen, class One, class... Loss>
void declare_kind(const std::string& name, const std::shared_ptr<Data>& d, const Seen& seen, const One& one,
                  Rival rival, const Loss&... loss) {
  const bench::Task task{name, bench::size_name(d->count)};
  const size_t n = static_cast<size_t>(d->count);
  const size_t residuals = n * R, jacobians = residuals * (N + M);
  const auto all = over_observations<R>(name, loss...);
  const auto call = [=, first = D::from(d->first, {static_cast<int64_t>(d->first.size()) / N, N}),
                     second = D::from(d->second, {static_cast<int64_t>(d->second.size()) / M, M}),
                     first_of = Ints::from(d->first_of),
                     second_of = Ints::from(d->second_of)] { return all(seen, first, second, first_of, second_of); };
  const auto start = std::chrono::steady_clock::now();
  const auto [r, j] = call();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  bench::record(name + ": first call", took.count(), "s");
  std::vector<double> expected(r.host().begin(), r.host().end());
  const auto append = [&](const D& a) { expected.insert(expected.end(), a.host().begin(), a.host().end()); };
  append(std::get<0>(j));
  append(std::get<1>(j));
  const bench::Tolerance tolerance{1e-11, 1e-11};
  bench::add_ours(task, call);
  bench::add_rival(task, "ceres::Jet", expected, tolerance,
                   [=](double* out) { rival(d->view(), out, out + residuals); });

  if constexpr (!std::same_as<One, cq::none_t>) {
    // One observation at a time, as ceres::Problem calls cost functions.
    auto costs = std::make_shared<std::vector<std::unique_ptr<ceres::CostFunction>>>();
    for (size_t i = 0; i < n; ++i) costs->emplace_back(cq::ceres::cost_function<R, N, M>(one(i)));
    const auto each = [=](double* out) {
      for (size_t i = 0; i < n; ++i) {
        const double* blocks[] = {d->first.data() + d->first_of[i] * N, d->second.data() + d->second_of[i] * M};
        double* to[] = {out + residuals + i * R * N, out + residuals + n * R * N + i * R * M};
        (*costs)[i]->Evaluate(blocks, out + i * R, to);
      }
    };
    auto result = std::make_shared<std::vector<double>>(residuals + jacobians);
    each(result->data());
    bench::check(name, std::span<const double>(*result), std::span<const double>(expected), tolerance.rtol,
                 tolerance.atol);
    bench::add(task, "calque, a call for each", [=] {
      each(result->data());
      benchmark::DoNotOptimize(result->data());
    });
  }
}

/// Cameras around points, with noise in the images; the blocks start away from what the images are of.
std::shared_ptr<Data> scene(int64_t cameras, int64_t points) {
  constexpr int64_t kSeenBy = 4;
  auto d = random_data(points * kSeenBy, 2, 9, 3, cameras, points);
  for (int64_t i = 0; i < d->count; ++i) {
    const int64_t point = i / kSeenBy;
    d->second_of[static_cast<size_t>(i)] = static_cast<int32_t>(point);
    d->first_of[static_cast<size_t>(i)] = static_cast<int32_t>((point + i % kSeenBy * (cameras / kSeenBy)) % cameras);
  }
  for (int64_t k = 0; k < cameras; ++k) {
    double* c = d->first.data() + 9 * k;
    const double angle = 6.283185307179586 * static_cast<double>(k) / static_cast<double>(cameras);
    for (int i = 0; i < 9; ++i) c[i] *= 0.1;
    c[1] += angle;
    c[5] -= 6;
    c[6] = 500 + 100 * c[6];
    c[7] *= 0.1;
    c[8] *= 0.1;
  }
  for (int64_t i = 0; i < d->count; ++i) {
    double image[2];
    models::Projection<double>{0, 0}(d->first.data() + 9 * d->first_of[static_cast<size_t>(i)],
                                     d->second.data() + 3 * d->second_of[static_cast<size_t>(i)], image);
    for (int64_t k = 0; k < 2; ++k) {
      double& seen = d->columns[static_cast<size_t>(k * d->count + i)];
      seen = image[k] + 0.5 * seen;
    }
  }
  const auto away = bench::random_doubles(d->first.size() + d->second.size(), -0.02, 0.02, 4);
  for (size_t i = 0; i < d->first.size(); ++i) d->first[i] += (i % 9 < 6 ? 1 : 0) * away[i];
  for (size_t i = 0; i < d->second.size(); ++i) d->second[i] += away[d->first.size() + i];
  return d;
}

void declare_bundle(int64_t observations) {
  constexpr int kIterations = 4;  // before the minimum, where rounding decides about steps
  const std::shared_ptr<Data> d = scene(std::min<int64_t>(48, 4 + observations / 400 / 4 * 4), observations / 4);
  const bench::Task task{"bundle adjustment in ceres::Solve", bench::size_name(d->count)};
  const auto first = d->first, second = d->second;
  const auto reset = [=] {
    std::ranges::copy(first, d->first.begin());
    std::ranges::copy(second, d->second.begin());
  };
  const auto problem = std::make_shared<cq::ceres::Problem>();
  const cq::ceres::Blocks cameras(d->first.data(), static_cast<int64_t>(first.size()) / 9, 9),
      points(d->second.data(), static_cast<int64_t>(second.size()) / 3, 3);
  problem->add(cq::functor<2>(), models::Projection<D>{d->column(0), d->column(1)},
               {cameras[d->first_of], points[d->second_of]});
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::SPARSE_SCHUR;
  options.max_num_iterations = kIterations;
  options.function_tolerance = 0;
  options.logging_type = ceres::SILENT;
  const auto ours = [=] {
    reset();
    const auto s = problem->solve(options);
    return Solved{s.final_cost, s.total_time_in_seconds,
                  s.residual_evaluation_time_in_seconds + s.jacobian_evaluation_time_in_seconds,
                  s.linear_solver_time_in_seconds};
  };
  const auto rival = [=](PlainProblem* made) {
    return [=, plain = std::shared_ptr<PlainProblem>(made)] {
      reset();
      return plain->solve(kIterations);
    };
  };
  const auto native = rival(make_native(d->view())), portable = rival(make_portable(d->view()));

  // What takes the time, of solutions in turn.
  std::vector<Solved> of_ours, of_native, of_portable;
  for (int i = 0; i < 9; ++i) {
    of_ours.push_back(ours());
    of_native.push_back(native());
    of_portable.push_back(portable());
  }
  bench::check(task.name, of_ours[0].cost, of_native[0].cost, 1e-8);
  bench::check(task.name, of_ours[0].cost, of_portable[0].cost, 1e-8);
  const auto report = [&](const std::string& who, std::vector<Solved>& all) {
    const auto median = [&](double Solved::* time) {
      std::ranges::sort(all, {}, time);
      return all[all.size() / 2].*time;
    };
    const std::string of = task.name + ", " + task.size + ", " + who + ": ";
    bench::record(of + "final cost", all[0].cost, "");
    bench::record(of + "in all", 1e3 * median(&Solved::total), "ms");
    bench::record(of + "residuals and Jacobians", 1e3 * median(&Solved::evaluation), "ms");
    bench::record(of + "linear solver", 1e3 * median(&Solved::linear_solver), "ms");
  };
  report("calque", of_ours);
  report("plain, native code", of_native);
  report("plain, -O2", of_portable);
  bench::add_ours(task, ours);
  const auto add = [&](const std::string& name, const auto& solve) {
    bench::add(task, name, [=] {
      Solved result = solve();
      benchmark::DoNotOptimize(result);
    });
  };
  add("plain Ceres, native code", native);
  add("plain Ceres, -O2", portable);
}

void declare() {
  for (const int64_t n : bench::sizes({10'000})) {
    const auto curve = random_data(n, 2, 1, 1, 1, 1);
    declare_kind<1, 1, 1>(
        "curve", curve, models::Curve<D>{curve->column(0), curve->column(1)},
        [curve, n](size_t i) {
          const double* c = curve->columns.data() + i;
          return models::Curve<double>{c[0], c[n]};
        },
        curve_jet);
    const auto rotation = random_data(n, 3, 3, 3, 50, n / 4);
    declare_kind<3, 3, 3>(
        "rotation", rotation, models::Rotated<D>{rotation->column(0), rotation->column(1), rotation->column(2)},
        [rotation, n](size_t i) {
          const double* c = rotation->columns.data() + i;
          return models::Rotated<double>{c[0], c[n], c[2 * n]};
        },
        rotation_jet);
    const auto seen = scene(48, n / 4);
    declare_kind<2, 9, 3>(
        "reprojection", seen, models::Projection<D>{seen->column(0), seen->column(1)},
        [seen](size_t i) {
          const double* c = seen->columns.data() + i;
          return models::Projection<double>{c[0], c[seen->count]};
        },
        reprojection_jet);
    const auto poses = random_data(n, 6, 6, 6, n / 2, n / 2);
    declare_kind<6, 6, 6>(
        "relative poses", poses,
        models::Between<D>{poses->column(0), poses->column(1), poses->column(2), poses->column(3), poses->column(4),
                           poses->column(5)},
        [poses, n](size_t i) {
          const double* c = poses->columns.data() + i;
          return models::Between<double>{c[0], c[n], c[2 * n], c[3 * n], c[4 * n], c[5 * n]};
        },
        poses_jet);
    const auto bearings = random_data(n, 3, 6, 3, n / 20, n / 4);
    for (size_t k = 0; k < bearings->second.size(); k += 3) bearings->second[k] += 3;  // away from the poses
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {                              // unit vectors
      double* c = bearings->columns.data() + i;
      const auto m = static_cast<size_t>(n);
      const double length = std::hypot(c[0], c[m], c[2 * m]);
      for (const size_t k : {size_t{0}, m, 2 * m}) c[k] /= length;
    }
    declare_kind<3, 6, 3>("bearing with a loss", bearings,
                          models::Bearing<D>{bearings->column(0), bearings->column(1), bearings->column(2)}, cq::none,
                          bearing_jet, [](auto s) { return cq::cauchy(s, models::kBearingLoss); });
    declare_bundle(n);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
