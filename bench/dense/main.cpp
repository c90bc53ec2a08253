#include <cmath>
#include <memory>
#include <type_traits>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "dense/dense.h"

namespace cq = calque;

namespace {

template <class T>
std::shared_ptr<std::vector<T>> random_numbers(int64_t n, float limit, uint64_t seed) {
  const auto floats = bench::random_floats(size_t(n), -limit, limit, seed);
  auto values = std::make_shared<std::vector<T>>();
  for (float v : floats) values->push_back(T(v));
  return values;
}

/// Some rows of the result, in f64: all of them would take longer than the benchmark.
constexpr int64_t kCheckedRows = 16;

template <class T>
std::vector<double> checked_rows(const T* x, const T* w, const T* bias, int64_t n) {
  std::vector<double> rows(size_t(kCheckedRows * n));
  for (int64_t r = 0; r < kCheckedRows; ++r) {
    const int64_t i = r * (n - 1) / (kCheckedRows - 1);
    double* row = rows.data() + r * n;
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) row[j] += double(float(x[i * n + k])) * double(float(w[k * n + j]));
    for (int64_t j = 0; j < n; ++j) {
      const double z = row[j] + double(float(bias[j]));
      row[j] = z * 0.5 * (1 + std::erf(z * std::sqrt(0.5)));
    }
  }
  return rows;
}

template <class T>
void declare(const std::string& name, double peak, int64_t n) {
  constexpr bool is_f32 = std::is_same_v<T, float>;
  const double flops = 2.0 * double(n) * double(n) * double(n);
  const bench::Task task{
      name, std::to_string(n), {flops / peak, "2 n^3 / F"}, {flops, 3.0 * double(n * n) * sizeof(T)}};
  auto x = random_numbers<T>(n * n, 1, 1), w = random_numbers<T>(n * n, 0.1f, 2), bias = random_numbers<T>(n, 1, 3);
  const auto expected = checked_rows(x->data(), w->data(), bias->data(), n);
  const auto check = [=](const std::string& variant, const T* y) {
    for (int64_t r = 0; r < kCheckedRows; ++r) {
      const T* row = y + r * (n - 1) / (kCheckedRows - 1) * n;
      for (int64_t j = 0; j < n; ++j)
        bench::check(name + ": " + variant, double(float(row[j])), expected[size_t(r * n + j)], is_f32 ? 1e-5 : 0x1p-7,
                     is_f32 ? 1e-4 : 0x1p-7);
    }
  };

  auto f = cq::jit([](auto a, auto b, auto c) {
    auto z = cq::cast<float>(matmul(a, b)) + cq::cast<float>(c);
    return cq::cast<T>(0.5f * z * (1.0f + erf(z * std::sqrt(0.5f))));
  });
  const cq::Shape square{n, n};
  auto ax = cq::Array<T>::wrap(x->data(), square, [x](T*) {});
  auto aw = cq::Array<T>::wrap(w->data(), square, [w](T*) {});
  auto ab = cq::Array<T>::wrap(bias->data(), cq::Shape{n}, [bias](T*) {});
  check("calque", f(ax, aw, ab).host().data());
  bench::add_ours(task, [=] { return f(ax, aw, ab); });

#if CALQUE_BENCH_ONEDNN
  const Dense rival = dense_onednn(n, !is_f32);
  if (!rival) return bench::skip(task, "onednn", "has no such kernel for this machine");
  auto y = std::make_shared<std::vector<T>>(size_t(n * n));
  rival(x->data(), w->data(), bias->data(), y->data());
  check("onednn", y->data());
  bench::add(task, "onednn", [=] {
    rival(x->data(), w->data(), bias->data(), y->data());
    benchmark::ClobberMemory();
  });
#else
  bench::skip(task, "onednn", "not installed");
#endif
}

void declare_all() {
#if CALQUE_BENCH_ONEDNN
  bench::version("oneDNN", onednn_version());
#endif
  const double f32 = bench::fma_peak_f32(), bf16 = bench::dot_peak_bf16();
  for (int64_t n : bench::sizes({1024})) {
    declare<float>("dense gelu f32", f32, n);
    declare<cq::bfloat16>("dense gelu bf16", bf16 > 0 ? bf16 : f32, n);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare_all)
