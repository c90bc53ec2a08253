// The first runs of operations outside of jit are evaluated; later ones run compiled code with the same bits.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "compile/executable.h"
#include "runtime/process/environment.h"
#include "support/environment.h"
#include "support/native.h"

namespace calque {
namespace {

using F = Array<float>;
using random::Key;

/// Operations of a shape that no other test uses.
class FirstRuns : public testing::Test {
 protected:
  FirstRuns() {
    runtime::mutable_environment().evaluates_first = true;
    runtime::mutable_environment().sanitize = false;
  }

 private:
  const test::RestoredEnvironment restored_;
};

template <class Run>
uint64_t compilations_of(const Run& run) {
  const uint64_t before = runtime::num_compilations();
  run();
  return runtime::num_compilations() - before;
}

/// The result evaluated, which compiles nothing, has the bits of the compiled one.
template <class Run>
void expect_evaluated(const char* name, const Run& run) {
  using Out = decltype(run());
  Out evaluated, compiled;
  EXPECT_EQ(compilations_of([&] { evaluated = run(); }), 0u) << name;
  runtime::mutable_environment().evaluates_first = false;
  EXPECT_EQ(compilations_of([&] { compiled = run(); }), 1u) << name;
  runtime::mutable_environment().evaluates_first = true;
  EXPECT_EQ(test::difference(evaluated.any(), compiled.any()), "") << name;
}

TEST_F(FirstRuns, DrawsHaveTheBitsOfCompiledOnes) {
  const Key key = random::key(0x0123456789abcdef);
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{1213}}) {
    const Counts shape = {n, 2};
#define CALQUE_EXPECT(f, T) expect_evaluated(#f " " #T, [&] { return random::f<T>(key, shape); })
    CALQUE_EXPECT(bits, uint8_t);
    CALQUE_EXPECT(bits, uint64_t);
    CALQUE_EXPECT(rademacher, int32_t);
    CALQUE_EXPECT(uniform, float);
    CALQUE_EXPECT(uniform, double);
    CALQUE_EXPECT(normal, float);
    CALQUE_EXPECT(normal, double);
    CALQUE_EXPECT(exponential, float);
    CALQUE_EXPECT(gumbel, double);
    CALQUE_EXPECT(laplace, float);
    CALQUE_EXPECT(logistic, double);
#undef CALQUE_EXPECT
    expect_evaluated("uniform in bounds", [&] { return random::uniform<float>(key, shape, -0.3f, 7.1f); });
    expect_evaluated("bernoulli", [&] { return random::bernoulli(key, 0.3f, shape); });
    expect_evaluated("randint", [&] { return random::randint<int32_t>(key, shape, -5, 1'000'007); });
    expect_evaluated("truncated normal", [&] { return random::truncated_normal<float>(key, -0.5f, 2.0f, shape); });
  }
}

TEST_F(FirstRuns, OperationsHaveTheBitsOfCompiledOnes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const F x{-kInfinity, -1e30f, -2.5f, -1e-42f, -0.0f, 0.0f, 1e-40f, 0.7f, 3.0f, 2e10f, kInfinity};
  const F y = flip(x);
  expect_evaluated("exp", [&] { return exp(x); });
  expect_evaluated("add", [&] { return x + 1.25f; });
  expect_evaluated("divide", [&] { return y / x; });
  expect_evaluated("pow", [&] { return pow(x, y); });
  expect_evaluated("cast", [&] { return cast<int32_t>(x); });
  expect_evaluated("max", [&] { return amax(x); });
  const Array<int32_t> i{INT32_MIN, -7, -1, 0, 1, 6, INT32_MAX}, j{-1, 0, 2, -3, 0, 5, 31};
  expect_evaluated("integer division", [&] { return i / j; });
  expect_evaluated("shift", [&] { return i << j; });
  expect_evaluated("sum of integers", [&] { return sum(i); });
}

TEST_F(FirstRuns, WhatIsRunAgainAndAgainIsCompiledOnce) {
  const F x = F::full({4099}, 0.3f);
  EXPECT_EQ(compilations_of([&] {
              const F first = expm1(x);
              for (int run = 0; run < 2000; ++run) ASSERT_TRUE(array_equal(expm1(x), first)) << run;
            }),
            1u);
}

TEST_F(FirstRuns, LargeOperationsAreCompiledAtOnce) {
  EXPECT_EQ(compilations_of([] { random::normal<float>(random::key(1), {1'000'003}); }), 1u);
}

TEST_F(FirstRuns, OtherOperationsAreCompiledAtOnce) {
  const F x = F::full({4111}, 0.3f);
  EXPECT_EQ(compilations_of([&] { sum(x); }), 1u);
  EXPECT_EQ(compilations_of([&] { cast<float16>(x); }), 1u);
}

TEST_F(FirstRuns, OtherTiersCompileAtOnce) {
  const F x = F::full({4127}, 0.3f);
  for (const tier chosen : {tier::best, tier::quick}) {
    runtime::mutable_environment().tier = chosen;
    EXPECT_EQ(compilations_of([&] { sinh(x); }), 1u);
  }
}

TEST_F(FirstRuns, ResultsHaveMemoryOfTheirOwn) {
  const F x = F::full({4133}, 1.0f), y = reshape(x, {1, 4133});
  EXPECT_NE(y.host().data(), x.host().data());
}

TEST_F(FirstRuns, ErrorsAreThoseOfTheOperation) {
  EXPECT_THROW(F::full({3}, 1.0f) + F::full({4}, 1.0f), ShapeError);
  EXPECT_THROW(random::normal<float>(random::key(1), {-1}), ShapeError);
}

}  // namespace
}  // namespace calque
