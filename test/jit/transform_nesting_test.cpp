// Transformations of transformations, and unusual cases: empty trees, effects, recursion, borrowed memory, threads.
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "jit/messages.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;

TEST(TransformNesting, EveryOrderOfGradVmapAndJit) {
  const auto f = [](auto x) { return sin(x) * x; };
  const auto df = [](double x) { return std::cos(x) * x + std::sin(x); };
  const D xs = {0.5, 1.5}, expected = {df(0.5), df(1.5)};
  EXPECT_TRUE(allclose(vmap(grad(f))(xs), expected));
  EXPECT_TRUE(allclose(jit(vmap(jit(grad(jit(f)))))(xs), expected));
  EXPECT_TRUE(allclose(grad([f](auto v) { return sum(vmap(f)(v)); })(xs), expected));
  const D batches = {{0.5, 1.5}, {2.5, 3.5}};
  const D second = vmap(vmap(grad(grad(f))))(batches);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const double x = batches(i, j);
      EXPECT_NEAR(second(i, j), 2 * std::cos(x) - x * std::sin(x), 1e-12);
    }
  }
}

TEST(TransformNesting, ForwardOverReverseAndBack) {
  const auto f = [](auto x) { return sum(x * x * x) * x[0]; };
  const D x = {1, 2}, v = {0.5, -1};
  const D product = matmul(hessian(f)(x), v);
  const auto forward_over_reverse = jvp(grad(f), std::tuple{x}, std::tuple{v}).second;
  const auto reverse_over_reverse = grad([f, v](auto y) { return sum(grad(f)(y) * v); })(x);
  const auto reverse_over_forward = grad([f, v](auto y) { return jvp(f, std::tuple{y}, std::tuple{v}).second; })(x);
  EXPECT_TRUE(allclose(forward_over_reverse, product));
  EXPECT_TRUE(allclose(reverse_over_reverse, product));
  EXPECT_TRUE(allclose(reverse_over_forward, product));
}

TEST(TransformNesting, InScanInVmapInGrad) {
  const auto step = [](auto w, auto x) { return tanh(w * x); };
  const auto f = [step](auto w, auto xs) {
    const auto one = [step, w](auto row) {
      return scan([step, w](auto c, auto x) { return std::pair{c + grad(step)(w, x) * c, c}; }, 1.0, row).first;
    };
    return sum(vmap(one)(xs));
  };
  const D xs = {{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}};
  const double h = 1e-5;
  const auto value = jit(f);
  EXPECT_NEAR(grad(f)(0.7, xs).item(), (value(0.7 + h, xs).item() - value(0.7 - h, xs).item()) / (2 * h), 1e-8);
  EXPECT_NEAR(jvp(f, std::tuple{0.7, xs}, std::tuple{1.0, D::zeros({2, 3})}).second.item(), grad(f)(0.7, xs).item(),
              1e-12);
}

TEST(TransformNesting, CustomRulesInScanCaptureThroughSeveralLevels) {
  const auto f = [](auto x, auto c) {
    return scan(
               [c](auto s, auto k) {
                 const auto rule = custom_jvp(
                     [c, at = stop_gradient(s)](auto v) { return v * c + at * 0.0; },
                     [c](auto p, auto t) { return std::pair{std::get<0>(p) * c, std::get<0>(t) * c * 10.0}; });
                 return std::pair{rule(s) + k, s};
               },
               x, D{1, 2})
        .first;
  };
  EXPECT_EQ(jit(f)(2.0, 3.0).item(), (2 * 3 + 1) * 3 + 2);
  EXPECT_EQ(grad(f)(2.0, 3.0).item(), 900);
}

TEST(TransformNesting, LoopsOfUnknownLengthInAuxiliaryResultsAndStopped) {
  const auto loop = [](auto x) { return while_loop([](auto s) { return s < 50.0; }, [](auto s) { return s * s; }, x); };
  const auto with_aux = [loop](auto x) { return std::pair{x * x, loop(x)}; };
  EXPECT_EQ(grad(with_aux)(3.0).item(), 6);
  const auto [value, g] = value_and_grad(with_aux)(3.0);
  EXPECT_EQ(value.second.item(), 81);
  EXPECT_EQ(g.item(), 6);
  EXPECT_EQ(grad([loop](auto x) { return x * stop_gradient(loop(x)); })(3.0).item(), 81);
}

TEST(TransformNesting, OfFunctionPointersAndFunctionObjects) {
  const auto g = grad(+[](Tracer<double> x) { return x * x; });
  EXPECT_EQ(g(3.0).item(), 6);
  struct Scale {
    double by;
    auto operator()(const Tracer<double>& x) const { return x * x * by; }
  };
  EXPECT_EQ(grad(Scale{2})(3.0).item(), 12);
  EXPECT_EQ(grad(Scale{3})(3.0).item(), 18);
}

