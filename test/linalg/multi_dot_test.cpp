// linalg::multi_dot: values, element types, the order of products, derivatives, batches, errors.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

bool close(const D& x, const D& y, double tolerance = 1e-13) { return allclose(x, y, tolerance, tolerance); }

TEST(MultiDot, IsTheProduct) {
  const D a = {{1, 2, 3}}, b = {{1}, {0}, {2}}, c = {{3, 4}}, d = {{1, 1}, {0, 1}};
  EXPECT_TRUE(array_equal(la::multi_dot(a, b), D{{7}}));
  EXPECT_TRUE(array_equal(la::multi_dot(a, b, c), D{{21, 28}}));
  EXPECT_TRUE(array_equal(la::multi_dot(a, b, c, d), D{{21, 49}}));
  EXPECT_TRUE(array_equal(la::multi_dot(a, b, c, d, d), D{{21, 70}}));
  EXPECT_TRUE(array_equal(la::multi_dot(std::vector{a, b, c, d, d}), D{{21, 70}}));
  const D row = {1, 2, 3}, column = {1, 2};
  EXPECT_TRUE(array_equal(la::multi_dot(row, b, c), D{21, 28}));
  EXPECT_TRUE(array_equal(la::multi_dot(b, c, column), D{11, 0, 22}));
  EXPECT_EQ(la::multi_dot(row, b, c, column).shape(), Shape{});
  EXPECT_EQ(la::multi_dot(row, b, c, column).item(), 77);
  EXPECT_EQ(la::multi_dot(row, row).item(), 14);
  EXPECT_TRUE(array_equal(la::multi_dot(D::zeros({2, 0}), D::zeros({0, 3}), D::ones({3, 1})), D::zeros({2, 1})));
  // Types promote before anything is multiplied: 200 * 2 does not wrap.
  const Array<uint8_t> bytes = {{200}};
  static_assert(std::same_as<decltype(la::multi_dot(bytes, bytes, d)), D>);
  EXPECT_TRUE(array_equal(la::multi_dot(bytes, Array<uint8_t>{{2}}, c), D{{1200, 1600}}));
}

/// The extents of the results of the products of a function, in the order in which they are computed.
template <class Function, class... X>
std::vector<Shape> shapes_of_products(const Function& f, const X&... xs) {
  const Graph g = jit(f).trace(xs...);
  std::vector<Shape> out;
  for (uint32_t i = 0; i < g.num_values(); ++i) {
    const Equation* e = g.definition(Value(i));
    if (e != nullptr && e->primitive() == "dot_general") out.push_back(g.shape(Value(i)));
  }
  return out;
}

TEST(MultiDot, RecordsTheCheapestOrder) {
  const auto zeros = [](int64_t m, int64_t n) { return D::zeros({m, n}); };
  const auto three = [](auto a, auto b, auto c) { return la::multi_dot(a, b, c); };
  // (a b) c takes 10 * 100 * 5 + 10 * 5 * 50 multiplications, a (b c) ten times as many.
  EXPECT_EQ(shapes_of_products(three, zeros(10, 100), zeros(100, 5), zeros(5, 50)),
            (std::vector<Shape>{{10, 5}, {10, 50}}));
  EXPECT_EQ(shapes_of_products(three, zeros(50, 5), zeros(5, 100), zeros(100, 10)),
            (std::vector<Shape>{{5, 10}, {50, 10}}));
  // The example of Cormen, Leiserson, Rivest and Stein: (a1 (a2 a3)) ((a4 a5) a6).
  const auto six = [](auto a, auto b, auto c, auto d, auto e, auto f) { return la::multi_dot(a, b, c, d, e, f); };
  EXPECT_EQ(
      shapes_of_products(six, zeros(30, 35), zeros(35, 15), zeros(15, 5), zeros(5, 10), zeros(10, 20), zeros(20, 25)),
      (std::vector<Shape>{{35, 5}, {30, 5}, {5, 20}, {5, 25}, {30, 25}}));
  // A vector at the end makes every product one with a vector.
  EXPECT_EQ(shapes_of_products(three, zeros(8, 8), zeros(8, 8), D::zeros({8})), (std::vector<Shape>{{8}, {8}}));
}

TEST(MultiDot, DerivativesAndBatches) {
  const D a = {{1, 2}, {3, 4}, {5, 6}}, b = {{1, -1, 2}, {0, 3, 1}}, c = {{2}, {1}, {-1}};
  const auto f = [](auto x, auto y, auto z) { return sum(la::multi_dot(x, y, z)); };
  const D ones = D::ones({3, 1});
  const auto [da, db, dc] = grad(f, argnums<0, 1, 2>)(a, b, c);
  EXPECT_TRUE(close(da, matmul(ones, transpose(matmul(b, c)))));
  EXPECT_TRUE(close(db, matmul(transpose(a), matmul(ones, transpose(c)))));
  EXPECT_TRUE(close(dc, transpose(matmul(transpose(ones), matmul(a, b)))));
  const auto product = [](auto x, auto y, auto z) { return la::multi_dot(x, y, z); };
  const D many = stack({a, a * 2.0, a - 1.0}, 0);
  const D both = vmap(product, {.in_axes = {0, none, none}})(many, b, c);
  for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(close(both.at(i), matmul(matmul(D(many.at(i)), b), c)));
}

/// The message of the E that f throws, without the line that it was written in, which must be of this file.
template <class E, class Function>
std::string message(const Function& f) {
  try {
    static_cast<void>(f());
  } catch (const E& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("multi_dot_test.cpp:"), std::string::npos) << text;
    return text.substr(0, text.find(" ("));
  }
  return "no error";
}

TEST(MultiDot, BadOperandsAreRefusedInWords) {
  const auto zeros = [](const Shape& s) { return D::zeros(s); };
  EXPECT_EQ(message<ShapeError>([&] { return la::multi_dot(zeros({3, 2}), zeros({1, 2}), zeros({2, 2})); }),
            "linalg::multi_dot: inner dimensions differ, got f64[3,2] and f64[1,2]");
  EXPECT_EQ(message<ShapeError>([&] { return la::multi_dot(zeros({2, 3}), zeros({3}), zeros({3, 2})); }),
            "linalg::multi_dot: the arrays between the first and the last must be matrices, got f64[3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::multi_dot(zeros({2, 2, 2}), zeros({2, 2})); }),
            "linalg::multi_dot: the first and the last array must be vectors or matrices, got f64[2,2,2]");
  EXPECT_EQ(message<ShapeError>([&] { return la::multi_dot(std::vector{zeros({2, 2})}); }),
            "linalg::multi_dot: needs two or more arrays, got 1");
}

}  // namespace
}  // namespace calque::test
