// jvp, vjp and linearize: values, trees, and the returned linear maps.
#include <sstream>

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
  int depth = 1;
};

const auto product = [](auto x, auto y) { return x * sin(y); };

size_t count(const Graph& graph, const std::string& primitive) {
  size_t n = 0;
  for (const Equation& e : graph.equations()) n += e.primitive() == primitive;
  return n;
}

// ---- jvp

TEST(Jvp, GivesValueAndTangent) {
  const auto [y, dy] = jvp(product, std::tuple{2.0, 3.0}, std::tuple{1.0, 10.0});
  EXPECT_DOUBLE_EQ(y.item(), 2 * std::sin(3.0));
  EXPECT_DOUBLE_EQ(dy.item(), std::sin(3.0) + 20 * std::cos(3.0));
}

TEST(Jvp, TangentsMayBeOfOtherKindsOfTheSameTree) {
  const Eigen::VectorXd direction = Eigen::VectorXd::Ones(2);
  const auto [y, dy] = jvp([](auto x) { return x * x; }, std::tuple{D{1, 2}}, std::tuple{direction});
  EXPECT_TRUE(array_equal(dy, D{2, 4}));
}

TEST(Jvp, OfTreesAndStaticArguments) {
  const auto f = [](const auto& l, int n) { return Layer{l.w * l.b, l.b * n, l.depth}; };
  const Layer<D> l{{1, 2}, {3, 4}, 5}, dl{{1, 0}, {0, 1}, 5};
  const auto [y, dy] = jvp(f, std::tuple{l, static_arg(2)}, std::tuple{dl, static_arg(2)});
  EXPECT_TRUE(array_equal(y.w, D{3, 8}));
  EXPECT_TRUE(array_equal(dy.w, D{3, 2}));
  EXPECT_TRUE(array_equal(dy.b, D{0, 2}));
  EXPECT_EQ(dy.depth, 5);
}

TEST(Jvp, OfOneArgumentThatIsATuple) {
  const auto f = [](auto t) { return std::get<0>(t) * std::get<1>(t); };
  const auto [y, dy] = jvp(f, args(std::tuple{2.0, 3.0}), args(std::tuple{1.0, 0.0}));
  EXPECT_EQ(y.item(), 6);
  EXPECT_EQ(dy.item(), 3);
}

TEST(Jvp, IntegerLeavesHaveTangentsZero) {
  const auto f = [](auto x, auto n) { return std::pair{x * n, n + 1}; };
  const auto [y, dy] = jvp(f, std::tuple{2.0, 3}, std::tuple{1.0, 100});
  EXPECT_EQ(y.second.item(), 4);
  EXPECT_EQ(dy.first.item(), 3);
  EXPECT_EQ(dy.second.item(), 0);
}

TEST(Jvp, ATracerAmongTheTangentsMakesTracers) {
  const auto f = jit([](auto dx) {
    auto [y, dy] = jvp([](auto x) { return x * x; }, std::tuple{D{1, 2}}, std::tuple{dx});
    static_assert(std::same_as<decltype(y), Tracer<double>>);
    return std::pair{y, dy};
  });
  const auto [y, dy] = f(D{1, 1});
  EXPECT_TRUE(array_equal(y, D{1, 4}));
  EXPECT_TRUE(array_equal(dy, D{2, 4}));
}

TEST(Jvp, NestsWithItselfAndWithVjp) {
  const auto f = [](auto x) { return x * x * x; };
  const auto df = [f](auto x) { return jvp(f, std::tuple{x}, std::tuple{x * 0.0 + 1.0}).second; };
  EXPECT_EQ(jvp(df, std::tuple{2.0}, std::tuple{1.0}).second.item(), 12);
  const auto pulled = [f](auto x) {
    auto [y, pullback] = vjp(f, x);
    return std::get<0>(pullback(y));
  };
  // d/dx (3 x^2 * x^3) = 15 x^4
  EXPECT_EQ(jvp(pulled, std::tuple{2.0}, std::tuple{1.0}).second.item(), 240);
}

// ---- vjp