TEST(TransformNesting, OfSixteenBitFloats) {
  const auto g = grad([](auto x) { return sum(x * x); })(Array<float16>{float16(1), float16(2)});
  EXPECT_EQ(float(g(1)), 4);
  EXPECT_EQ(float(grad([](auto x) { return x * x; })(bfloat16(3)).item()), 6);
}

TEST(TransformNesting, OfTreesWithoutLeaves) {
  const auto f = [](const auto& v, auto x) { return x * x * static_cast<double>(v.size() + 1); };
  EXPECT_TRUE(grad(f)(std::vector<D>{}, 2.0).empty());
  const auto [dv, dx] = grad(f, argnums<0, 1>)(std::vector<D>{D(1.0)}, 2.0);
  ASSERT_EQ(dv.size(), 1u);
  EXPECT_EQ(dv[0].item(), 0);
  EXPECT_EQ(dx.item(), 8);
  const auto [y, pullback] = vjp([](auto x) { return std::vector<decltype(x)>{}; }, 2.0);
  EXPECT_EQ(std::get<0>(pullback(std::vector<D>{})).item(), 0);
}

TEST(TransformNesting, PullbackOfTheIdentity) {
  std::vector<double> memory = {1, 2};
  const D x = D::wrap(memory.data(), {2}, [](double*) {});
  const auto [y, pullback] = vjp([](auto v) { return v; }, x);
  EXPECT_TRUE(array_equal(y, D{1, 2}));
  EXPECT_TRUE(array_equal(std::get<0>(pullback(D{3, 4})), D{3, 4}));
}

TEST(TransformNesting, PullbackMadeOnDataServesManyThreads) {
  const auto [y, pullback] = vjp([](auto v) { return sum(v * v); }, D{1, 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, &p = pullback] {
      for (int i = 1; i < 20; ++i) {
        const auto [g] = p(double(i));
        EXPECT_EQ(g(1), 4 * i);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(TransformNesting, RecursionWithoutEndIsStopped) {
  struct Endless {
    auto operator()(const Tracer<double>& x) const -> Tracer<double> { return grad(Endless{})(x); }
  };
  const std::string m = message_of<CompileError>([&] { jit(Endless{})(1.0); });
  EXPECT_THAT(m, testing::HasSubstr("grad: the function calls itself while it is traced, without end"));
  EXPECT_FALSE(detail::tracing());
}

TEST(TransformNesting, EffectsHappenOnce) {
  const auto calls = [](const auto& transform) {
    static int count;
    count = 0;
    const auto f = [](auto x, auto y) {
      const auto seen = host_call(
          [](const D& v) {
            ++count;
            return v;
          },
          spec<double>({}), stop_gradient(x));
      return x * y + seen * 0.0;
    };
    transform(f);
    return count;
  };
  EXPECT_EQ(calls([](auto f) { grad(f)(2.0, 3.0); }), 1);
  EXPECT_EQ(calls([](auto f) { value_and_grad(f, argnums<0, 1>)(2.0, 3.0); }), 1);
  EXPECT_EQ(calls([](auto f) { jvp(f, std::tuple{2.0, 3.0}, std::tuple{1.0, 1.0}); }), 1);
  EXPECT_EQ(calls([](auto f) { vjp(f, 2.0, 3.0); }), 1);
  EXPECT_EQ(calls([](auto f) { linearize(f, 2.0, 3.0); }), 1);
  EXPECT_EQ(calls([](auto f) { jacfwd(f, argnums<0, 1>)(2.0, 3.0); }), 1);
  EXPECT_EQ(calls([](auto f) { jacrev(f, argnums<0, 1>)(2.0, 3.0); }), 1);
  EXPECT_EQ(calls([](auto f) { hessian(f, argnums<0, 1>)(2.0, 3.0); }), 1);
}

TEST(TransformNesting, ExceptionsOfTheFunctionPropagate) {
  struct Mine {};
  const auto f = [](auto x) {
    if (x.rank() == 1) throw Mine{};
    return x * x;
  };
  EXPECT_THROW(grad(f)(D{1}), Mine);
  EXPECT_THROW(vjp(f, D{1}), Mine);
  EXPECT_THROW(vmap(f)(D{{1}}), Mine);
  EXPECT_THROW(jacfwd(f)(D{1}), Mine);
  EXPECT_THROW(checkpoint(f)(D{1}), Mine);
  EXPECT_FALSE(detail::tracing());
  EXPECT_EQ(grad(f)(2.0).item(), 4);
}

TEST(TransformNesting, TransformedFunctionsAreLoweredByJit) {
  const auto f = jit(vmap(grad([](auto x) { return x * x * x; })), {.name = "slopes"});
  const auto compiled = f.lower(spec<double>({3})).compile();
  EXPECT_TRUE(array_equal(compiled(D{1, 2, 3}), D{3, 12, 27}));
  std::ostringstream plan;
  plan << f.lower(spec<double>({3})).plan();
  EXPECT_NE(plan.str().find("slopes"), std::string::npos) << plan.str();
  EXPECT_EQ(compile<double(double)>(grad([](auto x) { return x * x; }))(3), 6);
}

}  // namespace
}  // namespace calque
