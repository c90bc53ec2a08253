// Functions of whole trees: maps, sums, zeros, one array of all elements, arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using F = Array<float>;
using D = Array<double>;
using testing::HasSubstr;

TEST(TreeValues, MapOfSeveralTrees) {
  const Layer<F> net{{{1, 2}, {3, 4}}, {5, 6}}, g{{{10, 20}, {30, 40}}, {50, 60}};
  const Layer<F> next = tree_map([](auto a, auto b) { return a - 0.1 * b; }, net, g);
  EXPECT_TRUE(allclose(next.w, F{{0, 0}, {0, 0}}, 1e-5, 1e-6));
  EXPECT_TRUE(allclose(next.b, F{0, 0}, 1e-5, 1e-6));
  const Layer<D> wide = tree_map([](auto a) { return cast<double>(a); }, net);
  EXPECT_EQ(wide.b(1), 6);
  const Layer<F> mixed =
      tree_map([](auto a, auto b) { return a + b; },
               Layer<Eigen::MatrixXf>{Eigen::MatrixXf::Ones(2, 2), Eigen::MatrixXf::Ones(1, 2)}, net);
  EXPECT_TRUE(array_equal(mixed.w, F{{2, 3}, {4, 5}}));
  EXPECT_TRUE(array_equal(tree_map([](auto a) { return -a; }, D{1, 2}), D{-1, -2}));
}

TEST(TreeValues, MapsOfStates) {
  const State<double> sum = tree_map([](auto a, auto b) { return a + b; }, state(), state());
  EXPECT_EQ(sum.v, Eigen::Vector3d(2, 4, 6));
  EXPECT_EQ(sum.m, 4);
  const State<float> f = tree_map([](auto a) { return cast<float>(a); }, state());
  EXPECT_EQ(f.v, Eigen::Vector3f(1, 2, 3));
  const Kept<double> kept = tree_map([](auto a) { return a * 2.0; }, Kept<double>{{1, 2, 3}, 2, "n", {4}, true, 5.0});
  EXPECT_EQ(kept.q, Eigen::Vector3d(2, 4, 6));
  EXPECT_EQ(kept.plain, 5.0);
  EXPECT_EQ(kept.dims, std::vector<int>{4});
  const Pose<double> p = tree_map([](auto a) { return a + 1.0; }, pose());
  EXPECT_EQ(p.gains, (std::vector<double>{1.5, 1.25, 5}));
  EXPECT_EQ(p.extra, 10);
  const Fleet<double> fleet =
      tree_map([](auto a) { return a * 2.0; }, Fleet<double>{{state()}, {{"a", 1}}, {}, {3, {4, 5}}});
  EXPECT_EQ(fleet.all[0].m, 4);
  EXPECT_EQ(fleet.named.at("a"), 2);
  EXPECT_FALSE(fleet.last.has_value());
}

TEST(TreeValues, TreesOfOtherSizesAreErrors) {
  const std::vector<F> three(3, F{1}), two(2, F{1});
  try {
    tree_map([](auto a, auto b) { return a + b; }, three, two);
    FAIL();
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("tree_map"));
    EXPECT_THAT(e.what(), HasSubstr("3 elements"));
  }
}

TEST(TreeValues, ReduceZerosAndLeaves) {
  const Layer<F> net{{{1, 2}, {3, 4}}, {5, 6}};
  const auto add = [](auto a, auto b) { return a + sum(b); };
  EXPECT_EQ(tree_reduce(add, 0.0f, net).item(), 21);
  EXPECT_EQ(tree_reduce(add, 0.0, state()).item(), 9);
  EXPECT_TRUE(array_equal(zeros_like(net).w, F{{0, 0}, {0, 0}}));
  const State<double> z = zeros_like(state());
  EXPECT_EQ(z.v, Eigen::Vector3d(0, 0, 0));
  EXPECT_EQ(z.m, 0);
  const Kept<double> kept = zeros_like(Kept<double>{{1, 2, 3}, 2, "n", {4}, true, 5.0});
  EXPECT_EQ(kept.q, Eigen::Vector3d(0, 0, 0));
  EXPECT_EQ(kept.plain, 5.0);
  const std::vector<F> leaves = tree_leaves(net);
  ASSERT_EQ(leaves.size(), 2u);
  EXPECT_TRUE(array_equal(leaves[1], net.b));
  EXPECT_EQ(tree_leaves(state()).size(), 3u);
}

TEST(TreeValues, InsideATrace) {
  const Layer<F> net{{{1, 2}, {3, 4}}, {5, 6}};
  const auto f = jit([](const auto& n, auto t) {
    auto [flat, unravel] = ravel(n);
    auto z = tree_map([](auto a, auto b) { return a * 2.0 + b; }, n, zeros_like(n));
    auto total = tree_reduce([](auto a, auto b) { return a + sum(b); }, 0.0f, z);
    return std::tuple{unravel(flat * t), total, tree_leaves(n)};
  });
  const auto [scaled, total, leaves] = f(net, 3.0f);
  EXPECT_TRUE(array_equal(scaled.w, F{{3, 6}, {9, 12}}));
  EXPECT_EQ(total.item(), 42);
  EXPECT_TRUE(array_equal(leaves[1], net.b));
}

TEST(TreeValues, ArithmeticWhereItIsAskedFor) {
  using namespace tree_operators;
  const Layer<F> w{{1, 2}, {3}}, g{{10, 10}, {20}};
  const Layer<F> next = w - 0.1f * g;
  EXPECT_TRUE(allclose(next.w, F{0, 1}, 1e-5, 1e-6));
  EXPECT_TRUE(array_equal((w * w + 1.0f).b, F{10}));
  EXPECT_TRUE(array_equal((-(w / 2.0f)).b, F{-1.5f}));
  const State<double> s = state() + 2.0 * state();
  EXPECT_EQ(s.v, Eigen::Vector3d(3, 6, 9));
  const Layer<F> traced = jit([](const auto& a, const auto& b) { return a - b * 0.5; })(w, g);
  EXPECT_TRUE(array_equal(traced.w, F{-4, -3}));
}

}  // namespace
}  // namespace calque
