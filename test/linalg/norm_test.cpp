// linalg::norm: every order of vectors and matrices, axes, element types, errors.
#include <limits>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;
using C = std::complex<double>;
namespace la = linalg;
using la::ord;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

bool close(const D& x, const D& y, double tolerance = 1e-14) { return allclose(x, y, tolerance, tolerance); }

TEST(Norm, OfVectors) {
  const D v = {3, -4, 0};
  EXPECT_EQ(la::norm(v).item(), 5);
  EXPECT_EQ(la::norm(v, ord::two).item(), 5);
  EXPECT_EQ(la::norm(v, ord::one).item(), 7);
  EXPECT_EQ(la::norm(v, ord::inf).item(), 4);
  EXPECT_EQ(la::norm(v, ord::minus_inf).item(), 0);
  EXPECT_EQ(la::norm(v, ord::minus_one).item(), 0);
  EXPECT_NEAR(la::norm(D{1, -2, 4}, ord::minus_one).item(), 1 / 1.75, 1e-15);
  EXPECT_NEAR(la::norm(D{1, -2}, ord::minus_two).item(), std::sqrt(1 / 1.25), 1e-15);
  EXPECT_EQ(la::norm(v, 0).item(), 2);
  EXPECT_EQ(la::norm(v, 1).item(), 7);
  EXPECT_EQ(la::norm(v, 2.0F).item(), 5);
  EXPECT_EQ(la::norm(v, kInf).item(), 4);
  EXPECT_EQ(la::norm(v, -kInf).item(), 0);
  EXPECT_NEAR(la::norm(v, 3).item(), std::cbrt(91.0), 1e-14);
  EXPECT_NEAR(la::norm(v, 0.5).item(), std::pow(std::sqrt(3.0) + 2, 2), 1e-13);
  EXPECT_NEAR(la::norm(D{1, 2}, -3).item(), 1 / std::cbrt(1.125), 1e-15);
  EXPECT_EQ(la::norm(D::zeros({0})).item(), 0);
  EXPECT_EQ(la::norm(D::zeros({0}), ord::one).item(), 0);
  EXPECT_EQ(la::norm(D::zeros({0}), ord::inf).item(), 0);
  EXPECT_EQ(la::norm(D::zeros({0}), 3).item(), 0);
  EXPECT_EQ(la::norm(D{-2}).item(), 2);
  EXPECT_EQ(la::norm(D(-2.0)).item(), 2);
  for (ord o : {ord::one, ord::two, ord::inf, ord::minus_one, ord::minus_two, ord::minus_inf}) {
    EXPECT_TRUE(std::isnan(la::norm(D{1, kNaN, 2}, o).item())) << static_cast<int>(o);
  }
}

TEST(Norm, OfMatricesAndBatches) {
  const D m = {{1, -2, 3}, {-4, 5, 0}};
  EXPECT_NEAR(la::norm(m).item(), std::sqrt(55.0), 1e-14);
  EXPECT_NEAR(la::norm(m, ord::fro).item(), std::sqrt(55.0), 1e-14);
  EXPECT_EQ(la::norm(m, ord::one).item(), 7);
  EXPECT_EQ(la::norm(m, ord::minus_one).item(), 3);
  EXPECT_EQ(la::norm(m, ord::inf).item(), 9);
  EXPECT_EQ(la::norm(m, ord::minus_inf).item(), 6);
  EXPECT_EQ(la::norm(m, 1).item(), 7);
  EXPECT_EQ(la::norm(m, -kInf).item(), 6);
  // A batch has a norm for each matrix, and NaN stays in its own.
  const D batch = stack({m, m * 2.0, m.set(0, 0, kNaN)}, 0);
  const auto f =
      jit([](auto x) { return std::tuple{la::norm(x), la::norm(x, ord::one), la::norm(x, ord::minus_inf)}; });
  const auto [fro, one, least] = f(batch);
  EXPECT_TRUE(allclose(fro, D{std::sqrt(55.0), 2 * std::sqrt(55.0), kNaN}, 1e-14, 0, true));
  EXPECT_TRUE(array_equal(one, D{7, 14, kNaN}, true));
  EXPECT_TRUE(array_equal(least, D{6, 12, kNaN}, true));
  EXPECT_TRUE(array_equal(la::norm(D::zeros({2, 0, 3}), ord::one), D{0, 0}));
  EXPECT_TRUE(array_equal(la::norm(D::zeros({2, 3, 0}), ord::one), D{0, 0}));
  EXPECT_TRUE(array_equal(la::norm(D::zeros({2, 0, 3}), ord::inf), D{0, 0}));
  EXPECT_TRUE(array_equal(la::norm(D::zeros({2, 0, 3}), ord::minus_one), D{0, 0}));
  EXPECT_EQ(la::norm(D::zeros({0, 2, 3}), ord::minus_one).shape(), Shape{0});
}

