// Functions on the simulator's device give the same results as on the CPU.
#include <sstream>

#include <gmock/gmock.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "runtime/process/environment.h"

namespace calque {
namespace {

using F = Array<float>;
using I = Array<int32_t>;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::ThrowsMessage;

F on_sim(const F& a) { return a.to(gpu_sim()); }

TEST(DeviceCalls, FollowTheirArguments) {
  const auto f = jit([](auto x, auto w) { return tanh(matmul(x, w)) + sum(x); });
  const F x = F::linspace(-1, 1, 12).reshape({3, 4}), w = F::linspace(0, 1, 20).reshape({4, 5});
  const F y = f(on_sim(x), on_sim(w));
  EXPECT_EQ(y.device(), gpu_sim());
  EXPECT_TRUE(allclose(y, f(x, w)));
}

TEST(DeviceCalls, ScalarsAndMatricesAreCopiedThere) {
  const auto f = jit([](auto x, auto s, auto m) { return x * s + sum(m, 1); }, {.device = gpu_sim()});
  Eigen::MatrixXf m(3, 2);  // column-major
  m << 1, 2, 3, 4, 5, 6;
  const F y = f(on_sim({1, 2, 3}), 2.0f, m);
  EXPECT_EQ(y.device(), gpu_sim());
  EXPECT_TRUE(array_equal(y, F{5, 11, 17}));
  EXPECT_TRUE(array_equal(F(f(1.0f, 2.0f, m.block(0, 0, 2, 2))), F{5, 9}));
}

TEST(DeviceCalls, MixedDevicesAreAnErrorThatSaysWhich) {
  const auto f = jit([](auto a, auto b) { return a + b; }, {.name = "step"});
  EXPECT_THAT(
      [&] { f(on_sim({1}), F{1}); },
      ThrowsMessage<DeviceError>(MatchesRegex(
          "step: arguments are on different devices, argument 0 on gpu_sim and argument 1 on cpu; move one with "
          "to\\(\\) \\(calls_test.cpp:[0-9]+\\)")));
  const auto g = jit([](auto a) { return a; }, {.name = "here", .device = cpu()});
  EXPECT_THAT([&] { g(on_sim({1})); },
              ThrowsMessage<DeviceError>(HasSubstr("here: runs on cpu, but argument 0 is on gpu_sim")));
}

TEST(DeviceCalls, DeviceOfAFunctionTakesArraysOfTheHost) {
  const auto f = jit([](auto a, auto b) { return a + b; }, {.device = gpu_sim()});
  const F y = f(F{1, 2}, on_sim({3, 4}));
  EXPECT_EQ(y.device(), gpu_sim());
  EXPECT_EQ(y(1), 6);
}

TEST(DeviceCalls, CapturedArraysAreKeptThere) {
  const F large = F::arange(100);
  const auto f = jit([large](auto x) { return std::pair{x + large, large}; }, {.device = gpu_sim()});
  for (int i = 0; i < 3; ++i) {
    const auto [y, same] = f(static_cast<float>(i));
    EXPECT_EQ(y(99), 99 + static_cast<float>(i));
    EXPECT_EQ(same.device(), gpu_sim());
    EXPECT_EQ(same(7), 7);
  }
}

TEST(DeviceCalls, ArgumentsThatAreResultsStayWhereTheyAre) {
  const auto f = jit([](auto x, auto s) { return std::tuple{x, s, x + s}; }, {.device = gpu_sim()});
  const F x = on_sim({1, 2});
  const auto [same, scalar, more] = f(x, 3.0f);
  EXPECT_EQ(same.host().data(), x.host().data());
  EXPECT_EQ(scalar.device(), gpu_sim());
  EXPECT_EQ(scalar.item(), 3);
  EXPECT_EQ(more(1), 5);
}

TEST(DeviceCalls, WhileLoopsAndBranches) {
  const auto collatz = jit([](auto n) {
    return while_loop([](const auto& s) { return any(std::get<0>(s) != 1); },
                      [](const auto& s) {
                        const auto& [n, k] = s;
                        const auto done = n == 1;
                        return std::tuple{where(done, n, where(n % 2 == 0, n / 2, 3 * n + 1)), k + where(done, 0, 1)};
                      },
                      std::tuple{n, 0 * n});
  });
  const I n = {27, 1, 6, 97};
  const auto [one, steps] = collatz(n.to(gpu_sim()));
  EXPECT_TRUE(array_equal(steps, I{111, 0, 8, 118}));
  const auto choose = jit([](auto i, auto x) {
    return switch_(i,
                   std::tuple{[](auto v) { return v + 1.0f; }, [](auto v) { return cumsum(v, 0); },
                              [](auto v) { return v * sum(v); }},
                   x);
  });
  const F x = on_sim({1, 2, 3});
  for (int i : {-4, 0, 1, 2, 9}) EXPECT_TRUE(array_equal(choose(i, x), choose(i, x.to(cpu())))) << i;
}

TEST(DeviceCalls, ScansAndCountedLoops) {
  const auto f = jit([](auto x, auto xs) {
    const auto [carry, ys] = scan(
        [](auto c, auto v) {
          const auto next = c + v * sum(c);
          return std::pair{next, next};
        },
        x, xs);
    return std::pair{fori_loop(0, 7, [](auto i, auto s) { return flip(s) + cast<float>(i); }, carry), ys};
  });
  const F x = {0.5f, 0.25f}, xs = F::linspace(0, 1, 10).reshape({5, 2});
  const auto [a, b] = f(on_sim(x), on_sim(xs));
  const auto [c, d] = f(x, xs);
  EXPECT_TRUE(allclose(a, c));
  EXPECT_TRUE(allclose(b, d));
}

TEST(DeviceCalls, HostFunctionsGetTheirOperandsOnTheHost) {
  int calls = 0;
  const auto f = jit([&](auto x) {
    const auto y = host_call(
        [&](const F& v) {
          ++calls;
          EXPECT_EQ(v.device(), cpu());
          return v * 2.0f;
        },
        spec<float>(x.shape()), x + 1.0f);
    return y - 1.0f;
  });
  EXPECT_TRUE(array_equal(f(on_sim({1, 2})), F{3, 5}));
  EXPECT_EQ(calls, 1);
}

TEST(DeviceCalls, ThrowingHostFunctionEndsTheCall) {
  const auto f = jit([](auto x) {
    return host_call([](const F&) -> F { throw std::runtime_error("no"); }, spec<float>(x.shape()), x) + 1.0f;
  });
  EXPECT_THAT([&] { f(on_sim({1, 2})); }, ThrowsMessage<std::runtime_error>(HasSubstr("no")));
  EXPECT_EQ((on_sim({1, 2}) + 1.0f)(1), 3);
}

TEST(DeviceCalls, ComplexNumbersRunOnTheHost) {
  const auto f = jit([](auto x) { return x * x; });
  using C = Array<std::complex<float>>;
  const C y = f(C{std::complex<float>(0, 1)}.to(gpu_sim()));
  EXPECT_EQ(y.device(), gpu_sim());
  EXPECT_EQ(y(0), std::complex<float>(-1, 0));
}

TEST(DeviceCalls, GradientsAndBatches) {
  const auto loss = [](auto w, auto x) { return sum(square(tanh(matmul(x, w)))); };
  const F w = F::linspace(-1, 1, 6).reshape({3, 2}), x = F::linspace(0, 2, 12).reshape({4, 3});
  EXPECT_TRUE(allclose(grad(loss)(on_sim(w), on_sim(x)), grad(loss)(w, x)));
  EXPECT_EQ(grad(loss)(on_sim(w), on_sim(x)).device(), gpu_sim());
  const auto rows = vmap([](auto r) { return r / sum(r); });
  EXPECT_TRUE(allclose(rows(on_sim(x)), rows(x)));
}

TEST(DeviceCalls, RunEagerlyAndOnTheReference) {
  runtime::Environment& environment = runtime::mutable_environment();
  const auto f = jit([](auto x) { return exp(x) + 1.0f; });
  const F x = {0, 1};
  environment.disable_jit = true;
  const F eager = f(on_sim(x)), operation = on_sim(x) * 2.0f;
  environment.disable_jit = false;
  environment.reference_backend = true;
  const F reference = jit([](auto x) { return exp(x) + 1.0f; })(on_sim(x));
  environment.reference_backend = false;
  for (const F& y : {eager, reference}) {
    EXPECT_EQ(y.device(), gpu_sim());
    EXPECT_TRUE(allclose(y, exp(x) + 1.0f));
  }
  EXPECT_EQ(operation.device(), gpu_sim());
  EXPECT_EQ(operation(1), 2);
}

TEST(DeviceCalls, DefaultDeviceTakesWhatIsOnTheHost) {
  runtime::Environment& environment = runtime::mutable_environment();
  environment.device = "gpu_sim";
  const F a = {1, 2};
  const F b = a + 1.0f;
  const F c = jit([](auto x, auto y) { return x * y; })(a, b);  // one here, one there
  const F d = jit([](auto x) { return x; }, {.device = cpu()})(a);
  environment.device = "tpu";
  EXPECT_THAT([&] { a + 1.0f; },
              ThrowsMessage<DeviceError>(HasSubstr("CALQUE_DEVICE: cpu, gpu_sim, gpu or gpu:N was expected, got tpu")));
  environment.device.clear();
  EXPECT_EQ(b.device(), gpu_sim());
  EXPECT_EQ(c.device(), gpu_sim());
  EXPECT_EQ(d.device(), cpu());
  EXPECT_EQ(c(1), 6);
}

TEST(DeviceCalls, LowerShowsCodeOfTheDevice) {
  const auto f = jit([](auto x) { return exp(x) * 2.0f; }, {.name = "step"});
  const F x = F::ones({1000});
  for (const auto& lowered : {f.lower(x), f.lower(on_sim(x))}) {
    std::ostringstream ptx;
    ptx << lowered.ptx();
    EXPECT_THAT(ptx.str(), testing::AllOf(HasSubstr(".target sm_"), HasSubstr(".visible .entry k0_")));
  }
  std::ostringstream plan, cpu_plan;
  plan << f.lower(on_sim(x)).plan();
  cpu_plan << f.lower(x).plan();
  EXPECT_NE(plan.str(), cpu_plan.str());
  EXPECT_THAT(f.explain(on_sim(x)), HasSubstr("device: gpu_sim"));
  EXPECT_TRUE(allclose(f.lower(on_sim(x)).compile()(on_sim(x)), f(x)));
}

// ---- donation

TEST(DeviceDonation, ResultsTakeTheMemoryOver) {
  const auto step = jit([](auto w, auto g) { return w - g * 0.5f; }, {.name = "step", .donate = {0}});
  const F before = on_sim(F::full({100}, 2.0f)), g = on_sim(F::ones({100}));
  F w = step(before, g);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(w(99), 1.5f - 0.5f * static_cast<float>(i));
    const void* const memory = w.any().storage().device_memory();
    w = step(w, g);
    EXPECT_EQ(w.any().storage().device_memory(), memory);
  }
  EXPECT_THAT([&] { before.host(); },
              ThrowsMessage<DeviceError>(
                  MatchesRegex("array: used after it was donated, as argument 0 of step \\(calls_test.cpp:[0-9]+\\)")));
  EXPECT_THROW(step(before, g), DeviceError);
  EXPECT_THROW(before + g, DeviceError);
  EXPECT_EQ(g(0), 1);
}

TEST(DeviceDonation, ArrayThatIsPassedTwiceIsCopied) {
  const auto twice = jit([](auto a, auto b) { return a + 2.0f * b; }, {.donate = {0}});
  const F x = on_sim({1, 2});
  EXPECT_TRUE(array_equal(twice(x, x), F{3, 6}));
  const auto same = jit([](auto a) { return a; }, {.donate = {0}});
  const F y = on_sim({1, 2});
  EXPECT_TRUE(array_equal(same(y), F{1, 2}));
  EXPECT_THROW(y.host(), DeviceError);
}

TEST(DeviceDonation, CopiesKeepTheirElements) {
  const auto twice = jit([](auto a) { return a * 2.0f; }, {.donate = {0}});
  const F x = on_sim({1, 2, 3, 4}), copy = x, square = x.reshape({2, 2});
  EXPECT_TRUE(array_equal(twice(x), F{2, 4, 6, 8}));
  EXPECT_THROW(x.host(), DeviceError);
  EXPECT_TRUE(array_equal(copy, F{1, 2, 3, 4}));
  EXPECT_TRUE(array_equal(square + square, on_sim(F{{2, 4}, {6, 8}})));
  EXPECT_TRUE(array_equal(twice(copy), F{2, 4, 6, 8}));
  EXPECT_EQ(square(1, 1), 4);
}

// Memory that every thread reads must not be reused for a result while they read it.
TEST(DeviceDonation, AnotherDtypeTakesNoMemoryOver) {
  const auto f = [](auto x) { return cast<int32_t>(x[0] * 1000.0f) + iota<int32_t>(static_cast<int64_t>(x.size())); };
  for (const int64_t n : {100, 5000, 100000}) {
    const auto wanted = jit(f)(F::full({n}, 1.5f));
    EXPECT_TRUE(array_equal(jit(f, {.donate = {0}})(on_sim(F::full({n}, 1.5f))), wanted)) << n;
  }
}

// ---- order

TEST(DeviceOrder, DeterministicSumsAreNotAtomic) {
  const auto add = [](auto x, auto i, auto u) { return scatter_add(x, i, u); };
  const auto x = spec<float>({1000}), u = spec<float>({5000});
  const auto i = spec<int32_t>({5000});
  const auto ptx = [&](JitOptions options) {
    options.device = gpu_sim();
    std::ostringstream text;
    text << jit(add, options).lower(x, i, u).ptx();
    return text.str();
  };
  const auto is_atomic = testing::ContainsRegex("(atom|red)[.a-z]*\\.add\\.f32");
  EXPECT_THAT(ptx({}), is_atomic);
  EXPECT_THAT(ptx({.deterministic = true}), testing::Not(is_atomic));
  EXPECT_THAT(ptx({.strict = true}), testing::Not(is_atomic));
}

TEST(DeviceOrder, NegativeZerosStayNegativeInLongCumulativeSums) {
  const F sums = jit([](auto x) { return cumsum(x, 0); })(on_sim(F::full({40000}, -0.0f)));
  EXPECT_TRUE(std::all_of(sums.host().begin(), sums.host().end(), [](float v) { return v == 0 && std::signbit(v); }));
}

}  // namespace
}  // namespace calque
