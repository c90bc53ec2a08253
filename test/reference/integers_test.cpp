// Integers: wrapping, division, shifts, powers and bits at the corners of every width.
#include <limits>

#include <gtest/gtest.h>

#include "support/arrays.h"

namespace calque::test {
namespace {

using namespace primitives;

template <class T>
struct Integers : ::testing::Test {
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kMax = std::numeric_limits<T>::max();
  static constexpr T kAll = static_cast<T>(-1);
  static constexpr int kBits = 8 * sizeof(T);
};
using AllWidths = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Integers, AllWidths);

template <class P, class T>
T one(T x) {
  return of<P, T>(x);
}
template <class P, class T>
T two(T x, T y) {
  return of<P, T>(x, y);
}

TYPED_TEST(Integers, ArithmeticWraps) {
  using T = TypeParam;
  EXPECT_EQ((two<Add, T>(this->kMax, 1)), this->kMin);
  EXPECT_EQ((two<Sub, T>(this->kMin, 1)), this->kMax);
  EXPECT_EQ((two<Mul, T>(this->kMax, 2)), static_cast<T>(-2));
  EXPECT_EQ((two<Mul, T>(this->kMax, this->kMax)), T{1});
  EXPECT_EQ((one<Neg, T>(this->kMin)), this->kMin);
  EXPECT_EQ((one<Neg, T>(1)), this->kAll);
}

TYPED_TEST(Integers, DivisionNeverTraps) {
  using T = TypeParam;
  for (const T x : {this->kMin, T{0}, T{7}, this->kMax}) {
    EXPECT_EQ((two<Div, T>(x, 0)), this->kAll);
    EXPECT_EQ((two<Rem, T>(x, 0)), x);
  }
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ((two<Div, T>(this->kMin, -1)), this->kMin);
    EXPECT_EQ((two<Rem, T>(this->kMin, -1)), 0);
    EXPECT_EQ((two<Div, T>(-7, 2)), -3);
    EXPECT_EQ((two<Rem, T>(-7, 2)), -1);
    EXPECT_EQ((two<Rem, T>(7, -2)), 1);
  }
}

TYPED_TEST(Integers, WideShiftsGiveTheFill) {
  using T = TypeParam;
  const T width = static_cast<T>(this->kBits);
  for (const T count : {width, static_cast<T>(width + 1), this->kAll, this->kMax}) {
    EXPECT_EQ((two<Shl, T>(this->kAll, count)), 0);
    EXPECT_EQ((two<ShrLogical, T>(this->kAll, count)), 0);
    EXPECT_EQ((two<ShrArithmetic, T>(this->kAll, count)), std::is_signed_v<T> ? this->kAll : T{0});
    EXPECT_EQ((two<ShrArithmetic, T>(1, count)), 0);
  }
  EXPECT_EQ((two<Shl, T>(1, static_cast<T>(width - 1))),
            static_cast<T>(std::make_unsigned_t<T>{1} << (this->kBits - 1)));
  EXPECT_EQ((two<ShrLogical, T>(this->kAll, static_cast<T>(width - 1))), 1);
  EXPECT_EQ((two<ShrArithmetic, T>(this->kMin, 1)), static_cast<T>(this->kMin / 2));
}

TYPED_TEST(Integers, PowersWrapAndTruncate) {
  using T = TypeParam;
  EXPECT_EQ((two<Pow, T>(3, 4)), 81);
  EXPECT_EQ((two<Pow, T>(0, 0)), 1);
  EXPECT_EQ((two<Pow, T>(2, static_cast<T>(this->kBits))), 0);
  EXPECT_EQ((two<Pow, T>(this->kAll, 3)), this->kAll);
  EXPECT_EQ((two<Pow, T>(3, this->kMax)), [] {
    T result = 1;
    for (T n = std::numeric_limits<T>::max(), x = 3; n != 0; n = static_cast<T>(n >> 1)) {
      using U = uint64_t;
      if ((n & 1) != 0) result = static_cast<T>(static_cast<U>(result) * static_cast<U>(x));
      x = static_cast<T>(static_cast<U>(x) * static_cast<U>(x));
    }
    return result;
  }());
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ((two<Pow, T>(2, -1)), 0);
    EXPECT_EQ((two<Pow, T>(1, -5)), 1);
    EXPECT_EQ((two<Pow, T>(-1, -5)), -1);
    EXPECT_EQ((two<Pow, T>(-1, -4)), 1);
    EXPECT_EQ((two<Pow, T>(-1, this->kMin)), 1);
    EXPECT_EQ((two<Pow, T>(0, -1)), -1);
  }
}

TYPED_TEST(Integers, BitsAreCounted) {
  using T = TypeParam;
  EXPECT_EQ((one<Popcount, T>(this->kAll)), this->kBits);
  EXPECT_EQ((one<Clz, T>(0)), this->kBits);
  EXPECT_EQ((one<Clz, T>(1)), this->kBits - 1);
  EXPECT_EQ((one<Clz, T>(this->kAll)), 0);
  EXPECT_EQ((one<Not, T>(0)), this->kAll);
}

TYPED_TEST(Integers, SignsAndMagnitudes) {
  using T = TypeParam;
  EXPECT_EQ((one<Abs, T>(this->kMin)), this->kMin);
  EXPECT_EQ((one<Sign, T>(this->kMax)), 1);
  EXPECT_EQ((one<Sign, T>(0)), 0);
  EXPECT_EQ((one<Sign, T>(this->kMin)), std::is_signed_v<T> ? this->kAll : T{0});
  EXPECT_EQ((one<Floor, T>(this->kMin)), this->kMin);
  EXPECT_EQ((of<Clamp, T>(T{2}, this->kMin, T{5})), 2);
  EXPECT_EQ((of<Clamp, T>(T{5}, T{3}, T{2})), 2);  // the upper bound wins
}

TEST(Bools, OrderAndExtremes) {
  EXPECT_EQ((of<Lt, bool>(false, true)), true);
  EXPECT_EQ((of<Max, bool>(false, true)), true);
  EXPECT_EQ((of<Min, bool>(false, true)), false);
  EXPECT_EQ((of<Not, bool>(false)), true);
  EXPECT_EQ((of<Xor, bool>(true, true)), false);
}

}  // namespace
}  // namespace calque::test
