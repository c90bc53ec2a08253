// The Mandelbrot set, written as on paper: z = z * z + c with std::complex numbers. The loop runs for each pixel in the
// lanes of vectors until its last pixel has escaped. The colors are smooth by the formula of Hubbard and Douady,
// steps + 1 - log2(log |z|). Checked against the loop of std::complex; writes mandelbrot.ppm.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <tuple>

#include <calque/calque.h>

namespace cq = calque;

using Complex = std::complex<double>;

constexpr int64_t kWidth = 480, kHeight = 320;
constexpr int32_t kMostSteps = 200;
constexpr double kEscape = 256;  // far out the colors are smooth

/// The steps until |z| passes kEscape, and the last z.
const auto iterate = [](const auto& c) {
  auto stays = [](auto state) {
    auto [z, steps] = state;
    return (abs(z) <= kEscape) & (steps < kMostSteps);
  };
  auto step = [c](auto state) {
    auto [z, steps] = state;
    return std::tuple{z * z + c, steps + 1};
  };
  return cq::while_loop(stays, step, std::tuple{cq::zeros<Complex>(c.shape()), cq::zeros<int32_t>(c.shape())});
};

const auto picture = cq::jit([](auto center, auto width) {
  auto x = cq::linspace<double>(-0.5, 0.5, kWidth) * width;
  auto y = cq::linspace<double>(0.5, -0.5, kHeight) * (width * (double(kHeight) / kWidth));
  auto c = center + cq::as_complex(x, y.at(cq::all, cq::newaxis));
  auto [z, steps] = iterate(c);
  auto escaped = steps < kMostSteps;
  auto smooth = steps + 1.0 - log2(log(where(escaped, abs(z), std::exp(1.0))));
  return std::tuple{c, steps, where(escaped, smooth, 0.0)};
});

int32_t steps_of(Complex c) {
  Complex z = 0;
  int32_t steps = 0;
  while (std::abs(z) <= kEscape && steps < kMostSteps) {
    z = z * z + c;
    ++steps;
  }
  return steps;
}

int main() {
  const auto [c, steps, smooth] = picture(Complex(-0.7436, 0.1318), 0.02);
  // At the border one rounding decides: the loops may differ in a few pixels.
  int64_t different = 0;
  for (int64_t i = 0; i < c.size(); ++i) different += steps.host()[size_t(i)] != steps_of(c.host()[size_t(i)]) ? 1 : 0;
  const double mean = cq::mean(cq::cast<double>(steps)).item();
  std::cout << kWidth << " x " << kHeight << " pixels, " << mean << " steps on average, " << different
            << " differ from the loop of std::complex\n";

  std::string bytes;
  for (const double t : smooth.host()) {
    const auto level = [&](double phase) {
      return t <= 0 ? 0.0 : 0.5 + 0.5 * std::cos(0.35 * std::sqrt(t) * 6.28 / 4 + phase);
    };
    for (const double phase : {3.0, 3.6, 4.2}) bytes.push_back(static_cast<char>(std::lround(255 * level(phase))));
  }
  std::ofstream("mandelbrot.ppm", std::ios::binary) << "P6\n" << kWidth << ' ' << kHeight << "\n255\n" << bytes;
  return different < c.size() / 100 && mean > 20 ? EXIT_SUCCESS : EXIT_FAILURE;
}
