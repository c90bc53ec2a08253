// Polynomials, convolutions, windows and arrays made of numbers: values, types, edges, errors.
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using I = Array<int32_t>;

bool close(const D& a, const D& b, double tolerance = 1e-13) { return allclose(a, b, tolerance, tolerance, true); }

TEST(Polynomials, Arithmetic) {
  EXPECT_TRUE(array_equal(polyval(I{1, 2, 3}, I{{0, 1}, {2, -1}}), I{{3, 6}, {11, 2}}));
  EXPECT_TRUE(array_equal(polyval(I::zeros({0}), I{1, 2}), I{0, 0}));
  EXPECT_TRUE(array_equal(polyval(D{2, 1}, 3), D(7.0)));
  EXPECT_TRUE(array_equal(polyval(I::zeros({200}) + 1, I{1, 0, -1}), I{200, 1, 0}));  // a loop
  EXPECT_TRUE(array_equal(polyadd(I{1, 2, 3}, I{10}), I{1, 2, 13}));
  EXPECT_TRUE(array_equal(polysub(I{1}, I{1, 2, 3}), I{-1, -2, -2}));
  EXPECT_TRUE(array_equal(polymul(I{1, 2}, I{1, 0, 3}), I{1, 2, 3, 6}));
  EXPECT_TRUE(array_equal(polyder(I{1, 2, 3}), I{2, 2}));
  EXPECT_TRUE(array_equal(polyder(I{1, 2, 3}, 0), I{1, 2, 3}));
  EXPECT_EQ(polyder(I{1, 2, 3}, 4).shape(), Shape{0});
  EXPECT_TRUE(close(polyint(D{6, 2}), D{3, 2, 0}));
  EXPECT_TRUE(close(polyint(D{6}, 2), D{3, 0, 0}));
  static_assert(std::same_as<decltype(polyint(I{1})), F>);
  EXPECT_THROW(polyder(I{1}, -1), ShapeError);
  EXPECT_THROW(polyval(I{{1}}, I{1}), ShapeError);
  EXPECT_THROW(polymul(I::zeros({0}), I{1}), ShapeError);
}

TEST(Polynomials, DivisionRootsAndFits) {
  const auto [q, r] = polydiv(D{3, 5, 2, 7}, D{2, 1});
  EXPECT_TRUE(close(q, D{1.5, 1.75, 0.125}));
  EXPECT_TRUE(close(r, D{6.875}));
  EXPECT_TRUE(close(polyadd(polymul(q, D{2, 1}), r), D{3, 5, 2, 7}));
  const auto [q1, r1] = polydiv(D{1, 2}, D{4});
  EXPECT_TRUE(close(q1, D{0.25, 0.5}) && close(r1, D{0}));
  const auto [q2, r2] = polydiv(D{1}, D{4, 1});
  EXPECT_TRUE(close(q2, D{0}) && close(r2, D{1}));
  EXPECT_THROW(polydiv(D{1}, D::zeros({0})), ShapeError);
  EXPECT_TRUE(close(poly(D{1, 2, -3}), D{1, 0, -7, 6}));
  EXPECT_TRUE(close(poly(D::zeros({0})), D{1}));
  const D x = {0, 1, 2, 3, 4}, y = polyval(D{2, -1, 0.5}, x);
  EXPECT_TRUE(close(polyfit(x, y, 2), D{2, -1, 0.5}, 1e-10));
  EXPECT_TRUE(close(polyfit(x, stack({y, y * 2.0}, 1), 2), D{{2, 4}, {-1, -2}, {0.5, 1}}, 1e-10));
  EXPECT_THROW(polyfit(x, D{1, 2}, 1), ShapeError);
  EXPECT_THROW(polyfit(x, y, -1), ShapeError);
}

/// The definitions.
std::vector<double> full_convolution(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> out(x.size() + y.size() - 1, 0);
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < y.size(); ++j) out[i + j] += x[i] * y[j];
  return out;
}

TEST(Polynomials, ConvolutionsOfAllLengths) {
  for (const size_t n : {1u, 2u, 5u, 30u, 61u}) {
    for (const size_t m : {1u, 2u, 4u, 25u, 60u}) {
      std::vector<double> x(n), y(m);
      for (size_t i = 0; i < n; ++i) x[i] = std::sin(1.0 + 3.0 * static_cast<double>(i));
      for (size_t i = 0; i < m; ++i) y[i] = std::cos(2.0 * static_cast<double>(i));
      const std::vector<double> full = full_convolution(x, y), mirrored = full_convolution(x, {y.rbegin(), y.rend()});
      const auto part = [&](const std::vector<double>& of, size_t from, size_t count) {
        return D::from(std::span(of.data() + from, count), Shape{count});
      };
      const D a = part(x, 0, n), b = part(y, 0, m);
      const size_t longer = std::max(n, m), shorter = std::min(n, m);
      EXPECT_TRUE(close(convolve(a, b), part(full, 0, n + m - 1)));
      EXPECT_TRUE(close(convolve(a, b, convolve_mode::same), part(full, (shorter - 1) / 2, longer)));
      EXPECT_TRUE(close(convolve(a, b, convolve_mode::valid), part(full, shorter - 1, longer - shorter + 1)));
      EXPECT_TRUE(close(correlate(a, b, convolve_mode::full), part(mirrored, 0, n + m - 1)));
      EXPECT_TRUE(close(correlate(a, b), part(mirrored, shorter - 1, longer - shorter + 1)));
    }
  }
  EXPECT_TRUE(array_equal(convolve(I{1, 2, 3}, I{0, 1}), I{0, 1, 2, 3}));
  // NumPy's alignment of even lengths.
  EXPECT_TRUE(array_equal(correlate(I{1, 2, 3, 4}, I{1, 10}, convolve_mode::same), I{10, 21, 32, 43}));
  EXPECT_TRUE(array_equal(correlate(I{1, 10}, I{1, 2, 3, 4}, convolve_mode::same), I{43, 32, 21, 10}));
  using C = std::complex<double>;
  EXPECT_TRUE(array_equal(correlate(Array<C>{C(0, 1)}, Array<C>{C(0, 1)}), Array<C>{C(1, 0)}));
  EXPECT_THROW(convolve(D::zeros({0}), D{1}), ShapeError);
  EXPECT_THROW(convolve(D{{1}}, D{1}), ShapeError);
}

