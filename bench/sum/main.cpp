#include <memory>

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
    auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, 0, 1, 1));
    double expected = 0;
    for (float v : *x) expected += double(v);
    bench::Task task{
        "sum", bench::size_name(size), {4.0 * double(n) / bandwidth, "4n/B"}, {double(n), 4.0 * double(n)}};

    auto f = cq::jit([](auto v) { return sum(v); });
    auto ax = cq::Array<float>::wrap(x->data(), cq::Shape{size}, [x](float*) {});
    bench::check("sum: calque", f(ax).item(), expected, 1e-6);  // pairwise accuracy
    bench::add(task, "calque", [f, ax] {
      auto result = f(ax);
      benchmark::DoNotOptimize(result);
    });

    auto rival = [&](const char* name, float (*run)(const float*, size_t), double rtol) {
      bench::check(name, run(x->data(), n), expected, rtol);
      bench::add(task, name, [=] { benchmark::DoNotOptimize(run(x->data(), n)); });
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
