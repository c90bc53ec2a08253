// Operators on tracers compared with C++, for every dtype; promotion, literals and broadcasting at run time.
#include <complex>
#include <functional>
#include <limits>

#include "classes/traced.h"

namespace calque::test {
namespace {

/// Operands without undefined behaviour in C++: no zero divisors, no overflow, shifts below the width.
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

/// The results of all functions recorded by one trace, by the reference evaluator. Not a template: only the recording
/// lambdas differ.
std::vector<AnyArray> all_evaluated(const std::vector<AnyArray>& inputs, const detail::TraceBody& body) {
  std::vector<Type> types;
  for (const AnyArray& a : inputs) types.push_back(a.type());
  const detail::TraceResult result = detail::trace_graph("test", types, body);
  EXPECT_TRUE(result.captures.empty());
  result.graph.verify("test");
  return reference::evaluate(result.graph, inputs);
}

/// Receives results by name; records those of tracers.
struct Recorded {
  std::vector<detail::Handle>& out;

  template <class T>
  void operator()(const char*, const Tracer<T>& result) const {
    out.push_back(result.handle());
  }
};

struct Named {
  std::string name;
  AnyArray want;
};
/// Receives results of numbers by name, in the same order for every element, and stores them as elements of arrays of T
/// or of bool.
template <class T>
struct Computed {
  std::vector<Named>& out;
  size_t element;
  size_t next = 0;

  template <class V>
  void operator()(const char* name, V value) {
    using R = std::conditional_t<std::same_as<V, bool>, bool, T>;
    if (element == 0) out.push_back({name, AnyArray::uninitialized({dtype_of<R>, Shape{6}})});
    static_cast<R*>(out[next++].want.mutable_data())[element] = static_cast<R>(value);
  }
};

void expect_named(const std::vector<AnyArray>& inputs, const std::vector<Named>& named, const detail::TraceBody& body) {
  const std::vector<AnyArray> got = all_evaluated(inputs, body);
  ASSERT_EQ(got.size(), named.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(identical(got[i], named[i].want)) << named[i].name << " of " << inputs[0] << " and " << inputs[1]
                                                  << " gave " << got[i] << ", expected " << named[i].want;
  }
}

/// `f(out, x, y)` passes its results to `out`: checks that those on tracers and on numbers agree.
template <class T, class F>
void expect_as_cpp(const F& f) {
  const std::vector<T> a = samples<T>(0), b = samples<T>(3);
  std::vector<Named> named;
  for (size_t i = 0; i < a.size(); ++i) {
    Computed<T> out{named, i};
    f(out, a[i], b[i]);
  }
  expect_named({AnyArray::from<T>(a, {6}), AnyArray::from<T>(b, {6})}, named,
               [&](std::span<const detail::Handle> in, std::vector<detail::Handle>& handles) {
                 Recorded out{handles};
                 f(out, Tracer<T>(in[0]), Tracer<T>(in[1]));
               });
}

TYPED_TEST(Operators, ArithmeticIsThatOfCpp) {
  expect_as_cpp<TypeParam>([](auto& out, auto x, auto y) {
    out("+", x + y);
    out("-", x - y);
    out("*", x * y);
    out("/", x / y);
    if constexpr (std::floating_point<decltype(x)>) {
      out("%", std::fmod(x, y));
    } else {
      out("%", x % y);
    }
    out("unary -", -x);
  });
}

TYPED_TEST(Operators, ComparisonsAreThoseOfCpp) {
  expect_as_cpp<TypeParam>([](auto& out, auto x, auto y) {
    out("<", x < y);
    out(">", x > y);
    out("<=", x <= y);
    out(">=", x >= y);
    out("==", x == y);
    out("!=", x != y);
  });
}

TYPED_TEST(Operators, BitwiseIsThatOfCpp) {
  if constexpr (std::integral<TypeParam>) {
    expect_as_cpp<TypeParam>([](auto& out, auto x, auto y) {
      out("&", x & y);
      out("|", x | y);
      out("^", x ^ y);
      out("~", ~x);
      out("<<", x << 2);
      out(">>", x >> 1);
    });
  }
}

TYPED_TEST(Operators, CompoundAssignmentsAreTheirOperators) {
  expect_as_cpp<TypeParam>([](auto& out, auto x, auto y) {
    x += y;
    x *= 2;
    x -= y;
    x /= y;
    out("+= *= -= /=", x);
  });
}

TEST(OperatorsOfBool, AreLogical) {
  const Array<bool> p = {true, true, false, false}, q = {true, false, true, false};
  const auto bools = [](bool a, bool b, bool c, bool d) { return Array<bool>{a, b, c, d}.any(); };
  expect_named(
      {p.any(), q.any()},
      {{"x && y", bools(1, 0, 0, 0)},
       {"x || y", bools(1, 1, 1, 0)},
       {"!x", bools(0, 0, 1, 1)},
       {"x & y", bools(1, 0, 0, 0)},
       {"x ^ y", bools(0, 1, 1, 0)},
       {"x + y", bools(1, 1, 1, 0)},
       {"x * y", bools(1, 0, 0, 0)},
       {"~x", bools(0, 0, 1, 1)},
       {"x & false", bools(0, 0, 0, 0)},
       {"x && an array", bools(1, 0, 0, 0)},
       {"an array || x", bools(1, 1, 1, 0)}},
      [&](std::span<const detail::Handle> in, std::vector<detail::Handle>& out) {
        const Tracer<bool> x(in[0]), y(in[1]);
        for (const Tracer<bool>& t : {x && y, x || y, !x, x & y, x ^ y, x + y, x * y, ~x, x & false, x && q, q || x})
          out.push_back(t.handle());
      });
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
  const Array<double> d = {2, 0.25};
  const Array<bool> p = {true, false};
  const std::vector<AnyArray> got =
      all_evaluated({a.any(), b.any(), d.any(), p.any()},
                    [&](std::span<const detail::Handle> in, std::vector<detail::Handle>& handles) {
                      const Tracer<int8_t> x(in[0]);
                      const Tracer<uint8_t> y(in[1]);
                      const Tracer<double> z(in[2]);
                      const Tracer<bool> t(in[3]);
                      const auto out = [&](const auto&... results) { (handles.push_back(results.handle()), ...); };
                      out(x + y, y * x, x < y, x * 0.5, x - b, x * z, 3 - t, t * 2.0);
                    });
  EXPECT_EQ(got[0].as<int16_t>()(1), 200);
  EXPECT_EQ(got[1].as<int16_t>()(0), -600);
  EXPECT_EQ(got[2].as<bool>()(0), true);
  EXPECT_EQ(got[3].as<double>()(0), -1.5);
  EXPECT_EQ(got[4].as<int16_t>()(0), -203);
  EXPECT_EQ(got[5].as<double>()(1), 25.);
  EXPECT_EQ(got[6].as<int32_t>()(0), 2);
  EXPECT_EQ(got[7].as<double>()(0), 2.);
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
