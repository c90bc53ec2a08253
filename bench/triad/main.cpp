#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/recycler.h"
#include "triad/triad.h"

namespace cq = calque;

namespace {

constexpr float kFactor = 1.5f;

void use(const float* data) { benchmark::DoNotOptimize(data); }

void declare() {
  double bandwidth = bench::memory_bandwidth();
  for (int64_t size : bench::sizes({1000, 10000, 100000, 1000000, 10000000})) {
    size_t n = size_t(size);
    auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 1));
    auto y = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 2));
    std::vector<float> expected(n);
    for (size_t i = 0; i < n; ++i) expected[i] = float(double(kFactor) * (*x)[i] + (*y)[i]);
    // The absolute error of a result near zero is that of its operands.
    auto check = [&](const char* what, std::span<const float> got) { bench::check(what, got, expected, 1e-6, 3e-7); };

    // Arrays that fit in caches are not limited by memory bandwidth.
    bench::Task task{"triad", bench::size_name(size), {}};
    if (size >= 10000000) task.floor = {12.0 * double(n) / bandwidth, "12n/B"};

    auto f = cq::jit([](auto a, auto u, auto v) { return a * u + v; });
    auto ax = cq::Array<float>::from(std::span<const float>(*x), cq::Shape{size});
    auto ay = cq::Array<float>::from(std::span<const float>(*y), cq::Shape{size});
    check("triad: calque", f(kFactor, ax, ay).host());
    bench::add(task, "calque", [f, ax, ay] {
      auto result = f(kFactor, ax, ay);
      benchmark::DoNotOptimize(result);
    });

    auto pooled = [&](const char* name, void (*rival)(float, const float*, const float*, float*, size_t)) {
      auto first = bench::recycler().get(n);
      rival(kFactor, x->data(), y->data(), first.get(), n);
      check(name, {first.get(), n});
      bench::add(task, name, [=] {
        auto result = bench::recycler().get(n);
        rival(kFactor, x->data(), y->data(), result.get(), n);
        use(result.get());
      });
    };
    pooled("c++ pooled", triad_plain);
    pooled("c++ pooled non-temporal", triad_non_temporal);
    bench::add(task, "c++ new", [=] {
      std::unique_ptr<float[]> result(new float[n]);
      triad_plain(kFactor, x->data(), y->data(), result.get(), n);
      use(result.get());
    });
    bench::add(task, "eigen", [=] { triad_eigen(kFactor, x->data(), y->data(), n, use); });
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
