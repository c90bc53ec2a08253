// Zeros with their signs, infinities, NaN, poles and the ends of domains, as in Annex F of C.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "functions.h"
#include "points.h"

namespace calque::math::test {
namespace {

template <class T>
std::vector<T> special_arguments() {
  using L = std::numeric_limits<T>;
  std::vector<T> list;
  for (const T v : {T(0), L::denorm_min(), L::min(), L::epsilon(), T(0.3), T(0.5), T(1), std::nextafter(T(1), T(2)),
                    T(1.5), T(2), T(3), T(4), T(10), T(171.5), T(1e30), std::ldexp(T(1), L::digits - 1),
                    std::ldexp(T(1), L::digits) - 1, L::max(), L::infinity()}) {
    list.push_back(v);
    list.push_back(-v);
  }
  list.push_back(L::quiet_NaN());
  return list;
}

/// NaN for NaN, equal signs, and within `ulp` representable values.
template <class T>
void expect_like(T got, T want, double ulp, const std::string& what) {
  EXPECT_LE(representable_distance(got, want), ulp) << what << " = " << got << ", not " << want;
  if (!std::isnan(want)) {
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << what << " = " << got << ", not " << want;
  }
}

template <class T, class Got, class Want>
void expect_unary_like(const char* name, Got got, Want want) {
  for (const T x : special_arguments<T>()) {
    expect_like<T>(got(x), want(x), 4, std::string(name) + "(" + std::to_string(x) + ")");
  }
}

#define CALQUE_EXPECT_LIKE_C(f)                                                                                        \
  expect_unary_like<float>(#f, CALQUE_SINGLE(math::f), [](float v) { return static_cast<float>(std::f(double{v})); }); \
  expect_unary_like<double>(#f, CALQUE_DOUBLE(math::f), [](double v) { return std::f(v); })

TEST(SpecialValues, AreThoseOfC) {
  CALQUE_EXPECT_LIKE_C(exp);
  CALQUE_EXPECT_LIKE_C(exp2);
  CALQUE_EXPECT_LIKE_C(expm1);
  CALQUE_EXPECT_LIKE_C(log);
  CALQUE_EXPECT_LIKE_C(log2);
  CALQUE_EXPECT_LIKE_C(log10);
  CALQUE_EXPECT_LIKE_C(log1p);
  CALQUE_EXPECT_LIKE_C(sin);
  CALQUE_EXPECT_LIKE_C(cos);
  CALQUE_EXPECT_LIKE_C(tan);
  CALQUE_EXPECT_LIKE_C(asin);
  CALQUE_EXPECT_LIKE_C(acos);
  CALQUE_EXPECT_LIKE_C(atan);
  CALQUE_EXPECT_LIKE_C(sinh);
  CALQUE_EXPECT_LIKE_C(cosh);
  CALQUE_EXPECT_LIKE_C(tanh);
  CALQUE_EXPECT_LIKE_C(asinh);
  CALQUE_EXPECT_LIKE_C(acosh);
  CALQUE_EXPECT_LIKE_C(atanh);
  CALQUE_EXPECT_LIKE_C(cbrt);
  CALQUE_EXPECT_LIKE_C(erf);
  CALQUE_EXPECT_LIKE_C(erfc);
}

TEST(SpecialValues, OfTheGammaFunctionsAreThoseOfC) {
  CALQUE_EXPECT_LIKE_C(lgamma);
  CALQUE_EXPECT_LIKE_C(tgamma);
}

#define CALQUE_EXPECT_VALUE(f, x, want)                                                 \
  expect_like<float>(math::f(Scalar<float>(x)).raw(), static_cast<float>(want), 1, #f); \
  expect_like<double>(math::f(Scalar<double>(x)).raw(), want, 1, #f)

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(SpecialValues, OfTheLogisticFunction) {
  CALQUE_EXPECT_VALUE(sigmoid, 0.0, 0.5);
  CALQUE_EXPECT_VALUE(sigmoid, -0.0, 0.5);
  CALQUE_EXPECT_VALUE(sigmoid, kInf, 1.0);
  CALQUE_EXPECT_VALUE(sigmoid, -kInf, 0.0);
  CALQUE_EXPECT_VALUE(sigmoid, kNan, kNan);
  EXPECT_EQ(math::sigmoid(Scalar<double>(-744.0)).raw(), std::exp(-744.0));
}

TEST(SpecialValues, OfTheReciprocalRoot) {
  CALQUE_EXPECT_VALUE(rsqrt, 0.0, kInf);
  CALQUE_EXPECT_VALUE(rsqrt, -0.0, -kInf);
  CALQUE_EXPECT_VALUE(rsqrt, kInf, 0.0);
  CALQUE_EXPECT_VALUE(rsqrt, -1.0, kNan);
  CALQUE_EXPECT_VALUE(rsqrt, 0.25, 2.0);
  EXPECT_EQ(math::rsqrt(Scalar<float>(0x1p-148f)).raw(), 0x1p74f);
}

TEST(SpecialValues, OfTheInverseErrorFunction) {
  CALQUE_EXPECT_VALUE(erf_inv, 0.0, 0.0);
  CALQUE_EXPECT_VALUE(erf_inv, -0.0, -0.0);
  CALQUE_EXPECT_VALUE(erf_inv, 1.0, kInf);
  CALQUE_EXPECT_VALUE(erf_inv, -1.0, -kInf);
  CALQUE_EXPECT_VALUE(erf_inv, 1.5, kNan);
  CALQUE_EXPECT_VALUE(erf_inv, -kInf, kNan);
  CALQUE_EXPECT_VALUE(erf_inv, kNan, kNan);
}

TEST(SpecialValues, OfDigamma) {
  CALQUE_EXPECT_VALUE(digamma, 0.0, -kInf);
  CALQUE_EXPECT_VALUE(digamma, -0.0, kInf);
  CALQUE_EXPECT_VALUE(digamma, -3.0, kNan);
  CALQUE_EXPECT_VALUE(digamma, kInf, kInf);
  CALQUE_EXPECT_VALUE(digamma, -kInf, kNan);
  CALQUE_EXPECT_VALUE(digamma, kNan, kNan);
  EXPECT_EQ(math::digamma(Scalar<double>(0x1p-900)).raw(), -0x1p900);
}

template <class T, class Got, class Want>
void expect_binary_like(const char* name, Got got, Want want, double ulp) {
  for (const T x : special_arguments<T>()) {
    for (const T y : special_arguments<T>()) {
      expect_like<T>(got(Scalar<T>(x), Scalar<T>(y)).raw(), want(x, y), ulp,
                     std::string(name) + "(" + std::to_string(x) + ", " + std::to_string(y) + ")");
    }
  }
}

#define CALQUE_EXPECT_BINARY_LIKE_C(f, ulp)                                                                  \
  expect_binary_like<float>(                                                                                 \
      #f, [](auto a, auto b) { return math::f(a, b); }, [](float a, float b) { return std::f(a, b); }, ulp); \
  expect_binary_like<double>(                                                                                \
      #f, [](auto a, auto b) { return math::f(a, b); }, [](double a, double b) { return std::f(a, b); }, ulp)

TEST(SpecialValues, OfPowAreThoseOfC) { CALQUE_EXPECT_BINARY_LIKE_C(pow, 1); }

TEST(SpecialValues, OfAtan2AreThoseOfC) { CALQUE_EXPECT_BINARY_LIKE_C(atan2, 1); }

TEST(SpecialValues, OfHypotAreThoseOfC) { CALQUE_EXPECT_BINARY_LIKE_C(hypot, 1); }

TEST(SpecialValues, OfFmodAreThoseOfC) { CALQUE_EXPECT_BINARY_LIKE_C(fmod, 0); }

TEST(SpecialValues, OfRemainderAreThoseOfC) { CALQUE_EXPECT_BINARY_LIKE_C(remainder, 0); }

TEST(SpecialValues, OfNextafterAreThoseOfC) { CALQUE_EXPECT_BINARY_LIKE_C(nextafter, 0); }

TEST(SpecialValues, OfCopysignAreThoseOfC) { CALQUE_EXPECT_BINARY_LIKE_C(copysign, 0); }

template <class T>
void expect_ldexp_like_c() {
  using I = typename FloatFormat<T>::Int;
  PointSource<T> source(11);
  for (int i = 0; i < 20'000; ++i) {
    const T x = source.next();
    const int n = i % 5000 - 2500;
    const T got = math::ldexp(Scalar<T>(x), Lane<I, ScalarBackend>(n)).raw();
    expect_like<T>(got, std::ldexp(x, n), 0, "ldexp(" + std::to_string(x) + ", " + std::to_string(n) + ")");
  }
}

TEST(Ldexp, RoundsOnceAndSaturates) {
  expect_ldexp_like_c<float>();
  expect_ldexp_like_c<double>();
}

}  // namespace
}  // namespace calque::math::test
