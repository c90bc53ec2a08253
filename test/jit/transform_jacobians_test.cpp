// jacfwd, jacrev and hessian: shapes and trees; both modes agree.
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

const auto squares = [](auto x) { return x * x; };

TEST(Jacobian, OfAVectorByAVector) {
  EXPECT_TRUE(array_equal(jacfwd(squares)(D{1, 2, 3}), D{{2, 0, 0}, {0, 4, 0}, {0, 0, 6}}));
  EXPECT_TRUE(array_equal(jacrev(squares)(D{1, 2, 3}), D{{2, 0, 0}, {0, 4, 0}, {0, 0, 6}}));
}

TEST(Jacobian, HasTheShapeOfTheResultThenThatOfTheArgument) {
  const D a = {{1, 2, 3}, {4, 5, 6}};
  const auto f = [a](auto x) { return matmul(a, x) * 2.0; };
  const D x = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  const D forward = jacfwd(f)(x), reverse = jacrev(f)(x);
  EXPECT_EQ(forward.shape(), (Shape{2, 4, 3, 4}));
  EXPECT_TRUE(array_equal(forward, reverse));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < 3; ++k) {
      EXPECT_EQ(forward(i, 1, k, 1), 2 * a(i, k));
      EXPECT_EQ(forward(i, 1, k, 2), 0);
    }
  }
}

TEST(Jacobian, OfScalarsAndOfSingleElements) {
  EXPECT_EQ(jacfwd(squares)(3.0).item(), 6);
  EXPECT_EQ(jacrev(squares)(3.0).item(), 6);
  EXPECT_TRUE(array_equal(jacfwd(squares)(D{3}), D{{6}}));
  EXPECT_TRUE(array_equal(jacrev(squares)(D{3}), D{{6}}));
  EXPECT_TRUE(array_equal(jacfwd([](auto x) { return x * D{1, 2}; })(3.0), D{1, 2}));
  EXPECT_TRUE(array_equal(jacrev([](auto x) { return sum(x * x); })(D{{1, 2}}), D{{2, 4}}));
}

