// linalg::solve, inv, det, slogdet, lu, lu_factor, lu_solve, qr, lstsq and matrix_power at once and through jit:
// values, shapes, element types, errors.
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;
namespace la = linalg;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool close(const D& x, const D& y, double tolerance = 1e-12) { return allclose(x, y, tolerance, tolerance); }

/// Well conditioned, with pivots that are not on the diagonal.
D matrix(int64_t n) {
  std::vector<double> a(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      a[static_cast<size_t>(i * n + j)] =
          std::sin(static_cast<double>(3 * i * i + 5 * j + 1)) + (j == (i + 1) % n ? 2.0 * static_cast<double>(n) : 0);
  return D::from(a, {n, n});
}
D sides(const Shape& shape) {
  std::vector<double> b(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i) + 0.5);
  return D::from(b, shape);
}

bool all_nan(const D& x) { return all(isnan(x)).item(); }

TEST(Solve, FulfilsTheSystemAtEverySize) {
  const auto f = jit([](auto a, auto b) { return la::solve(a, b); });
  for (const int64_t n : {1, 2, 3, 4, 7, 8, 9, 12, 13, 40, 70}) {
    SCOPED_TRACE(n);
    const D a = matrix(n), b = sides({n, 3}), v = sides({n});
    EXPECT_TRUE(close(matmul(a, la::solve(a, b)), b));
    EXPECT_TRUE(close(matmul(a, f(a, b)), b));
    EXPECT_TRUE(close(matmul(a, f(a, v)), v));
    EXPECT_TRUE(close(matmul(a, la::inv(a)), D::eye(n)));
    EXPECT_TRUE(close(jit([](auto x) { return la::inv(x); })(a), la::inv(a)));
  }
}

TEST(Solve, BroadcastsBatches) {
  const D one = matrix(3), many = stack({one, one * 2.0, transpose(one)}, 0), b = sides({3, 3, 2}), v = sides({3});
  const auto f = jit([](auto x, auto y) { return la::solve(x, y); });
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(close(f(many, b).at(i), la::solve(D(many.at(i)), D(b.at(i)))));
    EXPECT_TRUE(close(f(one, b).at(i), la::solve(one, D(b.at(i)))));
    EXPECT_TRUE(close(f(many, v).at(i), la::solve(D(many.at(i)), v)));
  }
  const D four = sides({2, 2, 3, 5}), x = f(one, four);
  EXPECT_EQ(x.shape(), (Shape{2, 2, 3, 5}));
  EXPECT_TRUE(close(x.at(1, 0), la::solve(one, D(four.at(1, 0)))));
  EXPECT_EQ(f(D::zeros({0, 3, 3}), sides({3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(f(D::zeros({0, 0}), D::zeros({0, 2})).shape(), (Shape{0, 2}));
  static_assert(std::same_as<decltype(la::solve(I{}, F{})), F>);
  EXPECT_TRUE(array_equal(la::solve(I{{0, 2}, {4, 0}}, I{2, 4}), F{1, 1}));
}

TEST(Solve, SingularMatricesGiveNoNumbers) {
  const D zero = D::zeros({2, 2}), rank_one = {{1, 2}, {2, 4}};
  for (const D& a : {zero, rank_one}) {
    EXPECT_FALSE(any(isfinite(la::solve(a, D{1, 1}))).item());
    EXPECT_EQ(la::det(a).item(), 0);
    const auto [sign, log] = la::slogdet(a);
    EXPECT_EQ(sign.item(), 0);
    EXPECT_EQ(log.item(), -kInfinity);
  }
  const D beside = stack({rank_one, matrix(2)}, 0), x = la::inv(beside);
  EXPECT_TRUE(close(x.at(1), la::inv(matrix(2))));
}

TEST(Determinants, AreThoseOfEverySize) {
  const auto f = jit([](auto a) { return std::tuple{la::det(a), la::slogdet(a)}; });
  for (const int64_t n : {1, 2, 3, 4, 5, 8, 9, 20}) {
    SCOPED_TRACE(n);
    const D a = matrix(n);
    const auto [p, l, u] = la::lu(a);
    const D want = prod(diagonal(u)) * la::det(p);
    const auto [det, pair] = f(a);
    const auto [sign, log] = pair;
    EXPECT_TRUE(close(det / want, D(1.0)));
    EXPECT_TRUE(close(la::det(a) / want, D(1.0)));
    EXPECT_TRUE(close(sign * exp(log) / want, D(1.0)));
    const D swapped = D(concatenate({a.at(range(n - 1, n)), a.at(range(0, n - 1))}, 0));
    EXPECT_TRUE(close(la::det(swapped) / want, D(n % 2 == 0 ? -1.0 : 1.0)));
  }
  EXPECT_EQ(la::det(D::zeros({0, 0})).item(), 1);
  EXPECT_TRUE(array_equal(la::det(D::zeros({2, 0, 0})), D{1, 1}));
  const auto [sign, log] = la::slogdet(D::zeros({0, 0}));
  EXPECT_EQ(sign.item(), 1);
  EXPECT_EQ(log.item(), 0);
  const auto [big_sign, big_log] = la::slogdet(D::eye(400) * -1e10);
  EXPECT_EQ(big_sign.item(), 1);
  EXPECT_NEAR(big_log.item(), 4000 * std::log(10.0), 1e-9);
}

/// The products nearly cancel.
TEST(Determinants, OfSmallMatricesAreAccurate) {
  const double e = 0x1p-30;
  EXPECT_EQ(la::det(D{{1 + e, 1 + 2 * e}, {1, 1 + e}}).item(), e * e);
  EXPECT_EQ(jit([](auto a) { return la::det(a); })(D{{1 + e, 1 + 2 * e}, {1, 1 + e}}).item(), e * e);
}

TEST(Lu, HasFactorsOfTheMatrix) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{3, 3}, {2, 5}, {5, 2}, {40, 40}, {0, 3}}) {
    const D a = sides({2, m, n});
    const auto f = jit([](auto x) { return la::lu(x); });
    const auto [p, l, u] = f(a);
    EXPECT_EQ(p.shape(), (Shape{2, m, m}));
    EXPECT_EQ(l.shape(), (Shape{2, m, std::min(m, n)}));
    EXPECT_TRUE(close(matmul(p, matmul(l, u)), a));
    EXPECT_TRUE(array_equal(triu(u), u));
    EXPECT_TRUE(array_equal(tril(l), l));
  }
  const auto [packed, perm] = la::lu_factor(matrix(4));
  static_assert(std::same_as<decltype(perm), const I>);
  EXPECT_TRUE(array_equal(perm, I{3, 0, 1, 2}));
  const D b = sides({4, 2});
  EXPECT_TRUE(close(la::lu_solve(packed, perm, b), la::solve(matrix(4), b)));
  EXPECT_TRUE(close(la::lu_solve(packed, perm, D(b.at(all, 0))), la::solve(matrix(4), D(b.at(all, 0)))));
}

