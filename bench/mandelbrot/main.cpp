#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "mandelbrot/mandelbrot.h"

namespace cq = calque;

namespace {

// Pixels at the border of the set are chaotic: contraction of a*b+c may change their counts. Variants must agree on all
// but this fraction of the pixels.
constexpr double kChaotic = 0.01;

void check_counts(const char* what, const int32_t* got, const std::vector<int32_t>& expected) {
  size_t different = 0;
  for (size_t i = 0; i < expected.size(); ++i) different += got[i] != expected[i];
  if (double(different) <= kChaotic * double(expected.size())) return;
  std::cerr << what << ": " << different << " of " << expected.size() << " pixels differ; nothing is timed\n";
  std::exit(EXIT_FAILURE);
}

void declare() {
  double peak = bench::fma_peak_f32();
  for (int64_t side : bench::sizes({2000})) {
    size_t n = size_t(side * side);
    auto real = std::make_shared<std::vector<float>>(n), imaginary = std::make_shared<std::vector<float>>(n);
    for (int64_t row = 0; row < side; ++row) {
      for (int64_t column = 0; column < side; ++column) {
        (*real)[size_t(row * side + column)] = -2.0f + 2.5f * float(column) / float(side);
        (*imaginary)[size_t(row * side + column)] = -1.25f + 2.5f * float(row) / float(side);
      }
    }
    std::vector<int32_t> expected(n);
    mandelbrot_scalar(real->data(), imaginary->data(), expected.data(), n);
    double steps = std::accumulate(expected.begin(), expected.end(), 0.0);
    bench::Task task{
        "mandelbrot", std::to_string(side), {8 * steps / peak, "8 flops a step / F"}, {8 * steps, 12.0 * double(n)}};

    auto f = cq::jit([](auto cr, auto ci) {
      auto [x, y, counts] = cq::while_loop(
          [](auto s) {
            auto [u, v, k] = s;
            return (u * u + v * v <= 4.0f) & (k < kSteps);
          },
          [cr, ci](auto s) {
            auto [u, v, k] = s;
            return std::tuple{u * u - v * v + cr, 2.0f * u * v + ci, k + 1};
          },
          std::tuple{cq::zeros<float>(cr.shape()), cq::zeros<float>(cr.shape()), cq::zeros<int32_t>(cr.shape())});
      return counts;
    });
    cq::Shape shape{side, side};
    auto ar = cq::Array<float>::from(std::span<const float>(*real), shape);
    auto ai = cq::Array<float>::from(std::span<const float>(*imaginary), shape);
    check_counts("mandelbrot: calque", f(ar, ai).host().data(), expected);
    bench::add(task, "calque", [=] {
      auto result = f(ar, ai);
      benchmark::DoNotOptimize(result);
    });

    auto counts = std::make_shared<std::vector<int32_t>>(n);
    auto rival = [&](const char* name, void (*run)(const float*, const float*, int32_t*, size_t)) {
      run(real->data(), imaginary->data(), counts->data(), n);
      check_counts(name, counts->data(), expected);
      bench::add(task, name, [=] {
        run(real->data(), imaginary->data(), counts->data(), n);
        benchmark::ClobberMemory();
      });
    };
    rival("c++ scalar", mandelbrot_scalar);
    rival("intrinsics", mandelbrot_intrinsics);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