TEST(Norm, AlongAxes) {
  const D m = {{3, -4}, {6, 8}};
  EXPECT_TRUE(array_equal(la::norm(m, {1}), D{5, 10}));
  EXPECT_TRUE(array_equal(la::norm(m, {1}, keepdims), D{{5}, {10}}));
  EXPECT_TRUE(array_equal(la::norm(m, ord::one, {0}), D{9, 12}));
  EXPECT_TRUE(array_equal(la::norm(m, {0}, keepdims), sqrt(D{{45, 80}})));
  EXPECT_TRUE(array_equal(la::norm(m, ord::inf, -1, keepdims), D{{4}, {8}}));
  EXPECT_TRUE(close(la::norm(m, 3.0, {-1}), D{std::cbrt(91.0), std::cbrt(728.0)}));
  // Rows and columns are named in this order.
  EXPECT_EQ(la::norm(m, ord::one, {0, 1}).item(), 12);
  EXPECT_EQ(la::norm(m, ord::one, {1, 0}).item(), 14);
  const D batch = stack({m, m * 2.0}, 2);
  EXPECT_TRUE(array_equal(la::norm(batch, ord::one, {0, 1}), D{12, 24}));
  EXPECT_TRUE(array_equal(la::norm(batch, ord::inf, {1, 0}, keepdims), D{{{12, 24}}}));
}

TEST(Norm, OfEveryKindOfElement) {
  const Array<C> z = {C(3, 4), C(0, -12)};
  static_assert(std::same_as<decltype(la::norm(z)), D>);
  EXPECT_NEAR(la::norm(z).item(), 13, 1e-14);
  EXPECT_EQ(la::norm(z, ord::one).item(), 17);
  EXPECT_EQ(la::norm(z, ord::minus_inf).item(), 5);
  EXPECT_EQ(la::norm(z, 0).item(), 2);
  static_assert(std::same_as<decltype(la::norm(Array<int32_t>{1}, ord::one)), F>);
  EXPECT_EQ(la::norm(Array<int8_t>{-128, 127}, ord::inf).item(), 128);
  EXPECT_EQ(la::norm(Array<uint8_t>{200, 100}, ord::one).item(), 300);
  EXPECT_EQ(la::norm(Array<bool>{true, true, false}, 0).item(), 2);
  static_assert(std::same_as<decltype(la::norm(Array<float16>{}, ord::one)), Array<float16>>);
  EXPECT_EQ(static_cast<float>(la::norm(Array<float16>::ones({4096}), ord::one).item()), 4096);
  EXPECT_EQ(static_cast<float>(la::norm(Array<float16>::ones({64, 64}) * 8).item()), 512);
}

/// The message of the E that f throws, without the line that it was written in, which must be of this file.
template <class E, class Function>
std::string message(const Function& f) {
  try {
    static_cast<void>(f());
  } catch (const E& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("norm_test.cpp:"), std::string::npos) << text;
    return text.substr(0, text.find(" ("));
  }
  return "no error";
}

TEST(Norm, BadOperandsAreRefusedInWords) {
  const auto zeros = [](const Shape& s) { return D::zeros(s); };
  EXPECT_EQ(message<ShapeError>([&] { return la::norm(zeros({3}), ord::fro); }),
            "linalg::norm: ord::fro is a norm of matrices, got vectors of f64[3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::norm(zeros({}), ord::one); }),
            "linalg::norm: needs vectors or matrices, got f64[]");
  EXPECT_EQ(message<ShapeError>([&] { return la::norm(zeros({2, 3}), 3); }),
            "linalg::norm: a norm of matrices has the order 1, 2 or inf, or one of their negatives, got 3.000000 and "
            "f64[2,3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::norm(zeros({0}), ord::minus_inf); }),
            "linalg::norm: no elements to choose the least one from in f64[0]");
  EXPECT_EQ(message<ShapeError>([&] { return la::norm(zeros({2, 3}), {2}); }),
            "linalg::norm: axis 2 is out of range for f64[2,3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::norm(zeros({2, 3}), ord::one, {0, -2}); }),
            "linalg::norm: axis 0 is given twice for f64[2,3]");
  EXPECT_EQ(message<ShapeError>([&] { return la::norm(zeros({2, 3, 4}), ord::one, {0, 1, 2}); }),
            "linalg::norm: needs one axis of vectors or two of matrices, got 3");
}

}  // namespace
}  // namespace calque::test
