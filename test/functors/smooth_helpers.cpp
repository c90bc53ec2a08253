#include <gtest/gtest.h>

#include "smooth.h"

namespace calque::test {

using D = Array<double>;

double distance(const D& a, const D& b) { return amax(abs(a - b)).item(); }

void check_smooth(const std::function<Tracer<double>(Tracer<double>)>& f, const D& x) {
  const auto g = [&f](auto x) { return f(x); };
  const auto forward = jit(jacfwd(g));
  const auto reverse = jit(jacrev(g));
  const D j = forward(x);
  EXPECT_LT(distance(j, reverse(x)), 1e-13);
  const auto second = jit(jacfwd(jacrev(g)))(x), other = jit(jacfwd(jacfwd(g)))(x);
  EXPECT_LT(distance(second, other), 1e-12);
  const auto value = jit(g);
  const double h = 1e-3;
  for (int64_t k = 0; k < x.size(); ++k) {
    const auto at = [&](const auto& of, double step) { return D(of(D(x.add(k, step * h)))); };
    const auto slope = [&](const auto& of) {
      return D((8.0 * (at(of, 1) - at(of, -1)) - (at(of, 2) - at(of, -2))) / (12 * h));
    };
    EXPECT_LT(distance(j.at(all, k), slope(value)), 1e-9) << k;
    EXPECT_LT(distance(second.at(all, all, k), slope(forward)), 1e-9) << k;
  }
}

}  // namespace calque::test
