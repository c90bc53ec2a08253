// Newton's method with a line search for Kepler's equation E - e sin(E) = M: loops that data end, one within the other,
// as ordinary C++. The template runs on double; jitted with branches::trace, the orbits of one eccentricity share a few
// paths, which are compiled as they come. Derivatives are those of the path, and agree with those of the implicit
// function. Writes line_search.svg.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

namespace {

/// The angle E of an orbit of eccentricity e, from the mean anomaly M.
template <class T>
T solve(const T& mean, const T& e) {
  using std::abs, std::cos, std::sin;
  const auto residual = [&](const T& x) -> T { return x - e * sin(x) - mean; };
  T x = mean;
  T r = residual(x);
  for (int i = 0; i < 30 && abs(r) > 1e-13; ++i) {
    T step = r / (1.0 - e * cos(x));
    T next = residual(x - step);
    while (abs(next) > abs(r)) {  // too far: Newton's step would move away from the root
      step = 0.5 * step;
      next = residual(x - step);
    }
    x = x - step;
    r = next;
  }
  return x;
}

}  // namespace

int main() {
  const cq::JitOptions options{.branches = cq::branches::trace};
  const auto angle = cq::jit([](auto mean, auto e) { return solve(mean, e); }, options);
  const auto slope = cq::jit(cq::grad([](auto mean, auto e) { return solve(mean, e); }), options);

  bool right = true;
  pictures::Plot plot("Kepler's equation, by Newton's method with a line search", "mean anomaly", "angle");
  const char* colors[] = {"#808080", "#4c8dd6", "#e07b39"};
  int color = 0;
  for (const double e : {0.2, 0.6, 0.9}) {
    pictures::Numbers means, angles;
    for (int i = 0; i <= 200; ++i) {
      const double mean = 0.05 + 0.03 * i / 2, x = angle(mean, e).item(), plain = solve(mean, e);
      right &= std::abs(x - plain) <= 1e-12 && std::abs(x - e * std::sin(x) - mean) <= 1e-12;
      // The derivative of the implicit function.
      const double derivative = slope(mean, e).item(), expected = 1 / (1 - e * std::cos(x));
      right &= std::abs(derivative - expected) <= 1e-5 * expected;
      means.push_back(mean), angles.push_back(x);
    }
    plot.curve(means, angles, colors[color], 2);
    plot.label("eccentricity " + std::to_string(e).substr(0, 3), colors[color++]);
  }
  plot.write("line_search.svg");

  const cq::BranchInfo info = angle.branch_info(1.0, 0.5);
  std::cout << "603 equations: " << info.traces << " paths, " << info.compilations << " compilations, " << info.replays
            << " replays, " << info.open_exits << " open exits\n"
            << angle.explain(1.0, 0.5);
  right &= info.traces < 64;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
