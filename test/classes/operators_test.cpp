// Operators on tracers against what C++ computes, for every dtype; promotion, literals and broadcasting at run time.
#include <complex>
#include <functional>
#include <limits>

#include "classes/traced.h"

namespace calque::test {
namespace {

/// Operands away from what C++ leaves undefined: no zero divisors, no overflow, shifts below the width.
template <class T>
std::vector<T> samples(int first) {
  std::vector<T> values;
  for (int i = 0; i < 6; ++i) {
    const int v = (first + 2 * i) % 7 + 1;
    values.push_back(static_cast<T>(std::is_signed_v<T> && i % 2 == 1 ? -v : v));
  }
  return values;
}
template <class T>
class Operators : public testing::Test {};
using Numbers = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>;
TYPED_TEST_SUITE(Operators, Numbers);

template <class R, class T, class F>
void expect_as_cpp(const F& f) {
  const std::vector<T> a = samples<T>(0), b = samples<T>(3);
  const Array<T> x = Array<T>::from(a, {6}), y = Array<T>::from(b, {6});
  const Array<R> got = evaluated_as<R>(f, x, y);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(got.host()[i], static_cast<R>(f(a[i], b[i]))) << +a[i] << " and " << +b[i];
  }
}

TYPED_TEST(Operators, ArithmeticIsThatOfCpp) {
  using T = TypeParam;
  expect_as_cpp<T, T>([](auto x, auto y) { return x + y; });
  expect_as_cpp<T, T>([](auto x, auto y) { return x - y; });
  expect_as_cpp<T, T>([](auto x, auto y) { return x * y; });
  expect_as_cpp<T, T>([](auto x, auto y) { return x / y; });
  expect_as_cpp<T, T>([](auto x, auto y) {
    if constexpr (std::floating_point<decltype(x)>) {
      return std::fmod(x, y);
    } else {
      return x % y;
    }
  });
  expect_as_cpp<T, T>([](auto x, auto) { return -x; });
}

TYPED_TEST(Operators, ComparisonsAreThoseOfCpp) {
  using T = TypeParam;
  expect_as_cpp<bool, T>([](auto x, auto y) { return x < y; });
  expect_as_cpp<bool, T>([](auto x, auto y) { return x > y; });
  expect_as_cpp<bool, T>([](auto x, auto y) { return x <= y; });
  expect_as_cpp<bool, T>([](auto x, auto y) { return x >= y; });
  expect_as_cpp<bool, T>([](auto x, auto y) { return x == y; });
  expect_as_cpp<bool, T>([](auto x, auto y) { return x != y; });
}

TYPED_TEST(Operators, BitwiseIsThatOfCpp) {
  using T = TypeParam;
  if constexpr (std::integral<T>) {
    expect_as_cpp<T, T>([](auto x, auto y) { return x & y; });
    expect_as_cpp<T, T>([](auto x, auto y) { return x | y; });
    expect_as_cpp<T, T>([](auto x, auto y) { return x ^ y; });
    expect_as_cpp<T, T>([](auto x, auto) { return ~x; });
    expect_as_cpp<T, T>([](auto x, auto) { return x << 2; });
    expect_as_cpp<T, T>([](auto x, auto) { return x >> 1; });
  }
}

TYPED_TEST(Operators, CompoundAssignmentsAreTheirOperators) {
  using T = TypeParam;
  expect_as_cpp<T, T>([](auto x, auto y) {
    x += y;
    x *= 2;
    x -= y;
    x /= y;
    return x;
  });
}

TEST(OperatorsOfBool, AreLogical) {
  const Array<bool> p = {true, true, false, false}, q = {true, false, true, false};
  const auto expect = [&](const auto& f, std::vector<int> want) {
    const Array<bool> got = evaluated_as<bool>(f, p, q);
    EXPECT_EQ(std::vector<int>(got.host().begin(), got.host().end()), want);
  };
  expect([](auto x, auto y) { return x && y; }, {1, 0, 0, 0});
  expect([](auto x, auto y) { return x || y; }, {1, 1, 1, 0});
  expect([](auto x, auto) { return !x; }, {0, 0, 1, 1});
  expect([](auto x, auto y) { return x & y; }, {1, 0, 0, 0});
  expect([](auto x, auto y) { return x ^ y; }, {0, 1, 1, 0});
  expect([](auto x, auto y) { return x + y; }, {1, 1, 1, 0});
  expect([](auto x, auto y) { return x * y; }, {1, 0, 0, 0});
  expect([](auto x, auto) { return ~x; }, {0, 0, 1, 1});
  expect([](auto x, auto) { return x & false; }, {0, 0, 0, 0});
  expect([q](auto x, auto) { return x && q; }, {1, 0, 0, 0});
  expect([q](auto x, auto) { return q || x; }, {1, 1, 1, 0});
}

TEST(OperatorsOfHalves, ComputeInTheirType) {
  const auto check = []<class T>(T) {
    const Array<T> x = {T(1.5f), T(-2.f)};
    const Array<T> got = evaluated_as<T>([](auto a) { return a * a + 1 - a; }, x);
    EXPECT_EQ(static_cast<float>(got(0)), 1.75f);
    EXPECT_EQ(static_cast<float>(got(1)), 7.f);
  };
  check(float16());
  check(bfloat16());
}

TEST(OperatorsMixed, PromoteAtRunTimeAsTheirTypesSay) {
  const Array<int8_t> a = {-3, 100};
  const Array<uint8_t> b = {200, 100};
  EXPECT_EQ(evaluated_as<int16_t>([](auto x, auto y) { return x + y; }, a, b)(1), 200);
  EXPECT_EQ(evaluated_as<int16_t>([](auto x, auto y) { return y * x; }, a, b)(0), -600);
  EXPECT_EQ(evaluated_as<bool>([](auto x, auto y) { return x < y; }, a, b)(0), true);
  EXPECT_EQ(evaluated_as<float>([](auto x) { return x * 0.5; }, a)(0), -1.5f);
  EXPECT_EQ(evaluated_as<int16_t>([b](auto x) { return x - b; }, a)(0), -203);
  EXPECT_EQ(evaluated_as<double>([](auto x, auto y) { return x * y; }, a, Array<double>{2, 0.25})(1), 25.);
  const Array<bool> p = {true, false};
  EXPECT_EQ(evaluated_as<int32_t>([](auto x) { return 3 - x; }, p)(0), 2);
  EXPECT_EQ(evaluated_as<float>([](auto x) { return x * 2.0; }, p)(0), 2.f);
}

TEST(OperatorsMixed, BroadcastAsNumPyDoes) {
  const Array<float> column = {{1}, {2}, {3}}, row = {10, 20};
  const Array<float> got = evaluated_as<float>([](auto x, auto y) { return x + y; }, column, row);
  EXPECT_EQ(got.shape(), (Shape{3, 2}));
  EXPECT_EQ(got(2, 1), 23);
}

TEST(OperatorsMixed, ShapesThatDoNotBroadcastAreAnErrorWithTheLine) {
  const Array<float> a = Array<float>::zeros({3}), b = Array<float>::zeros({4});
  int line = 0;
  const std::string message = message_of<ShapeError>([&] {
    evaluated(
        [&](auto x, auto y) {
          line = __LINE__ + 1;
          return x * y;
        },
        a, b);
  });
  EXPECT_NE(message.find("f32[3]"), std::string::npos) << message;
  EXPECT_NE(message.find("f32[4]"), std::string::npos) << message;
  EXPECT_NE(message.find(at_line("operators_test.cpp", line)), std::string::npos) << message;
}

TEST(Literals, KeepTheTracersType) {
  const Graph g = traced_graph([](auto x) { return (x * 2.0 + 1) / 3.0f; }, Array<float>::zeros({2}));
  EXPECT_EQ(count(g, "convert"), 0);
  EXPECT_EQ(g.output_types()[0], (Type{DType::f32, {2}}));
}

TEST(Literals, OutOfRangeAreADTypeErrorWithTheLine) {
  const Array<uint8_t> x = {1, 2};
  int line = 0;
  const std::string message = message_of<DTypeError>([&] {
    evaluated(
        [&](auto t) {
          line = __LINE__ + 1;
          return t + 300;
        },
        x);
  });
  EXPECT_NE(message.find("300"), std::string::npos) << message;
  EXPECT_NE(message.find("u8"), std::string::npos) << message;
  EXPECT_NE(message.find(at_line("operators_test.cpp", line)), std::string::npos) << message;
}

TEST(Literals, OfComplexNumbersMakeRealTracersComplex) {
  const Array<float> x = {1, 2};
  const auto got = evaluated_as<std::complex<float>>([](auto t) { return t * std::complex<double>(0, 1); }, x);
  EXPECT_EQ(got(1), std::complex<float>(0, 2));
}

}  // namespace
}  // namespace calque::test
