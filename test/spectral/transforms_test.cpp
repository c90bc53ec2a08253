// Derivatives and batches of calque::fft, on every device.
#include <cmath>
#include <complex>
#include <tuple>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using C = Array<std::complex<double>>;

D waves(int64_t n, double phase) { return sin(D::arange(static_cast<double>(n)) * 1.7 + phase); }

/// A real function of real vectors through each kind of transform.
const auto kEnergy = [](auto x, int64_t n) {
  const auto spectrum = fft::rfft(sin(x), n);
  const auto filtered = fft::irfft(spectrum * spectrum, n);
  const auto whole = fft::ifft(fft::fft(x * x) * as_complex(x, cos(x)));
  return sum(filtered * filtered * filtered) + sum(abs(whole) * 2.0) + sum(imag(whole));
};

TEST(FftTransforms, DerivativesAgreeWithDifferences) {
  for (const int64_t n : {1, 2, 5, 8, 12, 67}) {
    const D x = waves(8, 0.3), d = waves(8, 1.1);
    const auto f = [n](auto v) { return kEnergy(v, n); };
    const auto at = [&](double t) { return jit(f)(D(x + d * t)).item(); };
    const double h = 1e-3, slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    const double near = 1e-8 * (1 + std::abs(slope));
    EXPECT_NEAR(sum(grad(f)(x) * d).item(), slope, near) << n;
    EXPECT_NEAR(jvp(f, std::tuple{x}, std::tuple{d}).second.item(), slope, near) << n;
    const auto along = [&](auto v) { return sum(grad(f)(v) * d); };
    const auto slope_at = [&](double t) { return jit(along)(D(x + d * t)).item(); };
    const double second = (8 * (slope_at(h) - slope_at(-h)) - (slope_at(2 * h) - slope_at(-2 * h))) / (12 * h);
    EXPECT_NEAR(sum(grad(along)(x) * d).item(), second, 1e-7 * (1 + std::abs(second))) << n;
  }
}

TEST(FftTransforms, BatchesAgreeWithLoops) {
  const D x = reshape(waves(30, 0.2), {5, 6});
  const C y = fft::fft(x);
  for (int64_t axis = 0; axis < 2; ++axis) {
    const auto f = [](auto row) { return std::tuple{fft::rfft(row), fft::irfft(row * row, 9), fft::fft(row, 3)}; };
    const auto [a, b, c] = vmap(f, {.in_axes = {static_cast<int>(axis)}})(x);
    for (int64_t i = 0; i < x.shape()[static_cast<size_t>(axis)]; ++i) {
      const auto [p, q, r] = f(D(axis == 0 ? x.at(i) : x.at(all, i)));
      EXPECT_LE(max(abs(a.at(i) - p)).item(), 1e-14);
      EXPECT_LE(max(abs(b.at(i) - q)).item(), 1e-14);
      EXPECT_LE(max(abs(c.at(i) - r)).item(), 1e-14);
    }
  }
}

TEST(FftTransforms, InLoopsAndOnTheSimulator) {
  const auto f = jit([](auto x) {
    return fori_loop(0, 3, [](auto, auto z) { return fft::ifft(fft::fft(z) * 2.0); }, as_complex(x, -x));
  });
  const D x = waves(12, 0.5);
  const C want = as_complex(x, -x) * 8.0;
  EXPECT_LE(max(abs(f(x) - want)).item(), 1e-13);
  EXPECT_LE(max(abs(f(x.to(gpu_sim())).to(cpu()) - want)).item(), 1e-13);
}

}  // namespace
}  // namespace calque::test
