// Linear algebra of complex matrices: factors, solutions and determinants by what defines them, of sizes on both sides
// of the expansions and of panels, with any number of threads.
#include <complex>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "linalg/systems.h"

namespace calque::test {
namespace {

namespace la = linalg;

constexpr int64_t kSizes[] = {0, 1, 2, 3, 8, 9, 12, 13, 24, 25, 49, 130, 171};

template <class R>
Array<std::complex<R>> random_matrix(std::vector<int64_t> dims, uint64_t seed) {
  Rng rng(seed);
  const Shape shape(dims);
  std::vector<std::complex<R>> z;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const double re = even(rng);
    z.emplace_back(static_cast<R>(re), static_cast<R>(even(rng)));
  }
  return Array<std::complex<R>>::from(std::span<const std::complex<R>>(z), shape);
}

template <class R>
double largest(const Array<std::complex<R>>& z) {
  if (z.size() == 0) return 0;
  return static_cast<double>(amax(abs(z)).item());
}

template <class R>
auto adjoint(const Array<std::complex<R>>& z) {
  return conj(z.rank() == 3 ? transpose(z, {0, 2, 1}) : transpose(z));
}

template <class R>
class ComplexLinalg : public testing::Test {
 protected:
  using C = Array<std::complex<R>>;
  static double rounding(int64_t n) {
    return 64 * static_cast<double>(n + 1) * static_cast<double>(std::numeric_limits<R>::epsilon());
  }
};
using Parts = testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexLinalg, Parts);

TYPED_TEST(ComplexLinalg, SolutionsSolve) {
  using C = typename TestFixture::C;
  const auto solve = jit([](auto a, auto b) { return la::solve(a, b); });
  for (const int64_t n : kSizes) {
    const C a = random_matrix<TypeParam>({2, n, n}, 1), b = random_matrix<TypeParam>({2, n, 3}, 2);
    const C x = solve(a, b);
    EXPECT_LE(largest<TypeParam>(matmul(a, x) - b), this->rounding(n) * (1 + largest<TypeParam>(x))) << n;
  }
}

TYPED_TEST(ComplexLinalg, FactorsMultiplyToTheMatrix) {
  using C = typename TestFixture::C;
  for (const int64_t n : kSizes) {
    for (const int64_t columns : {n, n + 5, std::max<int64_t>(n - 3, 0)}) {
      const C a = random_matrix<TypeParam>({2, n, columns}, 3);
      const auto [p, l, u] = jit([](auto m) { return la::lu(m); })(a);
      EXPECT_LE(largest<TypeParam>(matmul(matmul(p, l), u) - a), this->rounding(n)) << n << ' ' << columns;
      EXPECT_LE(largest<TypeParam>(l), 1.5) << n;
    }
  }
}

TYPED_TEST(ComplexLinalg, CholeskyFactorsMultiplyToTheMatrix) {
  using C = typename TestFixture::C;
  for (const int64_t n : kSizes) {
    const C x = random_matrix<TypeParam>({2, n, n}, 4);
    const C a = matmul(x, adjoint<TypeParam>(x)) + C(std::complex<TypeParam>(1)) * Array<TypeParam>::eye(n);
    const C l = jit([](auto m) { return la::cholesky(m); })(a);
    EXPECT_LE(largest<TypeParam>(matmul(l, adjoint<TypeParam>(l)) - a), this->rounding(n) * (1 + largest<TypeParam>(a)))
        << n;
    const C not_definite = a - C(std::complex<TypeParam>(static_cast<TypeParam>(3 * n + 3))) * Array<TypeParam>::eye(n);
    const C nan = jit([](auto m) { return la::cholesky(m); })(not_definite);
    EXPECT_EQ(any(isnan(nan)).item(), n > 0);
  }
}

TYPED_TEST(ComplexLinalg, TrianglesAreSolvedInEveryForm) {
  using C = typename TestFixture::C;
  for (const int64_t n : {1, 7, 13, 40, 129}) {
    // A dominant diagonal: others lose all digits.
    const C a = random_matrix<TypeParam>({n, n}, 5) * static_cast<TypeParam>(1.0 / static_cast<double>(n)) +
                C(std::complex<TypeParam>(1, -1)) * Array<TypeParam>::eye(n);
    const C b = random_matrix<TypeParam>({n, 130}, 6);
    for (int form = 0; form < 8; ++form) {
      const bool lower = (form & 1) != 0, transposed = (form & 2) != 0, unit = (form & 4) != 0;
      const C x = jit([=](auto m, auto y) {
        return la::triangular_solve(m, y, {.lower = lower, .transpose = transposed, .unit_diagonal = unit});
      })(a, b);
      C t = lower ? tril(a, unit ? -1 : 0) : triu(a, unit ? 1 : 0);
      if (unit) t = t + C(std::complex<TypeParam>(1)) * Array<TypeParam>::eye(n);
      if (transposed) t = transpose(t);
      EXPECT_LE(largest<TypeParam>(matmul(t, x) - b), this->rounding(n) * (1 + largest<TypeParam>(x)))
          << n << ' ' << form;
    }
  }
}

TYPED_TEST(ComplexLinalg, DeterminantsAreProducts) {
  using C = typename TestFixture::C;
  for (const int64_t n : {0, 1, 2, 5, 8, 9, 30}) {
    const C a = random_matrix<TypeParam>({n, n}, 7);
    const auto [det, sign, log] = jit([](auto m) {
      const auto [s, l] = la::slogdet(m);
      return std::tuple{la::det(m), s, l};
    })(a);
    const auto whole = std::complex<double>(sign.item()) * std::exp(static_cast<double>(log.item()));
    const auto value = std::complex<double>(det.item());
    EXPECT_LE(std::abs(value - whole), 16 * this->rounding(n) * std::abs(whole)) << n;
    EXPECT_NEAR(std::abs(std::complex<double>(sign.item())), 1, this->rounding(n));
    // The determinant of the adjoint is the conjugate, that of a product the product.
    const auto of_product = std::complex<double>(la::det(matmul(a, adjoint<TypeParam>(a))).item());
    EXPECT_LE(std::abs(of_product - std::norm(value)), 64 * this->rounding(n) * std::norm(value)) << n;
  }
}

TEST(ComplexMatrices, DerivativesOfSolutionsAreThoseOfTheTextbook) {
  using C = Array<std::complex<double>>;
  for (const int64_t n : {3, 20}) {
    const C a = random_matrix<double>({n, n}, 8), da = random_matrix<double>({n, n}, 9),
            b = random_matrix<double>({n}, 10);
    const auto [x, dx] = jit([](auto m, auto t, auto y) {
      return jvp([=](auto q) { return la::solve(q, y); }, std::tuple{m}, std::tuple{t});
    })(a, da, b);
    EXPECT_LE(largest<double>(matmul(a, dx) + matmul(da, x)), 1e-9 * (1 + largest<double>(dx))) << n;
  }
}

TEST(ComplexMatrices, BatchesEqualLoops) {
  using C = Array<std::complex<double>>;
  const C a = random_matrix<double>({3, 10, 10}, 11), b = random_matrix<double>({10}, 12);
  const C many = vmap([](auto m, auto y) { return la::solve(m, y); }, {.in_axes = {0, none}})(a, b);
  for (int64_t i = 0; i < 3; ++i) EXPECT_LE(largest<double>(C(many.at(i)) - la::solve(C(a.at(i)), b)), 1e-12);
}

}  // namespace
}  // namespace calque::test
