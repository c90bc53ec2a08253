// Monte-Carlo prices of options and their Greeks: one function draws the paths and averages the payoff, and `grad`
// differentiates it along the paths. Checked against the formula of Black and Scholes (1973) for the European option;
// the option on the average price has no formula. Writes option_greeks.svg: the deltas by spot price.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr double kStrike = 100, kYears = 1;
constexpr int64_t kPaths = 100'000, kSteps = 52;

/// What the price depends on. Derivatives by it are the Greeks delta, vega and rho.
template <class A>
struct Market {
  A spot, volatility, rate;
};

/// The discounted mean payoff of a call on the price after a year.
const auto european = [](const auto& m, const auto& key) {
  auto z = cq::random::normal<double>(key, {kPaths});
  auto drift = (m.rate - 0.5 * m.volatility * m.volatility) * kYears;
  auto price = m.spot * exp(drift + m.volatility * std::sqrt(kYears) * z);
  return exp(-m.rate * kYears) * mean(max(price - kStrike, 0.0));
};

/// The same on the average of the prices after each week.
const auto asian = [](const auto& m, const auto& key) {
  constexpr double kWeek = kYears / kSteps;
  auto drift = (m.rate - 0.5 * m.volatility * m.volatility) * kWeek;
  auto week = [&](auto i, auto state) {
    auto [log_price, total] = state;
    auto z = cq::random::normal<double>(cq::random::fold_in(key, i), {kPaths});
    auto next = log_price + drift + m.volatility * std::sqrt(kWeek) * z;
    return std::tuple{next, total + exp(next)};
  };
  auto start = std::tuple{cq::zeros<double>({kPaths}) + log(m.spot), cq::zeros<double>({kPaths})};
  auto [log_price, total] = cq::fori_loop(0, kSteps, week, start);
  return exp(-m.rate * kYears) * mean(max(total / double(kSteps) - kStrike, 0.0));
};

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

int main() {
  const cq::random::Key key = cq::random::key(1973);
  const Market<Array> market{100.0, 0.2, 0.05};

  const auto [price, greeks] = cq::jit(cq::value_and_grad(european))(market, key);
  const double d1 = (0.05 + 0.02) / 0.2, d2 = d1 - 0.2;
  const double formula = 100 * normal_cdf(d1) - kStrike * std::exp(-0.05) * normal_cdf(d2);
  const double density = std::exp(-0.5 * d1 * d1) / std::sqrt(2 * std::acos(-1.0));
  const Market<double> exact{normal_cdf(d1), 100 * density, kStrike * std::exp(-0.05) * normal_cdf(d2)};
  const auto near = [](const char* name, const Array& is, double want, double error) {
    std::cout << "  " << name << ' ' << is.item() << ", by formula " << want << '\n';
    return std::abs(is.item() - want) < error;
  };
  std::cout << "European call, " << kPaths << " paths\n";
  // Four standard errors of the mean.
  bool right = near("price", price, formula, 0.19);
  right &= near("delta", greeks.spot, exact.spot, 0.008);
  right &= near("vega ", greeks.volatility, exact.volatility, 0.9);
  right &= near("rho  ", greeks.rate, exact.rate, 0.7);

  // Many spot prices at once, by vmap; all see the same paths.
  const Array spots = Array::arange(26) * 4.0 + 50.0;
  const auto by_spot = [&](const auto& option) {
    auto at = [&option](const auto& spot, const auto& key) {
      return cq::value_and_grad(option)(Market{spot, 0.0 * spot + 0.2, 0.0 * spot + 0.05}, key);
    };
    return cq::jit(cq::vmap(at, {.in_axes = {0, cq::none}}))(spots, key);
  };
  const auto [european_prices, european_greeks] = by_spot(european);
  const auto [asian_prices, asian_greeks] = by_spot(asian);
  std::cout << "Option on the average: price " << asian_prices(12) << " and delta " << asian_greeks.spot(12)
            << " at spot " << spots(12) << '\n';
  // Averages vary less than the last price.
  right &= asian_prices(12) < european_prices(12) && std::abs(asian_greeks.spot(12) - european_greeks.spot(12)) < 0.2;

  pictures::Numbers x, formulas;
  for (double spot = 50; spot <= 150; spot += 1) {
    x.push_back(spot);
    formulas.push_back(normal_cdf((std::log(spot / kStrike) + 0.07) / 0.2));
  }
  const auto numbers = [](const Array& a) { return pictures::Numbers(a.host().begin(), a.host().end()); };
  pictures::Plot plot("Delta of a call with strike 100", "spot price", "delta");
  plot.curve(x, formulas, "#4c8dd6", 2);
  plot.points(numbers(spots), numbers(european_greeks.spot), "#e07b39", 3.5);
  plot.points(numbers(spots), numbers(asian_greeks.spot), "#56a868", 3.5);
  plot.label("European, formula", "#4c8dd6");
  plot.label("European, derivative of the Monte-Carlo price", "#e07b39");
  plot.label("on the average price, derivative of the Monte-Carlo price", "#56a868");
  plot.write("option_greeks.svg");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
