#include <algorithm>
#include <memory>

#include <calque/calque.h>

#include "chain/chain.h"
#include "common/harness.h"
#include "common/probes.h"
#include "common/recycler.h"

namespace cq = calque;

namespace {

void declare() {
  double bandwidth = bench::l2_bandwidth(), peak = bench::fma_peak_f32();
  for (int64_t size : bench::sizes({65536})) {
    size_t n = size_t(size);
    auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 1));
    std::vector<float> expected(n);
    for (size_t i = 0; i < n; ++i) {
      double v = (*x)[i], a = v * double(1.1f) + double(0.3f), b = (a * v - double(0.7f)) * a, c = (b + v) * 0.5 - a;
      expected[i] = float((c * b + 0.25) * c - v);
    }
    auto check = [&](const char* what, std::span<const float> got) { bench::check(what, got, expected, 1e-5, 2e-6); };
    bench::Task task{
        "chain",
        bench::size_name(size),
        {std::max(8.0 * double(n) / bandwidth, 14.0 * double(n) / peak), "max(8n/B_L2, 7 fused instructions/F)"}};

    auto f = cq::jit([](auto v) { return chain(v); });
    auto ax = cq::Array<float>::from(std::span<const float>(*x), cq::Shape{size});
    check("chain: calque", f(ax).host());
    bench::add(task, "calque", [f, ax] {
      auto result = f(ax);
      benchmark::DoNotOptimize(result);
    });

    auto rival = [&](const char* name, void (*run)(const float*, float*, size_t)) {
      auto first = bench::recycler().get(n);
      run(x->data(), first.get(), n);
      check(name, {first.get(), n});
      bench::add(task, name, [=] {
        auto result = bench::recycler().get(n);
        run(x->data(), result.get(), n);
        benchmark::DoNotOptimize(result.get());
      });
    };
    rival("c++", chain_plain);
    rival("c++ -ffast-math", chain_fast_math);
    rival("eigen", chain_eigen);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
