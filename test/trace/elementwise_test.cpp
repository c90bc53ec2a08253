// Elementwise functions, traced and evaluated by the reference, compared with plain C++ on every element.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using detail::literal_operand;

template <class T>
std::vector<T> samples() {
  if constexpr (std::floating_point<T>) {
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    return {T(0), T(-0.0), T(1), T(-1), T(0.5), T(-2.5), T(3), T(7.25), T(-1e10), T(1e-30), inf, -inf, nan};
  } else {
    return {T(0), T(1), T(2), T(5), T(-1), T(-3), T(7), std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
  }
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  } else {
    return a == b;
  }
}

using UnaryFunction = Handle (*)(const Operand&, Location);
using BinaryFunction = Handle (*)(const Operand&, const Operand&, Location);

/// The single result of a function of these inputs. Not a template as `result_of` is, whose instantiations would
/// dominate the compile time of this file.
AnyArray computed(const AnyArray& x, UnaryFunction f) {
  return result_of({x}, [f](const auto& o) { return f(o[0], kHere); });
}
AnyArray computed(const AnyArray& x, const AnyArray& y, BinaryFunction f) {
  return result_of({x, y}, [f](const auto& o) { return f(o[0], o[1], kHere); });
}

/// Compares f on all pairs of samples, as an outer broadcast, with `want`.
template <class T>
void check_pairs(BinaryFunction f, T (*want)(T, T)) {
  const std::vector<T> s = samples<T>();
  const int64_t n = static_cast<int64_t>(s.size());
  const AnyArray x = AnyArray::from(std::span<const T>(s), Shape{n, 1}),
                 y = AnyArray::from(std::span<const T>(s), Shape{n});
  const AnyArray got = computed(x, y, f);
  ASSERT_EQ(got.type(), (Type{dtype_of<T>, Shape{n, n}}));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const T a = s[static_cast<size_t>(i)], b = s[static_cast<size_t>(j)];
      const T w = want(a, b), g = got.data_as<T>()[i * n + j];
      EXPECT_TRUE(same(g, w)) << +a << ", " << +b << ": got " << +g << ", want " << +w;
    }
  }
}

template <class T>
T python_mod(T x, T y) {
  if constexpr (std::floating_point<T>) {
    T m = std::fmod(x, y);
    if (std::isnan(m)) return m;
    if (m != 0 && (m < 0) != (y < 0)) return m + y;
    return m == 0 ? std::copysign(T(0), y) : m;
  } else {
    if (y == 0) return x;
    if (std::is_signed_v<T> && y == T(-1)) return 0;
    const T m = x % y;
    return m != 0 && (m < 0) != (y < 0) ? static_cast<T>(m + y) : m;
  }
}

template <class T>
T python_quotient(T x, T y) {
  if constexpr (std::floating_point<T>) {
    if (y == 0) return x / y;
    const T m = python_mod(x, y);
    T q = (x - std::fmod(x, y)) / y;
    if (std::isnan(m)) return q;
    if (std::fmod(x, y) != 0 && (std::fmod(x, y) < 0) != (y < 0)) q -= 1;
    if (q == 0) return std::copysign(T(0), x / y);
    const T f = std::floor(q);
    return q - f > T(0.5) ? f + 1 : f;
  } else {
    if (y == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && y == T(-1)) return static_cast<T>(0u - static_cast<std::make_unsigned_t<T>>(x));
    const T q = static_cast<T>(x / y);
    return x % y != 0 && ((x % y) < 0) != (y < 0) ? static_cast<T>(q - 1) : q;
  }
}

template <class T>
class Divisions : public testing::Test {};
using DivisionTypes =
    testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>;
TYPED_TEST_SUITE(Divisions, DivisionTypes);

TYPED_TEST(Divisions, ModIsPythons) { check_pairs<TypeParam>(&ops::mod, python_mod<TypeParam>); }
TYPED_TEST(Divisions, FloorDivideIsPythons) { check_pairs<TypeParam>(&ops::floor_divide, python_quotient<TypeParam>); }

