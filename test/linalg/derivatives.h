#pragma once
// Derivatives of scalar functions of a matrix against differences.
#include <cmath>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {

/// Well conditioned if it is square, with pivots that are not on the diagonal.
inline Array<double> sample_matrix(int64_t rows, int64_t columns) {
  std::vector<double> a(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      a[static_cast<size_t>(i * columns + j)] = std::sin(static_cast<double>(3 * i * i + 5 * j + 1)) +
                                                (j == (i + 1) % columns ? 1.5 * static_cast<double>(columns) : 0);
  return Array<double>::from(a, {rows, columns});
}

/// The derivative of f at a along d, by differences of the fourth order.
template <class Function>
double difference_along(const Function& f, const Array<double>& a, const Array<double>& d) {
  const double h = 1e-3;
  const auto at = [&](double t) { return f(Array<double>(a + d * t)).item(); };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

/// First and second derivatives of a scalar function of a matrix against differences, in forward and reverse mode.
template <class Function>
void check_derivatives(const Function& f, int64_t rows, int64_t columns) {
  const Array<double> a = sample_matrix(rows, columns), d = cos(a), e = sin(a * 2.0);
  const auto along = [&](auto x) { return sum(grad(f)(x) * d); };
  const double first = difference_along(jit(f), a, d);
  const double size = 1 + std::abs(first);
  EXPECT_NEAR(jit(along)(a).item(), first, 1e-8 * size);
  EXPECT_NEAR(jit([&](auto x) { return jvp(f, std::tuple{x}, std::tuple{d}).second; })(a).item(), first, 1e-8 * size);
  const double second = difference_along(jit(along), a, e);
  EXPECT_NEAR(jit([&](auto x) { return sum(grad(along)(x) * e); })(a).item(), second, 1e-7 * (1 + std::abs(second)));
}

}  // namespace calque::test
