// Bayesian logistic regression by Hamiltonian Monte Carlo (Duane et al., 1987; Neal, 2011): the gradient of the
// posterior comes from `grad`, each step is a loop of leapfrog steps, and `vmap` runs four chains in one compiled scan.
// The data are drawn from known coefficients. Writes hamiltonian_monte_carlo.svg: the chains of one coefficient.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr int64_t kExamples = 400, kCoefficients = 3, kChains = 4, kWarmup = 200, kDraws = 1000;
constexpr int32_t kLeapfrogSteps = 4;
constexpr double kStepSize = 0.08;

/// The logarithm of the posterior density of coefficients with standard normal priors, up to a constant.
const auto log_posterior = [](const auto& w, const auto& x, const auto& y) {
  auto scores = matmul(x, w);
  return sum(y * scores - logaddexp(scores, 0.0)) - 0.5 * sum(w * w);
};

/// Draws of one chain and whether each was accepted.
const auto chain = [](const auto& key, const auto& start, const auto& x, const auto& y) {
  auto slope = [x, y](const auto& w) { return cq::grad(log_posterior)(w, x, y); };
  auto energy = [x, y](const auto& w, const auto& p) { return 0.5 * sum(p * p) - log_posterior(w, x, y); };
  auto step = [=](auto w, auto number) {
    auto [of_momentum, of_choice] = cq::random::split(cq::random::fold_in(key, number));
    auto p = cq::random::normal<double>(of_momentum, {kCoefficients});
    auto leapfrog = [=](auto, auto state) {
      auto [position, momentum] = state;
      auto half = momentum + 0.5 * kStepSize * slope(position);
      auto next = position + kStepSize * half;
      return std::tuple{next, half + 0.5 * kStepSize * slope(next)};
    };
    auto [proposed, momentum] = cq::fori_loop(0, kLeapfrogSteps, leapfrog, std::tuple{w, p});
    auto accepted = log(cq::random::uniform<double>(of_choice, {})) < energy(w, p) - energy(proposed, momentum);
    auto next = where(accepted, proposed, w);
    return std::pair{next, std::pair{next, cq::cast<double>(accepted)}};
  };
  return cq::scan(step, start, cq::arange<int32_t>(kWarmup + kDraws)).second;
};

int main() {
  const auto keys = cq::random::split(cq::random::key(1987), 4);
  const Array truth = {1.0, -1.5, 0.5};
  const Array x = cq::random::normal<double>(keys[0], {kExamples, kCoefficients});
  const Array y = cq::cast<double>(cq::random::uniform<double>(keys[1], {kExamples}) < sigmoid(matmul(x, truth)));

  const Array starts = cq::random::normal<double>(keys[2], {kChains, kCoefficients});
  const auto number = cq::Array<int32_t>::arange(kChains);
  auto run = cq::jit(cq::vmap([](const auto& key, auto i, auto start, auto x,
                                 auto y) { return chain(cq::random::fold_in(key, i), start, x, y); },
                              {.in_axes = {cq::none, 0, 0, cq::none, cq::none}}));
  const auto [all_draws, accepted] = run(keys[3], number, starts, x, y);
  const Array draws = all_draws.at(cq::all, cq::range(kWarmup, kWarmup + kDraws));  // [chains, draws, coefficients]

  // The posterior is nearly normal: its mode, by gradient ascent from the mean, is close to the mean.
  const Array means = mean(draws, {0, 1});
  const Array deviations = sqrt(mean(square(draws - means), {0, 1}));
  Array mode = means;
  for (int i = 0; i < 20; ++i) mode = mode + 0.01 * cq::grad(log_posterior)(mode, x, y);

  // Between the chains and within them (Gelman and Rubin, 1992): near 1 when they agree.
  const Array of_chains = mean(draws, {1});
  const Array within = mean(square(draws - of_chains.at(cq::all, cq::newaxis)), {0, 1});
  const Array between = sum(square(of_chains - means), {0}) / double(kChains - 1);
  const Array reduction = sqrt((within + between) / within);
  const double acceptance = mean(accepted).item();
  std::cout << "true coefficients " << truth << "\nposterior mode    " << mode << "\nposterior mean    " << means
            << "\n      deviation   " << deviations << "\nscale reduction   " << reduction << "\naccepted "
            << 100 * acceptance << " %\n";

  pictures::Plot plot("Four chains of a coefficient", "draw", "coefficient");
  const char* colors[] = {"#4c8dd6", "#e07b39", "#56a868", "#b565c9"};
  pictures::Numbers at;
  for (int64_t i = 0; i < 150; ++i) at.push_back(static_cast<double>(i));
  for (int c = 0; c < kChains; ++c) {
    const Array part = all_draws.at(c, cq::range(0, 150), 1);
    plot.curve(at, pictures::Numbers(part.host().begin(), part.host().end()), colors[c], 1.2, 0.8);
  }
  plot.curve({0, 149}, {truth(1), truth(1)}, "#808080", 2);
  plot.label("the coefficient that the data were drawn with", "#808080");
  plot.write("hamiltonian_monte_carlo.svg");

  return cq::allclose(means, mode, 0.0, 0.05) && cq::all(reduction < 1.02).item() &&
                 cq::all(abs(means - truth) < 3.5 * deviations).item() && acceptance > 0.6
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}
