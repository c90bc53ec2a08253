// The inspectable stages of a function.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using F = Array<float>;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const auto& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Lower, TraceOfSpecsIsTheTraceOfData) {
  const auto f = jit([](auto x, auto k) { return tanh(x) * k; });
  EXPECT_EQ(f.trace(spec<float>({2, 3}), spec<double>({})), f.trace(F::zeros({2, 3}), 1.0));
}

TEST(Lower, TraceNamesTheFunction) {
  EXPECT_EQ(jit([](auto x) { return x; }, {.name = "step"}).trace(F{1}).name(), "step");
}

TEST(Lower, TraceKeepsCapturedArrays) {
  const F w = F::full({40}, 2.0f);
  const Graph g = jit([w](auto x) { return x * w; }).trace(F::ones({40}));
  EXPECT_EQ(g.inputs().size(), 1u);
  EXPECT_TRUE(array_equal(jit(g)(F::ones({40}))[0].as<float>(), w));
}

TEST(Lower, EveryStagePrints) {
  const auto f = jit([](auto x) { return sum(x * x + 1.0f); }, {.name = "energy"});
  const auto lowered = f.lower(spec<float>({16}));
  EXPECT_EQ(lowered.graph(), f.trace(spec<float>({16})));
  EXPECT_THAT(text_of(lowered.plan()), HasSubstr("kernel"));
  EXPECT_THAT(text_of(lowered.llvm_ir()), HasSubstr("define"));
  EXPECT_THAT(text_of(lowered.assembly()), HasSubstr("ret"));
  EXPECT_EQ(lowered.compile()(F::full({16}, 2.0f)).item(), 80);
}

TEST(Lower, CompiledFunctionKeepsTreesAndStaticValues) {
  const auto f = jit([](const auto& t, int n) {
    return std::map<std::string, Tracer<float>>{{"y", t.first * static_cast<float>(n)}};
  });
  const auto compiled = f.lower(std::pair{spec<float>({2}), 1}, static_arg(3)).compile();
  EXPECT_TRUE(array_equal(compiled(std::pair{F{1, 2}, 9}, static_arg(3)).at("y"), F{3, 6}));
  EXPECT_THROW(compiled(std::pair{F{1, 2}, 9}, static_arg(4)), ShapeError);
}

TEST(Explain, TellsTheCachesAnswerAndTheReason) {
  const auto f = jit([](auto x, auto k) { return x * k; }, {.name = "scale"});
  EXPECT_THAT(f.explain(F{1, 2}, 2.0f), HasSubstr("cache: miss, first call"));
  f(F{1, 2}, 2.0f);
  EXPECT_THAT(f.explain(F{1, 2}, 3.0f), HasSubstr("cache: hit"));
  EXPECT_THAT(f.explain(F{1, 2, 3}, 3.0f), HasSubstr("cache: miss, argument 0 is f32[3], was f32[2]"));
}

TEST(Explain, ListsKernelsWithTheirTraffic) {
  const auto f = jit([](auto x) { return exp(x) + 1.0f; });
  const std::string text = f.explain(F::zeros({1024}));
  EXPECT_THAT(text, HasSubstr("1 kernel, "));
  EXPECT_THAT(text, HasSubstr("reads 4096 bytes, writes 4096 bytes"));
}

TEST(Explain, WarnsOfADoubleThatWidensFloats) {
  const auto f = jit([](auto x, auto k) { return x * k; });
  EXPECT_THAT(f.explain(F{1, 2}, 0.1), HasSubstr("warning: argument 1 is an f64 scalar among f32 arrays"));
  EXPECT_THAT(f.explain(F{1, 2}, 0.1f), Not(HasSubstr("warning")));
}

// ---- compile<Signature>

TEST(Function, IsTypedAndReusable) {
  const Function<double(double, double)> f =
      compile<double(double, double)>([](auto x, auto y) { return x * y + sqrt(x); });
  EXPECT_EQ(f(4.0, 10.0), 42.0);
  EXPECT_EQ(f(9.0, 1.0), 12.0);
  const auto copy = f;
  EXPECT_EQ(copy(1.0, 1.0), 2.0);
}