TEST(Svd, SolvesLeastSquares) {
  const D a = exp(sides({7, 3})), b = sides({7, 2}) + 1.0, v = D(b.at(all, 1));
  const auto f = jit([](auto x, auto y) { return la::lstsq(x, y); });
  const auto [x, residuals, rank, values] = f(a, b);
  EXPECT_EQ(rank.item(), 3);
  EXPECT_TRUE(close(values, la::svdvals(a)));
  const D normal = la::solve(matmul(transpose(a), a), matmul(transpose(a), b));
  EXPECT_TRUE(close(x, normal, 1e-10));
  EXPECT_TRUE(close(residuals, sum(square(b - matmul(a, x)), {0})));
  const auto [y, one, rank_of_one, values_of_one] = f(a, v);
  EXPECT_TRUE(close(y, D(x.at(all, 1))));
  EXPECT_EQ(one.shape(), Shape{1});
  // Wide: of least norm.
  const auto [z, none, rank_of_wide, values_of_wide] = f(transpose(a), sides({3}));
  EXPECT_TRUE(close(matmul(transpose(a), z), sides({3})));
  EXPECT_TRUE(close(z, matmul(a, la::solve(matmul(transpose(a), a), sides({3}))), 1e-10));
  EXPECT_TRUE(close(none, D{0}));
  const D batch = stack({a, a * 2.0}, 0);
  const auto [both, left, ranks, all_values] = f(batch, b);
  EXPECT_TRUE(array_equal(ranks, Array<int32_t>{3, 3}));
  EXPECT_EQ(all_values.shape(), (Shape{2, 3}));
  EXPECT_TRUE(close(both.at(1), x / 2.0));
  EXPECT_EQ(left.shape(), (Shape{2, 2}));
  const auto [q, r] = la::qr(batch);
  EXPECT_EQ(q.shape(), (Shape{2, 7, 3}));
  EXPECT_TRUE(close(matmul(q, r), batch));
}