TEST(Vjp, PullbackGivesATupleWithOneElementAnArgument) {
  const auto [y, pullback] = vjp(product, D{1, 2}, F{3, 4});
  EXPECT_EQ(y.dtype(), DType::f64);
  const auto g = pullback(D{1, 10});
  static_assert(std::same_as<decltype(g), const std::tuple<D, F>>);
  const auto& [dx, dy] = g;
  EXPECT_TRUE(allclose(dx, D{std::sin(3.0), 10 * std::sin(4.0)}, 1e-6, 1e-6));
  EXPECT_TRUE(allclose(dy, F{std::cos(3.0f), 20 * std::cos(4.0f)}, 1e-5, 1e-5));
}

TEST(Vjp, PullbackCanBeKeptAndCalledAgain) {
  const auto make = [](double at) { return vjp([](auto x) { return x * x; }, at).second; };
  const auto at_three = make(3), at_four = make(4);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(std::get<0>(at_three(double(i))).item(), 6 * i);
    EXPECT_EQ(std::get<0>(at_four(double(i))).item(), 8 * i);
  }
}

TEST(Vjp, OneArgumentGivesATupleToo) {
  const auto [y, pullback] = vjp([](auto x) { return x * 2.0; }, 3.0);
  const auto g = pullback(y);
  static_assert(std::same_as<decltype(g), const std::tuple<D>>);
  EXPECT_EQ(std::get<0>(g).item(), 12);
}

TEST(Vjp, OfTreesWithStaticPartsAndIntegerResults) {
  const auto f = [](const auto& l, int k) { return std::tuple{l.w * l.b * 2, argmax(l.w, 0), l.b * k}; };
  const Layer<D> l{{1, 2}, {3, 4}, 7};
  const auto [y, pullback] = vjp(f, l, static_arg(5));
  const auto [dl, dk] = pullback(std::tuple{D{1, 1}, 9, D{0, 1}});
  EXPECT_TRUE(array_equal(dl.w, D{6, 8}));
  EXPECT_TRUE(array_equal(dl.b, D{2, 9}));
  EXPECT_EQ(dl.depth, 7);
  EXPECT_EQ(dk, 5);
}

TEST(Vjp, OfEigenMatricesAndScalars) {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Identity(2, 2) * 3;
  const auto [y, pullback] = vjp([](auto m, auto s) { return m * s; }, a, 2.0f);
  const auto [da, ds] = pullback(Eigen::MatrixXd::Ones(2, 2).eval());
  EXPECT_EQ(Eigen::MatrixXd(da), Eigen::MatrixXd::Constant(2, 2, 2));
  EXPECT_EQ(ds.item(), 6);
}

TEST(Vjp, GraphOfThePullbackPrints) {
  const auto [y, pullback] = vjp([](auto x, auto z) { return x * z + sin(z); }, 2.0, 3.0);
  const Graph g = pullback.graph();
  g.verify();
  std::ostringstream out;
  out << g;
  EXPECT_NE(out.str().find("mul"), std::string::npos) << out.str();
  EXPECT_EQ(count(g, "sin"), 0u) << g;
  EXPECT_LE(g.inputs().size(), 4u) << g;
  EXPECT_EQ(g.outputs().size(), 2u);
}

TEST(Vjp, KeepsNothingOfALinearFunction) {
  const auto [y, pullback] = vjp([](auto x) { return sum(x) * 2.0; }, D{1, 2, 3});
  EXPECT_EQ(pullback.graph().inputs().size(), 1u) << pullback.graph();
  EXPECT_TRUE(array_equal(std::get<0>(pullback(1.0)), D{2, 2, 2}));
}

TEST(Vjp, ArgumentsThatAreKeptAreNotCopied) {
  const D x = D::ones({1000});
  const auto [y, pullback] = vjp([](auto a, auto b) { return a * b; }, x, x);
  EXPECT_EQ(pullback.graph().num_equations(), 2u) << pullback.graph();
}

TEST(Vjp, InsideATraceItIsPartOfIt) {
  const auto f = jit([](auto x) {
    auto [y, pullback] = vjp([](auto v) { return v * v; }, x);
    static_assert(std::same_as<decltype(y), Tracer<double>>);
    auto [once] = pullback(y);
    auto [twice] = pullback(D{1, 1});
    return once + twice;
  });
  EXPECT_TRUE(array_equal(f(D{1, 2}), D{4, 20}));
}

