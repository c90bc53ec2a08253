// linalg::cholesky, triangular_solve and cho_solve at once and through jit: shapes, element types, errors.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
namespace la = linalg;

const D& definite() {
  static const D a = {{4, 2, -2}, {2, 10, 2}, {-2, 2, 6}};
  return a;
}

bool close(const D& x, const D& y, double tolerance = 1e-13) { return allclose(x, y, tolerance, tolerance); }

TEST(Linalg, CholeskyIsThatOfTheHermitianPart) {
  const D want = {{2, 0, 0}, {1, 3, 0}, {-1, 1, 2}};
  EXPECT_TRUE(close(la::cholesky(definite()), want));
  const auto f = jit([](auto a) { return la::cholesky(a); });
  EXPECT_TRUE(close(f(definite()), want));
  const D skew = {{0, 1, 2}, {-1, 0, 3}, {-2, -3, 0}};
  EXPECT_TRUE(close(f(definite() + skew), want));
  const Array<int32_t> whole = {{4, 2}, {2, 10}};
  static_assert(std::same_as<decltype(la::cholesky(whole)), F>);
  EXPECT_TRUE(array_equal(la::cholesky(whole), F{{2, 0}, {1, 3}}));
  const double big = 1e308;
  EXPECT_TRUE(close(f(D{{big}}) / std::sqrt(big), D{{1}}));
  EXPECT_TRUE(array_equal(f(D{{-1}}), D{{std::nan("")}}, true));
}

TEST(Linalg, CholeskyOfComplexMatrices) {
  using C = std::complex<double>;
  const Array<C> a = {{C(4), C(2, -2)}, {C(2, 2), C(6)}};
  const Array<C> want = {{C(2), C(0)}, {C(1, 1), C(2)}};
  EXPECT_TRUE(allclose(la::cholesky(a), want, 1e-14, 1e-14));
  const Array<C> b = {C(1, 2), C(3)};
  EXPECT_TRUE(allclose(matmul(a, la::cho_solve(la::cholesky(a), b)), b, 1e-13, 1e-13));
}

TEST(Linalg, TriangularSolveTakesVectorsAndMatrices) {
  const D l = {{2, 7}, {1, 4}}, b = {2, 9};
  EXPECT_TRUE(close(la::triangular_solve(l, b), D{1, 2}));
  EXPECT_TRUE(close(la::triangular_solve(l, b, {.lower = false}), D{(2 - 7 * 2.25) / 2, 2.25}));
  EXPECT_TRUE(close(la::triangular_solve(l, b, {.transpose = true}), D{(2 - 2.25) / 2, 2.25}));
  EXPECT_TRUE(close(la::triangular_solve(l, b, {.unit_diagonal = true}), D{2, 7}));
  EXPECT_TRUE(close(la::triangular_solve(l, D{{2, 4}, {9, 10}}), D{{1, 2}, {2, 2}}));
  // Batches broadcast, and a vector stands for every matrix.
  const D two = {{{2, 0}, {1, 4}}, {{1, 0}, {1, 1}}};
  EXPECT_TRUE(close(la::triangular_solve(two, b), D{{1, 2}, {2, 7}}));
  EXPECT_TRUE(close(la::triangular_solve(l, D{{{2}, {9}}, {{4}, {10}}}), D{{{1}, {2}}, {{2}, {2}}}));
  const auto f = jit([](auto a, auto v) { return la::triangular_solve(a, v); });
  EXPECT_TRUE(close(f(two, b), D{{1, 2}, {2, 7}}));
  EXPECT_TRUE(close(f(l, Array<int32_t>{2, 9}), D{1, 2}));
}

TEST(Linalg, ChoSolveSolvesTheSystem) {
  const D b = {{1, 2}, {3, 4}, {5, 6}};
  const auto f = jit([](auto a, auto v) { return la::cho_solve(la::cholesky(a), v); });
  EXPECT_TRUE(close(matmul(definite(), f(definite(), b)), b));
  EXPECT_TRUE(close(matmul(definite(), la::cho_solve(la::cholesky(definite()), D{1, 2, 3})), D{1, 2, 3}));
}

TEST(Linalg, SmallMatricesBesideLargeOnes) {
  const auto f = jit([](auto x, auto y) { return std::pair{la::cholesky(x), la::cho_solve(la::cholesky(y), y)}; });
  const D a = D::eye(40) * 4.0;
  const auto [l, one] = f(a, definite());
  EXPECT_TRUE(array_equal(l, D::eye(40) * 2.0));
  EXPECT_TRUE(close(one, D::eye(3)));
  const auto [small, large] = f(definite(), a);
  EXPECT_TRUE(close(small, la::cholesky(definite())));
  EXPECT_TRUE(close(large, D::eye(40)));
}

/// The message of the E that f throws.
template <class E, class Function>
std::string message(const Function& f) {
  try {
    f();
  } catch (const E& e) {
    return std::string(e.what()).substr(0, std::string(e.what()).find(" ("));
  }
  return "no error";
}

TEST(Linalg, BadOperandsAreRefusedInWords) {
  const auto zeros = [](const Shape& s) { return D::zeros(s); };
  EXPECT_EQ(message<ShapeError>([&] { static_cast<void>(la::cholesky(zeros({2, 3}))); }),
            "linalg::cholesky: needs square matrices [..., n, n], got f64[2,3]");
  EXPECT_EQ(message<ShapeError>([&] { static_cast<void>(la::cholesky(zeros({3}))); }),
            "linalg::cholesky: needs square matrices [..., n, n], got f64[3]");
  EXPECT_EQ(message<DTypeError>([&] { static_cast<void>(la::cholesky(Array<float16>::zeros({2, 2}))); }),
            "linalg::cholesky: needs f32, f64 or complex elements, got f16[2,2]");
  EXPECT_EQ(message<ShapeError>([&] { static_cast<void>(la::triangular_solve(zeros({3, 3}), zeros({4, 1}))); }),
            "linalg::triangular_solve: matrices and right-hand sides differ in their number of rows, got f64[3,3] and "
            "f64[4,1]");
  EXPECT_EQ(message<ShapeError>([&] { static_cast<void>(la::triangular_solve(zeros({3, 3}), 1.0)); }),
            "linalg::triangular_solve: needs right-hand sides [n] or [..., n, k], got f64[]");
  EXPECT_EQ(message<ShapeError>([&] { static_cast<void>(la::cho_solve(zeros({2, 3, 3}), zeros({4, 3, 1}))); }),
            "linalg::cho_solve: batch dimensions do not broadcast, got f64[2,3,3] and f64[4,3,1]");
  EXPECT_EQ(message<DTypeError>([&] {
              static_cast<void>(la::triangular_solve(Array<int32_t>::zeros({2, 2}), Array<bfloat16>::zeros({2})));
            }),
            "linalg::triangular_solve: needs f32, f64 or complex elements, got bf16[2]");
}

}  // namespace
}  // namespace calque::test
