// Newton's method for f(x) = 0, for any function of a tracer: the derivative comes from forward mode inside the loop,
// and vmap solves from many starting points in one compiled loop.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>

#include <calque/calque.h>

namespace cq = calque;

using D = cq::Tracer<double>;

/// The final iterate and the number of steps.
template <class A, class I>
struct Root {
  A x;
  I steps;
};

/// A solver for f: from a start to a root, or to the iterate after 50 steps.
template <class F>
auto newton(const F& f) {
  return [f](const D& start) {
    const auto again = [](const auto& state) {
      auto [x, change, steps] = state;
      return (abs(change) > 1e-12 * abs(x)) & (steps < 50);
    };
    const auto step = [f](const auto& state) {
      auto [x, change, steps] = state;
      auto [value, slope] = cq::jvp(f, std::tuple{x}, std::tuple{cq::ones<double>({})});
      return std::tuple{x - value / slope, value / slope, steps + 1};
    };
    auto [x, change, steps] = cq::while_loop(again, step, std::tuple{start, cq::full<double>({}, INFINITY), 0});
    return Root{x, steps};
  };
}

/// Prints and checks the roots found from these starts.
template <class F>
bool solve(const char* what, const F& f, const cq::Array<double>& starts, const cq::Array<double>& expected) {
  const auto [x, steps] = cq::jit(cq::vmap(newton(f)))(starts);
  std::cout << what << ": from " << starts << "\n  to " << x << " in " << steps << " steps\n";
  return cq::allclose(x, expected, 1e-12, 1e-12) && cq::all(steps < 50).item();
}

int main() {
  // Newton's example; the second start takes more steps.
  bool right = solve("x^3 - 2x - 5", [](auto x) { return x * x * x - 2.0 * x - 5.0; }, {2.0, -3.0, 100.0},
                     {2.0945514815423265, 2.0945514815423265, 2.0945514815423265});
  // Each start has its root: the loop runs until the last one has converged, and the others keep their values.
  right &= solve("sin(x)", [](auto x) { return sin(x); }, {0.5, 3.0, -3.0, 6.5},
                 {0.0, std::acos(-1.0), -std::acos(-1.0), 2 * std::acos(-1.0)});
  // Kepler's equation: the angle after a quarter of a year on an orbit of eccentricity 0.8.
  const double pi = std::acos(-1.0);
  right &= solve("E - 0.8 sin(E) - pi/2", [pi](auto e) { return e - 0.8 * sin(e) - pi / 2; }, {1.0, pi},
                 {2.2119306096084457, 2.2119306096084457});
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