TEST(Vjp, PullbackMadeOnDataTakesTracers) {
  const auto [y, pullback] = vjp([](auto v) { return v * v; }, D{1, 2});
  const auto f = jit([pullback = pullback](auto ybar) {
    auto [g] = pullback(ybar);
    static_assert(std::same_as<decltype(g), Tracer<double>>);
    return g;
  });
  EXPECT_TRUE(array_equal(f(D{1, 10}), D{2, 40}));
}

TEST(Vjp, PullbackCanBeCalledInBodies) {
  const auto f = jit([](auto x, auto ys) {
    auto [y, pullback] = vjp([](auto v) { return v * v; }, x);
    return map([pullback = pullback](auto ybar) { return std::get<0>(pullback(ybar)); }, ys);
  });
  EXPECT_TRUE(array_equal(f(3.0, D{1, 2}), D{6, 12}));
}

TEST(Vjp, OfAFunctionOfCapturedTracers) {
  const auto f = [](auto x) {
    auto [y, pullback] = vjp([x](auto v) { return v * v * x; }, x);
    return std::get<0>(pullback(y));
  };
  // y = x^3, dy/dv = 2 x^2: 2 x^5, and its derivative 10 x^4.
  EXPECT_EQ(jit(f)(2.0).item(), 64);
  EXPECT_EQ(grad(f)(2.0).item(), 160);
}

TEST(Vjp, OfLoopsKeepsResidualsOfEachStep) {
  const auto f = [](auto x) { return fori_loop(0, 4, [](auto, auto s) { return s * s; }, x); };
  const auto [y, pullback] = vjp(f, 1.1);
  EXPECT_NEAR(y.item(), std::pow(1.1, 16), 1e-12);
  EXPECT_NEAR(std::get<0>(pullback(1.0)).item(), 16 * std::pow(1.1, 15), 1e-12);
}

// ---- linearize

TEST(Linearize, GivesTheTangentMap) {
  const auto [y, linear] = linearize(product, 2.0, 3.0);
  EXPECT_DOUBLE_EQ(y.item(), 2 * std::sin(3.0));
  EXPECT_DOUBLE_EQ(linear(1.0, 0.0).item(), std::sin(3.0));
  EXPECT_DOUBLE_EQ(linear(0.0, 1.0).item(), 2 * std::cos(3.0));
}

TEST(Linearize, DoesNotComputeTheFunctionAgain) {
  const auto [y, linear] = linearize([](auto x) { return sin(x); }, D{1, 2});
  const Graph g = linear.graph();
  EXPECT_EQ(count(g, "cos"), 0u) << g;
  EXPECT_EQ(g.inputs().size(), 2u) << g;
}

TEST(Linearize, OfResultsThatDoNotDependOnTheTangents) {
  const auto [y, linear] = linearize([](auto x) { return std::tuple{x * 3.0, cast<int>(x) + 3, D{1, 2}}; }, 2.0);
  EXPECT_EQ(std::get<1>(y).item(), 5);
  const auto dy = linear(1.0);
  EXPECT_EQ(std::get<0>(dy).item(), 3);
  EXPECT_EQ(std::get<1>(dy).item(), 0);
  EXPECT_TRUE(array_equal(std::get<2>(dy), D{0, 0}));
}

TEST(Linearize, OfALoopOfUnknownLength) {
  const auto f = [](auto x) { return while_loop([](auto s) { return s < 100.0; }, [](auto s) { return s * s; }, x); };
  const auto [y, linear] = linearize(f, 2.0);
  EXPECT_EQ(y.item(), 256);
  EXPECT_EQ(linear(1.0).item(), 8 * 128);
}

TEST(Linearize, InsideATraceAndWithTracers) {
  const auto f = jit([](auto x) {
    auto [y, linear] = linearize([](auto v) { return v * v; }, x);
    return linear(D{1, 1}) + linear(y);
  });
  EXPECT_TRUE(array_equal(f(D{1, 2}), D{4, 20}));
}

}  // namespace
}  // namespace calque
