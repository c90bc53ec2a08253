#pragma once
// Jacobians of functions of blocks against differences of the fourth order.
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {

/// Compares the Jacobian of f by the block I of `blocks` with differences.
template <size_t I, class F, class... B>
void check_block(const F& f, const Array<double>& jacobian, const std::tuple<B...>& blocks, double tolerance) {
  const std::vector<double> x = std::get<I>(blocks);
  ASSERT_EQ(jacobian.shape(), (Shape{std::apply(f, blocks).size(), std::get<I>(blocks).size()}));
  for (size_t k = 0; k < x.size(); ++k) {
    const double h = 1e-3 * (1 + std::abs(x[k]));
    const auto at = [&](double step) {
      auto moved = blocks;
      std::vector<double> v = x;
      v[k] += step * h;
      std::get<I>(moved) = Array<double>::from(v, {static_cast<int64_t>(v.size())});
      return std::apply(f, moved);
    };
    const Array<double> slope = ((at(1) - at(-1)) * 8.0 - (at(2) - at(-2))) / (12 * h);
    for (int64_t r = 0; r < slope.size(); ++r) {
      EXPECT_NEAR(jacobian(r, static_cast<int64_t>(k)), slope(r), tolerance * (1 + std::abs(slope(r))))
          << "residual " << r << " by element " << k << " of block " << I;
    }
  }
}

/// Compares residuals_and_jacobians(g) at these blocks, arrays of rank 1, with g and differences of it.
template <class G, class... B>
void check_jacobians(const G& g, const std::tuple<B...>& blocks, double tolerance = 1e-9) {
  const auto [residuals, jacobians] = std::apply(residuals_and_jacobians(g), blocks);
  const Array<double> expected = std::apply(g, blocks);
  EXPECT_TRUE(allclose(residuals, expected, 1e-14, 1e-14)) << residuals << " of " << expected;
  [&, &all = jacobians]<size_t... I>(std::index_sequence<I...>) {
    const auto f = [&](const B&... b) { return Array<double>(g(b...)); };
    (check_block<I>(f, std::get<I>(all), blocks, tolerance), ...);
  }(std::index_sequence_for<B...>());
}

}  // namespace calque::test
