// The public templates: their C++ types are those of what the type-erased functions record.
#include "calque/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_eval.h"

namespace calque::test {
namespace {

namespace cq = calque;

/// True when the type of the result says what was recorded; errors are refusals, which have no type.
template <class F>
void expect_own_type(const char* name, F&& f) {
  try {
    const auto result = f();
    using T = typename std::remove_cvref_t<decltype(result)>::value_type;
    EXPECT_EQ(detail::type_of(result.handle(), {}).dtype, dtype_of<T>) << name;
  } catch (const DTypeError&) {
  }
}

/// Runs f.template operator()<T>(tracer) for a [2,3] tracer of every element type.
template <class F>
void for_every_type(F&& f) {
  const auto one = [&]<class T>() {
    trace({{dtype_of<T>, Shape{2, 3}}}, [&](std::span<const Handle> x) {
      f(Tracer<T>(x[0]));
      return Handles{};
    });
  };
  for (int d = 0; d < kDTypeCount; ++d) visit_dtype(static_cast<DType>(d), one);
}

// clang-format off
#define CALQUE_CHECK(f) expect_own_type(#f, [&] { return f(x); });
#define CALQUE_CHECK_AXIS(f) expect_own_type(#f, [&] { return f(x, -1); });

TEST(Functions, OfOneOperandHaveTheRecordedType) {
  for_every_type([](auto x) {
    CALQUE_CHECK(sqrt) CALQUE_CHECK(rsqrt) CALQUE_CHECK(cbrt) CALQUE_CHECK(exp) CALQUE_CHECK(exp2) CALQUE_CHECK(expm1)
    CALQUE_CHECK(log) CALQUE_CHECK(log2) CALQUE_CHECK(log10) CALQUE_CHECK(log1p) CALQUE_CHECK(sin) CALQUE_CHECK(cos)
    CALQUE_CHECK(tan) CALQUE_CHECK(asin) CALQUE_CHECK(acos) CALQUE_CHECK(atan) CALQUE_CHECK(sinh) CALQUE_CHECK(cosh)
    CALQUE_CHECK(tanh) CALQUE_CHECK(asinh) CALQUE_CHECK(acosh) CALQUE_CHECK(atanh) CALQUE_CHECK(sigmoid)
    CALQUE_CHECK(erf) CALQUE_CHECK(erfc) CALQUE_CHECK(erfinv) CALQUE_CHECK(lgamma) CALQUE_CHECK(tgamma)
    CALQUE_CHECK(digamma) CALQUE_CHECK(floor) CALQUE_CHECK(ceil) CALQUE_CHECK(trunc) CALQUE_CHECK(round)
    CALQUE_CHECK(rint) CALQUE_CHECK(nearbyint) CALQUE_CHECK(round_half_away) CALQUE_CHECK(sign) CALQUE_CHECK(square)
    CALQUE_CHECK(relu) CALQUE_CHECK(conj) CALQUE_CHECK(popcount) CALQUE_CHECK(clz) CALQUE_CHECK(stop_gradient)
    CALQUE_CHECK(positive) CALQUE_CHECK(abs) CALQUE_CHECK(fabs) CALQUE_CHECK(real) CALQUE_CHECK(imag)
    CALQUE_CHECK(isnan) CALQUE_CHECK(isinf) CALQUE_CHECK(isfinite) CALQUE_CHECK(signbit)
  });
}

TEST(Functions, ThatReduceHaveTheRecordedType) {
  for_every_type([](auto x) {
    CALQUE_CHECK(sum) CALQUE_CHECK(prod) CALQUE_CHECK(mean) CALQUE_CHECK(var) CALQUE_CHECK(stddev) CALQUE_CHECK(amax)
    CALQUE_CHECK(amin) CALQUE_CHECK(norm) CALQUE_CHECK(logsumexp) CALQUE_CHECK(any) CALQUE_CHECK(all)
    CALQUE_CHECK_AXIS(argmax) CALQUE_CHECK_AXIS(argmin) CALQUE_CHECK_AXIS(cumsum) CALQUE_CHECK_AXIS(cumprod)
    CALQUE_CHECK_AXIS(cummax) CALQUE_CHECK_AXIS(cummin) CALQUE_CHECK_AXIS(softmax) CALQUE_CHECK_AXIS(log_softmax)
    CALQUE_CHECK_AXIS(layer_norm) CALQUE_CHECK(transpose) CALQUE_CHECK(squeeze) CALQUE_CHECK(flip)
  });
}

#define CALQUE_CHECK_PAIR(f)                                 \
  expect_own_type(#f, [&] { return f(x, y); });              \
  expect_own_type(#f, [&] { return f(x, 2); });              \
  expect_own_type(#f, [&] { return f(0.5, x); });

TEST(Functions, OfTwoOperandsHaveTheRecordedType) {
  for_every_type([](auto x) {
    const auto with = [&](auto y) {
      CALQUE_CHECK_PAIR(minimum) CALQUE_CHECK_PAIR(max) CALQUE_CHECK_PAIR(fmin) CALQUE_CHECK_PAIR(fdim)
      CALQUE_CHECK_PAIR(pow) CALQUE_CHECK_PAIR(rem) CALQUE_CHECK_PAIR(mod) CALQUE_CHECK_PAIR(floor_divide)
      CALQUE_CHECK_PAIR(remainder) CALQUE_CHECK_PAIR(atan2) CALQUE_CHECK_PAIR(hypot)
      CALQUE_CHECK_PAIR(copysign) CALQUE_CHECK_PAIR(xlogy) CALQUE_CHECK_PAIR(logaddexp)
      // Of complex tracers std::gcd is found as well.
      if constexpr (!ComplexElem<typename decltype(x)::value_type>) { CALQUE_CHECK_PAIR(gcd) }
      expect_own_type("ldexp", [&] { return ldexp(x, y); });
      expect_own_type("fma", [&] { return fma(x, 2.0, y); });
      expect_own_type("where", [&] { return where(cast<bool>(x), x, y); });
      expect_own_type("matmul", [&] { return matmul(x, transpose(y)); });
      expect_own_type("outer", [&] { return outer(x, y); });
      expect_own_type("einsum", [&] { return einsum("ij,ij->j", x, y); });
      expect_own_type("concatenate", [&] { return concatenate(std::tuple{x, y}, 0); });
    };
    with(x);
    with(broadcast_to(iota<uint8_t>(3), {2, 3}));
    with(Tracer<int32_t>(cast<int32_t>(x)));
    with(Tracer<float16>(broadcast_to(zeros<float16>({}), {2, 3})));
    with(Tracer<double>(ones<double>({2, 3})));
  });
}

// clang-format on

TEST(Functions, TakeTheUsersLine) {
  const auto r = trace({{DType::f32, Shape{4}}}, [](std::span<const Handle> in) {
    const Tracer<float> x(in[0]);
    const auto y = sin(x) + gather(x, iota(2))[0];
    return Handles{where(y > 0, y, x).handle()};
  });
  for (const Equation& e : r.graph.equations()) {
    EXPECT_THAT(to_string(e.location()), testing::StartsWith("functions_test.cpp:")) << e.primitive();
  }
}

TEST(Functions, MixedSpellings) {
  trace({{DType::f32, Shape{2, 3}}, {DType::f32, Shape{3}}}, [](std::span<const Handle> in) {
    const Tracer<float> x(in[0]), w(in[1]);
    EXPECT_EQ(sum(x, {0, 1}).rank(), 0);
    EXPECT_EQ(sum(x, {-1}, cq::keepdims).shape(), (Shape{2, 1}));
    EXPECT_EQ(cq::all(x > 0, {0}).shape(), Shape{3});
    EXPECT_EQ(all(x > 0).rank(), 0);
    EXPECT_EQ(cq::concatenate({w, w}, 0).shape(), Shape{6});
    EXPECT_EQ(cq::stack(std::vector{w, w}, 0).shape(), (Shape{2, 3}));
    EXPECT_EQ(cq::stack(std::array{w, w}, 1).shape(), (Shape{3, 2}));
    EXPECT_EQ(split(w, 3, 0).size(), 3u);
    EXPECT_EQ(split(w, {1}, 0)[1].shape(), Shape{2});
    EXPECT_EQ(pad(w, 0.0, {1}, {-1}).shape(), Shape{3});
    EXPECT_EQ(transpose(x, {1, 0}).shape(), (Shape{3, 2}));
    EXPECT_EQ(dynamic_slice(x, {0, argmax(w, 0)}, {1, 2}).shape(), (Shape{1, 2}));
    EXPECT_EQ(tile(w, {2, 2}).shape(), (Shape{2, 6}));
    EXPECT_EQ(layer_norm(x, w, w, -1, 1e-6).shape(), (Shape{2, 3}));
    EXPECT_EQ(arange<float>(0, 1, 0.25).shape(), Shape{4});
    EXPECT_EQ((full<float>({2}, 3).shape()), Shape{2});
    {
      using namespace std;
      EXPECT_EQ(max(w, 1.0).shape(), Shape{3});
      EXPECT_EQ(min(w, w).shape(), Shape{3});
      EXPECT_EQ(pow(w, 2).shape(), Shape{3});
      EXPECT_EQ(abs(w).shape(), Shape{3});
      EXPECT_EQ(fma(w, w, w).shape(), Shape{3});
    }
    return Handles{};
  });
}

TEST(DebugPrint, IsKeptInOrder) {
  const auto r = trace({{DType::f32, {}}}, [](std::span<const Handle> in) {
    const Tracer<float> x(in[0]);
    debug_print("first {}", x);
    debug_print("second {} {}", sin(x), 3);
    return Handles{};
  });
  ASSERT_EQ(r.graph.num_equations(), 3u);
  EXPECT_EQ(r.graph.equations()[0].attributes().get<std::string>("format"), "first {}");
  EXPECT_EQ(r.graph.equations()[2].attributes().get<std::string>("format"), "second {} {}");
  EXPECT_EQ(words_of<CompileError>({}, [](const auto&) { debug_print("{}"); }).substr(0, 12), "debug_print:");
}

TEST(HostCall, CallsWithTypedArrays) {
  const auto r = trace(
      {{DType::f32, Shape{2}}},
      [](std::span<const Handle> in) {
        const Tracer<float> x(in[0]);
        const auto one = cq::host_call([](const Array<float>& a) { return Array<double>{a.host()[1], 5.0}; },
                                       cq::spec<double>({2}), x);
        const auto [p, q] = cq::host_call(
            [](const Array<float>& a, const Array<double>& b) {
              return std::tuple{Array<int32_t>(static_cast<int32_t>(b.host()[1])), a};
            },
            std::tuple{cq::spec<int32_t>({}), cq::spec<float>({2})}, x, one);
        return Handles{one.handle(), p.handle(), q.handle()};
      },
      false);
  const auto got = reference::evaluate(r.graph, std::vector{vec<float>({3, 4})});
  EXPECT_EQ(elements<double>(got[0]), (std::vector<double>{4, 5}));
  EXPECT_EQ(elements<int32_t>(got[1])[0], 5);
  EXPECT_EQ(elements<float>(got[2]), (std::vector<float>{3, 4}));
}

TEST(Arrays, CannotTakeATracersValue) {
  trace({{DType::i32, {}}}, [](std::span<const Handle> in) {
    const Array<float> a = {1, 2, 3};
    EXPECT_THROW(dynamic_slice(a, {Tracer<int32_t>(in[0])}, {2}), ConcretizationError);
    return Handles{};
  });
}

}  // namespace
}  // namespace calque::test
