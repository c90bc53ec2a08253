// A step-size controller as ordinary C++: a step of an embedded Runge-Kutta pair (Bogacki and Shampine, 1989) is
// accepted or refused, and the next size is limited to a range, by ifs on data. The template runs on double; jitted
// with branches::trace its few paths are soon compiled, and the loop over steps is C++ on numbers. Writes
// adaptive_steps.svg.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

namespace {

template <class T>
struct State {
  T x, v;
};

/// The oscillator of van der Pol, x'' = mu (1 - x^2) x' - x.
template <class T>
State<T> slope(const State<T>& s) {
  return {s.v, 8.0 * (1.0 - s.x * s.x) * s.v - s.x};
}

template <class T>
State<T> moved(const State<T>& s, const T& by, const State<T>& k) {
  return {s.x + by * k.x, s.v + by * k.v};
}

template <class T>
struct Step {
  State<T> state;
  T time, size;
};

/// One attempt: the state and time after the step, or those before it if the error is too large; and the size to try
/// next.
template <class T>
Step<T> attempt(const Step<T>& from) {
  using std::abs, std::cbrt, std::max;
  const auto& [s, time, h] = from;
  const State<T> k1 = slope(s), k2 = slope(moved<T>(s, 0.5 * h, k1)), k3 = slope(moved<T>(s, 0.75 * h, k2));
  const State<T> k{(2.0 * k1.x + 3.0 * k2.x + 4.0 * k3.x) / 9.0, (2.0 * k1.v + 3.0 * k2.v + 4.0 * k3.v) / 9.0};
  const State<T> next = moved<T>(s, h, k);
  const State<T> k4 = slope(next);
  // The difference to the embedded method of order 2, in units of the tolerance.
  const auto error = [&](const T& a, const T& b, const T& c, const T& d, const T& value) -> T {
    return abs(h * (-5.0 / 72 * a + b / 12.0 + c / 9.0 - d / 8.0)) / (1e-4 + 1e-4 * abs(value));
  };
  const T e = max(error(k1.x, k2.x, k3.x, k4.x, s.x), error(k1.v, k2.v, k3.v, k4.v, s.v));
  if (e > 1.0) {
    if (e > 64.0) return {s, time, 0.2 * h};
    return {s, time, 0.8 * h / cbrt(e)};
  }
  T size = 5.0 * h;
  if (e > 0.004) size = 0.8 * h / cbrt(e);
  if (size > 0.5) size = 0.5;
  return {next, time + h, size};
}

}  // namespace

int main() {
  const auto jitted = cq::jit([](const auto& from) { return attempt(from); }, {.branches = cq::branches::trace});

  bool right = true;
  const auto agrees = [](const cq::Array<double>& a, double b) {
    return std::abs(a.item() - b) <= 1e-9 * std::max(1.0, std::abs(b));
  };
  Step<double> at{{2.0, 0.0}, 0.0, 0.01};
  pictures::Numbers times, xs;
  int attempts = 0, refused = 0;
  for (; at.time < 40; ++attempts) {
    const Step<cq::Array<double>> next = jitted(Step<cq::Array<double>>{{at.state.x, at.state.v}, at.time, at.size});
    refused += next.time.item() == at.time ? 1 : 0;
    at = attempt(at);
    right &= agrees(next.state.x, at.state.x) && agrees(next.state.v, at.state.v) && agrees(next.time, at.time) &&
             agrees(next.size, at.size);
    times.push_back(at.time), xs.push_back(at.state.x);
  }
  std::cout << attempts << " attempts, " << refused << " of them refused\n";
  const cq::BranchInfo info = jitted.branch_info(Step<cq::Array<double>>{{2.0, 0.0}, 0.0, 0.01});
  std::cout << info.traces << " paths, " << info.compilations << " compilations, " << info.replays << " replays, "
            << info.open_exits << " open exits\n";

  pictures::Plot plot("The oscillator of van der Pol: a point for each step", "time", "x");
  plot.curve(times, xs, "#4c8dd6");
  plot.points(times, xs, "#e07b39", 2);
  plot.write("adaptive_steps.svg");

  right &= refused > 0 && info.traces > 1 && info.traces <= 6;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
