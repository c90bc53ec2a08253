// Monte Carlo shared by ranks: prices of options on the average price of 52 weeks, from blocks of paths that the ranks
// take in turn. All draw from one key: block b has the key fold_in(key, b), whichever rank computes it, so any number
// of ranks draws the same paths. The option on the geometric mean has a formula (Kemna and Vorst, 1990), with which its
// price is compared. Draws the histogram of these means to ranks_monte_carlo.svg.
//   mpirun -np 4 ranks_monte_carlo
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numbers>
#include <tuple>

#include <calque/mpi.h>

#include "pictures/plot.h"

namespace cq = calque;
using D = cq::Array<double>;

constexpr double kSpot = 100, kStrike = 100, kVolatility = 0.2, kRate = 0.05, kYears = 1;
constexpr int32_t kWeeks = 52, kBlocks = 60;
constexpr int64_t kPaths = 8192, kBins = 80;  // paths of a block
constexpr double kLowest = 60, kHighest = 160;

/// The arithmetic and the geometric mean of the prices after each week, of a block of paths.
const auto means = [](const auto& key) {
  constexpr double kWeek = kYears / kWeeks, kDrift = (kRate - 0.5 * kVolatility * kVolatility) * kWeek;
  const auto week = [&](auto i, const auto& state) {
    const auto& [log_price, total, log_total] = state;
    const auto z = cq::random::normal<double>(cq::random::fold_in(key, i), {kPaths});
    const auto next = log_price + kDrift + kVolatility * std::sqrt(kWeek) * z;
    return std::tuple{next, total + exp(next), log_total + next};
  };
  const auto none = cq::zeros<double>({kPaths});
  const auto [last, total, log_total] = cq::fori_loop(0, kWeeks, week, std::tuple{none + std::log(kSpot), none, none});
  return std::pair{total / double(kWeeks), exp(log_total / double(kWeeks))};
};

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

/// Mean and variance of the logarithm of the geometric mean, which is normal; the price of the call on it.
constexpr double kLogVariance =
    kVolatility * kVolatility * kYears * (kWeeks + 1) * (2 * kWeeks + 1) / (6.0 * kWeeks * kWeeks);
const double kLogMean =
    std::log(kSpot) + (kRate - 0.5 * kVolatility * kVolatility) * kYears * (kWeeks + 1) / (2.0 * kWeeks);
double geometric_price() {
  const double deviation = std::sqrt(kLogVariance), d = (kLogMean - std::log(kStrike)) / deviation;
  return std::exp(-kRate * kYears) *
         (std::exp(kLogMean + 0.5 * kLogVariance) * normal_cdf(d + deviation) - kStrike * normal_cdf(d));
}
double geometric_density(double price) {
  const double z = std::log(price) - kLogMean;
  return std::exp(-0.5 * z * z / kLogVariance) / (price * std::sqrt(2 * std::numbers::pi * kLogVariance));
}

int main(int argc, char** argv) {
  cq::mpi::Session session(argc, argv);
  const auto world = cq::mpi::world();
  const int32_t rank = world.rank(), size = world.size();

  // Of both options the sums of payoffs and of their squares, and how many means are in each bin: of all ranks.
  const auto sums = cq::jit([=](const auto& key) {
    const auto block = [&](auto i, const auto& state) {
      const auto& [total, squares, counts] = state;
      const auto [arithmetic, geometric] = means(cq::random::fold_in(key, rank + i * size));
      const auto payoffs = std::exp(-kRate * kYears) * max(cq::stack({arithmetic, geometric}, 0) - kStrike, 0.0);
      const auto in_bins = std::get<0>(histogram(geometric, {.bins = kBins, .range = {{kLowest, kHighest}}}));
      return std::tuple{total + sum(payoffs, {1}), squares + sum(square(payoffs), {1}), counts + in_bins};
    };
    const int32_t blocks = (kBlocks - rank + size - 1) / size;  // rank, rank + size, ... below kBlocks
    return cq::mpi::allreduce(
        cq::fori_loop(0, blocks, block,
                      std::tuple{cq::zeros<double>({2}), cq::zeros<double>({2}), cq::zeros<int32_t>({kBins})}),
        world);
  });
  const auto [total, squares, counts] = sums(cq::random::key(1990));
  if (rank != 0) return EXIT_SUCCESS;

  const double n = double(kPaths) * kBlocks;
  const D price = total / n, error = sqrt((squares / n - square(price)) / (n - 1));
  std::cout << n << " paths" << std::setprecision(15) << "\narithmetic mean: price " << price(0) << " +- " << error(0)
            << "\ngeometric mean: price " << price(1) << " +- " << error(1) << ", by formula " << geometric_price()
            << '\n';
  pictures::Numbers edges, densities, expected;
  constexpr double kBinWidth = (kHighest - kLowest) / kBins;
  for (int64_t i = 0; i <= kBins; ++i) {
    edges.push_back(kLowest + double(i) * kBinWidth);
    expected.push_back(geometric_density(edges.back()));
    if (i < kBins) densities.push_back(counts(i) / (n * kBinWidth));
  }
  pictures::Plot plot("Geometric mean of the prices of 52 weeks", "price", "density");
  plot.bars(edges, densities, "#4c8dd6");
  plot.curve(edges, expected, "#e07b39", 2);
  plot.label("paths of all ranks", "#4c8dd6");
  plot.label("formula", "#e07b39");
  plot.write("ranks_monte_carlo.svg");
  return std::abs(price(1) - geometric_price()) < 4 * error(1) && price(0) > price(1) ? EXIT_SUCCESS : EXIT_FAILURE;
}
