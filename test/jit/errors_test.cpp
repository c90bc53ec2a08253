// The exact messages of calls that fail, and that the library works afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::ThrowsMessage;

TEST(JitErrors, EmptyArrayIsNamedByItsPath) {
  const auto f = jit([](const auto& t) { return t.second[1]; }, {.name = "step"});
  EXPECT_THAT([&] { f(std::pair{F{1}, std::vector{F{1}, F()}}); },
              ThrowsMessage<ShapeError>(
                  MatchesRegex("step: argument 0\\[1\\]\\[1\\] is an empty array \\(errors_test.cpp:[0-9]+\\)")));
}

TEST(JitErrors, DeviceThatIsNotThereIsNamed) {
  const auto f = jit([](auto x) { return x; }, {.name = "step", .device = gpu(1000)});
  EXPECT_THAT([&] { f(1.0f); }, ThrowsMessage<DeviceError>(HasSubstr("step: device gpu:1000 is not available")));
}

TEST(JitErrors, DataDependentBranchNamesItsArgument) {
  const auto f = jit([](const auto& t) {
    if (t.first) return t.second;
    return -t.second;
  });
  EXPECT_THAT([&] { f(std::pair{Array<bool>(true), F{1}}); },
              ThrowsMessage<ConcretizationError>(HasSubstr("argument 0[0]")));
}

TEST(JitErrors, SpecCannotBeRunOn) {
  const auto f = jit([](auto x) { return x * 2.0f; }, {.name = "step"});
  EXPECT_THAT([&] { f(spec<float>({2})); },
              ThrowsMessage<ShapeError>(HasSubstr("step: spec stands for a type and cannot be run on")));
}

TEST(JitErrors, DonatedPositionMustBeThere) {
  const auto f = jit([](auto x) { return x; }, {.name = "step", .donate = {2}});
  EXPECT_THAT([&] { f(F{1}); }, ThrowsMessage<ShapeError>(HasSubstr("step: donates argument 2, but is called with 1")));
}

TEST(JitErrors, TracerOfAnOuterFunctionMustBeAnArgument) {
  const F data = {1, 2};
  const auto outer = jit([&](auto x) {
    const auto inner = jit([x](auto y) { return x + y; }, {.name = "inner"});
    return inner(data);
  });
  EXPECT_THAT([&] { outer(F{3, 4}); },
              ThrowsMessage<ConcretizationError>(
                  MatchesRegex("inner: the lambda uses a tracer of an enclosing function, but is called on data alone "
                               "and runs at once; pass the tracer as an argument \\(errors_test.cpp:[0-9]+\\)")));
}

TEST(JitErrors, FunctionThatCallsItselfOnDataIsStopped) {
  static const Jitted<Tracer<float> (*)(Tracer<float>)>* self;
  const auto f = jit(
      +[](Tracer<float> x) {
        (*self)(F{1, 2});
        return x;
      },
      {.name = "loop"});
  self = &f;
  EXPECT_THAT([&] { f(F{1, 2}); },
              ThrowsMessage<CompileError>(
                  HasSubstr("loop: the function calls itself on data of the same types while it is traced")));
}

TEST(JitErrors, LeakedTracerIsRefused) {
  std::optional<Tracer<float>> leaked;
  jit([&](auto x) {
    leaked = x;
    return x;
  })(F{1});
  EXPECT_THROW(jit([&](auto x) { return x + *leaked; })(F{1}), LeakedTracerError);
}

TEST(JitErrors, RankThreeResultIsNoMatrix) {
  const auto f = jit([](auto x) { return reshape(x, {1, 2, 1}); });
  EXPECT_THROW((Eigen::MatrixXf(f(F{1, 2}))), ShapeError);
}

TEST(JitErrors, CompiledFunctionSaysWhatItWasCompiledFor) {
  const auto f = jit([](auto x) { return x * 2.0f; }, {.name = "step"});
  const auto compiled = f.lower(spec<float>({2, 3})).compile();
  EXPECT_THAT([&] { compiled(F{1}); },
              ThrowsMessage<ShapeError>(HasSubstr("step: argument 0 was compiled as f32[2,3], got f32[1]")));
  EXPECT_TRUE(array_equal(compiled(F{{1, 2, 3}, {4, 5, 6}}), F{{2, 4, 6}, {8, 10, 12}}));
}

TEST(JitErrors, CompiledFunctionNamesTheLeafByItsPath) {
  const auto f = jit([](auto k, const auto& t) { return t.second[1] * k; }, {.name = "step"});
  const auto compiled = f.lower(2.0f, std::pair{1.0f, std::vector{F{1, 2}, F{3}}}).compile();
  EXPECT_THAT([&] { compiled(2.0f, std::pair{1.0f, std::vector{F{1, 2}, F{3, 4}}}); },
              ThrowsMessage<ShapeError>(HasSubstr("step: argument 1[1][1] was compiled as f32[1], got f32[2]")));
  EXPECT_THAT([&] { compiled(2.0f, std::pair{1.0f, std::vector{F{1, 2}, F()}}); },
              ThrowsMessage<ShapeError>(HasSubstr("step: argument 1[1][1] is an empty array")));
}

