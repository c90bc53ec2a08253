// compile<Signature>: a function of scalars, traced and compiled once, that is called like any other C++ function,
// without signature lookup or allocation. A call takes some tens of nanoseconds.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <calque/calque.h>

namespace cq = calque;

/// Simpson's rule, independent of Calque.
template <class F>
double integrate(const F& f, double a, double b, int pairs) {
  const double h = (b - a) / (2 * pairs);
  double sum = f(a) + f(b);
  for (int i = 1; i < 2 * pairs; ++i) sum += f(a + i * h) * (i % 2 == 1 ? 4 : 2);
  return sum * h / 3;
}

/// A polynomial known only at run time: its coefficients become constants of the machine code.
cq::Function<double(double)> polynomial(std::vector<double> coefficients) {
  return cq::compile<double(double)>([coefficients](auto x) {
    auto sum = 0.0 * x;
    for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) sum = sum * x + *c;
    return sum;
  });
}

int main() {
  const cq::Function<double(double, double)> bell =
      cq::compile<double(double, double)>([](auto x, auto width) { return exp(-x * x / (2.0 * width * width)); });
  const double area = integrate([&](double x) { return bell(x, 0.5); }, -5, 5, 500);
  std::cout << "area under the bell: " << area << '\n';

  const cq::Function<double(double)> p = polynomial({-6, 11, -6, 1});  // (x - 1)(x - 2)(x - 3)
  std::vector<double> values(4);
  const std::vector<double> points = {1, 2, 3, 4};
  std::transform(points.begin(), points.end(), values.begin(), p);
  for (size_t i = 0; i < points.size(); ++i) std::cout << "p(" << points[i] << ") = " << values[i] << '\n';

  const bool right =
      std::abs(area - 0.5 * std::sqrt(2 * std::acos(-1.0))) < 1e-12 && values == std::vector<double>{0, 0, 0, 6};
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