TEST(Jacobian, OfNothing) {
  EXPECT_EQ(jacfwd(squares)(D::zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(jacrev(squares)(D::zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(jacfwd([](auto x) { return sum(x) * D{1, 2}; })(D::zeros({3, 0})).shape(), (Shape{2, 3, 0}));
}

TEST(Jacobian, ReplacesEachLeafByTheArgumentsTree) {
  const auto f = [](const auto& l) { return std::tuple{l.w * sum(l.b), std::vector{sum(l.w)}}; };
  const Layer<D> l{{1, 2}, {3, 4, 5}};
  const auto check = [](const auto& j) {
    using Expected = std::tuple<Layer<D>, std::vector<Layer<D>>>;
    static_assert(std::same_as<std::remove_cvref_t<decltype(j)>, Expected>);
    EXPECT_TRUE(array_equal(std::get<0>(j).w, D{{12, 0}, {0, 12}}));
    EXPECT_TRUE(array_equal(std::get<0>(j).b, D{{1, 1, 1}, {2, 2, 2}}));
    ASSERT_EQ(std::get<1>(j).size(), 1u);
    EXPECT_TRUE(array_equal(std::get<1>(j)[0].w, D{1, 1}));
    EXPECT_TRUE(array_equal(std::get<1>(j)[0].b, D{0, 0, 0}));
  };
  check(jacfwd(f)(l));
  check(jacrev(f)(l));
}

TEST(Jacobian, ByChosenArgumentsIsATuple) {
  const auto f = [](auto x, auto y, auto z) { return x * y + z; };
  const auto [dz, dx] = jacfwd(f, argnums<2, 0>)(D{1, 2}, D{3, 4}, 5.0);
  EXPECT_TRUE(array_equal(dz, D{1, 1}));
  EXPECT_TRUE(array_equal(dx, D{{3, 0}, {0, 4}}));
  const auto [dy] = jacrev(f, argnums<1>)(D{1, 2}, D{3, 4}, 5.0);
  EXPECT_TRUE(array_equal(dy, D{{1, 0}, {0, 2}}));
}

TEST(Jacobian, HasTheElementTypeOfTheResult) {
  const auto widened = [](auto x) { return cast<double>(x) * 3.0; };
  EXPECT_TRUE(array_equal(jacfwd(widened)(F{1, 2}), D{{3, 0}, {0, 3}}));
  EXPECT_TRUE(array_equal(jacrev(widened)(F{1, 2}), D{{3, 0}, {0, 3}}));
  const auto narrowed = [](auto x) { return cast<float>(x) * 3.0; };
  EXPECT_TRUE(array_equal(jacfwd(narrowed)(D{1, 2}), F{{3, 0}, {0, 3}}));
  EXPECT_TRUE(array_equal(jacrev(narrowed)(D{1, 2}), F{{3, 0}, {0, 3}}));
}

TEST(Jacobian, KeepsPrimalEquationsUnbatched) {
  const Graph g = jit(jacfwd([](auto x) { return sin(x); })).trace(D{1, 2, 3});
  for (const Equation& e : g.equations()) {
    if (e.primitive() == "cos") {
      EXPECT_EQ(g.shape(e.result()), (Shape{3})) << g;
    }
  }
}

TEST(Jacobian, OfEigenLambdasUnderVmap) {
  const auto f = [](auto p) {
    const Eigen::Matrix<Tracer<double>, 3, 1> v = p;
    return v.dot(v) * p;
  };
  const D points = {{1, 0, 0}, {1, 2, 3}};
  const D j = vmap(jacfwd(f))(points);
  ASSERT_EQ(j.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(j(1, 0, 1), 2 * 1 * 2);
  EXPECT_EQ(j(1, 2, 2), 2 * 3 * 3 + 14);
}

TEST(Hessian, OfANumberIsAMatrix) {
  const D a = {{2, 1}, {1, 3}};
  const auto f = [a](auto x) { return sum(x * matmul(a, x)) * 0.5; };
  EXPECT_TRUE(allclose(hessian(f)(D{1, 2}), a));
  EXPECT_EQ(hessian([](auto x) { return x * x * x; })(2.0).item(), 12);
}

TEST(Hessian, OfTreesHasATreeInATree) {
  const auto f = [](const auto& l) { return sum(l.w * l.w) * l.b; };
  const auto h = hessian(f)(Layer<D>{{1, 2}, 3.0});
  static_assert(std::same_as<decltype(h), const Layer<Layer<D>>>);
  EXPECT_TRUE(array_equal(h.w.w, D{{6, 0}, {0, 6}}));
  EXPECT_TRUE(array_equal(h.w.b, D{2, 4}));
  EXPECT_TRUE(array_equal(h.b.w, D{2, 4}));
  EXPECT_EQ(h.b.b.item(), 0);
}

TEST(Hessian, OfAVectorHasThreeIndices) {
  const D h = hessian([](auto x) { return x * x * sum(x); })(D{1, 2});
  ASSERT_EQ(h.shape(), (Shape{2, 2, 2}));
  // f0 = x0^3 + x0^2 x1: d2/dx0 dx0 = 6 x0 + 2 x1
  EXPECT_EQ(h(0, 0, 0), 10);
  EXPECT_EQ(h(0, 0, 1), 2);
  EXPECT_EQ(h(0, 1, 1), 0);
}

TEST(Hessian, ByChosenArguments) {
  const auto h = hessian([](auto x, auto y) { return x * x * y; }, argnums<0, 1>)(2.0, 3.0);
  EXPECT_EQ(std::get<0>(std::get<0>(h)).item(), 6);
  EXPECT_EQ(std::get<1>(std::get<0>(h)).item(), 4);
  EXPECT_EQ(std::get<0>(std::get<1>(h)).item(), 4);
  EXPECT_EQ(std::get<1>(std::get<1>(h)).item(), 0);
}

TEST(Jacobian, OfTransformedFunctions) {
  const auto f = [](auto x) { return grad([](auto v) { return sum(v * v * v); })(x); };
  EXPECT_TRUE(array_equal(jacrev(f)(D{1, 2}), D{{6, 0}, {0, 12}}));
  EXPECT_TRUE(array_equal(jit(jacfwd(vmap([](auto v) { return v * v; })))(D{1, 2}), D{{2, 0}, {0, 4}}));
  const auto looped = [](auto x) { return fori_loop(0, 3, [x](auto, auto s) { return s * x; }, x); };
  EXPECT_TRUE(allclose(jacrev(looped)(D{1, 2}), D{{4, 0}, {0, 32}}));
  EXPECT_TRUE(allclose(jacfwd(looped)(D{1, 2}), D{{4, 0}, {0, 32}}));
}

}  // namespace
}  // namespace calque