TYPED_TEST(Divisions, FdimIsTheDifferenceAboveZero) {
  using T = TypeParam;
  check_pairs<T>(&ops::fdim, [](T x, T y) {
    if constexpr (std::floating_point<T>) return std::fdim(x, y);
    using U = std::make_unsigned_t<std::conditional_t<std::integral<T>, T, int>>;
    return x <= y ? T(0) : static_cast<T>(static_cast<U>(x) - static_cast<U>(y));
  });
}

TEST(Extremes, FminAndFmaxIgnoreNaN) {
  check_pairs<double>(&ops::fmin, [](double x, double y) {
    if (x == y) return std::signbit(x) ? x : y;
    return std::fmin(x, y);
  });
  check_pairs<double>(&ops::fmax, [](double x, double y) {
    if (x == y) return std::signbit(x) ? y : x;
    return std::fmax(x, y);
  });
}

TEST(Extremes, MinimumAndMaximumPropagateNaN) {
  check_pairs<float>(&ops::maximum, [](float x, float y) {
    if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<float>::quiet_NaN();
    if (x == y) return std::signbit(x) ? y : x;
    return x > y ? x : y;
  });
}

TEST(Integers, GcdAndLcmAreThoseOfTheStandard) {
  const auto small = [](BinaryFunction f) {
    std::vector<int32_t> x, y;
    for (int a = -12; a <= 12; ++a) {
      for (int b = -12; b <= 12; ++b) {
        x.push_back(a);
        y.push_back(b);
      }
    }
    const Shape n{x.size()};
    return std::pair{elements<int32_t>(computed(AnyArray::from<int32_t>(x, n), AnyArray::from<int32_t>(y, n), f)),
                     std::pair{x, y}};
  };
  const auto [g, in] = small(&ops::gcd);
  for (size_t i = 0; i < g.size(); ++i) EXPECT_EQ(g[i], std::gcd(in.first[i], in.second[i]));
  const auto [l, same_in] = small(&ops::lcm);
  for (size_t i = 0; i < l.size(); ++i) EXPECT_EQ(l[i], std::lcm(same_in.first[i], same_in.second[i]));
}

TEST(Integers, LcmWraps) {
  const AnyArray got = computed(vec<int8_t>({64, -100, -128, 127}), vec<int8_t>({-96, 127, 3, 0}), &ops::lcm);
  EXPECT_EQ(elements<int8_t>(got), (std::vector<int8_t>{-64, -100, -128, 0}));
}

TEST(Ldexp, IsScalbnWithOneRounding) {
  std::vector<double> x;
  std::vector<int64_t> n;
  for (double a : {1.0, -1.5, 0x1.fffffffffffffp0, 0x1.23456789abcdfp-1000, 0x1.3p-1060, 0x1.7p1000, 0.0, -0.0}) {
    for (int64_t e : {0, 1, -1, 70, -70, 1023, -1022, -1074, 2098, -2098, 1 << 20, -(1 << 20)}) {
      x.push_back(a);
      n.push_back(e);
    }
  }
  const Shape shape{x.size()};
  const auto got =
      elements<double>(computed(AnyArray::from<double>(x, shape), AnyArray::from<int64_t>(n, shape), &ops::ldexp));
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(same(got[i], std::scalbln(x[i], n[i]))) << x[i] << " * 2^" << n[i] << " gave " << got[i];
  }
  const auto narrow = elements<float>(computed(vec<float>({1.5f, -3.f}), vec<int8_t>({-128, 127}), &ops::ldexp));
  EXPECT_EQ(narrow, (std::vector<float>{std::ldexp(1.5f, -128), -std::numeric_limits<float>::infinity()}));
}

