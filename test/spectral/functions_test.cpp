// The public functions of calque::fft: values, shapes, types, what must be refused.
#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using Z = std::complex<double>;
using C = Array<Z>;

template <class X, class Y>
bool near(const X& x, const Y& y, double tolerance = 1e-13) {
  return x.shape() == y.shape() && (x.size() == 0 || max(abs(x - y)).item() <= tolerance);
}

template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    const std::string text = e.what();
    return text.substr(0, text.find(" ("));
  }
  return "nothing was thrown";
}

D waves(const Counts& shape) {
  const int64_t n = Shape(shape.list).num_elements();
  std::vector<double> x(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i)] = std::sin(static_cast<double>(i * i + 1));
  return D::from(x, Shape(shape.list));
}
C numbers(const Counts& shape) { return as_complex(waves(shape), cos(3.0 * waves(shape))); }

TEST(Fft, ValuesAndNorms) {
  const D x = {1, 2, 3, 4};
  const C y = {Z(10, 0), Z(-2, 2), Z(-2, 0), Z(-2, -2)};
  EXPECT_TRUE(near(fft::fft(x), y));
  EXPECT_TRUE(near(fft::fft(x, {.norm = fft::norm::ortho}), C(y / 2.0)));
  EXPECT_TRUE(near(fft::fft(x, none, -1, {.norm = fft::norm::forward}), C(y / 4.0)));
  EXPECT_TRUE(near(fft::rfft(x), C{Z(10, 0), Z(-2, 2), Z(-2, 0)}));
  for (const fft::norm by : {fft::norm::backward, fft::norm::ortho, fft::norm::forward}) {
    EXPECT_TRUE(near(fft::ifft(fft::fft(x, {.norm = by}), {.norm = by}), C(as_complex(x, 0.0 * x))));
    EXPECT_TRUE(near(fft::irfft(fft::rfft(x, {.norm = by}), {.norm = by}), x));
    EXPECT_TRUE(near(fft::hfft(fft::ihfft(x, {.norm = by}), {.norm = by}), x));
  }
  EXPECT_TRUE(near(fft::hfft(C{Z(1, 0), Z(2, 1), Z(3, 0)}), D{8, 0, 0, -4}));
}

TEST(Fft, AxesAreCutAndPadded) {
  const C x = numbers({3, 5, 2});
  EXPECT_TRUE(near(fft::fft(x, 4, 1), fft::fft(C(x.at(all, range(0, 4))), none, 1)));
  EXPECT_TRUE(near(fft::fft(x, 7, 1), fft::fft(C(pad(x, 0.0, {0, 0, 0}, {0, 2, 0})), none, -2)));
  const C moved = fft::fft(C(transpose(x, {2, 1, 0})));
  EXPECT_TRUE(near(fft::fft(x, none, 0), C(transpose(moved, {2, 1, 0}))));
  EXPECT_EQ(fft::irfft(x, 9, 1).shape(), (Shape{3, 9, 2}));
  EXPECT_EQ(fft::irfft(x, none, 1).shape(), (Shape{3, 8, 2}));
  EXPECT_EQ(fft::fft(C::zeros({0, 4})).shape(), (Shape{0, 4}));
  EXPECT_EQ(fft::fft(C::zeros({4, 0}), none, 0).shape(), (Shape{4, 0}));
}

TEST(Fft, SeveralAxes) {
  const C x = numbers({3, 4, 5});
  const C two = fft::fft(fft::fft(x, none, 2), none, 1);
  EXPECT_TRUE(near(fft::fft2(x), two));
  EXPECT_TRUE(near(fft::fftn(x, {}, {1, 2}), two));
  EXPECT_TRUE(near(fft::fftn(x, {4, 5}), two));
  EXPECT_TRUE(near(fft::fftn(x), fft::fft(two, none, 0), 1e-12));
  EXPECT_TRUE(near(fft::ifftn(fft::fftn(x)), x));
  EXPECT_TRUE(near(fft::ifft2(fft::fft2(x, {.norm = fft::norm::ortho}), {.norm = fft::norm::ortho}), x));
  const D r = waves({4, 6});
  EXPECT_TRUE(near(fft::rfft2(r), C(fft::fft2(r).at(all, range(0, 4)))));
  EXPECT_TRUE(near(fft::irfft2(fft::rfft2(r)), r));
  EXPECT_TRUE(near(fft::irfftn(fft::rfftn(r, {}, {1, 0}), {}, {1, 0}), r));
  EXPECT_TRUE(near(fft::irfftn(fft::rfftn(waves({3, 5})), {3, 5}), waves({3, 5})));
}

