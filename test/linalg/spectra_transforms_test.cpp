// linalg::eigh, svd, pinv, lstsq and their like: values, messages, batches against loops, and how often they decompose.
#include <complex>
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

bool close(const D& x, const D& y, double tolerance = 1e-12) { return allclose(x, y, tolerance, tolerance); }

D matrix(int64_t rows, int64_t columns) {
  std::vector<double> a(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      a[static_cast<size_t>(i * columns + j)] = std::sin(static_cast<double>(3 * i * i + 5 * j + 1));
  return D::from(a, {rows, columns});
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

/// The flags of the routines of that kind.
std::vector<uint32_t> flags_of(const Graph& g, primitives::Routine routine) {
  std::vector<uint32_t> flags;
  for (const kernel::RoutineRef& r : test::stages::build_program(transform::simplify(g)).routines)
    if (r.routine == routine) flags.push_back(r.flags);
  return flags;
}

TEST(Spectra, VectorsAreComputedWhereTheyAreRead) {
  using primitives::Routine;
  const D a = matrix(5, 5), b = matrix(5, 2);
  const std::vector<uint32_t> none = {0}, vectors = {primitives::RoutineFlag::vectors};
  EXPECT_EQ(flags_of(jit([](auto x) { return la::eigvalsh(x); }).trace(a), Routine::eigh), none);
  EXPECT_EQ(flags_of(jit([](auto x) { return la::eigvals(x); }).trace(a), Routine::eig), none);
  EXPECT_EQ(flags_of(jit([](auto x) { return la::cond(x); }).trace(a), Routine::svd), none);
  // One decomposition for the value and its derivative, and for all of lstsq.
  const auto f = [](auto x) { return sum(sin(la::eigvalsh(x))); };
  EXPECT_EQ(flags_of(jit([&](auto x) { return std::pair{f(x), grad(f)(x)}; }).trace(a), Routine::eigh), vectors);
  const auto h = [](auto x) { return sum(abs(la::eigvals(x))); };
  EXPECT_EQ(flags_of(jit([&](auto x) { return std::pair{h(x), grad(h)(x)}; }).trace(a), Routine::eig), vectors);
  const auto g = [](auto x) { return sum(sin(la::svdvals(x))); };
  EXPECT_EQ(flags_of(jit([&](auto x) { return std::pair{g(x), grad(g)(x)}; }).trace(a), Routine::svd), vectors);
  EXPECT_EQ(flags_of(jit([](auto x, auto y) { return la::lstsq(x, y); }).trace(a, b), Routine::svd), vectors);
}

TEST(Spectra, BatchesEqualLoops) {
  const D many = stack({matrix(4, 4), cos(matrix(4, 4)) * 2.0, transpose(matrix(4, 4))}, 0), sides = matrix(4, 2);
  const auto all_of = [](auto a) {
    const auto [w, v] = la::eigh(a);
    const auto [u, s, vh] = la::svd(a);
    return std::tuple{w, v, u, s, vh, la::pinv(a), la::cond(a), la::norm(a, la::ord::nuc), la::norm(a, la::ord::two)};
  };
  const auto batched = vmap(all_of)(many);
  const auto whole = all_of(many);
  const auto derivative = [](auto a) {
    return sum(std::get<1>(la::eigh(a))) + sum(std::get<0>(la::svd(a)) * 2.0) + sum(la::pinv(a));
  };
  const D gradients = vmap(grad(derivative))(many);
  const D solutions = vmap([&](auto a) { return std::get<0>(la::lstsq(a, sides)); })(many);
  for (int64_t i = 0; i < 3; ++i) {
    const D a = D(many.at(i));
    const auto one = all_of(a);
    const auto same = [&]<size_t... K>(std::index_sequence<K...>) {
      return ((close(D(std::get<K>(batched).at(i)), std::get<K>(one)) &&
               close(D(std::get<K>(whole).at(i)), std::get<K>(one))) &&
              ...);
    };
    EXPECT_TRUE(same(std::make_index_sequence<9>())) << i;
    EXPECT_TRUE(close(D(gradients.at(i)), grad(derivative)(a), 1e-9)) << i;
    EXPECT_TRUE(close(D(solutions.at(i)), std::get<0>(la::lstsq(a, sides)), 1e-11)) << i;
  }
}

TEST(Eig, BatchesEqualLoops) {
  const D many = stack({matrix(4, 4), cos(matrix(4, 4)) * 2.0, transpose(matrix(4, 4))}, 0);
  const auto all_of = [](auto a) {
    const auto [w, v] = la::eig(a);
    const auto [u, x] = la::eig(as_complex(a, sin(a)));
    return std::tuple{w, v, u, x};
  };
  const auto f = [](auto a) {
    return sum(abs(std::get<1>(la::eig(a)))) + sum(abs(la::eigvals(as_complex(a, cos(a)))));
  };
  const auto batched = vmap(all_of)(many);
  const auto whole = all_of(many);
  const D gradients = vmap(grad(f))(many);
  const auto equal = [](const auto& x, const auto& y) { return max(abs(x - y)).item() < 1e-12; };
  for (int64_t i = 0; i < 3; ++i) {
    const D a = D(many.at(i));
    const auto one = all_of(a);
    const auto same = [&]<size_t... K>(std::index_sequence<K...>) {
      using C = Array<std::complex<double>>;
      return ((equal(C(std::get<K>(batched).at(i)), std::get<K>(one)) &&
               equal(C(std::get<K>(whole).at(i)), std::get<K>(one))) &&
              ...);
    };
    EXPECT_TRUE(same(std::make_index_sequence<4>())) << i;
    EXPECT_TRUE(close(D(gradients.at(i)), grad(f)(a), 1e-9)) << i;
  }
}

TEST(Eig, OfDevicesIsTheSame) {
  const D a = stack({matrix(5, 5), cos(matrix(5, 5))}, 0);
  const auto f = jit([](auto x) {
    const auto [w, v] = la::eig(x * 2.0);
    return std::pair{w * 0.5, v};
  });
  const auto [w, v] = f(a);
  const auto [w1, v1] = f(a.to(gpu_sim()));
  EXPECT_LE(max(abs(w1.to(cpu()) - w)).item(), 1e-13);
  EXPECT_LE(max(abs(v1.to(cpu()) - v)).item(), 1e-13);
}

TEST(Eig, HasTraceAndDeterminant) {
  const D a = matrix(6, 6);
  const auto w = la::eigvals(a);
  EXPECT_NEAR(real(sum(w)).item(), trace(a).item(), 1e-13);
  EXPECT_NEAR(real(prod(w)).item(), la::det(a).item(), 1e-12);
  EXPECT_NEAR(imag(prod(w)).item(), 0, 1e-12);
  // Rotations, and dtypes of other operands.
  const auto [u, v] = la::eig(D{{0.6, -0.8}, {0.8, 0.6}});
  EXPECT_NEAR(std::abs(u.at(0).item() - std::complex<double>(0.6, 0.8)), 0, 1e-15);
  EXPECT_NEAR(std::abs(v.at(0, 0).item()), std::sqrt(0.5), 1e-15);
  const Array<std::complex<float>> of_integers = la::eigvals(Array<int32_t>{{2, 0}, {0, 3}});
  EXPECT_EQ(of_integers.at(1).item(), std::complex<float>(3));
  EXPECT_EQ(la::eigvals(D::zeros({2, 0, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(std::get<1>(la::eig(D::zeros({0, 0}))).shape(), (Shape{0, 0}));
}

TEST(Spectra, OfSymmetricPartAndDiagonal) {
  const D a = matrix(4, 4);
  EXPECT_TRUE(close(la::eigvalsh(a), la::eigvalsh((a + transpose(a)) / 2.0)));
  const auto [w, v] = la::eigh(a);
  EXPECT_TRUE(close(matmul(v * w, transpose(v)), (a + transpose(a)) / 2.0));
  EXPECT_EQ(la::svdvals(D::zeros({2, 0, 3})).shape(), (Shape{2, 0}));
  EXPECT_EQ(la::eigvalsh(D::zeros({0, 0})).shape(), (Shape{0}));
  EXPECT_EQ(la::pinv(D::zeros({0, 3})).shape(), (Shape{3, 0}));
}

TEST(Pinv, HasPenrosesProperties) {
  for (const auto& a : {matrix(5, 3), matrix(3, 5), matmul(matrix(5, 2), matrix(2, 4)), D::zeros({3, 2})}) {
    for (const bool compiled : {false, true}) {
      const D p = compiled ? jit([](auto x) { return la::pinv(x); })(a) : la::pinv(a);
      EXPECT_TRUE(close(matmul(a, matmul(p, a)), a));
      EXPECT_TRUE(close(matmul(p, matmul(a, p)), p, 1e-10));
      EXPECT_TRUE(close(matmul(a, p), transpose(matmul(a, p))));
      EXPECT_TRUE(close(matmul(p, a), transpose(matmul(p, a))));
    }
  }
  // Small singular values count as 0.
  const D a = {{1, 0}, {0, 1e-3}};
  EXPECT_TRUE(close(la::pinv(a), D{{1, 0}, {0, 1e3}}));
  EXPECT_TRUE(close(la::pinv(a, 1e-2), D{{1, 0}, {0, 0}}));
  EXPECT_EQ(la::matrix_rank(a).item(), 2);
  EXPECT_EQ(la::matrix_rank(a, 1e-2).item(), 1);
  EXPECT_EQ(la::matrix_rank(D::zeros({3, 3})).item(), 0);
  EXPECT_EQ(la::matrix_rank(D::zeros({3, 0})).item(), 0);
}

TEST(Lstsq, OfLessThanFullRankIsOfLeastNorm) {
  const D a = {{1, 2, 3}, {2, 4, 6}, {1, 0, 1}, {2, 2, 4}}, b = {1, 3, 2, 0};
  const auto [x, residuals, rank, s] = la::lstsq(a, b);
  EXPECT_EQ(rank.item(), 2);
  EXPECT_EQ(s.shape(), (Shape{3}));
  EXPECT_TRUE(close(x, matmul(la::pinv(a), b)));
  // The normal equations hold, and x is in the space of the rows.
  EXPECT_TRUE(close(matmul(transpose(a), matmul(a, x) - b), D::zeros({3})));
  EXPECT_NEAR((x.at(0) + x.at(1) - x.at(2)).item(), 0, 1e-12);
  EXPECT_TRUE(close(residuals, D::from(std::vector{sum(square(b - matmul(a, x))).item()}, {1})));
  // Of batches of matrices and of sides.
  const auto [y, sums, ranks, values] = la::lstsq(stack({a, a * 2.0}, 0), stack({b, b}, 1));
  EXPECT_EQ(y.shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(sums.shape(), (Shape{2, 2}));
  EXPECT_EQ(values.shape(), (Shape{2, 3}));
  EXPECT_TRUE(array_equal(ranks, Array<int32_t>{2, 2}));
  EXPECT_TRUE(close(D(y.at(1, all, 0)), x / 2.0));
}

TEST(Cond, IsAQuotientOfSingularValues) {
  EXPECT_NEAR(la::cond(D{{4, 0}, {0, 2}}).item(), 2, 1e-15);
  EXPECT_NEAR(la::cond(D{{4, 0}, {0, 2}}, la::ord::minus_two).item(), 0.5, 1e-15);
  EXPECT_NEAR(la::cond(D{{4, 1}, {0, 2}}, la::ord::one).item(), 4 * 0.625, 1e-14);
  EXPECT_EQ(la::cond(D::zeros({2, 2})).item(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(la::cond(D{{1, 1}, {1, 1}, {0, 0}} * 0.0).item(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(la::cond(stack({matrix(3, 2), matrix(3, 2)}, 0)).shape(), (Shape{2}));
}

TEST(Norm, OfSingularValues) {
  const D a = matrix(4, 3), s = la::svdvals(a);
  EXPECT_TRUE(close(la::norm(a, la::ord::nuc), sum(s)));
  EXPECT_TRUE(close(la::norm(a, la::ord::two), max(s)));
  EXPECT_TRUE(close(la::norm(a, 2), max(s)));
  EXPECT_TRUE(close(la::norm(a, la::ord::minus_two), min(s)));
  const D many = stack({a, a * 2.0}, 1);  // [4, 2, 3]
  EXPECT_TRUE(close(la::norm(many, la::ord::nuc, {0, 2}), D::from(std::vector{sum(s).item(), 2 * sum(s).item()}, {2})));
  EXPECT_EQ(la::norm(many, la::ord::two, {2, 0}, keepdims).shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(la::norm(D::zeros({0, 3}), la::ord::nuc).item(), 0);
  EXPECT_EQ(la::norm(D::zeros({0, 3}), la::ord::two).item(), 0);
}

TEST(Spectra, ErrorsNameWhatIsWrong) {
  EXPECT_EQ(message<ShapeError>([] { return la::eigh(D::zeros({2, 3})); }),
            "linalg::eigh: needs square matrices [..., n, n], got f64[2,3]");
  EXPECT_EQ(message<ShapeError>([] { return la::eig(D::zeros({3})); }),
            "linalg::eig: needs square matrices [..., n, n], got f64[3]");
  EXPECT_EQ(message<DTypeError>([] { return la::eigvals(Array<bfloat16>::zeros({2, 2})); }),
            "linalg::eigvals: needs f32, f64 or complex elements, got bf16[2,2]");
  EXPECT_EQ(message<ShapeError>([] { return la::svd(D::zeros({3})); }),
            "linalg::svd: needs matrices [..., m, n], got f64[3]");
  EXPECT_EQ(message<ShapeError>([] { return la::cond(D::zeros({0, 3})); }),
            "linalg::cond: a matrix without elements has no condition number, got f64[0,3]");
  EXPECT_EQ(message<ShapeError>([] { return la::cond(D::zeros({2, 3}), la::ord::one); }),
            "linalg::cond: needs square matrices [..., n, n], got f64[2,3]");
  EXPECT_EQ(message<DTypeError>([] { return la::pinv(Array<float16>::zeros({2, 2})); }),
            "linalg::pinv: needs f32, f64 or complex elements, got f16[2,2]");
}

}  // namespace
}  // namespace calque::test
