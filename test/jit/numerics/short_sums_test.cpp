// Sums of a few terms, which are computed as elementwise operations.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using F = Array<float>;

TEST(ShortSums, AreResultsThemselves) {
  for (const int64_t n : {4096, 4097, 10007})
    for (const int64_t k : {1, 2, 3, 4, 5}) {
      const auto f = jit([](auto x) { return std::tuple{sum(x, {1}), amax(x, {1}), sum(x * x, {1})}; });
      const auto [s, m, q] = f(F::full({n, k}, 2.0f));
      const auto t = jit([](auto x) { return sum(x, {0}); })(F::full({k, n}, 2.0f));
      for (const int64_t i : {int64_t{0}, n / 2, n - 1}) {
        ASSERT_EQ(s(i), static_cast<float>(2 * k)) << n << ' ' << k;
        ASSERT_EQ(m(i), 2) << n << ' ' << k;
        ASSERT_EQ(q(i), static_cast<float>(4 * k)) << n << ' ' << k;
        ASSERT_EQ(t(i), static_cast<float>(2 * k)) << n << ' ' << k;
      }
    }
}

}  // namespace
}  // namespace calque