TEST(Tests, SeeTheBitsOfFloats) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const AnyArray x = vec<float>({0.f, -0.f, 1.f, -1.f, inf, -inf, nan, std::copysign(nan, -1.f)});
  const auto check = [&](UnaryFunction f, std::vector<bool> want) {
    const AnyArray got = computed(x, f);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got.data_as<bool>()[i], want[i]) << i;
  };
  check(&ops::isnan, {false, false, false, false, false, false, true, true});
  check(&ops::isinf, {false, false, false, false, true, true, false, false});
  check(&ops::isfinite, {true, true, true, true, false, false, false, false});
  check(&ops::signbit, {false, true, false, true, false, true, false, true});
}

TEST(Tests, OfIntegersAreConstant) {
  const AnyArray x = vec<int32_t>({-1, 0, 1});
  EXPECT_EQ(elements<bool>(computed(x, &ops::isnan)), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(elements<bool>(computed(x, &ops::isfinite)), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(elements<bool>(computed(x, &ops::signbit)), (std::vector<bool>{true, false, false}));
  const AnyArray u = vec<uint8_t>({0, 1, 255}), b = vec<bool>({false, true});
  EXPECT_EQ(elements<bool>(computed(u, &ops::signbit)), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(elements<bool>(computed(b, &ops::signbit)), (std::vector<bool>{false, false}));
}

TEST(Relu, KeepsNaNAndDropsNegativeZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto got = elements<float>(computed(vec<float>({-1.f, -0.f, 2.f, nan}), &ops::relu));
  EXPECT_TRUE(same(got[0], 0.f) && same(got[1], 0.f) && same(got[2], 2.f) && same(got[3], nan));
}

TEST(Xlogy, IsZeroAtZero) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto got = elements<double>(
      computed(vec<double>({0, 0, 0, 2, 1}), vec<double>({0, inf, nan, std::exp(1.0), 0}), &ops::xlogy));
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[1], 0);
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_NEAR(got[3], 2, 1e-15);
  EXPECT_EQ(got[4], -inf);
}

TEST(Logaddexp, DoesNotOverflow) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto got = elements<double>(
      computed(vec<double>({1000, -inf, inf, 0}), vec<double>({1000, -inf, inf, -inf}), &ops::logaddexp));
  EXPECT_NEAR(got[0], 1000 + std::log(2.0), 1e-12);
  EXPECT_EQ(got[1], -inf);
  EXPECT_EQ(got[2], inf);
  EXPECT_EQ(got[3], 0);
}

TEST(Pow, OfASquareIsAProduct) {
  const auto r = trace({{DType::f32, {}}},
                       [](std::span<const Handle> x) { return Handles{ops::pow(x[0], literal_operand(2), kHere)}; });
  ASSERT_EQ(r.graph.num_equations(), 1u);
  EXPECT_EQ(r.graph.equations().front().primitive(), "mul");
}

// ---- promotion

TEST(Promotion, OfTwoArraysIsTheLattices) {
  for (int a = 0; a < kDTypeCount; ++a) {
    for (int b = 0; b < kDTypeCount; ++b) {
      const DType da = static_cast<DType>(a), db = static_cast<DType>(b);
      const auto r = trace({{da, Shape{2}}, {db, {}}}, [](std::span<const Handle> x) {
        return Handles{ops::multiply(x[0], x[1], kHere), ops::equal(x[0], x[1], kHere)};
      });
      EXPECT_EQ(r.graph.output_types()[0], (Type{promote(da, db), Shape{2}}));
      EXPECT_EQ(r.graph.output_types()[1], (Type{DType::bool_, Shape{2}}));
    }
  }
}

