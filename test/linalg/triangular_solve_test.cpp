// Solutions of triangular systems against their definition, for all flags.
#include "primitives/linalg/triangular_solve.h"

#include <gtest/gtest.h>

#include "linalg/systems.h"
#include "transform/linalg/expand_linalg.h"

namespace calque::test {
namespace {

using primitives::TriangularForm;

constexpr int64_t kMost = transform::kMostExpandedRows;

std::vector<TriangularForm> all_forms() {
  std::vector<TriangularForm> forms;
  for (const bool lower : {false, true})
    for (const bool transpose : {false, true})
      for (const bool unit : {false, true}) forms.emplace_back(lower, transpose, unit);
  return forms;
}

template <class T>
struct System {
  Matrices<T> a;
  int64_t columns = 0;
  std::vector<T> b{};

  size_t position(int64_t m, int64_t i, int64_t c) const { return static_cast<size_t>((m * a.n + i) * columns + c); }
  /// Element (i, j) of the matrix that is solved with.
  T coefficient(const TriangularForm& form, int64_t m, int64_t i, int64_t j) const {
    if (i == j && form.unit_diagonal) return 1;
    if (i != j && (i > j) != form.forward()) return 0;
    return form.transpose ? a.at(m, j, i) : a.at(m, i, j);
  }
};

/// Systems with NaN where nothing is read.
template <class T>
System<T> system(int64_t n, int64_t batch, int64_t columns, const TriangularForm& form, double scale, Rng& rng) {
  System<T> s{{.n = n}, columns};
  for (int64_t m = 0; m < batch; ++m) {
    s.a.elements.resize(s.a.elements.size() + static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const bool is_read = i == j ? !form.unit_diagonal : (i > j) == form.lower;
        const double x = i == j ? std::copysign(1 + std::abs(even(rng)), even(rng)) : even(rng);
        s.a.at(m, i, j) =
            is_read ? static_cast<T>((form.unit_diagonal ? 1 : scale) * x) : std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
  for (int64_t i = 0; i < batch * n * columns; ++i) s.b.push_back(static_cast<T>(scale * even(rng)));
  return s;
}

template <class T>
std::vector<T> solve(Way way, const System<T>& s, const TriangularForm& form, const Shape& batch) {
  std::vector<int64_t> a(batch.begin(), batch.end()), b(batch.begin(), batch.end());
  a.insert(a.end(), {s.a.n, s.a.n});
  b.insert(b.end(), {s.a.n, s.columns});
  const Graph g =
      graph_of<primitives::TriangularSolve>({{dtype_of<T>, Shape(a)}, {dtype_of<T>, Shape(b)}}, form.attributes());
  return elements<T>(run(way, g, {s.a.array(Shape(a)), AnyArray::from(std::span<const T>(s.b), Shape(b))}));
}

/// |b - t x| <= 16 n eps |t| |x|, row by row.
template <class T>
void check(Way way, int64_t n, const Shape& batch, int64_t columns, const TriangularForm& form, double scale,
           Rng& rng) {
  const System<T> s = system<T>(n, batch.num_elements(), columns, form, scale, rng);
  const std::vector<T> x = solve(way, s, form, batch);
  ASSERT_EQ(x.size(), s.b.size());
  for (int64_t m = 0; m < batch.num_elements(); ++m) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < columns; ++c) {
        long double left = s.b[s.position(m, i, c)], size = 0;
        for (int64_t k = 0; k < n; ++k) {
          const long double term = static_cast<long double>(s.coefficient(form, m, i, k)) * x[s.position(m, k, c)];
          left -= term;
          size += std::abs(term);
        }
        ASSERT_LE(std::abs(left), 16 * static_cast<long double>(n) * std::numeric_limits<T>::epsilon() * size)
            << n << " rows, matrix " << m << ", element " << i << ", " << c << ", lower " << form.lower
            << ", transpose " << form.transpose << ", unit " << form.unit_diagonal;
      }
    }
  }
}

TEST(TriangularSolve, OfTheReferenceFulfilsTheDefinition) {
  Rng rng(1);
  for (const TriangularForm& form : all_forms()) {
    for (int64_t n = 0; n <= 40; ++n) {
      check<float>(Way::reference, n, {2}, 3, form, 1, rng);
      check<double>(Way::reference, n, {}, 1, form, 1, rng);
    }
    check<double>(Way::reference, 100, {}, 2, form, 1, rng);
    for (const double scale : {1e15, 1e-15}) check<float>(Way::reference, 9, {3}, 2, form, scale, rng);
    for (const double scale : {1e150, 1e-150}) check<double>(Way::reference, 9, {3}, 2, form, scale, rng);
  }
}

TEST(TriangularSolve, CompiledFulfilsTheDefinition) {
  Rng rng(2);
  for (const TriangularForm& form : all_forms()) {
    for (int64_t n = 0; n <= kMost; ++n) {
      check<float>(Way::compiled, n, {7}, 3, form, 1, rng);
      check<double>(Way::compiled, n, {}, n % 2 + 1, form, n % 3 == 0 ? 1e150 : 1e-150, rng);
    }
    check<double>(Way::compiled, 5, {5, 20}, 1, form, 1, rng);
    check<float>(Way::compiled, 5, {100}, 4, form, 1e15, rng);
  }
}

TEST(TriangularSolve, OfNothingIsEmpty) {
  Rng rng(3);
  for (const Way way : {Way::reference, Way::compiled}) {
    check<float>(way, 3, {0}, 2, {}, 1, rng);
    check<float>(way, 3, {2}, 0, {}, 1, rng);
    check<float>(way, 0, {2}, 3, {}, 1, rng);
  }
}

TEST(TriangularSolve, DividesByZeroAndInfinity) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  for (const Way way : {Way::reference, Way::compiled}) {
    const auto solved = [&](std::vector<double> a, std::vector<double> b) {
      return solve(way, System<double>{{2, std::move(a)}, 1, std::move(b)}, {}, {});
    };
    EXPECT_EQ(solved({0, kNaN, 0, 2}, {3, 4})[0], kInfinity);
    EXPECT_TRUE(std::isnan(solved({0, kNaN, 1, 2}, {0, 4})[1]));
    EXPECT_EQ(solved({kInfinity, kNaN, 1, 2}, {3, 4}), (std::vector<double>{0, 2}));
    EXPECT_TRUE(std::isnan(solved({1, 0, 1, 2}, {kNaN, 4})[1]));
    // A subnormal pivot: its reciprocal would overflow.
    EXPECT_EQ(solved({1e-310, 0, 0, 1}, {1e-310, 1}), (std::vector<double>{1, 1}));
  }
}

TEST(TriangularSolve, SolvesComplexSystems) {
  using C = std::complex<float>;
  const std::vector<C> a = {C(0, 2), C(9, 9), C(1, 1), C(2, 0)}, b = {C(2, 0), C(0, 4)};
  const auto x = [&](const TriangularForm& form) {
    const Graph g =
        graph_of<primitives::TriangularSolve>({{DType::c64, {2, 2}}, {DType::c64, {2, 1}}}, form.attributes());
    return elements<C>(
        run(Way::reference, g, {AnyArray::from(std::span(a), Shape{2, 2}), AnyArray::from(std::span(b), Shape{2, 1})}));
  };
  EXPECT_EQ(x({true, false, false}), (std::vector<C>{C(0, -1), C(-0.5F, 2.5F)}));
  // Transposed, not conjugated: 2i x0 + (1 + i) x1 = 2, 2 x1 = 4i.
  EXPECT_EQ(x({true, true, false}), (std::vector<C>{C(-1, -2), C(0, 2)}));
}

}  // namespace
}  // namespace calque::test
