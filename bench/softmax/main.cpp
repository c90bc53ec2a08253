#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/recycler.h"
#include "softmax/softmax.h"

namespace cq = calque;

namespace {

std::vector<float> expected_of(const std::vector<float>& x, size_t columns) {
  std::vector<float> y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    double sum = 0;
    for (size_t c = 0; c < columns; ++c) sum += std::exp(double(x[row + c]));
    for (size_t c = 0; c < columns; ++c) y[row + c] = float(std::exp(double(x[row + c])) / sum);
  }
  return y;
}

void declare() {
  double bandwidth = bench::memory_bandwidth();
  for (int64_t columns : bench::sizes({1024, 262144})) {
    size_t rows = columns == 1024 ? 4096 : 64, n = rows * size_t(columns);
    auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, -4, 4, 1));
    const std::vector<float> expected = expected_of(*x, size_t(columns));
    auto check = [&](const char* what, std::span<const float> got) { bench::check(what, got, expected, 1e-5, 1e-12); };
    bench::Task task{
        "softmax", std::to_string(rows) + "x" + std::to_string(columns), {8.0 * double(n) / bandwidth, "8n/B"}};

    auto f = cq::jit([](auto v) { return softmax(v, 1); });
    auto ax = cq::Array<float>::from(std::span<const float>(*x), cq::Shape{int64_t(rows), columns});
    check("softmax: calque", f(ax).host());
    bench::add(task, "calque", [f, ax] {
      auto result = f(ax);
      benchmark::DoNotOptimize(result);
    });
    auto rival = [&](const char* name, void (*run)(const float*, float*, size_t, size_t)) {
      auto first = bench::recycler().get(n);
      run(x->data(), first.get(), rows, size_t(columns));
      check(name, {first.get(), n});
      bench::add(task, name, [=] {
        auto result = bench::recycler().get(n);
        run(x->data(), result.get(), rows, size_t(columns));
        benchmark::DoNotOptimize(result.get());
      });
    };
    rival("c++ -ffast-math", softmax_fast_math);
    rival("c++ vectors", softmax_vectors);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
