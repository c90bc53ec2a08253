// A bootstrap particle filter (Gordon, Salmond and Smith, 1993) for a state that moves nonlinearly and is observed with
// noise: one scan over time, in which each particle moves, is weighed by the observation and is drawn again in
// proportion to its weight. Writes particle_filter.svg: the state and the filter's estimate of it.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr int64_t kSteps = 100, kParticles = 2000;
constexpr double kStateNoise = 3.16227766, kNoise = 1;  // standard deviations

const auto moved = [](const auto& x, const auto& t) { return 0.5 * x + 25.0 * x / (1.0 + x * x) + 8.0 * cos(1.2 * t); };
const auto observed = [](const auto& x) { return x * x / 20.0; };

/// States and observations of the model.
const auto simulate = [](const auto& key, const auto& times) {
  return cq::scan(
      [key](auto x, auto t) {
        auto noise = cq::random::normal<double>(cq::random::fold_in(key, cq::cast<int32_t>(t)), {2});
        auto next = moved(x, t) + kStateNoise * noise[0];
        return std::pair{next, std::pair{next, observed(next) + kNoise * noise[1]}};
      },
      cq::zeros<double>({}), times);
};

/// Systematic resampling: particle j is drawn once for each of the points (i + u) / n that lie in its part of the
/// interval [0, 1), parts being as long as the weights.
const auto resampled = [](const auto& particles, const auto& weights, const auto& u) {
  auto ends = cumsum(weights, 0) / sum(weights);
  auto first = cq::cast<int32_t>(ceil((ends - weights / sum(weights)) * double(kParticles) - u));
  auto begins = cq::zeros<int32_t>({kParticles});
  auto index = cumsum(scatter_add(begins, first, cq::ones<int32_t>({kParticles})), 0) - 1;
  return take(particles, index, 0);
};

/// The mean and the standard deviation of the state after each observation, and the logarithm of the likelihood.
const auto filter = [](const auto& key, const auto& times, const auto& observations) {
  auto start = cq::random::normal<double>(cq::random::fold_in(key, -1), {kParticles}) * 2.0;
  auto step = [key](auto state, auto observation) {
    auto [particles, likelihood] = state;
    auto [t, y] = observation;
    auto [of_noise, of_resampling] = cq::random::split(cq::random::fold_in(key, cq::cast<int32_t>(t)));
    auto next = moved(particles, t) + kStateNoise * cq::random::normal<double>(of_noise, {kParticles});
    auto error = (y - observed(next)) / kNoise;
    auto log_weights = -0.5 * error * error;
    auto weights = softmax(log_weights, 0);
    auto center = sum(weights * next);
    auto deviation = sqrt(sum(weights * (next - center) * (next - center)));
    auto u = cq::random::uniform<double>(of_resampling, {});
    auto total = likelihood + logsumexp(log_weights) - std::log(double(kParticles) * kNoise * 2.5066282746);
    return std::pair{std::tuple{resampled(next, weights, u), total}, std::pair{center, deviation}};
  };
  auto [last, estimates] = cq::scan(step, std::tuple{start, cq::zeros<double>({})}, std::pair{times, observations});
  return std::tuple{estimates.first, estimates.second, std::get<1>(last)};
};

int main() {
  const auto [of_model, of_filter] = cq::random::split(cq::random::key(1993));
  const Array times = Array::arange(kSteps);
  const auto [last, truth] = cq::jit(simulate)(of_model, times);
  const auto& [states, observations] = truth;
  const auto [means, deviations, likelihood] = cq::jit(filter)(of_filter, times, observations);

  const double error = std::sqrt(mean(square(means - states)).item());
  const double scale = std::sqrt(mean(square(states)).item());
  const double covered = mean(cq::cast<double>(abs(means - states) < 2.5 * deviations)).item();
  std::cout << "root mean square of the state " << scale << ", of the error of its estimate " << error << '\n'
            << 100 * covered << " % of the states are within 2.5 standard deviations of the estimate\n"
            << "log likelihood " << likelihood << '\n';

  const auto numbers = [](const Array& a) { return pictures::Numbers(a.host().begin(), a.host().end()); };
  pictures::Plot plot("A state and the estimate of a particle filter", "time", "state");
  plot.band(numbers(times), numbers(means - 2.0 * deviations), numbers(means + 2.0 * deviations), "#4c8dd6");
  plot.curve(numbers(times), numbers(means), "#4c8dd6");
  plot.points(numbers(times), numbers(states), "#e07b39");
  plot.label("state", "#e07b39");
  plot.label("estimate, plus and minus two standard deviations", "#4c8dd6");
  plot.write("particle_filter.svg");
  return error < 0.6 * scale && covered > 0.85 ? EXIT_SUCCESS : EXIT_FAILURE;
}
