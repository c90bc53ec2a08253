#include <span>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "sum/sum.h"

namespace cq = calque;

namespace {

void declare() {
  double bandwidth = bench::memory_bandwidth();
  for (int64_t size : bench::sizes({100000000})) {
    size_t n = size_t(size);
    // All variants read memory of the library, which has huge pages as NumPy's has.
    const auto ax = cq::Array<float>::from(std::span<const float>(bench::random_floats(n, 0, 1, 1)), cq::Shape{size});
    const std::span<const float> x = ax.host();
    double expected = 0;
    for (float v : x) expected += double(v);
    bench::Task task{
        "sum", bench::size_name(size), {4.0 * double(n) / bandwidth, "4n/B"}, {double(n), 4.0 * double(n)}};

    auto f = cq::jit([](auto v) { return sum(v); });
    bench::check("sum: calque", f(ax).item(), expected, 1e-6);  // pairwise accuracy
    bench::add(task, "calque", [f, ax] {
      auto result = f(ax);
      benchmark::DoNotOptimize(result);
    });

    auto rival = [&](const char* name, float (*run)(const float*, size_t), double rtol) {
      bench::check(name, run(x.data(), n), expected, rtol);
      bench::add(task, name, [run, ax] { benchmark::DoNotOptimize(run(ax.host().data(), ax.host().size())); });
    };
    rival("c++ blocks", sum_blocks, 1e-6);
    // These accumulate in few f32 partial sums: at 10^8 elements they lose digits, the plain loop nearly all of them.
    rival("c++ plain", sum_plain, 1.0);
    rival("c++ -ffast-math", sum_fast_math, 1e-2);
    rival("eigen", sum_eigen, 1e-2);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