TEST(MatrixPower, IsRepeatedMultiplication) {
  const D a = matrix(3) / 4.0;
  const auto f = [](int64_t n) { return jit([n](auto x) { return la::matrix_power(x, n); }); };
  EXPECT_TRUE(array_equal(f(0)(a), D::eye(3)));
  EXPECT_TRUE(array_equal(f(1)(a), a));
  EXPECT_TRUE(close(f(5)(a), matmul(a, matmul(a, matmul(a, matmul(a, a))))));
  EXPECT_TRUE(close(f(-2)(a), la::inv(matmul(a, a))));
  EXPECT_TRUE(array_equal(la::matrix_power(I{{1, 1}, {1, 0}}, 10), F{{89, 55}, {55, 34}}));
}

TEST(Exponential, IsThatOfDiagonalsAndRotations) {
  const auto f = jit([](auto a) { return la::expm(a); });
  for (const double angle : {0.0, 1e-9, 0.3, 3.0, 40.0, 1e4}) {
    const D want = {{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}};
    EXPECT_TRUE(close(f(D{{0, -angle}, {angle, 0}}), want, 1e-15 * (10 + angle))) << angle;
  }
  EXPECT_TRUE(close(f(diag(D{-800, 0, 3})), diag(exp(D{-800, 0, 3})), 1e-12));
  EXPECT_TRUE(close(la::expm(diag(D{-800, 0, 3})), diag(exp(D{-800, 0, 3})), 1e-12));
  EXPECT_TRUE(allclose(f(F{{0, 1}, {0, 0}}), F{{1, 1}, {0, 1}}, 1e-6, 1e-6));
  EXPECT_TRUE(array_equal(f(D::zeros({3, 3})), D::eye(3)));
  EXPECT_EQ(f(D::zeros({2, 0, 0})).shape(), (Shape{2, 0, 0}));
  // Nilpotent: the series ends.
  EXPECT_TRUE(close(f(D{{0, 6, 0}, {0, 0, 6}, {0, 0, 0}}), D{{1, 6, 18}, {0, 1, 6}, {0, 0, 1}}));
}

/// Of different norms, of numbers and of none.
TEST(Exponential, OfBatchesIsThatOfEach) {
  const D small = matrix(4) * 1e-3, large = matrix(4) * 0.7, far = D::eye(4) * -1e11,
          none = D::full({4, 4}, std::nan(""));
  const auto f = jit([](auto a) { return la::expm(a); });
  const D each = f(stack({small, large, far, none, small}, 0));
  EXPECT_TRUE(close(each.at(0), f(small)));
  EXPECT_TRUE(close(each.at(1) / f(large), D(1.0)));
  EXPECT_TRUE(close(matmul(each.at(0), f(small * -1.0)), D::eye(4)));
  EXPECT_TRUE(all_nan(each.at(2)) && all_nan(each.at(3)));
  EXPECT_TRUE(array_equal(D(each.at(4)), D(each.at(0))));
}

/// The message of the E that f throws.
template <class E, class Function>
std::string message(const Function& f) {
  try {
    static_cast<void>(f());
  } catch (const E& e) {
    return std::string(e.what()).substr(0, std::string(e.what()).find(" ("));
  }
  return "no error";
}

TEST(Solve, BadOperandsAreRefusedInWords) {
  const auto zeros = [](const Shape& s) { return D::zeros(s); };
  EXPECT_EQ(message<ShapeError>([&] { return la::solve(zeros({2, 3}), zeros({2})); }),
            "linalg::solve: needs square matrices [..., n, n], got f64[2,3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::solve(zeros({3, 3}), zeros({2})); }),
            "linalg::solve: matrices and right-hand sides differ in their number of rows, got f64[3,3] and f64[2]");
  EXPECT_EQ(message<ShapeError>([&] { return la::inv(zeros({3})); }),
            "linalg::inv: needs square matrices [..., n, n], got f64[3]");
  EXPECT_EQ(message<DTypeError>([&] { return la::det(Array<float16>::zeros({2, 2})); }),
            "linalg::det: needs f32, f64 or complex elements, got f16[2,2]");
  EXPECT_EQ(message<ShapeError>([&] { return la::qr(zeros({3})); }),
            "linalg::qr: needs matrices [..., m, n], got f64[3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::lstsq(zeros({4, 2}), zeros({3})); }),
            "linalg::lstsq: matrices and right-hand sides differ in their number of rows, got f64[4,2] and f64[3]");
  EXPECT_EQ(message<DTypeError>([&] { return la::lu_solve(zeros({3, 3}), zeros({3}), zeros({3})); }),
            "linalg::lu_solve: needs the integer order of the rows, got f64[3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::lu_solve(zeros({3, 3}), I::zeros({2}), zeros({3})); }),
            "linalg::lu_solve: factors and order of the rows do not fit, got f64[3,3] and i32[2]");
}

}  // namespace
}  // namespace calque::test