TEST(Fft, ElementTypes) {
  static_assert(std::is_same_v<decltype(fft::fft(Array<float>{1})), Array<std::complex<float>>>);
  static_assert(std::is_same_v<decltype(fft::fft(Array<int64_t>{1})), Array<std::complex<float>>>);
  static_assert(std::is_same_v<decltype(fft::fft(Array<float16>::zeros({1}))), Array<std::complex<float>>>);
  static_assert(std::is_same_v<decltype(fft::rfft(D{1})), C>);
  static_assert(std::is_same_v<decltype(fft::irfft(Array<bool>{true, false})), Array<float>>);
  static_assert(std::is_same_v<decltype(fft::irfft(C::zeros({2}))), D>);
  static_assert(std::is_same_v<decltype(fft::fftshift(Array<int8_t>::zeros({2}))), Array<int8_t>>);
  static_assert(std::is_same_v<decltype(fft::convolve(Array<int32_t>{1}, Array<int32_t>{1})), Array<float>>);
  EXPECT_EQ(fft::fft(Array<int32_t>{1, 2}).at(0).item(), std::complex<float>(3, 0));
}

TEST(Fft, Theorems) {
  for (const int64_t n : {1, 2, 7, 30, 64, 127, 210}) {
    const C x = numbers({3, n}), y = fft::fft(x);
    const auto squares = [](const C& z) { return sum(real(z * conj(z)), {1}); };
    EXPECT_TRUE(near(D(squares(y) / static_cast<double>(n)), D(squares(x)), 1e-11)) << n;
    // The transform of rolled rows has a phase.
    const D angle = D::arange(static_cast<double>(n)) * (-2 * std::acos(-1.0) / static_cast<double>(n));
    EXPECT_TRUE(near(fft::fft(C(roll(x, 1, 1))), C(y * polar(D::ones({n}), angle)), 1e-11)) << n;
  }
}

TEST(Fft, Frequencies) {
  const auto frequencies = jit([](auto x) {
    return std::tuple{fft::fftfreq<double>(5, 0.1) + x, fft::fftfreq<double>(4) + x, fft::rfftfreq<double>(5) + x,
                      fft::rfftfreq<double>(4) + x};
  });
  const auto [a, b, c, d] = frequencies(D::zeros({1}));
  EXPECT_TRUE(near(a, D{0, 2, 4, -4, -2}));
  EXPECT_TRUE(near(b, D{0, 0.25, -0.5, -0.25}));
  EXPECT_TRUE(near(c, D{0, 0.2, 0.4}));
  EXPECT_TRUE(near(d, D{0, 0.25, 0.5}));
  EXPECT_TRUE(near(fft::fftshift(a), D{-4, -2, 0, 2, 4}));
  const D x = waves({3, 4, 5});
  EXPECT_TRUE(near(fft::ifftshift(fft::fftshift(x)), x, 0));
  EXPECT_TRUE(near(fft::fftshift(x, {1}), D(roll(x, 2, 1)), 0));
  EXPECT_TRUE(near(fft::ifftshift(x, -1), D(roll(x, -2, 2)), 0));
}

TEST(Fft, Convolutions) {
  for (const auto& [n, m] : {std::pair{1, 1}, {5, 3}, {3, 5}, {40, 17}, {8, 8}}) {
    const D x = waves({n}), y = cos(waves({m}));
    const C z = numbers({m});
    for (const convolve_mode mode : {convolve_mode::full, convolve_mode::same, convolve_mode::valid}) {
      EXPECT_TRUE(near(fft::convolve(x, y, mode), convolve(x, y, mode)));
      EXPECT_TRUE(near(fft::convolve(x, z, mode), convolve(x, z, mode)));
    }
  }
}

TEST(Fft, WhatIsRefused) {
  const C x = numbers({3, 4});
  EXPECT_EQ(message<ShapeError>([&] { (void)fft::fft(x, 0); }), "fft::fft: n must be at least 1, got 0");
  EXPECT_EQ(message<ShapeError>([&] { (void)fft::fft(C::zeros({3, 0})); }),
            "fft::fft: needs at least 1 element along axis 1 if no size is given, got c128[3,0]");
  EXPECT_EQ(message<ShapeError>([&] { (void)fft::irfft(C::zeros({3, 1})); }),
            "fft::irfft: needs at least 2 elements along axis 1 if no size is given, got c128[3,1]");
  EXPECT_EQ(message<DTypeError>([&] { (void)fft::rfft(x); }), "fft::rfft: needs real numbers, got c128[3,4]");
  EXPECT_EQ(message<ShapeError>([&] { (void)fft::fft2(x, {4}); }),
            "fft::fft2: needs a size for each axis, got 1 sizes and 2 axes");
  EXPECT_EQ(message<ShapeError>([&] { (void)fft::fft2(x, {}, {0}); }), "fft::fft2: needs two axes, got 1");
  EXPECT_EQ(message<ShapeError>([&] { (void)fft::fftn(x, {3, 0}); }), "fft::fftn: sizes must be at least 1, got 0");
  EXPECT_THROW((void)fft::fft(x, none, 2), ShapeError);
  EXPECT_THROW((void)fft::fftn(x, {}, {0, -2}), ShapeError);
  EXPECT_THROW((void)fft::fftn(x, {2, 2, 2}), ShapeError);
  EXPECT_THROW((void)fft::convolve(D::zeros({0}), D{1}), ShapeError);
  EXPECT_THROW((void)jit([](auto y) { return fft::fftfreq<double>(0) + y; })(D{1}), ShapeError);
}

}  // namespace
}  // namespace calque::test
