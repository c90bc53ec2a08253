#include "adbench/ba.h"

#include <memory>

#include "adbench/adbench.h"
#include "adbench/declare.h"

namespace adbench {
namespace {

void declare(int64_t n, int64_t m, int64_t p) {
  const auto x = std::make_shared<ba::Problem>();
  x->n = n;
  x->m = m;
  x->p = p;
  // Cameras of ADBench's magnitudes, near to one another; points in front of them.
  const cq::Array<double> camera = {-0.76, -1.11, -0.85, 34.6, 39.7, 53.9, 419, 5.9, -8.5, 0.088, 0.0027};
  x->cameras = camera + random_array({n, 11}, -0.001f, 0.001f, 1);
  x->points = cq::Array<double>{7.2, 0.001, 3.0} + random_array({m, 3}, -1, 1, 2);
  x->weights = random_array({p}, 0, 1, 3);
  x->features = random_array({p, 2}, -500, 500, 4);
  const auto observation = cq::Array<int32_t>::arange(p);
  x->camera = observation % static_cast<int32_t>(n);
  x->point = observation % static_cast<int32_t>(m);
  const auto problem = [x] {
    return BaProblem{x->n,
                     x->m,
                     x->p,
                     x->cameras.host().data(),
                     x->points.host().data(),
                     x->weights.host().data(),
                     x->features.host().data()};
  };

  auto f = cq::jit(ba::errors(*x));
  auto df = cq::jit(ba::jacobian(*x));
  const std::string size = "p" + std::to_string(p);
  const bench::Task value{"ba", size}, slope{"ba_jacobian", size};

  const auto [residuals, weight_errors] = f(x->cameras, x->points, x->weights, x->features);
  std::vector<double> expected(residuals.host().begin(), residuals.host().end());
  expected.insert(expected.end(), weight_errors.host().begin(), weight_errors.host().end());
  add_ours(value, [=] { return f(x->cameras, x->points, x->weights, x->features); });
  add_rival(value, "c++", expected, [=](double* out) { ba_plain(problem(), out, out + 2 * x->p); });

  const auto [rows, weight_rows] = df(x->cameras, x->points, x->weights, x->features);
  std::vector<double> nonzeros(rows.host().begin(), rows.host().end());
  nonzeros.insert(nonzeros.end(), weight_rows.host().begin(), weight_rows.host().end());
  add_ours(slope, [=] { return df(x->cameras, x->points, x->weights, x->features); });
  add_rival(slope, "c++", nonzeros, [=](double* out) { ba_jacobian_plain(problem(), out); });
}

}  // namespace

void declare_ba() {
  declare(49, 7776, 31843);
  declare(257, 65132, 225911);
}

}  // namespace adbench
