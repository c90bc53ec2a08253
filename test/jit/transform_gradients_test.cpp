// grad and value_and_grad: arguments, results, trees, nesting, and the recorded graphs.
#include <thread>

#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque {
namespace {

using F = Array<float>;
using D = Array<double>;

template <class A>
struct Layer {
  A w, b;
};
template <class A>
struct Network {
  Layer<A> first;
  std::vector<Layer<A>> rest;
  std::map<std::string, A> named;
  std::optional<A> scale;
  int depth = 0;
};

size_t count(const Graph& graph, const std::string& primitive) {
  size_t n = 0;
  for (const Equation& e : graph.equations()) n += e.primitive() == primitive;
  return n;
}

const auto cubes = [](auto x) { return sum(x * x * x); };

TEST(Grad, OfAScalarFunctionIsItsDerivative) {
  EXPECT_DOUBLE_EQ(grad([](auto x) { return sin(x) * x; })(2.0).item(), std::cos(2.0) * 2 + std::sin(2.0));
}

TEST(Grad, HasTheShapeOfTheArgument) { EXPECT_TRUE(allclose(grad(cubes)(D{{1, 2}, {3, 4}}), D{{3, 12}, {27, 48}})); }

TEST(Grad, IsOfTheFirstArgumentWithoutArgnums) {
  const auto f = [](auto x, auto w) { return sum(x * w); };
  EXPECT_TRUE(array_equal(grad(f)(D{1, 2}, F{3, 4}), D{3, 4}));
}

TEST(Grad, TakesArgumentsInAnyOrderAndTwice) {
  const auto f = [](auto x, auto y, auto z) { return x * x * y + z * y; };
  const auto [dz, dx, again] = grad(f, argnums<2, 0, 2>)(2.0, 3.0, 5.0);
  EXPECT_EQ(dz.item(), 3);
  EXPECT_EQ(dx.item(), 12);
  EXPECT_EQ(again.item(), 3);
}

TEST(Grad, OneArgnumGivesATuple) {
  const auto g = grad([](auto x, auto y) { return x * y; }, argnums<1>)(2.0, 3.0);
  static_assert(std::same_as<decltype(g), const std::tuple<D>>);
  EXPECT_EQ(std::get<0>(g).item(), 2);
}

TEST(Grad, HasTheArgumentsTreeAndItsStaticMembers) {
  const auto loss = [](const auto& n, auto x) {
    auto h = tanh(matmul(x, n.first.w) + n.first.b);
    for (const auto& layer : n.rest) h = h * layer.w + layer.b;
    for (const auto& [key, value] : n.named) h = h + value;
    if (n.scale) h = h * *n.scale;
    return sum(h) * n.depth;
  };
  Network<D> n{{{{1, 2}, {3, 4}}, {0, 1}}, {{{1, 1}, {2, 2}}, {{3, 3}, {4, 4}}}, {{"a", D(1.0)}}, D(2.0), 3};
  const D x = {{1, 0.5}};
  const Network<D> g = grad(loss)(n, x);
  EXPECT_EQ(g.depth, 3);
  ASSERT_EQ(g.rest.size(), 2u);
  ASSERT_TRUE(g.scale.has_value());
  const auto value = jit(loss);
  const double step = 1e-6;
  const auto difference = [&](auto&& change) {
    Network<D> up = n, down = n;
    change(up, step);
    change(down, -step);
    return (value(up, x).item() - value(down, x).item()) / (2 * step);
  };
  EXPECT_NEAR(difference([](auto& m, double h) { m.first.w = m.first.w + D{{0, 0}, {h, 0}}; }), g.first.w(1, 0), 1e-5);
  EXPECT_NEAR(difference([](auto& m, double h) { m.rest[1].w = m.rest[1].w + D{0, h}; }), g.rest[1].w(1), 1e-5);
  EXPECT_NEAR(difference([](auto& m, double h) { m.named["a"] = m.named["a"] + h; }), g.named.at("a").item(), 1e-5);
  EXPECT_NEAR(difference([](auto& m, double h) { m.scale = *m.scale + h; }), g.scale->item(), 1e-4);
}

TEST(Grad, OfMatricesOfEigen) {
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(3, 1, 3);
  const Eigen::VectorXd g = grad([](auto v) { return sum(v * v); })(x);
  EXPECT_EQ(g, 2 * x);
  const auto by_eigen = [](auto v) {
    Eigen::Matrix<Tracer<double>, 3, 1> r = v;
    return r.dot(r);
  };
  EXPECT_EQ(Eigen::VectorXd(grad(by_eigen)(x)), 2 * x);
}

TEST(Grad, StaticArgumentsAreSeenAsTheyAre) {
  const auto power = [](auto x, int n) {
    auto y = x;
    for (int i = 1; i < n; ++i) y = y * x;
    return y;
  };
  EXPECT_EQ(grad(power)(2.0, static_arg(3)).item(), 12);
  EXPECT_EQ(grad(power)(2.0, static_arg(2)).item(), 4);
}

TEST(Grad, IntegerLeavesOfOtherArgumentsMayBeThere) {
  const auto f = [](auto x, auto i) { return x[i] * x[i]; };
  EXPECT_TRUE(array_equal(grad(f)(D{1, 2, 3}, 1), D{0, 4, 0}));
}

TEST(Grad, OfAConstantIsZero) {
  EXPECT_TRUE(array_equal(grad([](auto) { return 2.0; })(D{1, 2}), D{0, 0}));
  EXPECT_TRUE(array_equal(grad([](auto x) { return sum(stop_gradient(x) * 2.0); })(D{1, 2}), D{0, 0}));
}

TEST(Grad, OfAComplexArgumentFollowsTheConvention) {
  // |z|^2 = x^2 + y^2: df/dx - i df/dy.
  const std::complex<double> z(1, 2);
  EXPECT_EQ(grad([](auto v) { return real(v * conj(v)); })(z).item(), std::complex<double>(2, -4));
}

TEST(Grad, DropsAuxiliaryResults) {
  const auto f = [](auto x) { return std::pair{sum(x * x), x + 1.0}; };
  const auto g = grad(f)(D{1, 2});
  static_assert(std::same_as<decltype(g), const D>);
  EXPECT_TRUE(array_equal(g, D{2, 4}));
}

TEST(ValueAndGrad, GivesBoth) {
  const auto [y, g] = value_and_grad(cubes)(D{1, 2});
  EXPECT_EQ(y.item(), 9);
  EXPECT_TRUE(array_equal(g, D{3, 12}));
}

TEST(ValueAndGrad, KeepsAuxiliaryResultsOfAnyTree) {
  const auto f = [](auto x, auto n) { return std::pair{sum(x * x), std::tuple{x * 3.0, n + 1, Layer{x, x}}}; };
  const auto [value, g] = value_and_grad(f, argnums<0>)(D{1, 2}, 7);
  const auto& [y, aux] = value;
  EXPECT_EQ(y.item(), 5);
  EXPECT_TRUE(array_equal(std::get<0>(aux), D{3, 6}));
  EXPECT_EQ(std::get<1>(aux).item(), 8);
  EXPECT_TRUE(array_equal(std::get<2>(aux).b, D{1, 2}));
  EXPECT_TRUE(array_equal(std::get<0>(g), D{2, 4}));
}

TEST(ValueAndGrad, AuxiliaryResultsTakeNoPartButCanBeDifferentiatedFurther) {
  const auto f = [](auto x) { return std::pair{x * x, x * x * x}; };
  const auto both = [f](auto x) {
    const auto [value, g] = value_and_grad(f)(x);
    return value.second + g;
  };
  EXPECT_EQ(jit(both)(2.0).item(), 8 + 4);
  EXPECT_EQ(grad(both)(2.0).item(), 12 + 2);
  const auto with_stopped = [](auto x) {
    const auto [value, g] = value_and_grad([](auto v) { return std::pair{v * v, stop_gradient(v * v)}; })(x);
    return value.second + g;
  };
  EXPECT_EQ(grad(with_stopped)(2.0).item(), 2);
}

TEST(Grad, NestsWithItself) {
  const auto f = [](auto x) { return x * x * x * x; };
  EXPECT_EQ(grad(grad(f))(2.0).item(), 48);
  EXPECT_EQ(grad(grad(grad(f)))(2.0).item(), 48);
  EXPECT_EQ(grad(jit(grad(jit(f))))(2.0).item(), 48);
}

TEST(Grad, OfTheInnerVariableDoesNotTouchTheOuterOne) {
  // d/dx (x * d/dy (x + y)) = 1, which confused perturbations would make 2.
  const auto f = [](auto x) { return x * grad([x](auto y) { return x + y; })(x * 0.0 + 1.0); };
  EXPECT_EQ(grad(f)(3.0).item(), 1);
  const auto g = [](auto x) { return grad([x](auto y) { return x * x * y * y; })(x); };
  EXPECT_EQ(jit(g)(3.0).item(), 2 * 27);
  EXPECT_EQ(grad(g)(3.0).item(), 6 * 9);
}

TEST(Grad, OfFunctionsWithControlFlow) {
  const auto f = [](auto x) {
    const auto summed = fori_loop(0, 5, [x](auto, auto s) { return s * x; }, x);
    return cond(x > 0, [](auto s) { return s; }, [x](auto s) { return -s * x; }, summed);
  };
  EXPECT_DOUBLE_EQ(grad(f)(1.5).item(), 6 * std::pow(1.5, 5));
  EXPECT_DOUBLE_EQ(grad(f)(-1.5).item(), -7 * std::pow(-1.5, 6));
}

TEST(Grad, CanBeTakenInsideControlFlow) {
  const auto newton = [](auto start) {
    return fori_loop(
        0, 20,
        [](auto, auto x) {
          const auto [y, dy] = value_and_grad([](auto v) { return v * v - 2.0; })(x);
          return x - y / dy;
        },
        start);
  };
  EXPECT_DOUBLE_EQ(jit(newton)(1.0).item(), std::sqrt(2.0));
}

TEST(Grad, MixesTracersAndData) {
  const D w = {1, 2, 3};
  const auto f = jit([w](auto x) {
    auto g = grad([](auto a, auto b) { return sum(a * b * b); }, argnums<0, 1>)(w, x);
    static_assert(std::same_as<decltype(g), std::tuple<Tracer<double>, Tracer<double>>>);
    return g;
  });
  const auto [dw, dx] = f(D{4, 5, 6});
  EXPECT_TRUE(array_equal(dw, D{16, 25, 36}));
  EXPECT_TRUE(array_equal(dx, D{8, 20, 36}));
}

TEST(Grad, OnDataAloneRunsAtOnceInsideATrace) {
  const auto f = jit([](auto x) {
    const D now = grad(cubes)(D{1, 2});
    EXPECT_EQ(now(1), 12);
    return x * now;
  });
  EXPECT_TRUE(array_equal(f(D{1, 1}), D{3, 12}));
}

TEST(Grad, DonatesAndNamesAsJitDoes) {
  const auto step = jit(grad(cubes), {.name = "step", .donate = {0}});
  D x = {1, 2};
  EXPECT_TRUE(array_equal(step(x), D{3, 12}));
  EXPECT_THROW(x.host(), Error);
}

TEST(Grad, CapturelessFunctionsShareCompiledForms) {
  const auto make = [] { return grad([](auto x) { return x * x * x; }); };
  const auto first = make();
  first(2.0);
  const auto second = make();
  EXPECT_EQ(first.state(), first.state());
  EXPECT_GE(detail::cache_info_of(*second.state()).entries, 1u);
  const double scale = 3;
  const auto capturing = grad([scale](auto x) { return x * scale; });
  EXPECT_EQ(capturing(1.0).item(), 3);
  const auto nested = grad(grad(jit([](auto x) { return x * x * x; })));
  EXPECT_EQ(nested(2.0).item(), 12);
}

TEST(Grad, WorksFromManyThreadsAtOnce) {
  const auto g = grad([](auto x) { return sum(x * sin(x)); });
  const D x = D::linspace(0, 1, 64);
  const D expected = sin(x) + x * cos(x);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(allclose(g(x), expected));
    });
  }
  for (std::thread& t : threads) t.join();
}

