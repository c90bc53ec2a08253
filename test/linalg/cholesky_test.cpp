// Factors of positive definite matrices leave residuals of rounding alone; others give NaN.
#include <array>

#include <gtest/gtest.h>

#include "linalg/systems.h"
#include "transform/linalg/expand_linalg.h"

namespace calque::test {
namespace {

constexpr int64_t kMost = transform::kMostExpandedRows;

/// Hilbert's matrices of more rows are not positive definite in T.
template <class T>
constexpr int64_t kMostOfHilbert = sizeof(T) == 4 ? 5 : 10;

template <class T>
void check_residuals(Way way, int64_t n) {
  constexpr double kBig = sizeof(T) == 4 ? 1e15 : 1e150;
  Rng rng(static_cast<uint64_t>(n) + 1);
  Matrices<T> a{.n = n};
  for (const Kind kind : {Kind::random, Kind::graded, Kind::hilbert}) {
    if (kind == Kind::hilbert && n > kMostOfHilbert<T>) continue;
    for (const double scale : {1.0, kBig, 1 / kBig}) add_definite(a, kind, scale, rng);
  }
  const Matrices<T> l = cholesky_of(way, a, {a.count(), n, n});
  ASSERT_EQ(l.elements.size(), a.elements.size());
  for (int64_t m = 0; m < a.count(); ++m)
    EXPECT_LE(cholesky_residual(a, l, m), 16 * static_cast<double>(n)) << n << " rows, matrix " << m;
}

TEST(Cholesky, OfTheReferenceLeavesRoundingErrors) {
  for (int64_t n = 0; n <= 40; ++n) {
    check_residuals<float>(Way::reference, n);
    check_residuals<double>(Way::reference, n);
  }
  check_residuals<float>(Way::reference, 100);
  check_residuals<double>(Way::reference, 100);
}

TEST(Cholesky, CompiledLeavesRoundingErrors) {
  for (int64_t n = 0; n <= 71; ++n) {
    const int64_t rows = n <= 70 ? n : 200;
    check_residuals<float>(Way::compiled, rows);
    check_residuals<double>(Way::compiled, rows);
  }
}

/// Each of the batch stands alone: the k-th matrix is spoiled in one way of several, others not at all.
template <class T>
void check_refusals(Way way, int64_t n, const Shape& batch) {
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN(), kInfinity = std::numeric_limits<T>::infinity();
  Rng rng(static_cast<uint64_t>(n) + 7);
  Matrices<T> a{.n = n};
  std::vector<bool> is_definite;
  for (int64_t m = 0; m < batch.num_elements(); ++m) {
    add_definite(a, Kind::random, 1, rng);
    const int64_t i = rng.between(0, n - 1), j = rng.between(0, i);
    const size_t way_of = rng.below(6);
    is_definite.push_back(way_of == 0 || way_of == 5);
    if (way_of == 1) a.at(m, i, i) = -1;
    if (way_of == 2) a.at(m, i, j) = kNaN;
    if (way_of == 3) a.at(m, i, i) = -kInfinity;
    if (way_of == 4)  // a singular matrix
      for (int64_t k = 0; k < n; ++k) a.at(m, i, k) = a.at(m, k, i) = 0;
    if (way_of == 5 && n > 1) a.at(m, 0, n - 1) = kNaN;  // above the diagonal nothing is read
  }
  std::vector<int64_t> dims(batch.begin(), batch.end());
  dims.insert(dims.end(), {n, n});
  const Matrices<T> l = cholesky_of(way, a, Shape(dims));
  for (int64_t m = 0; m < a.count(); ++m) {
    SCOPED_TRACE(std::to_string(n) + " rows, matrix " + std::to_string(m));
    if (!is_definite[static_cast<size_t>(m)]) {
      EXPECT_TRUE(is_refused(l, m));
      continue;
    }
    if (n > 1) a.at(m, 0, n - 1) = a.at(m, n - 1, 0);
    EXPECT_LE(cholesky_residual(a, l, m), 16 * static_cast<double>(n));
  }
}

TEST(Cholesky, OfBatchesInTheLanesOfVectorsLeavesRoundingErrors) {
  for (int64_t n = kMost + 1; n <= 66; ++n) {
    const int64_t batch = std::array{16, 17, 37, 64}[static_cast<size_t>(n) % 4];
    check_refusals<float>(Way::compiled, n, Shape{batch});
    check_refusals<double>(Way::compiled, n, Shape{2, batch});
  }
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  for (int64_t n = 1; n <= kMost; ++n) {
    for (const Way way : {Way::reference, Way::compiled}) {
      check_refusals<float>(way, n, {7});
      check_refusals<double>(way, n, {5, 20});
    }
  }
  check_refusals<double>(Way::reference, 40, {20});
}

TEST(Cholesky, OfInfinitePivotsEnds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Way way : {Way::reference, Way::compiled}) {
    const Matrices<double> l = cholesky_of(way, Matrices<double>{2, {kInfinity, 0, 1, 4}}, {2, 2});
    EXPECT_EQ(l.elements, (std::vector<double>{kInfinity, 0, 0, 2}));
    EXPECT_TRUE(is_refused(cholesky_of(way, Matrices<double>{2, {1, 0, kInfinity, 4}}, {2, 2}), 0));
  }
}

TEST(Cholesky, OfEmptyBatchesIsEmpty) {
  for (const Way way : {Way::reference, Way::compiled}) {
    EXPECT_TRUE(cholesky_of(way, Matrices<float>{3, {}}, {0, 3, 3}).elements.empty());
    EXPECT_TRUE(cholesky_of(way, Matrices<float>{0, {}}, {7, 0, 0}).elements.empty());
    EXPECT_TRUE(cholesky_of(way, Matrices<float>{0, {}}, {0, 0}).elements.empty());
  }
}

TEST(Cholesky, OfOneMatrixHasTheBitsOfThatInABatch) {
  Rng rng(3);
  Matrices<double> all{.n = 6};
  for (int m = 0; m < 100; ++m) add_definite(all, Kind::random, 1, rng);
  const Matrices<double> l = cholesky_of(Way::reference, all, {100, 6, 6});
  for (const int64_t m : {0, 50, 99}) {
    Matrices<double> one{6, {all.elements.begin() + m * 36, all.elements.begin() + (m + 1) * 36}};
    const auto alone = cholesky_of(Way::reference, one, {6, 6}).elements;
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), l.elements.begin() + m * 36));
  }
}

TEST(Cholesky, OfComplexMatricesIgnoresImaginaryDiagonals) {
  using C = std::complex<double>;
  const std::vector<C> a = {C(4, 9), C(7, 7), C(2, 2), C(6, -9)};
  const Graph g = graph_of<primitives::Cholesky>({{DType::c128, {2, 2}}});
  const auto l = elements<C>(run(Way::reference, g, {AnyArray::from(std::span(a), Shape{2, 2})}));
  EXPECT_EQ(l, (std::vector<C>{2, 0, C(1, 1), 2}));
}

}  // namespace
}  // namespace calque::test
