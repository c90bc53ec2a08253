// Distributions fitted to data by maximum likelihood: Weibull and gamma to lifetimes, beta to shares. Newton's method
// on the logarithms of the parameters, a compiled loop, by grad and hessian of the likelihood, whose derivatives of
// lgamma are digamma and trigamma. Checked against the equations of the maxima; the fits are compared by the
// distribution functions, igamma and betainc. Writes lifetimes.svg and shares.svg: the data and the densities that were
// found.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr int64_t kPoints = 2000;

/// The logarithm of each density at x; p: logarithms of shape and scale, or of a and b.
const auto log_weibull = [](const auto& p, const auto& x) {
  auto shape = exp(p[0]), z = log(x) - p[1];
  return p[0] - p[1] + (shape - 1.0) * z - exp(shape * z);
};
const auto log_gamma = [](const auto& p, const auto& x) {
  auto shape = exp(p[0]);
  return (shape - 1.0) * log(x) - x * exp(-p[1]) - shape * p[1] - lgamma(shape);
};
const auto log_beta = [](const auto& p, const auto& x) {
  auto a = exp(p[0]), b = exp(p[1]);
  return (a - 1.0) * log(x) + (b - 1.0) * log1p(-x) - betaln(a, b);
};

/// The distribution functions.
const auto weibull = [](const auto& p, const auto& x) { return -expm1(-pow(x * exp(-p[1]), exp(p[0]))); };
const auto gamma_distribution = [](const auto& p, const auto& x) { return igamma(exp(p[0]), x * exp(-p[1])); };
const auto beta = [](const auto& p, const auto& x) { return cq::betainc(exp(p[0]), exp(p[1]), x); };

/// The mean log density, of which a fit is the maximum.
template <class F>
auto likelihood(F log_density) {
  return [log_density](const auto& p, const auto& x) { return mean(log_density(p, x)); };
}

/// Steps of Newton's method, halved until the likelihood grows, and the covariance of the logarithms at the end: the
/// inverse of the negative Hessian of the sum.
template <class F>
auto fit(F log_density) {
  return cq::jit([f = likelihood(log_density)](const auto& start, const auto& x) {
    auto newton = [f, x](auto, auto p) {
      auto step = cq::linalg::solve(cq::hessian(f)(p, x), cq::grad(f)(p, x));
      auto value = f(p, x);
      auto worse = [f, x, p, step, value](auto s) { return !(f(p - s * step, x) >= value) && s > 1e-6; };
      auto size = cq::while_loop(worse, [](auto s) { return 0.5 * s; }, 1.0 + 0.0 * value);
      return p - size * step;
    };
    auto p = cq::fori_loop(0, 30, newton, start);
    auto covariance = cq::linalg::inv(-static_cast<double>(kPoints) * cq::hessian(f)(p, x));
    return std::tuple{p, cq::grad(f)(p, x), sqrt(diagonal(covariance))};
  });
}

pictures::Numbers numbers(const Array& v) { return {v.host().begin(), v.host().end()}; }

/// The largest distance of a distribution function from the share of the data up to each point.
template <class F>
double distance(F distribution, const Array& p, const Array& data) {
  pictures::Numbers sorted = numbers(data);
  std::ranges::sort(sorted);
  const pictures::Numbers at = numbers(distribution(p, Array::from(sorted, {kPoints})));
  double most = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    const double below = static_cast<double>(i) / kPoints, above = static_cast<double>(i + 1) / kPoints;
    most = std::max({most, at[i] - below, above - at[i]});
  }
  return most;
}

bool right = true;
void require(bool condition, const std::string& what) {
  if (!condition) std::cout << "wrong: " << what << '\n';
  right = right && condition;
}

