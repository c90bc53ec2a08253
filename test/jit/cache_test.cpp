// When a function is traced and compiled again, and when it is not.
#include <cfenv>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "compile/executable.h"
#include "runtime/process/environment.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;

TEST(JitCache, SecondCallOfASignatureOnlyRuns) {
  int traces = 0;
  const auto f = jit([&traces](auto x) {
    ++traces;
    return x * 2.0f;
  });
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(array_equal(f(F{1, 2}), F{2, 4}));
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f.cache_info().hits, 4u);
  EXPECT_EQ(f.cache_info().misses, 1u);
  EXPECT_EQ(f.cache_info().entries, 1u);
}

TEST(JitCache, CodeDoesNotDependOnTheFloatingPointModeOfTheFirstCaller) {
  volatile double a = 0.1, b = 0.2;
  const double nearest = a + b;
  const auto f = jit([](auto x) { return x + (full<double>({4}, 0.1) + 0.2); });  // a folded constant
  std::fesetround(FE_UPWARD);
  const D upward = f(D::zeros({4}));
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(array_equal(upward, D::full({4}, nearest)));
}

TEST(JitCache, ShapeAndTypeAreTheSignature) {
  int traces = 0;
  const auto f = jit([&traces](auto x) {
    ++traces;
    return x + x;
  });
  f(F{1});
  f(F{1, 2});
  f(F{{1, 2}});
  f(D{1, 2});
  f(F{3});
  f(D{3, 4});
  EXPECT_EQ(traces, 4);
  EXPECT_EQ(f.cache_info().hits, 2u);
}

TEST(JitCache, CallablesOfOneCapturelessLambdaShareTheirForms) {
  static int traces;
  traces = 0;
  const auto make = [] {
    return jit([](auto x) {
      ++traces;
      return x * 5.0f;
    });
  };
  make()(F{1});
  make()(F{2});
  const auto f = make();
  f(F{3});
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f.cache_info().hits, 2u);
}

TEST(JitCache, OptionsAreThatSignatureToo) {
  static int traces;
  traces = 0;
  const auto lambda = [](auto x) {
    ++traces;
    return x / 3.0f;
  };
  jit(lambda)(F{1});
  jit(lambda, {.fast_math = true})(F{1});
  jit(lambda, {.strict = true})(F{1});
  jit(lambda, {.name = "again"})(F{1});
  EXPECT_EQ(traces, 3);
}

Tracer<float> doubled(Tracer<float> x) { return x * 2.0f; }
Tracer<float> tripled(Tracer<float> x) { return x * 3.0f; }

TEST(JitCache, FunctionPointersAreToldApartByValue) {
  EXPECT_EQ(jit(&doubled)(1.5f).item(), 3);
  EXPECT_EQ(jit(&tripled)(1.5f).item(), 4.5f);
  EXPECT_EQ(jit(&doubled)(2.5f).item(), 5);
  EXPECT_EQ(jit(&doubled).cache_info().misses, 1u);
}

TEST(JitCache, LambdaMadeAgainTracesAgainButIsNotCompiledAgain) {
  const auto run = [](int k) {
    return jit([k](auto x) { return tanh(x) * 17.25f + static_cast<float>(k - k); })(F{1, 2, 3});
  };
  run(1);
  const uint64_t compiled = runtime::num_compilations();
  run(2);
  run(3);
  EXPECT_EQ(runtime::num_compilations(), compiled);
}

TEST(JitCache, LargeCapturedArraysDoNotEnterTheCode) {
  const auto dot_with = [](const F& w) { return jit([w](auto x) { return sum(x * w) * 1.0625f; }); };
  const F x = F::ones({40});
  EXPECT_EQ(dot_with(F::full({40}, 2.0f))(x).item(), 85);
  const uint64_t compiled = runtime::num_compilations();
  EXPECT_EQ(dot_with(F::full({40}, 3.0f))(x).item(), 127.5f);
  EXPECT_EQ(runtime::num_compilations(), compiled);
}

TEST(JitCache, LargeConstantsInsideLoopBodiesAreToldApart) {
  const auto loop_with = [](const F& w) {
    return jit([w](auto x) { return fori_loop(0, 3, [w](auto, auto s) { return s + w; }, x); });
  };
  const F x = F::zeros({40});
  EXPECT_TRUE(array_equal(loop_with(F::full({40}, 2.0f))(x), F::full({40}, 6.0f)));
  EXPECT_TRUE(array_equal(loop_with(F::full({40}, 3.0f))(x), F::full({40}, 9.0f)));
}

TEST(JitCache, SmallCapturedArraysAreToldApart) {
  const auto with = [](const F& w) { return jit([w](auto x) { return x * w; }); };
  EXPECT_TRUE(array_equal(with({1, 2})(F{10, 10}), F{10, 20}));
  EXPECT_TRUE(array_equal(with({3, 4})(F{10, 10}), F{30, 40}));
}

