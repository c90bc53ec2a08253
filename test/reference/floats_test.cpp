// Floats: NaN, signed zeros, rounding, and functions at arguments with known values.
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "support/arrays.h"

namespace calque::test {
namespace {

using namespace primitives;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class P, class... T>
float f32(T... x) {
  return of<P, float>(static_cast<float>(x)...);
}
template <class P, class... T>
double f64(T... x) {
  return of<P, double>(static_cast<double>(x)...);
}
template <class P, class H>
float half(std::initializer_list<float> x) {
  std::vector<AnyArray> operands;
  for (const float v : x) operands.push_back(scalar(H(v)));
  return static_cast<float>(elements<H>(apply<P>(operands))[0]);
}

TEST(Floats, ExtremesPropagateNaNAndOrderZeros) {
  EXPECT_TRUE(std::isnan(f32<Max>(kNaN, 1)));
  EXPECT_TRUE(std::isnan(f32<Max>(1, kNaN)));
  EXPECT_TRUE(std::isnan(f32<Min>(kNaN, 1)));
  EXPECT_TRUE(std::isnan(f32<Min>(1, kNaN)));
  for (const float a : {0.0F, -0.0F}) {
    EXPECT_FALSE(std::signbit(f32<Max>(a, -a)));
    EXPECT_TRUE(std::signbit(f32<Min>(a, -a)));
  }
  EXPECT_TRUE(std::signbit(f32<Max>(-0.0F, -0.0F)));
  EXPECT_TRUE(std::isnan(f32<Clamp>(0, kNaN, 1)));
  EXPECT_TRUE(std::isnan(f32<Clamp>(kNaN, 0, 1)));
}

TEST(Floats, ComparisonsWithNaNAreFalseButNe) {
  EXPECT_FALSE((of<Eq, bool>(kNaN, kNaN)));
  EXPECT_TRUE((of<Ne, bool>(kNaN, kNaN)));
  EXPECT_FALSE((of<Lt, bool>(kNaN, 1.0F)));
  EXPECT_FALSE((of<Ge, bool>(kNaN, 1.0F)));
  EXPECT_TRUE((of<Eq, bool>(0.0F, -0.0F)));
}

TEST(Floats, SignsOfZeroAreKept) {
  EXPECT_TRUE(std::signbit(f32<Sign>(-0.0F)));
  EXPECT_TRUE(std::isnan(f32<Sign>(kNaN)));
  EXPECT_EQ(f32<Sign>(-kInf), -1);
  EXPECT_TRUE(std::signbit(f32<Neg>(0)));
  EXPECT_FALSE(std::signbit(f32<Abs>(-0.0F)));
  EXPECT_TRUE(std::signbit(f32<Round>(-0.25)));
  EXPECT_TRUE(std::signbit(f32<Ceil>(-0.5)));
  EXPECT_TRUE(std::signbit(f32<Sqrt>(-0.0F)));
}

TEST(Floats, RoundingModes) {
  EXPECT_EQ(f32<Round>(2.5), 2);
  EXPECT_EQ(f32<Round>(3.5), 4);
  EXPECT_EQ(f32<RoundHalfAway>(2.5), 3);
  EXPECT_EQ(f32<RoundHalfAway>(-2.5), -3);
  EXPECT_EQ(f32<RoundHalfAway>(0.49999997F), 0);
  EXPECT_EQ(f32<Trunc>(-2.7), -2);
  EXPECT_EQ(f32<Floor>(-2.1), -3);
}

TEST(Floats, RemIsFmodAndRemainderIsIeee) {
  EXPECT_EQ(f32<Rem>(-7, 2), -1);
  EXPECT_TRUE(std::isnan(f32<Rem>(1, 0)));
  EXPECT_EQ(f32<Rem>(1, kInf), 1);
  EXPECT_TRUE(std::isnan(f32<Rem>(kInf, 1)));
  EXPECT_EQ(f32<Remainder>(7, 2), -1);
  EXPECT_EQ(f32<Remainder>(5, 2), 1);
}

TEST(Floats, FmaRoundsOnce) {
  const double e = std::numeric_limits<double>::epsilon();
  EXPECT_EQ(f64<Fma>(1 + e, 1 - e, -1), -e * e);
  const float ef = std::numeric_limits<float>::epsilon();
  EXPECT_EQ(f32<Fma>(1 + ef, 1 - ef, -1), -ef * ef);
}

TEST(Floats, SixteenBitResultsAreRounded) {
  EXPECT_EQ((half<Add, float16>({2048, 1})), 2048);
  EXPECT_EQ((half<Add, float16>({2048, 3})), 2052);
  EXPECT_EQ((half<Add, bfloat16>({256, 1})), 256);
  EXPECT_EQ((half<Mul, float16>({256, 256})), kInf);
  EXPECT_EQ((half<Div, bfloat16>({1, 3})), static_cast<float>(bfloat16(1.0F / 3)));
}

TEST(Floats, NextafterStepsInTheOwnType) {
  EXPECT_EQ((half<Nextafter, float16>({1, 2})), 1 + 1.0F / 1024);
  EXPECT_EQ((half<Nextafter, bfloat16>({1, 2})), 1 + 1.0F / 128);
  EXPECT_EQ((half<Nextafter, float16>({0, -1})), -5.9604645e-8F);
  EXPECT_EQ((half<Nextafter, float16>({-1, 0})), -1 + 1.0F / 2048);
  EXPECT_EQ((half<Nextafter, float16>({65504, kInf})), kInf);
  EXPECT_TRUE(std::isnan(half<Nextafter, float16>({kNaN, 0})));
  EXPECT_TRUE(std::signbit(f32<Nextafter>(0.0F, -0.0F)));
}

TEST(SpecialFunctions, ErfInvInvertsErf) {
  // Values by mpmath with 40 digits.
  EXPECT_DOUBLE_EQ(f64<ErfInv>(0.5), 0.47693627620446987338);
  EXPECT_DOUBLE_EQ(f64<ErfInv>(-0.9), -1.1630871536766741);
  EXPECT_DOUBLE_EQ(f64<ErfInv>(1e-10), 8.862269254527581e-11);
  EXPECT_DOUBLE_EQ(f64<ErfInv>(1 - std::ldexp(1.0, -53)), 5.8635847487551676);
  EXPECT_EQ(f64<ErfInv>(1), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(f64<ErfInv>(1.5)));
  EXPECT_TRUE(std::signbit(f64<ErfInv>(-0.0)));
  for (double y = -5.5; y < 5.5; y += 0.37) {
    const double x = std::erf(y);
    if (std::fabs(x) >= 0.99) continue;
    EXPECT_NEAR(f64<ErfInv>(x), y, 4e-14) << y;
  }
}

TEST(SpecialFunctions, DigammaAtKnownPoints) {
  const double euler = std::numbers::egamma;
  EXPECT_DOUBLE_EQ(f64<Digamma>(1), -euler);
  EXPECT_DOUBLE_EQ(f64<Digamma>(2), 1 - euler);
  EXPECT_DOUBLE_EQ(f64<Digamma>(0.5), -euler - 2 * std::numbers::ln2);
  EXPECT_DOUBLE_EQ(f64<Digamma>(-0.5), 0.03648997397857652056);  // 2 - euler - 2 ln 2
  EXPECT_DOUBLE_EQ(f64<Digamma>(1e10), 23.025850929890456);      // log(x) - 1 / 2x
  EXPECT_TRUE(std::isnan(f64<Digamma>(-3)));
  EXPECT_EQ(f64<Digamma>(0), -std::numeric_limits<double>::infinity());
  for (const double x : {0.1, 0.7, 1.4, 3.3, 19.5, 77.0}) {
    EXPECT_NEAR(f64<Digamma>(x + 1) - f64<Digamma>(x), 1 / x, 4e-15) << x;
  }
}

TEST(SpecialFunctions, GammaAtItsCorners) {
  EXPECT_EQ(f64<Lgamma>(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(f64<Lgamma>(-2), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(f64<Lgamma>(-0.5), std::log(2 * std::sqrt(std::numbers::pi)));
  EXPECT_EQ(f64<Tgamma>(5), 24);
  EXPECT_TRUE(std::isnan(f64<Tgamma>(-1)));
}

TEST(SpecialFunctions, LogisticSaturates) {
  EXPECT_EQ(f32<Logistic>(-kInf), 0);
  EXPECT_EQ(f32<Logistic>(kInf), 1);
  EXPECT_EQ(f32<Logistic>(0), 0.5F);
  EXPECT_GT(f32<Logistic>(-100), 0);
}

}  // namespace
}  // namespace calque::test