TEST(Products, OfMatricesAndVectors) {
  EXPECT_TRUE(array_equal(matvec(I{{1, 2}, {3, 4}}, I{1, 10}), I{21, 43}));
  EXPECT_TRUE(array_equal(vecmat(I{1, 10}, I{{1, 2}, {3, 4}}), I{31, 42}));
  using C = std::complex<double>;
  EXPECT_TRUE(array_equal(vecmat(Array<C>{C(0, 1)}, Array<C>{{C(0, 1)}}), Array<C>{C(1, 0)}));
  EXPECT_EQ(matvec(D::zeros({3, 1, 2, 0}), D::zeros({4, 0})).shape(), (Shape{3, 4, 2}));
  EXPECT_THROW(matvec(I{1}, I{1}), ShapeError);
  EXPECT_THROW(matvec(I{{1, 2}}, I{1}), ShapeError);
  EXPECT_THROW(vecmat(I{1, 2, 3}, I{{1, 2}, {3, 4}}), ShapeError);
}

TEST(Making, WindowsAndSpacedNumbers) {
  const auto f = [](auto make) { return jit(make)(); };
  EXPECT_TRUE(close(f([] { return bartlett<double>(5); }), D{0, 0.5, 1, 0.5, 0}));
  EXPECT_TRUE(close(f([] { return hanning<double>(5); }), D{0, 0.5, 1, 0.5, 0}));
  EXPECT_TRUE(close(f([] { return hamming<double>(3); }), D{0.08, 1, 0.08}));
  EXPECT_TRUE(close(f([] { return blackman<double>(3); }), D{0, 1, 0}));
  EXPECT_TRUE(close(f([] { return kaiser<double>(3, 2.0); }), D{1 / 2.2795853023360673, 1, 1 / 2.2795853023360673}));
  EXPECT_TRUE(array_equal(f([] { return kaiser<double>(1, 2.0); }), D{1}));
  EXPECT_EQ(f([] { return hanning<float>(0); }).shape(), Shape{0});
  EXPECT_THROW(f([] { return hanning<float>(-1); }), ShapeError);
  EXPECT_TRUE(close(f([] { return logspace<double>(0, 3, 4); }), D{1, 10, 100, 1000}, 1e-12));
  EXPECT_TRUE(close(f([] { return logspace<double>(0, 3, 4, true, 2); }), D{1, 2, 4, 8}));
  const D spaced = f([] { return geomspace<double>(-0.3, -81.0, 6); });
  EXPECT_EQ(spaced.at(0).item(), -0.3);
  EXPECT_EQ(spaced.at(5).item(), -81.0);
  EXPECT_THROW(f([] { return geomspace<double>(-1, 1, 3); }), ShapeError);
  EXPECT_THROW(hanning<double>(3), LeakedTracerError);
}

TEST(Making, TrianglesAndIndices) {
  const auto f = [](auto make) { return jit(make)(); };
  EXPECT_TRUE(array_equal(f([] { return tri<int32_t>(2, 3, 1); }), I{{1, 1, 0}, {1, 1, 1}}));
  EXPECT_TRUE(array_equal(f([] { return eye<int32_t>(2, 3, 1); }), I{{0, 1, 0}, {0, 0, 1}}));
  EXPECT_TRUE(array_equal(f([] { return eye<int32_t>(2, 2, -5); }), I{{0, 0}, {0, 0}}));
  EXPECT_THROW(f([] { return tri<float>(-1, 2); }), ShapeError);
  EXPECT_TRUE(array_equal(f([] { return indices({2, 3})[1]; }), I{{0, 1, 2}, {0, 1, 2}}));
  EXPECT_TRUE(array_equal(f([] { return tril_indices(3, 0, 2)[1]; }), I{0, 0, 1, 0, 1}));
  EXPECT_TRUE(array_equal(f([] { return triu_indices(3, 1)[0]; }), I{0, 0, 1}));
  EXPECT_EQ(f([] { return tril_indices(3, INT64_MIN, 2)[0]; }).shape(), Shape{0});
  EXPECT_TRUE(array_equal(f([] { return diag_indices(2)[1]; }), I{0, 1}));
  EXPECT_TRUE(array_equal(full_like(I{{1, 2}}, 7), I{{7, 7}}));
  EXPECT_TRUE(array_equal(zeros_like(D{1, 2}), D{0, 0}));
  EXPECT_TRUE(array_equal(jit([](auto x) { return ones_like(x); })(I{5}), I{1}));
  EXPECT_THROW(full_like(Array<int8_t>{1}, 1000), DTypeError);
  EXPECT_TRUE(array_equal(diagflat(I{{1}, {2}}, -1), I{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}}));
}

}  // namespace
}  // namespace calque::test
