// Guarantees for backends: a cold path may be evaluated for every lane, whatever its value, and never indexes outside a
// table.
#include <gtest/gtest.h>

#include "functions.h"
#include "points.h"

namespace calque::math::test {
namespace {

/// Scalars, but cold paths are always evaluated, as for lanes of one vector, and table indices are checked.
struct EagerBackend : ScalarBackend {
  template <class T, std::size_t N, class Index>
  static T lookup(const std::array<T, N>& table, Index i) {
    EXPECT_GE(i, 0);
    EXPECT_LT(i, static_cast<Index>(N));
    return table[static_cast<std::size_t>(i) % N];
  }
  template <class... Out, class Slow, class... In>
  static std::tuple<Out...> with_cold_path(const Lane<bool, EagerBackend>& mask, const std::tuple<Out...>& fast,
                                           Slow slow, const In&... inputs) {
    const std::tuple<Out...> instead = slow(inputs...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Out...>{where(mask, std::get<I>(instead), std::get<I>(fast))...};
    }(std::index_sequence_for<Out...>{});
  }
};

template <class T>
void expect_same_bits(const char* name, T a, T b, T x) {
  if (std::isnan(a) && std::isnan(b)) {
    return;
  }
  EXPECT_EQ(std::bit_cast<typename FloatFormat<T>::Int>(a), std::bit_cast<typename FloatFormat<T>::Int>(b))
      << name << "(" << x << ")";
}

#define CALQUE_EXPECT_SAME(f)                                                                                   \
  for (const T x : points) {                                                                                    \
    expect_same_bits(#f, math::f(Lane<T, EagerBackend>(x)).raw(), math::f(Lane<T, ScalarBackend>(x)).raw(), x); \
  }

template <class T>
void expect_eager_is_same() {
  std::vector<T> points = hard_points<T>();
  PointSource<T> source(21);
  for (int i = 0; i < 2000; ++i) {
    points.push_back(source.next());
  }
  CALQUE_EXPECT_SAME(exp);
  CALQUE_EXPECT_SAME(exp2);
  CALQUE_EXPECT_SAME(log);
  CALQUE_EXPECT_SAME(log1p);
  CALQUE_EXPECT_SAME(sin);
  CALQUE_EXPECT_SAME(cos);
  CALQUE_EXPECT_SAME(tan);
  CALQUE_EXPECT_SAME(lgamma);
  CALQUE_EXPECT_SAME(tgamma);
  CALQUE_EXPECT_SAME(digamma);
  CALQUE_EXPECT_SAME(trigamma);
  CALQUE_EXPECT_SAME(erfcx);
  CALQUE_EXPECT_SAME(ndtr);
  CALQUE_EXPECT_SAME(log_ndtr);
  CALQUE_EXPECT_SAME(ndtri);
  CALQUE_EXPECT_SAME(i0);
  CALQUE_EXPECT_SAME(i0e);
  CALQUE_EXPECT_SAME(i1);
  CALQUE_EXPECT_SAME(i1e);
}

TEST(Backend, MayEvaluateSlowPathsForEveryFloat) { expect_eager_is_same<float>(); }

TEST(Backend, MayEvaluateSlowPathsForEveryDouble) { expect_eager_is_same<double>(); }

TEST(ScalarBackend, WrapsSignedArithmetic) {
  using I = Lane<std::int32_t, ScalarBackend>;
  const I most(std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ((most + I(1)).raw(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((most * I(2)).raw(), -2);
  EXPECT_EQ((-I(std::numeric_limits<std::int32_t>::min())).raw(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((I(-8) >> I(1)).raw(), -4);
  EXPECT_EQ((I(3) << I(31)).raw(), std::numeric_limits<std::int32_t>::min());
}

}  // namespace
}  // namespace calque::math::test
