#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/recycler.h"
#include "cumsum/cumsum.h"

namespace cq = calque;

namespace {

void declare() {
  double bandwidth = bench::memory_bandwidth();
  for (int64_t size : bench::sizes({100000, 100000000})) {
    size_t n = size_t(size);
    auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, 0, 1, 1));
    std::vector<float> expected(n);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) expected[i] = float(sum += double((*x)[i]));
    bench::Task task{"cumsum", bench::size_name(size), {}};
    if (size >= 10000000) task.floor = {8.0 * double(n) / bandwidth, "8n/B"};

    auto f = cq::jit([](auto v) { return cumsum(v, 0); });
    auto ax = cq::Array<float>::wrap(x->data(), cq::Shape{size}, [x](float*) {});
    bench::check("cumsum: calque", f(ax).host(), expected, 1e-4);
    bench::add(task, "calque", [f, ax] {
      auto result = f(ax);
      benchmark::DoNotOptimize(result);
    });
    auto rival = [&](const char* name, void (*run)(const float*, float*, size_t), double rtol) {
      {
        auto first = bench::recycler().get(n);
        run(x->data(), first.get(), n);
        bench::check(name, {first.get(), n}, expected, rtol);
      }
      bench::add(task, name, [=] {
        auto result = bench::recycler().get(n);
        run(x->data(), result.get(), n);
        benchmark::DoNotOptimize(result.get());
      });
    };
    rival("c++ vectors", cumsum_vectors, 1e-4);
    rival("partial_sum", cumsum_plain, 1.0);  // f32 sums of 10^8 elements lose nearly all digits
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