TEST(JitCache, CapturedArraysAreFixedWhenTraced) {
  F w = {1, 2};
  const auto f = jit([&w](auto x) { return x + w; });
  EXPECT_TRUE(array_equal(f(F{0, 0}), F{1, 2}));
  w = {5, 6};
  EXPECT_TRUE(array_equal(f(F{0, 0}), F{1, 2}));
}

TEST(JitCache, ClearedFunctionTracesAgain) {
  int traces = 0;
  const auto f = jit([&traces](auto x) {
    ++traces;
    return x - 9.5f;
  });
  f(F{1});
  f.clear_cache();
  EXPECT_EQ(f.cache_info().entries, 0u);
  EXPECT_EQ(f.cache_info().misses, 0u);
  const uint64_t compiled = runtime::num_compilations();
  EXPECT_TRUE(array_equal(f(F{1}), F{-8.5f}));
  EXPECT_EQ(traces, 2);
  EXPECT_EQ(runtime::num_compilations(), compiled + 1);
}

TEST(JitCache, ThousandSignaturesAreKept) {
  const auto f = jit([](auto x, int) { return x; });
  for (int round = 0; round < 2; ++round)
    for (int n = 0; n < 1000; ++n) f(F{1}, static_arg(n));
  EXPECT_EQ(f.cache_info().entries, 1000u);
  EXPECT_EQ(f.cache_info().misses, 1000u);
  EXPECT_EQ(f.cache_info().hits, 1000u);
}

/// Sets CALQUE_CODE_MEMORY for a scope: the limit of functions made inside it.
class CodeMemory {
 public:
  explicit CodeMemory(size_t bytes) : before_(runtime::mutable_environment().code_memory) { set(bytes); }
  ~CodeMemory() { set(before_); }

 private:
  static void set(size_t bytes) {
    runtime::mutable_environment().code_memory = bytes;
    runtime::limit_executables(bytes);
  }
  size_t before_;
};

TEST(JitCache, MemoryOfOneFunctionIsBounded) {
  // Code for a device is counted ten times.
  const CodeMemory limit((runtime::environment().device.empty() ? size_t{2} : size_t{20}) << 20);
  runtime::clear_executables();
  const auto f = jit([](auto x, int n) { return x * (static_cast<float>(n) + 0.0625f); });
  constexpr int kSignatures = 150;
  const auto call_all = [&] {
    for (int n = 0; n < kSignatures; ++n) EXPECT_EQ(f(F{2}, static_arg(n))(0), 2 * (static_cast<float>(n) + 0.0625f));
  };
  call_all();
  const uint64_t kept = f.cache_info().entries, hits = f.cache_info().hits;
  EXPECT_GT(kept, 20u);
  EXPECT_LT(kept, 120u);
  EXPECT_LE(runtime::num_executables(), 120u);
  call_all();  // the same again: least-recently-used replacement would keep none of them
  EXPECT_GT(f.cache_info().hits - hits, kept * 3 / 4);
}

TEST(JitCache, CapturedArraysCountAsMemory) {
  if (!runtime::environment().device.empty()) GTEST_SKIP() << "on a device each signature has separate copies";
  const CodeMemory limit(size_t{8} << 20);
  F w = F::zeros({1 << 18});  // a megabyte
  const auto f = jit([&w](auto x, int) { return x + w; });
  for (int n = 0; n < 40; ++n) f(F{1}, static_arg(n));
  EXPECT_EQ(f.cache_info().entries, 40u);  // all share it
  for (int n = 0; n < 40; ++n) {
    w = F::zeros({1 << 18});
    f(F{1}, static_arg(100 + n));
  }
  EXPECT_LE(f.cache_info().entries, 48u);
}

TEST(JitCache, CapturedMemoryIsReleasedWithTheFunction) {
  std::vector<float> buffer(100, 1.0f);
  bool released = false;
  {
    const auto f = jit([w = F::wrap(buffer.data(), {100}, [&](float*) { released = true; })](auto x) { return x + w; });
    f(F::zeros({100}));
    EXPECT_FALSE(released);
  }
  EXPECT_TRUE(released);
}

TEST(JitCache, FunctionReturningOnlyItsArgumentsNeedsNoCode) {
  const uint64_t compiled = runtime::num_compilations();
  const auto [b, a] = jit([](auto x, auto y) { return std::pair{y, x}; })(F{1}, D{2});
  EXPECT_EQ(a.item(), 1);
  EXPECT_EQ(b.item(), 2);
  EXPECT_EQ(runtime::num_compilations(), compiled);
}

}  // namespace
}  // namespace calque
