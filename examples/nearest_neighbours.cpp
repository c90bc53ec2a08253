// Classification by the k nearest neighbours. One top_k of the distances finds the neighbours of every point in order,
// and running sums of their votes give the classes for all k at once: k is chosen on points that were left out. Writes
// nearest_neighbours.svg: the examples and the regions of the classes.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using F = cq::Array<float>;
using Classes = cq::Array<int32_t>;

constexpr int64_t kClasses = 3, kMost = 128;  // neighbours at most

/// Points [n, 2] on the arms of a spiral, moved by noise, and the arm of each.
const auto spiral = [](auto key, int64_t n) {
  auto [of_radius, of_noise] = cq::random::split(key);
  auto arm = cq::arange<int32_t>(n) % static_cast<int32_t>(kClasses);
  auto radius = cq::random::uniform<float>(of_radius, {n}, 0.2, 3.0);
  auto angle = 1.8 * radius + 6.2831853 / kClasses * cq::cast<float>(arm);
  auto noise = 0.25 * cq::random::normal<float>(of_noise, {n, 2});
  return std::tuple{cq::stack({radius * cos(angle), radius * sin(angle)}, 1) + noise, arm};
};

/// For each point [n, 2] the classes of its neighbours among the examples, the nearest first: [n, kMost].
const auto neighbours = [](const auto& points, const auto& examples, const auto& classes) {
  auto offsets = points.at(cq::all, cq::newaxis) - examples;
  auto nearest = std::get<1>(top_k(-sum(square(offsets), -1), kMost));
  return take(classes, nearest, 0);
};

/// What the first k neighbours elect, for each k in 1..kMost: [n, kMost]. The lowest of classes with equal votes.
const auto elected = [](const auto& of_neighbours) {
  return argmax(cumsum(cq::one_hot<int32_t>(of_neighbours, kClasses), 1), -1);
};

/// In rows of equal class, thick lines.
void draw_regions(pictures::Plot& plot, const Classes& classes, const F& x, const F& y, const char* const* colors) {
  const auto columns = x.shape()[0];
  for (int64_t row = 0; row < y.shape()[0]; ++row)
    for (int64_t from = 0, to; from < columns; from = to) {
      const int32_t of = classes(row * columns + from);
      for (to = from + 1; to < columns && classes(row * columns + to) == of;) ++to;
      const double half = 0.5 * (x(1) - x(0)), at = y(row);
      plot.curve({x(from) - half, x(to - 1) + half}, {at, at}, colors[of], 4.65, 0.3);
    }
}

int main() {
  const auto [of_examples, of_tests] = cq::random::split(cq::random::key(1967));
  const auto draw = [](const auto& key, int64_t n) { return cq::jit([n](auto k) { return spiral(k, n); })(key); };
  const auto [examples, classes] = draw(of_examples, 600);
  const auto [tests, truth] = draw(of_tests, 2000);

  // The share of points that are elected wrong, for each k.
  const auto errors = cq::jit([](auto points, auto right, auto from, auto of) {
    return mean(cq::cast<float>(elected(neighbours(points, from, of)) != right.at(cq::all, cq::newaxis)), 0);
  });
  const F by_k = errors(tests, truth, examples, classes);
  const int64_t best = argmin(by_k, 0).item() + 1;
  for (const int64_t k : {int64_t{1}, best, kMost})
    std::cout << "k = " << k << ": " << 100 * by_k(k - 1) << " % of the points left out wrong\n";

  const auto classify = cq::jit(
      [best](auto points, auto from, auto of) { return elected(neighbours(points, from, of)).at(cq::all, best - 1); });
  const F x = F::linspace(-5.4f, 5.4f, 120), y = F::linspace(-3.2f, 3.2f, 64);
  const F grid =
      cq::stack({cq::broadcast_to(x, {64, 120}), cq::broadcast_to(y.at(cq::all, cq::newaxis), {64, 120})}, 2);
  const char* const colors[] = {"#4c8dd6", "#e07b39", "#56a868"};
  pictures::Plot plot("Regions of three classes by " + std::to_string(best) + " neighbours", "", "");
  draw_regions(plot, classify(grid.reshape({-1, 2}), examples, classes), x, y, colors);
  for (int32_t c = 0; c < kClasses; ++c) {
    pictures::Numbers of_x, of_y;
    for (int64_t i = c; i < 600; i += kClasses) of_x.push_back(examples(i, 0)), of_y.push_back(examples(i, 1));
    plot.points(of_x, of_y, colors[c], 2);
  }
  plot.equal_scales();
  plot.write("nearest_neighbours.svg");

  // A vote by hand of some test points, and what the choice of k gains.
  const Classes by_function = classify(tests, examples, classes);
  int64_t differing = 0;
  for (int64_t i = 0; i < 2000; i += 7) {
    std::vector<std::pair<float, int32_t>> all;
    for (int64_t j = 0; j < 600; ++j) {
      const float dx = tests(i, 0) - examples(j, 0), dy = tests(i, 1) - examples(j, 1);
      all.emplace_back(dx * dx + dy * dy, classes(j));
    }
    std::ranges::sort(all);
    std::array<int, kClasses> votes{};
    for (int64_t k = 0; k < best; ++k) ++votes[static_cast<size_t>(all[static_cast<size_t>(k)].second)];
    differing += by_function(i) != std::ranges::max_element(votes) - votes.begin();
  }
  std::cout << differing << " of 286 votes counted by hand differ\n";
  return differing == 0 && by_k(best - 1) < 0.8 * by_k(0) && by_k(best - 1) < 0.1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
