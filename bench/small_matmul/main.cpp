#include <algorithm>
#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "small_matmul/small_matmul.h"

namespace cq = calque;

namespace {

std::vector<float> reference(const std::vector<float>& a, const std::vector<float>& b, int64_t n) {
  std::vector<float> c(a.size());
  for (size_t first = 0; first < a.size(); first += size_t(n * n)) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += double(a[first + size_t(i * n + k)]) * double(b[first + size_t(k * n + j)]);
        c[first + size_t(i * n + j)] = float(sum);
      }
    }
  }
  return c;
}

void declare(const std::string& name, const std::string& size, int64_t count, int64_t n, bench::Floor floor) {
  const double flops = 2.0 * double(count * n * n * n);
  const bench::Task task{name, size, floor, {flops, 12.0 * double(count * n * n)}};
  auto a = std::make_shared<std::vector<float>>(bench::random_floats(size_t(count * n * n), -1, 1, 1));
  auto b = std::make_shared<std::vector<float>>(bench::random_floats(size_t(count * n * n), -1, 1, 2));
  const auto expected = reference(*a, *b, n);
  const double atol = double(n) * 0x1p-23;

  auto f = cq::jit([](auto x, auto y) { return matmul(x, y); });
  const cq::Shape shape{count, n, n};
  auto ax = cq::Array<float>::wrap(a->data(), shape, [a](float*) {});
  auto ay = cq::Array<float>::wrap(b->data(), shape, [b](float*) {});
  bench::check(name + ": calque", f(ax, ay).host(), expected, 0, atol);
  bench::add_ours(task, [=] { return f(ax, ay); });

  auto rival = [&](const std::string& variant, const Products& run) {
    if (run)
      bench::add_rival(task, variant, expected, {0, atol}, [=](float* c) { run(a->data(), b->data(), c); });
    else
      bench::skip(task, variant, "has no such kernel");
  };
  rival("c++", products_plain(count, n));
  rival("eigen", products_eigen(count, n));
#if CALQUE_BENCH_LIBXSMM
  rival("libxsmm", products_libxsmm(count, n));
#else
  bench::skip(task, "libxsmm", "not installed");
#endif
}

void declare_all() {
#if CALQUE_BENCH_LIBXSMM
  bench::version("libxsmm", libxsmm_version());
#endif
  const double peak = bench::fma_peak_f32(), bandwidth = bench::memory_bandwidth();
  // Inside one compiled function: as many products as fit in the L2 cache.
  for (int64_t n : bench::sizes({4, 8, 16, 32, 64})) {
    const int64_t count = std::max<int64_t>(1, 32768 / (n * n));
    declare("small matmul", std::to_string(n), count, n, {2.0 * double(count * n * n * n) / peak, "2 n^3 / F"});
  }
  // Operands and results in main memory.
  for (int64_t n : {4, 8}) {
    const int64_t count = 100000;
    const double compute = 2.0 * double(count * n * n * n) / peak, memory = 12.0 * double(count * n * n) / bandwidth;
    declare("batched matmul", std::to_string(n), count, n, {std::max(compute, memory), "max(2 n^3 / F, 12 n^2 / B)"});
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare_all)
