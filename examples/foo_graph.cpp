// A function, its graph, and the graph of its pullback, the result of reverse-mode differentiation.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <calque/calque.h>

namespace cq = calque;

int main() {
  const auto foo = [](auto x, auto y) { return x * y + sin(y); };
  const double x = 2.0, y = 3.0;

  std::cout << "foo(x, y) = x * y + sin(y):\n" << cq::jit(foo).trace(x, y);

  // vjp evaluates foo and keeps the residuals of its derivative; the pullback maps a cotangent of the result to
  // cotangents of the arguments. It is a graph like any other.
  auto [value, pullback] = cq::vjp(foo, x, y);
  std::cout << "\nits pullback at (2, 3):\n" << pullback.graph();

  auto [dx, dy] = pullback(1.0);
  std::cout << "\nfoo = " << value << ", d foo / dx = " << dx << ", d foo / dy = " << dy << '\n';
  const auto near = [](double a, double b) { return std::abs(a - b) < 1e-14; };
  const bool right = near(value, x * y + std::sin(y)) && near(dx, y) && near(dy, x + std::cos(y));
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
