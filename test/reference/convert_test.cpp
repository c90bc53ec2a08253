// Conversions: saturation, wrapping and single roundings.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/random.h"

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
  // Just above the tie between 1 and the next half: by way of f32 it would become the tie and round down.
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

/// The nearest of two neighbours, ties to even, from exact arithmetic on doubles.
template <class H>
void expect_nearest(double x) {
  const H got = convert<H>(x);
  const auto value = static_cast<double>(static_cast<float>(got));
  for (const float toward : {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()}) {
    const auto neighbour = elements<H>(apply<Nextafter>({scalar(got), scalar(H(toward))}))[0];
    const auto other = static_cast<double>(static_cast<float>(neighbour));
    if (std::isinf(other)) continue;
    const double here = std::fabs(x - value);
    const double there = std::fabs(x - other);
    EXPECT_LE(here, there) << x;
    EXPECT_TRUE(here < there || (std::bit_cast<uint16_t>(got) & 1) == 0) << x;
  }
}

TEST(Convert, DoubleToHalfGivesTheNearest) {
  Rng rng(3);
  for (int i = 0; i < 3000; ++i) {
    const double mantissa = 1 + static_cast<double>(rng.next() >> 12) * 0x1p-52;
    const double tie = 1 + static_cast<double>(2 * rng.below(1024) + 1) * 0x1p-11;
    const int exponent = static_cast<int>(rng.between(-25, 14));
    expect_nearest<float16>(std::ldexp(mantissa, exponent));
    expect_nearest<float16>(-std::ldexp(tie, exponent));
    expect_nearest<bfloat16>(std::ldexp(mantissa, static_cast<int>(rng.between(-134, 126))));
    expect_nearest<bfloat16>(std::ldexp(1 + static_cast<double>(2 * rng.below(128) + 1) * 0x1p-8, exponent));
  }
}

TEST(Convert, IntegersReachHalvesByWayOfF32) {
  const int64_t x = (int64_t{1} << 40) + (int64_t{1} << 32) + 1;  // above a tie of bf16, which f32 cannot tell
  EXPECT_EQ(static_cast<float>(convert<bfloat16>(x)), std::ldexp(1.0F, 40));
  EXPECT_EQ(static_cast<float>(convert<float16>(int32_t{2049})), 2048);
  EXPECT_EQ(static_cast<float>(convert<float16>(int64_t{INT64_MAX})), std::numeric_limits<float>::infinity());
}

TEST(Bitcast, KeepsTheBits) {
  const auto bits = elements<uint32_t>(apply<Bitcast>({scalar(-1.5F)}, {{"dtype", DType::u32}}))[0];
  EXPECT_EQ(bits, 0xbfc00000U);
}

}  // namespace
}  // namespace calque::test