TEST(JitErrors, FunctionsThatWereMovedFromSaySo) {
  auto f = jit([](auto x) { return x * 2.0f; });
  const auto moved = std::move(f);
  const auto refuses = [](const auto& call) {
    EXPECT_THAT(call, ThrowsMessage<Error>(HasSubstr("the function was moved from")));
  };
  // NOLINTBEGIN(bugprone-use-after-move)
  refuses([&] { f(F{1}); });
  refuses([&] { f.trace(F{1}); });
  refuses([&] { f.lower(F{1}); });
  refuses([&] { f.explain(F{1}); });
  refuses([&] { f.cache_info(); });
  refuses([&] { f.clear_cache(); });
  EXPECT_EQ(moved(F{2})(0), 4);
  auto lowered = moved.lower(F{1});
  auto compiled = lowered.compile();
  const auto other = std::move(lowered);
  const auto another = std::move(compiled);
  refuses([&] { lowered.graph(); });
  refuses([&] { lowered.compile(); });
  refuses([&] { compiled(F{1}); });
  EXPECT_EQ(another(F{3})(0), 6);
  auto graph = jit(other.graph());
  const auto kept = std::move(graph);
  refuses([&] { graph(F{1}); });
  refuses([&] { graph.graph(); });
  EXPECT_EQ(kept(F{3})[0].as<float>()(0), 6);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(JitErrors, EmptyFunctionSaysSo) {
  Function<double(double)> f;
  EXPECT_FALSE(f);
  EXPECT_THAT([&] { f(1); }, ThrowsMessage<Error>(HasSubstr("function: it is empty")));
  f = compile<double(double)>([](auto x) { return x * 2.0; });
  EXPECT_TRUE(f);
  Function<double(double)> other = std::move(f);
  EXPECT_EQ(other(4), 8);
  EXPECT_FALSE(f);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(f(1), Error);
  const Function<double(double)> copy = other;
  EXPECT_EQ(copy(4) + other(1), 10);
}

TEST(JitErrors, FastMathAndStrictExcludeEachOther) {
  const auto make = [] { (void)jit([](auto x) { return x; }, {.name = "step", .fast_math = true, .strict = true}); };
  EXPECT_THAT(make, ThrowsMessage<CompileError>(
                        MatchesRegex("step: .fast_math and .strict exclude each other \\(errors_test.cpp:[0-9]+\\)")));
}

TEST(JitErrors, GraphSaysHowManyInputsAndOfWhichTypes) {
  const auto g = jit(jit([](auto x, auto y) { return x + y; }).trace(F{1, 2}, F{3, 4}), {.name = "sum"});
  EXPECT_THAT([&] { g(F{1, 2}); }, ThrowsMessage<ShapeError>(HasSubstr("sum: the graph has 2 inputs, got 1")));
  EXPECT_THAT([&] { g(F{1, 2}, D{1, 2}); }, ThrowsMessage<DTypeError>(HasSubstr("sum: input 1 is f32[2], got f64[2]")));
  EXPECT_THAT([&] { g(F{1}, F{1, 2}); }, ThrowsMessage<ShapeError>(HasSubstr("sum: input 0 is f32[2], got f32[1]")));
  EXPECT_TRUE(array_equal(g(std::pair{F{1, 2}, F{3, 4}})[0].as<float>(), F{4, 6}));
}

// ---- exceptions of user code

struct Mine {
  int code;
};

TEST(JitExceptions, OfTheLambdaPropagateAndLeaveTheFunctionUsable) {
  bool fail = true;
  const auto f = jit([&](auto x) {
    auto y = x * 2.0f;
    if (fail) throw Mine{7};
    return y;
  });
  try {
    f(F{1});
    FAIL() << "nothing was thrown";
  } catch (const Mine& m) {
    EXPECT_EQ(m.code, 7);
  }
  EXPECT_FALSE(detail::tracing());
  EXPECT_EQ(f.cache_info().entries, 0u);
  fail = false;
  EXPECT_TRUE(array_equal(f(F{1}), F{2}));
}

TEST(JitExceptions, OfAShapeMistakePropagateOutOfNestedFunctions) {
  const auto inner = jit([](auto x, auto y) { return matmul(x, y); });
  const auto outer = jit([&](auto x, auto y) { return inner(x, y) + 1.0f; });
  EXPECT_THROW(outer(F{{1, 2, 3}}, F{{1, 2}}), ShapeError);
  EXPECT_FALSE(detail::tracing());
  EXPECT_TRUE(array_equal(outer(F{{1, 2}}, F{{3}, {4}}), F{{12}}));
}

TEST(JitExceptions, OfAHostCallPropagateAndLeaveTheFunctionUsable) {
  static bool fail;
  fail = true;
  const auto f = jit([](auto x) {
    auto y = host_call(
        [](const F& v) {
          if (fail) throw Mine{11};
          return F(v.item() + 1);
        },
        spec<float>({}), x);
    return y * 2.0f;
  });
  try {
    f(3.0f);
    FAIL() << "nothing was thrown";
  } catch (const Mine& m) {
    EXPECT_EQ(m.code, 11);
  }
  fail = false;
  EXPECT_EQ(f(3.0f).item(), 8);
  fail = true;
  EXPECT_THROW(f(3.0f), Mine);
  fail = false;
  EXPECT_EQ(f(4.0f).item(), 10);
  EXPECT_EQ(f.cache_info().misses, 1u);
}

TEST(JitExceptions, OfAHostCallInALoopStopIt) {
  static int calls;
  calls = 0;
  const auto f = jit([](auto x) {
    return while_loop([](auto s) { return s < 100.0f; },
                      [](auto s) {
                        return host_call(
                            [](const F& v) {
                              if (++calls == 3) throw Mine{1};
                              return F(v.item() + 1);
                            },
                            spec<float>({}), s);
                      },
                      x);
  });
  EXPECT_THROW(f(0.0f), Mine);
  EXPECT_EQ(calls, 3);
}

TEST(JitExceptions, HostFunctionMayCallJittedFunctions) {
  static const auto inner = jit([](auto x) { return sum(x * x); });
  const auto f = jit([](auto x) { return host_call([](const F& v) { return inner(v); }, spec<float>({}), x) + 1.0f; });
  EXPECT_EQ(f(F{1, 2, 3}).item(), 15);
}

}  // namespace
}  // namespace calque
