#include <memory>
#include <type_traits>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "matmul/matmul.h"

namespace cq = calque;

namespace {

/// Some rows of the product, in f64: all of them would take longer than the benchmark.
constexpr int64_t kCheckedRows = 16;

template <class T>
std::vector<double> checked_rows(const T* a, const T* b, int64_t n) {
  std::vector<double> rows(size_t(kCheckedRows * n));
  for (int64_t r = 0; r < kCheckedRows; ++r) {
    int64_t i = r * (n - 1) / (kCheckedRows - 1);
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) rows[size_t(r * n + j)] += double(a[i * n + k]) * double(b[k * n + j]);
  }
  return rows;
}

template <class T>
void check_rows(const std::string& what, const T* c, const std::vector<double>& expected, int64_t n) {
  double atol = double(n) * (std::is_same_v<T, float> ? 0x1p-23 : 0x1p-52);
  for (int64_t r = 0; r < kCheckedRows; ++r) {
    int64_t i = r * (n - 1) / (kCheckedRows - 1);
    for (int64_t j = 0; j < n; ++j) bench::check(what, double(c[i * n + j]), expected[size_t(r * n + j)], 0, atol);
  }
}

template <class T>
std::vector<T> random_numbers(int64_t n, uint64_t seed) {
  if constexpr (std::is_same_v<T, float>)
    return bench::random_floats(size_t(n), -1, 1, seed);
  else
    return bench::random_doubles(size_t(n), -1, 1, seed);
}

template <class T>
void declare(const std::string& name, double peak, int64_t n) {
  const double flops = 2.0 * double(n) * double(n) * double(n);
  const bench::Task task{
      name, std::to_string(n), {flops / peak, "2 n^3 / F"}, {flops, 3.0 * double(n * n) * sizeof(T)}};
  auto a = std::make_shared<std::vector<T>>(random_numbers<T>(n * n, 1));
  auto b = std::make_shared<std::vector<T>>(random_numbers<T>(n * n, 2));
  auto c = std::make_shared<std::vector<T>>(size_t(n * n));
  const auto expected = checked_rows(a->data(), b->data(), n);

  auto f = cq::jit([](auto x, auto y) { return matmul(x, y); });
  const cq::Shape square{n, n};
  auto ax = cq::Array<T>::wrap(a->data(), square, [a](T*) {});
  auto ay = cq::Array<T>::wrap(b->data(), square, [b](T*) {});
  check_rows(name + ": calque", f(ax, ay).host().data(), expected, n);
  bench::add_ours(task, [=] { return f(ax, ay); });

  auto rival = [&](const std::string& variant, Product<T> product) {
    product(a->data(), b->data(), c->data());
    check_rows(name + ": " + variant, c->data(), expected, n);
    bench::add(task, variant, [=] {
      product(a->data(), b->data(), c->data());
      benchmark::ClobberMemory();
    });
  };
  rival("eigen", matmul_eigen<T>(n));
#if CALQUE_BENCH_OPENBLAS
  rival("openblas", matmul_openblas<T>(n));
#else
  bench::skip(task, "openblas", "not installed");
#endif
#if CALQUE_BENCH_ONEDNN
  if constexpr (std::is_same_v<T, float>) rival("onednn", matmul_onednn(n));
#else
  bench::skip(task, "onednn", "not installed");
#endif
}

void declare_all() {
#if CALQUE_BENCH_OPENBLAS
  bench::version("OpenBLAS", openblas_version());
#endif
#if CALQUE_BENCH_ONEDNN
  bench::version("oneDNN", onednn_version());
#endif
  const double f32 = bench::fma_peak_f32(), f64 = bench::fma_peak_f64();
  for (int64_t n : bench::sizes({512, 1024, 2048})) {
    declare<float>("matmul f32", f32, n);
    declare<double>("matmul f64", f64, n);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare_all)
