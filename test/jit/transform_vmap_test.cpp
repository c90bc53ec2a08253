// vmap: all forms of axes of arguments and results, nesting, control flow, captures.
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

const D kRows = {{1, 2, 3}, {4, 5, 6}};
const auto dots = [](auto x, auto w) { return sum(x * w); };

TEST(Vmap, GoesAlongTheLeadingAxisByDefault) {
  EXPECT_TRUE(array_equal(vmap([](auto x) { return sum(x * x); })(kRows), D{14, 77}));
  EXPECT_TRUE(array_equal(vmap(dots)(kRows, kRows), D{14, 77}));
}

TEST(Vmap, FunctionSeesOneExample) {
  vmap([](auto x, auto s) {
    EXPECT_EQ(x.shape(), (Shape{3}));
    EXPECT_EQ(s.rank(), 0);
    return x * s;
  })(kRows, D{1, 2});
}

TEST(Vmap, ArgumentsMayBeTheSameForAllExamples) {
  const auto f = vmap(dots, {.in_axes = {0, none}});
  EXPECT_TRUE(array_equal(f(kRows, D{1, 10, 100}), D{321, 654}));
  EXPECT_TRUE(array_equal(vmap([](auto x, auto s) { return x * s; }, {.in_axes = {0, none}})(D{1, 2}, 3.0), D{3, 6}));
}

TEST(Vmap, AnyAxisCountedFromEitherEnd) {
  EXPECT_TRUE(array_equal(vmap([](auto x) { return sum(x); }, {.in_axes = {1}})(kRows), D{5, 7, 9}));
  EXPECT_TRUE(array_equal(vmap([](auto x) { return sum(x); }, {.in_axes = {-1}})(kRows), D{5, 7, 9}));
  EXPECT_TRUE(array_equal(vmap([](auto x) { return sum(x); }, {.in_axes = {-2}})(kRows), D{6, 15}));
  EXPECT_TRUE(array_equal(vmap(dots, {.in_axes = {0, 1}})(kRows, kRows.T()), D{14, 77}));
}

TEST(Vmap, ResultsMayHaveTheBatchAnywhere) {
  const auto twice = [](auto x) { return x * 2.0; };
  EXPECT_TRUE(array_equal(vmap(twice, {.out_axes = {1}})(kRows), D{{2, 8}, {4, 10}, {6, 12}}));
  EXPECT_TRUE(array_equal(vmap(twice, {.out_axes = {-1}})(kRows), D{{2, 8}, {4, 10}, {6, 12}}));
  EXPECT_TRUE(array_equal(vmap(twice, {.in_axes = {1}, .out_axes = {-1}})(kRows), kRows * 2.0));
}

TEST(Vmap, AxesOfResultsByPart) {
  const auto f = [](auto x) { return std::tuple{x, sum(x), Layer{x * 2.0, x + 1.0}}; };
  const auto [a, b, l] = vmap(f, {.out_axes = {1, 0, {1, 0}}})(kRows);
  EXPECT_TRUE(array_equal(a, kRows.T()));
  EXPECT_TRUE(array_equal(b, D{6, 15}));
  EXPECT_TRUE(array_equal(l.w, kRows.T() * 2.0));
  EXPECT_TRUE(array_equal(l.b, kRows + 1.0));
  const auto [c, d] = vmap([](auto x) { return std::pair{x, x}; }, {.out_axes = {{1, 0}}})(kRows);
  EXPECT_TRUE(array_equal(c, kRows.T()));
  EXPECT_TRUE(array_equal(d, kRows));
}

TEST(Vmap, ResultThatIsTheSameForAllExamples) {
  const auto f = [](auto x, auto s) { return std::pair{x * s, s * 2.0}; };
  const auto [a, b] = vmap(f, {.in_axes = {0, none}, .out_axes = {0, none}})(D{1, 2}, 3.0);
  EXPECT_EQ(b.item(), 6);
  const auto [c, d] = vmap(f, {.in_axes = {0, none}})(D{1, 2}, 3.0);
  EXPECT_TRUE(array_equal(d, D{6, 6}));
}

TEST(Vmap, PrefixTreesReachEveryLeaf) {
  const auto f = [](const auto& l, auto t) { return sum(l.w * l.b) * std::get<0>(t) + sum(std::get<1>(t)); };
  const Layer<D> both{kRows, kRows}, first{kRows, {1, 1, 1}};
  const std::tuple<D, D> t{D{1, 2}, D{10, 20}};
  EXPECT_TRUE(array_equal(vmap(f, {.in_axes = {0, {0, none}}})(both, t), D{14 + 30, 154 + 30}));
  EXPECT_TRUE(array_equal(vmap(f, {.in_axes = {{0, none}, {0, none}}})(first, t), D{6 + 30, 30 + 30}));
  EXPECT_TRUE(array_equal(vmap(f, {.in_axes = {none, 0}})(Layer<D>{{1, 1}, {2, 3}}, t), D{15, 30}));
}

TEST(Vmap, PrefixTreesOfContainers) {
  const auto f = [](const auto& v, const auto& m, const auto& o) { return v[0] * v[1] + m.at("k") + *o; };
  const std::vector<D> v = {D{1, 2}, D(3.0)};
  const std::map<std::string, D> m = {{"k", D{10, 20}}};
  const std::optional<D> o = D{100, 200};
  EXPECT_TRUE(array_equal(vmap(f, {.in_axes = {{0, none}, {0}, 0}})(v, m, o), D{113, 226}));
}

