// Nested functions: calls with tracers become part of the running trace.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using F = Array<float>;

template <class A>
struct Layer {
  A w, b;
};

size_t count(const Graph& graph, const std::string& primitive) {
  size_t n = 0;
  for (const Equation& e : graph.equations()) n += e.primitive() == primitive;
  return n;
}

TEST(JitNesting, CallWithATracerIsInlined) {
  const auto inner = jit([](auto x) { return sin(x) + 1.0f; });
  const auto outer = jit([&](auto x) { return inner(inner(x)); });
  EXPECT_EQ(count(outer.trace(F{1}), "sin"), 2u);
  EXPECT_EQ(inner.cache_info().misses, 0u);
}

TEST(JitNesting, ResultsOfAnInlinedCallAreTracers) {
  const F w = {2};
  const auto inner = jit([w](auto x) { return std::tuple{x, w, 3.0}; });
  jit([&](auto x) {
    auto r = inner(x);
    static_assert(std::same_as<decltype(r), std::tuple<Tracer<float>, Tracer<float>, Tracer<double>>>);
    return std::get<0>(r);
  })(F{1});
}

TEST(JitNesting, DataPassedWithTracersBecomesConstant) {
  const auto inner = jit([](const auto& l, auto x) { return l.w * x + l.b; });
  const auto outer = jit([&](auto x) { return inner(Layer{x, x}, 2.0f) + inner(Layer<F>{{1, 1}, {5, 5}}, x); });
  EXPECT_TRUE(array_equal(outer(F{1, 2}), F{9, 13}));
}

TEST(JitNesting, CallOnDataAloneRunsAtOnceInsideATrace) {
  const auto inner = jit([](auto x) { return x * 2.0f; });
  const auto outer = jit([&](auto x) {
    const F now = inner(F{1, 2});
    EXPECT_EQ(now(1), 4);
    return x + now;
  });
  EXPECT_TRUE(array_equal(outer(F{1, 1}), F{3, 5}));
}

TEST(JitNesting, ClosuresMayCaptureTracersOfTheRunningTrace) {
  const auto outer = jit([](auto x) {
    const auto inner = jit([x](auto y) { return x * y; });
    return inner(x + 1.0f);
  });
  EXPECT_EQ(outer(3.0f).item(), 12);
}

TEST(JitNesting, RecursionOverTracersInlines) {
  struct Power {
    int n;
    auto operator()(const Tracer<float>& x) const -> Tracer<float> {
      if (n == 0) return x * 0.0f + 1.0f;
      return x * jit(Power{n - 1})(x);
    }
  };
  EXPECT_EQ(jit(Power{5})(2.0f).item(), 32);
}

TEST(JitNesting, OperationsOnArraysAloneAreConstants) {
  const F w = {1, 2};
  const auto f = jit([w](auto x) {
    const F twice = w * 2.0f;
    return x + twice;
  });
  EXPECT_TRUE(array_equal(f(F{0, 0}), F{2, 4}));
}

}  // namespace
}  // namespace calque
