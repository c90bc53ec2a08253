#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "moments/moments.h"

namespace cq = calque;

namespace {

using Rival = void (*)(const float*, float*, size_t, size_t);

constexpr size_t kRows = 16384, kColumns = 1024;

template <class F>
void declare_task(const char* name, const std::shared_ptr<std::vector<float>>& x, double floor, const F& f,
                  std::initializer_list<std::pair<const char*, Rival>> rivals, const std::vector<float>& expected) {
  const bench::Task task{name, "16384x1024", {floor, "4n/B"}};
  auto compiled = cq::jit(f);
  auto ax = cq::Array<float>::from(std::span<const float>(*x), cq::Shape{int64_t(kRows), int64_t(kColumns)});
  bench::check(name, compiled(ax).host(), expected, 1e-5);
  bench::add(task, "calque", [=] {
    auto result = compiled(ax);
    benchmark::DoNotOptimize(result);
  });
  for (const auto& [title, run] : rivals) {
    auto y = std::make_shared<std::vector<float>>(kRows);
    run(x->data(), y->data(), kRows, kColumns);
    bench::check(title, *y, expected, 1e-4);
    bench::add(task, title, [x, y, run = run] {
      run(x->data(), y->data(), kRows, kColumns);
      benchmark::DoNotOptimize(y->data());
    });
  }
}

void declare() {
  const double floor = 4.0 * double(kRows * kColumns) / bench::memory_bandwidth();
  auto x = std::make_shared<std::vector<float>>(bench::random_floats(kRows * kColumns, -2, 2, 1));
  std::vector<float> logs(kRows), variances(kRows);
  for (size_t r = 0; r < kRows; ++r) {
    double sum = 0, square = 0, exponentials = 0;
    for (size_t c = 0; c < kColumns; ++c) {
      const double v = (*x)[r * kColumns + c];
      sum += v, square += v * v, exponentials += std::exp(v);
    }
    const double mean = sum / double(kColumns);
    logs[r] = float(std::log(exponentials));
    variances[r] = float(square / double(kColumns) - mean * mean);
  }
  declare_task(
      "logsumexp", x, floor, [](auto v) { return logsumexp(v, {1}); },
      {{"c++ -ffast-math", logsumexp_fast_math}, {"c++ vectors", logsumexp_vectors}}, logs);
  declare_task(
      "variance", x, floor, [](auto v) { return var(v, {1}); }, {{"c++ -ffast-math", variance_fast_math}}, variances);
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
