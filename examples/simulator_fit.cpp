// Parameters of a simulator are fitted to data without a likelihood. The g-and-k distribution (Haynes et al. 1997) can
// be drawn from, but its density has no formula. The mean distance between sorted draws and sorted data is
// Wasserstein's distance of the two samples (Bernton et al. 2019); its gradient goes through the sort to the
// parameters. Writes simulator_fit.svg, the distance by step, and simulator_quantiles.svg.
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr int64_t kDraws = 10'000, kSteps = 500;

/// Draws by location, logarithm of the scale, skewness and logarithm of the weight of the tails.
const auto simulate = [](const auto& p, const auto& key) {
  auto z = cq::random::normal<double>(key, {kDraws});
  return p[0] + exp(p[1]) * (1.0 + 0.8 * tanh(0.5 * p[2] * z)) * pow(1.0 + z * z, exp(p[3])) * z;
};

/// Between draws, which need not be sorted, and sorted data.
const auto distance = [](const auto& p, const auto& key, const auto& sorted_data) {
  return mean(abs(sort(simulate(p, key)) - sorted_data));
};

/// Steps of Adam (Kingma and Ba 2015), each with new draws: the parameters at the end and the distance at each step.
const auto fit = [](const auto& start, const auto& key, const auto& data) {
  auto sorted_data = sort(data);
  auto step = [=](auto state, auto t) {
    auto [p, m, v] = state;
    auto [loss, g] = cq::value_and_grad(distance)(p, cq::random::fold_in(key, t), sorted_data);
    auto next_m = 0.9 * m + 0.1 * g, next_v = 0.99 * v + 0.01 * g * g;
    auto count = cq::cast<double>(t) + 1.0;
    auto rate = 0.05 * (1.0 - count / (kSteps + 1.0));
    auto change = next_m / (1.0 - pow(0.9, count)) / (sqrt(next_v / (1.0 - pow(0.99, count))) + 1e-8);
    return std::pair{std::tuple{p - rate * change, next_m, next_v}, loss};
  };
  auto [last, losses] = cq::scan(step, std::tuple{start, 0.0 * start, 0.0 * start}, cq::arange<int32_t>(kSteps));
  return std::tuple{std::get<0>(last), losses};
};

int main() {
  const auto [of_data, of_fit] = cq::random::split(cq::random::key(1997));
  const Array truth = {3.0, std::log(1.0), 2.0, std::log(0.5)}, start = {0.0, 0.0, 0.0, -2.0};
  const Array data = cq::jit(simulate)(truth, of_data);
  const auto [p, losses] = cq::jit(fit)(start, of_fit, data);
  const auto found = [](const Array& q) { return std::array{q(0), std::exp(q(1)), q(2), std::exp(q(3))}; };
  const auto is = found(p), was = found(truth);
  const std::array names = {"location", "scale", "skewness", "tails"};
  // About four standard errors of estimates from as many numbers.
  const std::array errors = {0.06, 0.1, 0.15, 0.07};
  bool right = true;
  for (size_t i = 0; i < names.size(); ++i) {
    std::cout << names[i] << ' ' << is[i] << ", drawn with " << was[i] << '\n';
    right = right && std::abs(is[i] - was[i]) < errors[i];
  }
  std::cout << "distance " << losses(0) << " at the start, " << losses(kSteps - 1) << " at the end\n";

  // The gradient through the sort is that of differences.
  const auto slopes = cq::grad(distance)(start, of_fit, sort(data));
  const auto at = [&, f = cq::jit(distance)](double by) { return f(start.set(2, by), of_fit, sort(data)).item(); };
  const double difference = (at(1e-5) - at(-1e-5)) / 2e-5;
  std::cout << "slope by the skewness " << slopes(2) << ", by a difference " << difference << '\n';
  right = right && std::abs(slopes(2) - difference) < 1e-4 * std::abs(difference);

  const auto numbers = [](const Array& a) { return pictures::Numbers(a.host().begin(), a.host().end()); };
  pictures::Plot plot("Wasserstein's distance of draws from the data", "step", "logarithm of the distance (base 10)");
  plot.curve(numbers(Array::arange(kSteps)), numbers(log10(losses)), "#4c8dd6");
  plot.write("simulator_fit.svg");

  const Array shares = Array::linspace(0.01, 0.99, 99);
  const auto quantiles = [&](const Array& draws) { return numbers(quantile(draws, shares)); };
  pictures::Plot of_quantiles("Quantiles of data and draws", "share below", "quantile");
  of_quantiles.points(numbers(shares), quantiles(data), "#e07b39");
  of_quantiles.curve(numbers(shares), quantiles(cq::jit(simulate)(start, of_fit)), "#808080");
  of_quantiles.curve(numbers(shares), quantiles(cq::jit(simulate)(p, of_fit)), "#4c8dd6");
  of_quantiles.label("data", "#e07b39");
  of_quantiles.label("draws at the start", "#808080");
  of_quantiles.label("draws with the parameters found", "#4c8dd6");
  of_quantiles.write("simulator_quantiles.svg");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
