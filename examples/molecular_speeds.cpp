// A histogram of 10^8 samples that are never in memory together: a compiled loop draws a block of them, counts it and
// adds the counts. The samples are speeds in a gas, compared with Maxwell's distribution. Prints samples a second;
// writes molecular_speeds.svg. The argument is the number of blocks of 10^6 samples.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numbers>
#include <string>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

constexpr int64_t kBlock = 1'000'000, kBins = 120;
constexpr double kFastest = 6;

/// The lengths of velocities whose components are normal.
const auto speeds = [](const auto& key) {
  auto component = [keys = cq::random::split(key, 3)](int i) { return cq::random::normal<float>(keys[i], {kBlock}); };
  return sqrt(square(component(0)) + square(component(1)) + square(component(2)));
};

/// How many of so many blocks of samples are in each bin.
const auto counted = [](const auto& key, const auto& blocks) {
  auto add_block = [key](auto i, auto counts) {
    return counts +
           std::get<0>(histogram(speeds(cq::random::fold_in(key, i)), {.bins = kBins, .range = {{0.0, kFastest}}}));
  };
  return cq::fori_loop(0, blocks, add_block, cq::zeros<int32_t>({kBins}));
};

/// The share of molecules that are slower, and the density.
double maxwell(double v) {
  return std::erf(v / std::numbers::sqrt2) - std::sqrt(2 / std::numbers::pi) * v * std::exp(-0.5 * v * v);
}
double density(double v) { return std::sqrt(2 / std::numbers::pi) * v * v * std::exp(-0.5 * v * v); }

int main(int argc, char** argv) {
  const int32_t blocks = argc > 1 ? std::stoi(argv[1]) : 100;
  const double samples = static_cast<double>(kBlock) * blocks;
  const auto count = cq::jit(counted);
  count(cq::random::key(1860), int32_t{0});  // compiles
  const auto start = std::chrono::steady_clock::now();
  const cq::Array<int32_t> counts = count(cq::random::key(1860), blocks);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  // Pearson's sum over the bins in which enough samples are expected has their number as its mean.
  const double width = kFastest / kBins;
  double chi_square = 0, bins = 0;
  pictures::Numbers middles, densities, expected;
  for (int64_t i = 0; i < kBins; ++i) {
    const double low = static_cast<double>(i) * width, n = samples * (maxwell(low + width) - maxwell(low));
    if (n > 10) chi_square += (counts(i) - n) * (counts(i) - n) / n, ++bins;
    middles.push_back(low + 0.5 * width);
    densities.push_back(counts(i) / samples / width);
    expected.push_back(density(low + 0.5 * width));
  }
  std::cout << samples << " samples in " << seconds.count() << " s: " << samples / seconds.count() << " a second\n"
            << "chi square " << chi_square << " of " << bins << " bins\n";

  pictures::Plot plot("Speeds of " + std::to_string(blocks) + " million molecules", "speed", "density");
  plot.points(middles, densities, "#e07b39", 3);
  plot.curve(middles, expected, "#4c8dd6", 2);
  plot.reach(0.7);
  plot.label("counted", "#e07b39");
  plot.label("Maxwell's distribution", "#4c8dd6");
  plot.write("molecular_speeds.svg");
  return std::abs(chi_square - bins) < 5 * std::sqrt(2 * bins) ? EXIT_SUCCESS : EXIT_FAILURE;
}