// ---- recorded graphs

TEST(GradGraph, OfTanhIsAsSmallAsByHand) {
  const auto f = [](auto w, auto x, auto b) { return sum(tanh(w * x + b)); };
  const Graph g = jit(grad(f)).trace(F{1, 2}, F{3, 4}, F{5, 6});
  // t = tanh(w * x + b); dw = (1 - t * t) * x
  EXPECT_EQ(count(g, "tanh"), 1u);
  EXPECT_LE(g.num_equations(), 6u) << g;
}

TEST(GradGraph, OfALinearFunctionHasNoPrimalLeft) {
  const auto f = [](auto x, auto w) { return sum(matmul(w, x) * 3.0); };
  const Graph g = jit(grad(f)).trace(D{1, 2}, D{{1, 2}, {3, 4}});
  bool uses_x = false;
  for (const Equation& e : g.equations()) {
    for (Value v : e.operands()) uses_x |= v == g.inputs()[0];
  }
  EXPECT_FALSE(uses_x) << g;
}

TEST(GradGraph, OfUnusedArgumentsIsALiteral) {
  const auto f = [](auto x, auto y) { return sum(y * y) + sum(x) * 0.0; };
  const auto g = [f](auto x, auto y) { return grad([f, x](auto z) { return f(x, z); })(y); };
  EXPECT_LE(jit(g).trace(D{1, 2}, D{3, 4}).num_equations(), 2u);
}

}  // namespace
}  // namespace calque