/// Fits, prints and checks one distribution; true_p: the logarithms that the data were drawn with, or empty.
template <class F, class G>
Array report(const char* name, F log_density, G distribution, const Array& x, const Array* true_p) {
  const auto [p, slope, deviation] = fit(log_density)(Array({0.0, 0.0}), x);
  const double from_data = distance(distribution, p, x);
  std::cout << name << ": " << std::exp(p(0)) << " and " << std::exp(p(1)) << ", within factors of "
            << std::exp(2 * deviation(0)) << " and " << std::exp(2 * deviation(1)) << "; mean log likelihood "
            << mean(log_density(p, x)) << ", distance from the data " << from_data << '\n';
  require(amax(abs(slope)).item() < 1e-10, std::string(name) + ": the end is no maximum");
  if (true_p != nullptr) {
    require(all(abs(p - *true_p) < 3.0 * deviation).item(), std::string(name) + ": the parameters");
    // Kolmogorov's distance, which a sample of the distribution itself exceeds once in a hundred.
    require(from_data < 1.63 / std::sqrt(static_cast<double>(kPoints)), std::string(name) + ": the distance");
  }
  return p;
}

int main() {
  const auto [of_lifetimes, of_shares] = cq::random::split(cq::random::key(1951));
  const Array gamma_truth = {std::log(2.5), std::log(40.0)}, beta_truth = {std::log(1.6), std::log(4.0)};
  const Array lifetimes = 40.0 * cq::random::gamma<double>(of_lifetimes, 2.5, {kPoints});
  const Array shares = cq::random::beta<double>(of_shares, 1.6, 4.0, {kPoints});

  // In units of the mean, where Newton's method starts near.
  const double unit = mean(lifetimes).item();
  const Array scaled = lifetimes / unit, in_units = gamma_truth - Array({0.0, std::log(unit)});
  const Array w = report("Weibull, lifetimes", log_weibull, weibull, scaled, nullptr);
  const Array g = report("gamma, lifetimes", log_gamma, gamma_distribution, scaled, &in_units);
  const Array b = report("beta, shares", log_beta, beta, shares, &beta_truth);
  require(mean(log_gamma(g, scaled)).item() > mean(log_weibull(w, scaled)).item(), "the better fit");

  // The equations of the maxima (Choi and Wette 1969 for gamma).
  const Array logs = log(scaled), k = exp(g[0]), powers = pow(scaled, exp(w[0]));
  require(std::abs((log(k) - digamma(k) + mean(logs)).item() - std::log(mean(scaled).item())) < 1e-10, "gamma's shape");
  require(std::abs((sum(powers * logs) / sum(powers) - exp(-w[0]) - mean(logs)).item()) < 1e-10, "Weibull's shape");
  const Array total = exp(b[0]) + exp(b[1]);
  require(std::abs((digamma(exp(b[0])) - digamma(total) - mean(log(shares))).item()) < 1e-10, "beta's a");
  require(std::abs((digamma(exp(b[1])) - digamma(total) - mean(log1p(-shares))).item()) < 1e-10, "beta's b");

  const Array t = Array::linspace(0.01, 4.5, 200), u = Array::linspace(0.005, 0.995, 200);
  pictures::Plot plot("Lifetimes and two distributions", "lifetime", "density");
  plot.histogram(numbers(lifetimes), 40, "#808080");
  plot.curve(numbers(unit * t), numbers(exp(log_weibull(w, t)) / unit), "#4c8dd6", 2);
  plot.curve(numbers(unit * t), numbers(exp(log_gamma(g, t)) / unit), "#e07b39", 2);
  plot.reach(0.0095);
  plot.label("Weibull", "#4c8dd6");
  plot.label("gamma, of which the data are", "#e07b39");
  plot.write("lifetimes.svg");
  pictures::Plot of_beta("Shares and a beta distribution", "share", "density");
  of_beta.histogram(numbers(shares), 40, "#808080");
  of_beta.curve(numbers(u), numbers(exp(log_beta(b, u))), "#4c8dd6", 2);
  of_beta.reach(3.2);
  of_beta.label("beta", "#4c8dd6");
  of_beta.write("shares.svg");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
