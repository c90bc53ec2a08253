// Conversions: saturation, wrapping and single roundings.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/near_ties.h"

namespace calque::test {
namespace {

using namespace primitives;

template <class To, class From>
To convert(From x) {
  return elements<To>(apply<Convert>({scalar(x)}, {{"dtype", dtype_of<To>}}))[0];
}

TEST(Convert, FloatsTruncateAndSaturate) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(convert<int32_t>(-2.9), -2);
  EXPECT_EQ(convert<int32_t>(3e9F), INT32_MAX);
  EXPECT_EQ(convert<int32_t>(-inf), INT32_MIN);
  EXPECT_EQ(convert<int64_t>(9.3e18), INT64_MAX);
  EXPECT_EQ(convert<int64_t>(9.2233720368547748e18), 9223372036854774784);
  EXPECT_EQ(convert<uint64_t>(1.9e19), UINT64_MAX);
  EXPECT_EQ(convert<uint64_t>(1.8e19), 18000000000000000000U);
  EXPECT_EQ(convert<uint8_t>(-1.0F), 0);
  EXPECT_EQ(convert<uint8_t>(-0.5F), 0);
  EXPECT_EQ(convert<uint8_t>(255.9F), 255);
  EXPECT_EQ(convert<int8_t>(float16(200)), 127);
  EXPECT_EQ(convert<int32_t>(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(convert<uint64_t>(std::numeric_limits<double>::quiet_NaN()), 0U);
}

TEST(Convert, IntegersWrap) {
  EXPECT_EQ(convert<int8_t>(int32_t{200}), -56);
  EXPECT_EQ(convert<uint32_t>(int64_t{-1}), UINT32_MAX);
  EXPECT_EQ(convert<int64_t>(uint64_t{UINT64_MAX}), -1);
  EXPECT_EQ(convert<uint64_t>(int8_t{-1}), UINT64_MAX);
}

TEST(Convert, ToBoolIsNotZero) {
  EXPECT_TRUE(convert<bool>(0.25F));
  EXPECT_FALSE(convert<bool>(-0.0F));
  EXPECT_TRUE(convert<bool>(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_TRUE(convert<bool>(int32_t{256}));
  EXPECT_TRUE(convert<bool>(std::complex<float>(0, 1)));
  EXPECT_EQ(convert<float>(true), 1.0F);
}

TEST(Convert, ComplexToRealDropsTheImaginaryPart) {
  EXPECT_EQ(convert<float>(std::complex<double>(1.5, 9)), 1.5F);
  EXPECT_EQ(convert<int32_t>(std::complex<float>(-2.5F, 9)), -2);
  EXPECT_EQ((convert<std::complex<double>>(3.0F)), std::complex<double>(3, 0));
}

TEST(Convert, DoubleToHalfRoundsOnce) {
  // Just above the tie between 1 and the next half: through f32 it would become the tie and round down.
  const double above = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(static_cast<float>(convert<float16>(above)), 1 + std::ldexp(1.0F, -10));
  const double below = 1 + 3 * std::ldexp(1.0, -11) - std::ldexp(1.0, -40);
  EXPECT_EQ(static_cast<float>(convert<float16>(below)), 1 + std::ldexp(1.0F, -10));
  const double brain = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -45);
  EXPECT_EQ(static_cast<float>(convert<bfloat16>(brain)), 1 + std::ldexp(1.0F, -7));
  EXPECT_EQ(static_cast<float>(convert<float16>(65519.99)), 65504);
  EXPECT_EQ(static_cast<float>(convert<float16>(65520.0)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(convert<bfloat16>(1e300)), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(static_cast<float>(convert<float16>(std::numeric_limits<double>::quiet_NaN()))));
}

template <class H, class T>
void expect_one_rounding() {
  Rng rng(3);
  for (int repeat = 0; repeat < 8; ++repeat) {
    for (const T x : near_ties<T>(rng)) {
      const auto want = static_cast<float>(round_exactly<H>(x));
      EXPECT_EQ(static_cast<float>(convert<H>(x)), want) << name(dtype_of<T>) << " " << +x;
      if constexpr (std::is_floating_point_v<T>) {
        EXPECT_EQ(static_cast<float>(convert<H>(std::complex<T>(x, 3))), want) << name(dtype_of<T>) << " " << x;
      }
    }
  }
}

template <class H>
void expect_one_rounding_of_all() {
  const auto check = []<class... T>() { (expect_one_rounding<H, T>(), ...); };
  check.template operator()<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>();
}

TEST(Convert, NumbersReachF16InOneRounding) { expect_one_rounding_of_all<float16>(); }
TEST(Convert, NumbersReachBf16InOneRounding) { expect_one_rounding_of_all<bfloat16>(); }

TEST(Convert, IntegersAboveATieOfBf16RoundUp) {
  // f32 cannot distinguish them from the tie.
  EXPECT_EQ(std::bit_cast<uint16_t>(convert<bfloat16>((int32_t{1} << 30) + (int32_t{1} << 22) + 1)), 0x4e81);
  EXPECT_EQ(std::bit_cast<uint16_t>(convert<bfloat16>(-(int32_t{1} << 30) - (int32_t{1} << 22) - 1)), 0xce81);
  EXPECT_EQ(static_cast<float>(convert<bfloat16>((int64_t{1} << 40) + (int64_t{1} << 32) + 1)),
            std::ldexp(1.0F, 40) + std::ldexp(1.0F, 33));
  EXPECT_EQ(static_cast<float>(convert<float16>(int32_t{2049})), 2048);
  EXPECT_EQ(static_cast<float>(convert<float16>(int64_t{INT64_MAX})), std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(convert<float16>(int64_t{INT64_MIN})), -std::numeric_limits<float>::infinity());
}

TEST(Convert, LiteralsRoundOnce) {
  const int64_t x = (int64_t{1} << 40) + (int64_t{1} << 32) + 1;
  const double d = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -45);
  EXPECT_EQ(make_literal(DType::bf16, x).as<bfloat16>(), convert<bfloat16>(x));
  EXPECT_EQ(make_literal(DType::bf16, d).as<bfloat16>(), convert<bfloat16>(d));
  EXPECT_EQ(make_literal(DType::f16, 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)).as<float16>(),
            float16(1 + std::ldexp(1.0F, -10)));
}

TEST(Bitcast, KeepsTheBits) {
  const auto bits = elements<uint32_t>(apply<Bitcast>({scalar(-1.5F)}, {{"dtype", DType::u32}}))[0];
  EXPECT_EQ(bits, 0xbfc00000U);
}

}  // namespace
}  // namespace calque::test
