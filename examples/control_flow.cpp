// Loops and branches over values known only at run time. They become loops and branches of the native code; a C++ `for`
// or `if` would run while tracing.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>

#include <calque/calque.h>

namespace cq = calque;

int main() {
  bool right = true;

  // while_loop with a condition for each element: Newton's method for x = sqrt(a), each element until it is accurate
  // enough. The carry is any tree; here the guess and the number of steps.
  auto newton = cq::jit([](auto a) {
    auto start = std::tuple{max(a, 1.0), cq::zeros<int32_t>(a.shape())};
    return cq::while_loop(
        [=](auto s) {
          auto [x, steps] = s;
          return (abs(x * x - a) > 1e-12 * a) & (steps < 100);
        },
        [=](auto s) {
          auto [x, steps] = s;
          return std::tuple{0.5 * (x + a / x), steps + 1};
        },
        start);
  });
  const cq::Array<double> a = {1, 2, 100, 1e6, 0.25};
  auto [root, steps] = newton(a);
  std::cout << "roots " << root << " after " << steps << " steps\n";
  right &= cq::allclose(root, sqrt(a), 1e-12) && steps(0) == 0 && steps(3) > steps(1);

  // scan: a running state along the leading dimension, one output per step. Here an exponential moving average.
  auto smooth = cq::jit([](auto series, auto weight) {
    return cq::scan(
        [=](auto average, auto x) {
          auto next = average + weight * (x - average);
          return std::pair{next, next};
        },
        series[0], series);
  });
  const cq::Array<double> series = {0, 4, 4, 4, 0};
  auto [last, averages] = smooth(series, 0.5);
  std::cout << "averages " << averages << '\n';
  right &= cq::array_equal(averages, cq::Array<double>{0, 2, 3, 3.5, 1.75}) && last.item() == 1.75;

  // fori_loop: a counted loop. Bounds may be traced values, so that one compiled function handles any count.
  auto power = cq::jit([](auto x, auto n) {
    return cq::fori_loop(0, n, [=](auto, auto product) { return product * x; }, cq::ones<double>({}));
  });
  right &= power(2.0, 10).item() == 1024.0 && power(3.0, 4).item() == 81.0 && power.cache_info().misses == 1;

  // cond: only the taken branch runs. where() computes both and selects for each element.
  auto safe_log = cq::jit([](auto x) {
    return cq::cond(
        all(x > 0), [](auto v) { return sum(log(v)); }, [](auto) { return cq::full<double>({}, -INFINITY); }, x);
  });
  right &= std::abs(safe_log(cq::Array<double>{1, 2, 4}).item() - std::log(8.0)) < 1e-14;
  right &= std::isinf(safe_log(cq::Array<double>{1, 0}).item());

  // switch_: one of several branches by an index, which is clamped to the valid range.
  auto apply = cq::jit([](auto which, auto x) {
    return cq::switch_(
        which, std::tuple{[](auto v) { return v + 1; }, [](auto v) { return v * v; }, [](auto v) { return -v; }}, x);
  });
  right &= apply(1, 3.0).item() == 9.0 && apply(7, 3.0).item() == -3.0;

  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
