#pragma once
// Derivatives of scalar functions of one array against differences of the fourth order.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {

/// The derivative of a compiled f at a along d.
template <class Function>
double difference_along(const Function& f, const Array<double>& a, const Array<double>& d) {
  const double h = 1e-3;
  const auto at = [&](double t) { return f(Array<double>(a + d * t)).item(); };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

/// First and second derivatives of f, a lambda, in forward and reverse mode.
template <class Function>
void check_derivatives(const Function& f, const Array<double>& a, double tolerance = 1e-8) {
  const Array<double> d = cos(a * 3.0 + 1.0), e = sin(a * 2.0 + 0.5);
  const auto forward = [&](auto x) { return jvp(f, std::tuple{x}, std::tuple{d}).second; };
  const auto reverse = [&](auto x) { return sum(grad(f)(x) * d); };
  const double first = difference_along(jit(f), a, d), near = tolerance * (1 + std::abs(first));
  EXPECT_NEAR(jit(forward)(a).item(), first, near);
  EXPECT_NEAR(jit(reverse)(a).item(), first, near);
  const double second = difference_along(jit(reverse), a, e), nearer = 10 * tolerance * (1 + std::abs(second));
  EXPECT_NEAR(jit([&](auto x) { return jvp(forward, std::tuple{x}, std::tuple{e}).second; })(a).item(), second, nearer);
  EXPECT_NEAR(jit([&](auto x) { return jvp(reverse, std::tuple{x}, std::tuple{e}).second; })(a).item(), second, nearer);
  EXPECT_NEAR(jit([&](auto x) { return sum(grad(reverse)(x) * e); })(a).item(), second, nearer);
}

}  // namespace calque::test
