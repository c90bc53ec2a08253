#pragma once
// Part 3: the Mandelbrot set. A while_loop with a condition for each pixel: every pixel iterates until it is done, in
// registers; there is no pass over the picture between steps.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <calque/calque.h>
#include <png.h>

#include "tour/show.h"

namespace tour {
namespace cq = calque;

/// Writes an array [height, width, 3]. Throws std::runtime_error when the file cannot be written.
inline void write_png(const std::string& path, const cq::Array<uint8_t>& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(picture.shape()[0]);
  image.width = static_cast<png_uint_32>(picture.shape()[1]);
  image.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&image, path.c_str(), 0, picture.host().data(), 0, nullptr)) {
    throw std::runtime_error(path + ": " + image.message);
  }
}

inline constexpr int kMostSteps = 600;

/// The number of steps for which |z| <= 16 under z -> z^2 + c, for each element of c, and the last z.
inline constexpr auto kEscape = [](auto cr, auto ci) {
  auto zero = cq::zeros<float>(cr.shape());
  return cq::while_loop(
      [](auto s) {
        auto [x, y, steps] = s;
        return (x * x + y * y <= 256) & (steps < kMostSteps);
      },
      [=](auto s) {
        auto [x, y, steps] = s;
        return std::tuple{x * x - y * y + cr, 2 * x * y + ci, steps + 1};
      },
      std::tuple{zero, zero, cq::zeros<int32_t>(cr.shape())});
};

/// True if sampled pixels took as many steps as in plain C++.
inline bool mandelbrot(const std::string& path) {
  headline("3. The Mandelbrot set");
  constexpr int64_t kHeight = 480, kWidth = 720, kSamples = 3;  // kSamples^2 for each pixel
  constexpr int64_t kRows = kHeight * kSamples, kColumns = kWidth * kSamples;
  const auto real = cq::Array<float>::linspace(-2.5, 1.1, kColumns).reshape({1, kColumns});
  const auto imaginary = cq::Array<float>::linspace(1.2, -1.2, kRows).reshape({kRows, 1});
  const cq::Shape plane{kRows, kColumns};

  auto paint = cq::jit(
      [=](auto re, auto im) {
        auto [x, y, steps] = kEscape(broadcast_to(re, plane), broadcast_to(im, plane));
        // A fractional count, from the distance of the last point beyond the circle.
        auto count = cast<float>(steps) + 1.0 - log2(0.5 * log2(x * x + y * y));
        auto shade = where(steps < kMostSteps, sqrt(max(count, 0.0) / 25.0), 0.0);
        auto mixed = mean(reshape(shade, {kHeight, kSamples, kWidth, kSamples}), {1, 3});
        auto channel = [&](double rate) { return cast<uint8_t>(127.5 - 127.5 * cos(rate * mixed) + 0.5); };
        return cq::stack({channel(1.8), channel(2.3), channel(3.0)}, 2);
      },
      {.name = "paint"});

  cq::Array<uint8_t> picture;
  const double first = milliseconds([&] { picture = paint(real, imaginary); });
  const double again = milliseconds([&] { picture = paint(real, imaginary); });
  write_png(path, picture);
  std::cout << std::fixed << std::setprecision(1) << kWidth << " x " << kHeight << " pixels of " << kSamples * kSamples
            << " samples, at most " << kMostSteps << " steps each: " << first << " ms with tracing and compiling, "
            << again << " ms again\nwritten to " << path << '\n';

  // Points so far from the border that rounding does not change their count.
  const cq::Array<float> cr = {-1.0f, 0.0f, 0.5f, -0.75f, 0.3f, 1.0f, -1.9f, 0.4f};
  const cq::Array<float> ci = {0.0f, 0.0f, 0.5f, 0.3f, 0.6f, 1.0f, 0.1f, 0.2f};
  auto [x, y, steps] = cq::jit(kEscape)(cr, ci);
  for (int64_t i = 0; i < cr.size(); ++i) {
    const std::complex<double> c(cr(i), ci(i));
    std::complex<double> z;
    int expected = 0;
    for (; std::norm(z) <= 256 && expected < kMostSteps; ++expected) z = z * z + c;
    if (steps(i) != expected) {
      std::cout << "c = " << c << ": " << steps(i) << " steps, expected " << expected << '\n';
      return false;
    }
  }
  return true;
}

}  // namespace tour
