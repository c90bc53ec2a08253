// Adam in a dozen lines: the moments are trees like the weights, and arithmetic on trees updates all of them at once.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>

#include <calque/calque.h>

namespace cq = calque;
using namespace cq::tree_operators;

using F = cq::Array<float>;

template <class A>
struct Line {
  A slope, offset;
};

int main() {
  const auto loss = [](const auto& w, auto x, auto y) {
    auto error = w.slope * x + w.offset - y;
    return mean(error * error);
  };
  const auto adam = cq::jit([loss](const auto& w, const auto& m, const auto& v, auto t, auto x, auto y) {
    auto g = cq::grad(loss)(w, x, y);
    auto mean = 0.9 * m + 0.1 * g;
    auto square = 0.999 * v + 0.001 * (g * g);
    auto rate = 0.05 * sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t));
    auto next = cq::tree_map([&](auto a, auto p, auto q) { return a - rate * p / (sqrt(q) + 1e-8); }, w, mean, square);
    return std::tuple{next, mean, square};
  });

  const F x = F::linspace(-1, 1, 64), y = 3.0f * x - 0.5f;
  Line<F> w{0.0f, 0.0f}, m = cq::zeros_like(w), v = m;
  for (int t = 1; t <= 1000; ++t) std::tie(w, m, v) = adam(w, m, v, static_cast<float>(t), x, y);
  std::cout << "y = " << w.slope << " x + " << w.offset << "\n";
  return std::abs(w.slope.item() - 3) < 1e-2 && std::abs(w.offset.item() + 0.5) < 1e-2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
