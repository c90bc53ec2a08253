// diag, tril, triu, vander, toeplitz, block_diag and kron at once and through jit: shapes, element types, errors.
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
using B = Array<bool>;
using C = std::complex<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Matrices, DiagMakesAndTakesDiagonals) {
  const D v = {1, 2};
  EXPECT_TRUE(array_equal(diag(v), D{{1, 0}, {0, 2}}));
  EXPECT_TRUE(array_equal(diag(v, 1), D{{0, 1, 0}, {0, 0, 2}, {0, 0, 0}}));
  EXPECT_TRUE(array_equal(diag(v, -2), D{{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 2, 0, 0}}));
  const D m = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_TRUE(array_equal(diag(m), D{1, 5}));
  EXPECT_TRUE(array_equal(diag(m, 2), D{3}));
  EXPECT_TRUE(array_equal(diag(m, -1), D{4}));
  EXPECT_EQ(diag(m, 3).shape(), Shape{0});
  EXPECT_EQ(diag(m, INT64_MIN).shape(), Shape{0});
  const auto f = jit([](auto x) { return diag(x * 2.0, -1) + 1.0; });
  EXPECT_TRUE(array_equal(f(v), D{{1, 1, 1}, {3, 1, 1}, {1, 5, 1}}));
  // What is beside the diagonal is 0 and not a product with it.
  EXPECT_TRUE(array_equal(diag(D{kInf, 1}), D{{kInf, 0}, {0, 1}}));
  EXPECT_EQ(diag(D::zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_TRUE(array_equal(diag(D::zeros({0}), 2), D::zeros({2, 2})));
  EXPECT_TRUE(array_equal(diag(B{true, true}), B{{true, false}, {false, true}}));
  EXPECT_TRUE(array_equal(diag(Array<uint8_t>{7}, 1), Array<uint8_t>{{0, 7}, {0, 0}}));
  EXPECT_TRUE(array_equal(diag(Array<C>{C(1, 2)}), Array<C>{{C(1, 2)}}));
}

TEST(Matrices, TrianglesOfBatchesAndOddShapes) {
  const D m = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_TRUE(array_equal(tril(m), D{{1, 0, 0}, {4, 5, 0}}));
  EXPECT_TRUE(array_equal(tril(m, 1), D{{1, 2, 0}, {4, 5, 6}}));
  EXPECT_TRUE(array_equal(tril(m, -1), D{{0, 0, 0}, {4, 0, 0}}));
  EXPECT_TRUE(array_equal(triu(m), D{{1, 2, 3}, {0, 5, 6}}));
  EXPECT_TRUE(array_equal(triu(m, 1), D{{0, 2, 3}, {0, 0, 6}}));
  EXPECT_TRUE(array_equal(triu(m, -1), m));
  for (int64_t k : {int64_t{3}, INT64_MAX}) {
    EXPECT_TRUE(array_equal(tril(m, k), m));
    EXPECT_TRUE(array_equal(triu(m, k), D::zeros({2, 3})));
    EXPECT_TRUE(array_equal(tril(m, -k), D::zeros({2, 3})));
    EXPECT_TRUE(array_equal(triu(m, -k), m));
  }
  EXPECT_TRUE(array_equal(triu(m, INT64_MIN), m));
  const I batch = stack({I{{1, 2}, {3, 4}}, I{{5, 6}, {7, 8}}}, 0);
  const auto f = jit([](auto x) { return tril(x) * 10; });
  EXPECT_TRUE(array_equal(f(batch), I{{{10, 0}, {30, 40}}, {{50, 0}, {70, 80}}}));
  const D special = {{kInf, std::nan("")}, {1, -kInf}};
  EXPECT_TRUE(array_equal(tril(special), D{{kInf, 0}, {1, -kInf}}));
  EXPECT_TRUE(array_equal(tril(B{{true, true}, {true, true}}), B{{true, false}, {true, true}}));
  EXPECT_EQ(tril(F::zeros({2, 0, 3})).shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(triu(F::zeros({3, 0})).shape(), (Shape{3, 0}));
  EXPECT_TRUE(array_equal(triu(D{{5}}), D{{5}}));
}

TEST(Matrices, VanderHasPowersInColumns) {
  const D x = {2, -1, 0};
  EXPECT_TRUE(array_equal(vander(x), D{{4, 2, 1}, {1, -1, 1}, {0, 0, 1}}));
  const D five = {{16, 8, 4, 2, 1}, {1, -1, 1, -1, 1}, {0, 0, 0, 0, 1}};
  EXPECT_TRUE(array_equal(vander(x, 5), five));
  EXPECT_TRUE(array_equal(vander(x, 5, true), flip(five, {1})));
  EXPECT_TRUE(array_equal(jit([](auto v) { return vander(v, {}, true); })(x), flip(vander(x), {1})));
  EXPECT_EQ(vander(x, 0).shape(), (Shape{3, 0}));
  EXPECT_EQ(vander(D::zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(vander(D::zeros({0}), 4).shape(), (Shape{0, 4}));
  EXPECT_TRUE(array_equal(vander(x, 1), D{{1}, {1}, {1}}));
  EXPECT_TRUE(array_equal(vander(D{kInf, std::nan("")}), D{{kInf, 1}, {std::nan(""), 1}}, true));
  EXPECT_TRUE(array_equal(vander(Array<uint8_t>{16}, 3), Array<uint8_t>{{0, 16, 1}}));
  static_assert(std::same_as<decltype(vander(B{true})), I>);
  EXPECT_TRUE(array_equal(vander(B{true, false}), I{{1, 1}, {0, 1}}));
  // 1.5^16 is rounded once, not at each of the products.
  const auto small = vander(Array<float16>{static_cast<float16>(1.5F)}, 17);
  EXPECT_EQ(static_cast<float>(small(0, 0)), static_cast<float>(static_cast<float16>(std::pow(1.5F, 16.0F))));
}

TEST(Matrices, ToeplitzHasConstantDiagonals) {
  EXPECT_TRUE(array_equal(toeplitz(D{1, 2, 3}, D{9, 4, 5, 6}), D{{1, 4, 5, 6}, {2, 1, 4, 5}, {3, 2, 1, 4}}));
  EXPECT_TRUE(array_equal(toeplitz(D{1, 2, 3}), D{{1, 2, 3}, {2, 1, 2}, {3, 2, 1}}));
  EXPECT_TRUE(
      array_equal(jit([](auto c, auto r) { return toeplitz(c, r); })(D{1, 2}, I{0, 7, 8}), D{{1, 7, 8}, {2, 1, 7}}));
  EXPECT_TRUE(array_equal(toeplitz(I{1, 2, 3}, I{4}), I{{1}, {2}, {3}}));
  EXPECT_TRUE(array_equal(toeplitz(I{1}, I{4, 5}), I{{1, 5}}));
  EXPECT_TRUE(array_equal(toeplitz(Array<C>{C(1, 0), C(2, 3)}), Array<C>{{C(1, 0), C(2, -3)}, {C(2, 3), C(1, 0)}}));
  EXPECT_EQ(toeplitz(D::zeros({0}), D{1, 2}).shape(), (Shape{0, 2}));
  EXPECT_EQ(toeplitz(D{1, 2}, D::zeros({0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(toeplitz(D::zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_TRUE(array_equal(toeplitz(B{true, false}), B{{true, false}, {false, true}}));
}

TEST(Matrices, BlockDiagPutsBlocksInCorners) {
  const D a = {{1, 2}}, b = {{3}, {4}};
  const D want = {{1, 2, 0}, {0, 0, 3}, {0, 0, 4}};
  EXPECT_TRUE(array_equal(block_diag(a, b), want));
  EXPECT_TRUE(array_equal(block_diag(std::vector{a, b}), want));
  EXPECT_TRUE(array_equal(jit([](auto x, auto y) { return block_diag(x, 5, y); })(a, b),
                          D{{1, 2, 0, 0}, {0, 0, 5, 0}, {0, 0, 0, 3}, {0, 0, 0, 4}}));
  EXPECT_TRUE(array_equal(block_diag(D{1, 2}), D{{1, 2}}));
  // An empty vector is a row without columns.
  EXPECT_TRUE(array_equal(block_diag(D::zeros({0}), D{{1}}), D{{0}, {1}}));
  EXPECT_TRUE(array_equal(block_diag(D::zeros({0, 2}), D{{1}}), D{{0, 0, 1}}));
  EXPECT_TRUE(array_equal(block_diag(I{1}, I{2}, I{3}, D{4}, 5), diag(D{1, 2, 3, 4, 5})));
  EXPECT_TRUE(array_equal(block_diag(B{true}, B{true}), B{{true, false}, {false, true}}));
  EXPECT_TRUE(array_equal(block_diag(D{kInf}, D{1}), D{{kInf, 0}, {0, 1}}));
}

TEST(Matrices, KronOfAnyRanks) {
  const I a = {{1, 2}, {3, 4}};
  EXPECT_TRUE(array_equal(kron(a, I{{0, 1}, {1, 0}}), I{{0, 1, 0, 2}, {1, 0, 2, 0}, {0, 3, 0, 4}, {3, 0, 4, 0}}));
  EXPECT_TRUE(array_equal(kron(I{1, 10}, I{1, 2, 3}), I{1, 2, 3, 10, 20, 30}));
  EXPECT_TRUE(array_equal(kron(a, I{1, 10}), I{{1, 10, 2, 20}, {3, 30, 4, 40}}));
  EXPECT_TRUE(array_equal(kron(I{1, 10}, a), I{{1, 2, 10, 20}, {3, 4, 30, 40}}));
  EXPECT_TRUE(array_equal(kron(a, 3), a * 3));
  EXPECT_EQ(kron(D::zeros({2, 0}), D::zeros({3, 2, 5})).shape(), (Shape{3, 4, 0}));
  EXPECT_TRUE(
      array_equal(jit([](auto x, auto y) { return kron(x, y); })(D{{{1, 2}}}, D{{{3}, {4}}}), D{{{3, 6}, {4, 8}}}));
  EXPECT_TRUE(array_equal(kron(B{true, false}, B{true, true}), B{true, true, false, false}));
  static_assert(std::same_as<decltype(kron(a, D{1})), D>);
}

/// The message of the E that f throws, without the line that it was written in, which must be of this file.
template <class E, class Function>
std::string message(const Function& f) {
  try {
    static_cast<void>(f());
  } catch (const E& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("matrices_test.cpp:"), std::string::npos) << text;
    return text.substr(0, text.find(" ("));
  }
  return "no error";
}

TEST(Matrices, BadOperandsAreRefusedInWords) {
  const auto zeros = [](const Shape& s) { return D::zeros(s); };
  EXPECT_EQ(message<ShapeError>([&] { return diag(zeros({2, 2, 2})); }),
            "diag: needs a vector or a matrix, got f64[2,2,2]");
  EXPECT_EQ(message<ShapeError>([&] { return diag(zeros({})); }), "diag: needs a vector or a matrix, got f64[]");
  EXPECT_EQ(message<ShapeError>([&] { return diag(zeros({2}), INT64_MIN); }),
            "diag: the result is too large for offset -9223372036854775808");
  EXPECT_EQ(message<ShapeError>([&] { return tril(zeros({3})); }), "tril: needs matrices [..., m, n], got f64[3]");
  EXPECT_EQ(message<ShapeError>([&] { return triu(zeros({})); }), "triu: needs matrices [..., m, n], got f64[]");
  EXPECT_EQ(message<ShapeError>([&] { return vander(zeros({1, 2})); }), "vander: needs a vector as x, got f64[1,2]");
  EXPECT_EQ(message<ShapeError>([&] { return vander(zeros({2}), -1); }),
            "vander: the number of columns must not be negative, got -1");
  EXPECT_EQ(message<ShapeError>([&] { return toeplitz(zeros({2, 1})); }),
            "toeplitz: needs a vector as the first column, got f64[2,1]");
  EXPECT_EQ(message<ShapeError>([&] { return toeplitz(zeros({2}), zeros({})); }),
            "toeplitz: needs a vector as the first row, got f64[]");
  EXPECT_EQ(message<ShapeError>([&] { return block_diag(zeros({2}), zeros({1, 2, 3})); }),
            "block_diag: needs scalars, vectors and matrices, got f64[1,2,3]");
  EXPECT_EQ(message<ShapeError>([&] { return block_diag(std::vector<D>{}); }), "block_diag: needs at least one array");
}

}  // namespace
}  // namespace calque::test