TEST(Vmap, StaticArgumentsNeedNoAxis) {
  const auto f = [](auto x, int n, const auto& l) { return sum(x) * n + l.depth; };
  EXPECT_TRUE(array_equal(vmap(f)(kRows, static_arg(2), Layer<D>{{0, 0}, {0, 0}, 5}), D{17, 35}));
  EXPECT_TRUE(
      array_equal(vmap(f, {.in_axes = {0, 7, none}})(kRows, static_arg(2), Layer<D>{{0, 0}, {0, 0}, 5}), D{17, 35}));
}

TEST(Vmap, Nests) {
  const D a = {{1, 2}, {3, 4}}, b = {{5, 6}, {7, 8}};
  const auto products = vmap(vmap(dots, {.in_axes = {none, 0}}), {.in_axes = {0, none}});
  EXPECT_TRUE(array_equal(products(a, b), matmul(a, b.T())));
}

TEST(Vmap, OfGradientsGivesOnePerExample) {
  const auto loss = [](auto w, auto x, auto y) { return square(sum(w * x) - y); };
  const auto per_example = vmap(grad(jit(loss)), {.in_axes = {none, 0, 0}});
  const D w = {1, 0, -1}, y = {1, 2};
  const D g = per_example(w, kRows, y);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(allclose(g[i], grad(loss)(w, kRows[i], y[i])));
}

TEST(Vmap, CanBeDifferentiated) {
  const auto f = [](auto w, auto xs) { return sum(vmap(dots, {.in_axes = {0, none}})(xs, w)); };
  EXPECT_TRUE(array_equal(grad(f)(D{1, 2, 3}, kRows), D{5, 7, 9}));
  const auto [dxs] = grad(f, argnums<1>)(D{1, 2, 3}, kRows);
  EXPECT_TRUE(array_equal(dxs, D{{1, 2, 3}, {1, 2, 3}}));
}

TEST(Vmap, CapturesAreTheSameForAllExamples) {
  const auto f = jit([](auto w, auto xs) { return vmap([w](auto x) { return sum(x * w); })(xs); });
  EXPECT_TRUE(array_equal(f(D{1, 10, 100}, kRows), D{321, 654}));
  const auto g = grad([](auto w, auto xs) { return sum(vmap([w](auto x) { return sum(x * w); })(xs)); });
  EXPECT_TRUE(array_equal(g(D{1, 10, 100}, kRows), D{5, 7, 9}));
}

TEST(Vmap, OfControlFlow) {
  const auto collatz = [](auto n) {
    return std::get<1>(while_loop([](auto s) { return std::get<0>(s) != 1; },
                                  [](auto s) {
                                    auto [k, steps] = s;
                                    return std::tuple{where(k % 2 == 0, k / 2, 3 * k + 1), steps + 1};
                                  },
                                  std::tuple{n, 0}));
  };
  EXPECT_TRUE(array_equal(vmap(collatz)(Array<int32_t>{1, 6, 7, 27}), Array<int32_t>{0, 8, 16, 111}));
  const auto branch = [](auto x) { return cond(x > 0, [](auto v) { return v; }, [](auto v) { return -2.0 * v; }, x); };
  EXPECT_TRUE(array_equal(vmap(branch)(D{1, -1, 3}), D{1, 2, 3}));
  const auto running = [](auto xs) { return scan([](auto c, auto x) { return std::pair{c + x, c}; }, 0.0, xs).second; };
  EXPECT_TRUE(array_equal(vmap(running)(kRows), D{{0, 1, 3}, {0, 4, 9}}));
}

TEST(Vmap, OfEigenLambdas) {
  const auto rotate = [](auto angle, auto v) {
    const Eigen::Matrix<Tracer<double>, 2, 1> p = v;
    Eigen::Matrix<Tracer<double>, 2, 2> r;
    r << cos(angle), -sin(angle), sin(angle), cos(angle);
    return Eigen::Matrix<Tracer<double>, 2, 1>(r * p);
  };
  const D rotated = vmap(rotate, {.in_axes = {none, 0}})(M_PI / 2, D{{1, 0}, {0, 1}});
  EXPECT_TRUE(allclose(rotated, D{{0, 1}, {-1, 0}}, 1e-12, 1e-12));
}

TEST(Vmap, OfNoExamplesAndOfOne) {
  EXPECT_EQ(vmap(dots)(D::zeros({0, 3}), D::zeros({0, 3})).shape(), (Shape{0}));
  EXPECT_TRUE(array_equal(vmap(dots)(D{{1, 2}}, D{{3, 4}}), D{11}));
}

TEST(Vmap, FunctionsWithOtherAxesDoNotShareCompiledForms) {
  const auto make = [](int axis) { return vmap([](auto x) { return sum(x); }, {.in_axes = {axis}}); };
  EXPECT_TRUE(array_equal(make(0)(kRows), D{6, 15}));
  EXPECT_TRUE(array_equal(make(1)(kRows), D{5, 7, 9}));
}

TEST(Vmap, MixesTracersAndData) {
  const auto f = jit([](auto w) { return vmap(dots, {.in_axes = {0, none}})(kRows, w); });
  EXPECT_TRUE(array_equal(f(D{1, 10, 100}), D{321, 654}));
}

}  // namespace
}  // namespace calque
