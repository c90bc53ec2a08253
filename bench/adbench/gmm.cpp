#include "adbench/gmm.h"

#include <cmath>
#include <memory>
#include <numbers>

#include "adbench/adbench.h"
#include "adbench/declare.h"

namespace adbench {
namespace {

struct Instance {
  gmm::Mixture<cq::Array<double>> mixture;
  cq::Array<double> points;  // [N, D], the layout of the rivals
  gmm::Wishart prior{1.0, 0};
  cq::Array<double> transposed = transpose(points);  // our layout

  GmmProblem problem() const {
    const int64_t d = points.shape()[1], k = mixture.alpha.size(), n = points.shape()[0];
    const double constant = -0.5 * double(n * d) * std::log(2 * std::numbers::pi) - double(k) * prior.constant(d);
    return {d,
            k,
            n,
            mixture.alpha.host().data(),
            mixture.means.host().data(),
            mixture.factors.host().data(),
            points.host().data(),
            prior.gamma,
            double(prior.m),
            constant};
  }
};

void declare(int64_t d, int64_t k, int64_t n) {
  const auto x = std::make_shared<Instance>(Instance{
      {random_array({k}, -1, 1, 1), random_array({k, d}, 0, 1, 2), random_array({k, d * (d + 1) / 2}, -1, 1, 3)},
      random_array({n, d}, -2, 2, 4)});
  const auto f = gmm::log_likelihood(x->prior);
  auto objective = cq::jit(f);
  auto gradient = cq::jit(cq::value_and_grad(f));
  const std::string size = "d" + std::to_string(d) + "_K" + std::to_string(k);
  const bench::Task value{"gmm", size}, slope{"gmm_gradient", size};

  const std::vector<double> expected{objective(x->mixture, x->transposed).item()};
  add_ours(value, [=] { return objective(x->mixture, x->transposed); });
  add_rival(value, "c++", expected, [=](double* out) { *out = gmm_plain(x->problem()); });
  add_rival(value, "c++ 8 points a vector", expected, [=](double* out) { *out = gmm_lanes(x->problem()); });

  const auto [v, g] = gradient(x->mixture, x->transposed);
  std::vector<double> derivatives{v.item()};
  for (const auto& part : {g.alpha, g.means, g.factors})
    derivatives.insert(derivatives.end(), part.host().begin(), part.host().end());
  add_ours(slope, [=] { return gradient(x->mixture, x->transposed); });
  add_rival(slope, "c++", derivatives, [=](double* out) { *out = gmm_gradient_plain(x->problem(), out + 1); });
  add_rival(slope, "c++ 8 points a vector", derivatives,
            [=](double* out) { *out = gmm_gradient_lanes(x->problem(), out + 1); });
}

}  // namespace

void declare_gmm() {
  declare(2, 5, 1000);
  declare(10, 25, 1000);
  declare(20, 50, 1000);
  declare(64, 25, 1000);
}

}  // namespace adbench
