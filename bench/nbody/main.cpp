#include <cmath>
#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "nbody/nbody.h"

namespace cq = calque;

namespace {

std::vector<float> reference(const Bodies& b) {
  std::vector<float> out(3 * b.n);
  for (size_t i = 0; i < b.n; ++i) {
    double sum[3] = {};
    for (size_t j = 0; j < b.n; ++j) {
      const double d[3] = {double(b.x[j]) - double(b.x[i]), double(b.y[j]) - double(b.y[i]),
                           double(b.z[j]) - double(b.z[i])};
      const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + double(kSoftening);
      const double weight = double(b.mass[j]) / (square * std::sqrt(square));
      for (int k = 0; k < 3; ++k) sum[k] += weight * d[k];
    }
    for (size_t k = 0; k < 3; ++k) out[k * b.n + i] = float(sum[k]);
  }
  return out;
}

void declare() {
  const double peak = bench::fma_peak_f32();
  for (int64_t size : bench::sizes({8192})) {
    const size_t n = size_t(size);
    const double flops = 20.0 * double(n) * double(n);  // by convention, the square root and its inverse count as one
    const bench::Task task{"nbody", std::to_string(size), {flops / peak, "20 n^2 / F"}, {flops, 28.0 * double(n)}};
    auto column = [&](float low, float high, uint64_t seed) {
      return std::make_shared<std::vector<float>>(bench::random_floats(n, low, high, seed));
    };
    auto x = column(-1, 1, 1), y = column(-1, 1, 2), z = column(-1, 1, 3), mass = column(0, 1, 4);
    const auto bodies = [=] { return Bodies{x->data(), y->data(), z->data(), mass->data(), n}; };
    const auto expected = reference(bodies());
    const bench::Tolerance tolerance{1e-4, 1e-6 * double(n) * 20};

    auto f = cq::jit([](auto px, auto py, auto pz, auto m) {
      auto differences = [](auto p) { return cq::expand_dims(p, 0) - cq::expand_dims(p, 1); };  // [i, j]: p_j - p_i
      auto dx = differences(px), dy = differences(py), dz = differences(pz);
      auto inverse = rsqrt(dx * dx + dy * dy + dz * dz + kSoftening);
      auto weight = m * inverse * inverse * inverse;
      return std::tuple{sum(weight * dx, {1}), sum(weight * dy, {1}), sum(weight * dz, {1})};
    });
    auto array = [&](const auto& values) {
      return cq::Array<float>::wrap(values->data(), cq::Shape{size}, [values](float*) {});
    };
    auto ax = array(x), ay = array(y), az = array(z), am = array(mass);
    std::apply(
        [&](const auto&... column) {
          size_t k = 0;
          (bench::check("nbody: calque", column.host(), std::span(expected).subspan(k++ * n, n), tolerance.rtol,
                        tolerance.atol),
           ...);
        },
        f(ax, ay, az, am));
    bench::add_ours(task, [=] { return f(ax, ay, az, am); });

    const auto rival = [&](const std::string& name, void (*run)(const Bodies&, float*)) {
      bench::add_rival(task, name, expected, tolerance, [=](float* out) { run(bodies(), out); });
    };
    rival("c++", accelerations_plain);
    rival("c++ -ffast-math", accelerations_fast_math);
    rival("intrinsics", accelerations_intrinsics);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