TEST(Promotion, LiteralsAreWeak) {
  for (int a = 0; a < kDTypeCount; ++a) {
    const DType d = static_cast<DType>(a);
    const auto r = trace({{d, {}}}, [](std::span<const Handle> x) {
      return Handles{ops::multiply(x[0], literal_operand(3), kHere), ops::multiply(literal_operand(0.5), x[0], kHere),
                     ops::multiply(x[0], literal_operand(std::complex<double>(0, 1)), kHere)};
    });
    EXPECT_EQ(r.graph.output_types()[0].dtype, promote_weak(d, DType::i32));
    EXPECT_EQ(r.graph.output_types()[1].dtype, promote_weak(d, DType::f64));
    EXPECT_EQ(r.graph.output_types()[2].dtype, promote_weak(d, DType::c128));
  }
}

TEST(Promotion, LiteralsAloneHaveTheirOwnType) {
  const auto r = trace({{DType::bool_, {}}}, [](std::span<const Handle> x) {
    return Handles{ops::where(x[0], literal_operand(1.0), literal_operand(0), kHere),
                   ops::where(x[0], literal_operand(1), literal_operand(0), kHere)};
  });
  EXPECT_EQ(r.graph.output_types()[0].dtype, DType::f64);
  EXPECT_EQ(r.graph.output_types()[1].dtype, DType::i32);
}

TEST(Promotion, ALiteralAddsNoBroadcast) {
  const auto r = trace({{DType::f32, Shape{3, 4}}}, [](std::span<const Handle> x) {
    return Handles{ops::add(x[0], literal_operand(2.0), kHere), ops::maximum(x[0], literal_operand(0), kHere)};
  });
  EXPECT_EQ(r.graph.num_equations(), 2u);
}

TEST(Promotion, BoolsAddAsOrAndMultiplyAsAnd) {
  const AnyArray x = vec<bool>({false, false, true, true}), y = vec<bool>({false, true, false, true});
  EXPECT_EQ(elements<bool>(computed(x, y, &ops::add)), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(elements<bool>(computed(x, y, &ops::multiply)), (std::vector<bool>{false, false, false, true}));
}

TEST(Clip, BoundsMustFitTheArray) {
  EXPECT_EQ(
      words_of<DTypeError>({{DType::i32, {}}},
                           [](const auto& o) { ops::clip(o[0], literal_operand(0.5), literal_operand(2), kHere); }),
      "clip: a value of f64 does not fit i32; cast one of them (model.cpp:42)");
}

// ---- complex functions

TEST(Complex, FunctionsAreThoseOfTheStandard) {
  using C = std::complex<double>;
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-3, 3);
  std::vector<C> z{{1, 1e-9}, {-1, 1e-9}, {0, 2}, {0, -2}, {-4, 0}, {30, 1}, {-30, -1}, {1e-3, 1e-3}};
  for (int i = 0; i < 60; ++i) z.push_back({uniform(generator), uniform(generator)});
  const AnyArray x = AnyArray::from<C>(z, Shape{z.size()});
  const auto check = [&](UnaryFunction f, C (*want)(C)) {
    const auto got = elements<C>(computed(x, f));
    for (size_t i = 0; i < z.size(); ++i) {
      EXPECT_LE(std::abs(got[i] - want(z[i])), 1e-14 * std::abs(want(z[i])) + 1e-300) << z[i] << " " << got[i];
    }
  };
  check(&ops::exp, [](C c) { return std::exp(c); });
  check(&ops::log, [](C c) { return std::log(c); });
  check(&ops::sqrt, [](C c) { return std::sqrt(c); });
  check(&ops::sin, [](C c) { return std::sin(c); });
  check(&ops::cos, [](C c) { return std::cos(c); });
  check(&ops::sinh, [](C c) { return std::sinh(c); });
  check(&ops::cosh, [](C c) { return std::cosh(c); });
  check(&ops::tanh, [](C c) { return std::tanh(c); });
}

TEST(Complex, IsRefusedWhereThereIsNoFunction) {
  EXPECT_EQ(words_of<DTypeError>({{DType::c64, {}}}, [](const auto& o) { ops::erf(o[0], kHere); }),
            "erf: needs real numbers, got c64[] (model.cpp:42)");
}

}  // namespace
}  // namespace calque::test