TEST(Function, TakesScalarsOfSeveralTypes) {
  const auto f = compile<float(float, int, bool)>([](auto x, auto n, auto on) { return where(on, x * n, x); });
  EXPECT_EQ(f(1.5f, 4, true), 6.0f);
  EXPECT_EQ(f(1.5f, 4, false), 1.5f);
}

TEST(Function, MayReturnAnArgumentOrACapturedValue) {
  EXPECT_EQ(compile<double(double, double)>([](auto, auto y) { return y; })(1.0, 2.0), 2.0);
  const Array<double> c = 7.5;
  EXPECT_EQ(compile<double(double)>([c](auto) { return c; })(1.0), 7.5);
}

TEST(Function, RefusesAnArrayResult) {
  EXPECT_THAT([] { (void)compile<double(double)>([](auto x) { return broadcast_to(x, {3}); }, {.name = "wide"}); },
              testing::ThrowsMessage<ShapeError>(HasSubstr("wide: the signature returns f64[], the function f64[3]")));
}

TEST(Function, RunsControlFlowInside) {
  const auto collatz = compile<int64_t(int64_t)>([](auto n) {
    auto [last, steps] = while_loop([](const auto& s) { return std::get<0>(s) != 1; },
                                    [](const auto& s) {
                                      const auto& [n, k] = s;
                                      return std::tuple{where(n % 2 == 0, n / 2, 3 * n + 1), k + 1};
                                    },
                                    std::tuple{n, int64_t{0}});
    return steps;
  });
  EXPECT_EQ(collatz(27), 111);
}

// ---- donation

TEST(Donate, ResultsAreRightAndTheArrayIsGone) {
  const auto step = jit([](auto w, auto g) { return w - g * 0.5f; }, {.name = "step", .donate = {0}});
  const F before = F::full({100}, 2.0f), g = F::ones({100});
  const F w = step(before, g);
  EXPECT_EQ(w(99), 1.5f);
  EXPECT_THAT([&] { before.host(); },
              testing::ThrowsMessage<DeviceError>(testing::MatchesRegex(
                  "array: used after it was donated, as argument 0 of step \\(lower_test.cpp:[0-9]+\\)")));
  EXPECT_THROW(step(before, g), DeviceError);
  EXPECT_THROW(before + g, DeviceError);
  EXPECT_EQ(g(0), 1);
}

TEST(Donate, ResultThatIsTheArgumentLivesOn) {
  const auto f = jit([](auto x) { return x; }, {.donate = {0}});
  const F x = {1, 2, 3};
  EXPECT_TRUE(array_equal(f(x), F{1, 2, 3}));
  EXPECT_THROW(x.host(), DeviceError);
}

TEST(Donate, ResultThatIsTheArgumentKeepsItsMemory) {
  const auto f = jit([](auto x, auto y) { return std::tuple{x, y + 1.0f, x}; }, {.donate = {0}});
  F x = F::full({1000}, 3.0f);
  const float* memory = x.host().data();
  for (int i = 0; i < 3; ++i) {
    auto [same, other, again] = f(x, 1.0f);
    EXPECT_EQ(same.host().data(), memory);
    EXPECT_EQ(again.host().data(), memory);
    EXPECT_THROW(x.host(), DeviceError);
    x = std::move(same);
  }
  EXPECT_EQ(x(999), 3);
  const auto twice = jit([](auto a, auto b) { return a + b; }, {.donate = {0, 1}});
  EXPECT_EQ(twice(x, x)(0), 6);
  EXPECT_THROW(x.host(), DeviceError);
}

TEST(Donate, MemoryOfTheCallerIsNotTakenOver) {
  std::vector<float> buffer = {1, 2};
  const F x = F::wrap(buffer.data(), {2}, [](float*) {});
  const auto [more, same] = jit([](auto v) { return std::pair{v + 1.0f, v}; }, {.donate = {0}})(x);
  EXPECT_EQ(buffer, (std::vector<float>{1, 2}));
  EXPECT_NE(same.host().data(), buffer.data());
  EXPECT_EQ(more(0) + same(1), 4);
  EXPECT_THROW(x.host(), DeviceError);
}

}  // namespace
}  // namespace calque
