#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "loop/loop.h"

namespace cq = calque;

namespace {

void declare_while(int64_t steps, double latency) {
  // The critical path of a step is the multiplication by r or the subtraction, then the multiplication of the two.
  bench::Task task{"while", bench::size_name(steps), {2 * double(steps) * latency, "2 operations a step"}};
  const double r = 3.2, start = 0.3;  // a stable cycle of two values: rounding does not grow
  auto f = cq::jit([steps](auto x, auto rate) {
    auto [last, count] = cq::while_loop([steps](auto s) { return std::get<1>(s) < steps; },
                                        [rate](auto s) {
                                          auto [v, k] = s;
                                          return std::tuple{rate * v * (1.0 - v), k + 1};
                                        },
                                        std::tuple{x, int64_t{0}});
    return last;
  });
  cq::Array<double> ax = start, ar = r;
  double expected = logistic_plain(start, r, steps);
  bench::check("while: calque", f(ax, ar).item(), expected, 1e-9);
  bench::add(task, "calque", [=] {
    auto result = f(ax, ar);
    benchmark::DoNotOptimize(result);
  });
  bench::add(task, "c++", [=] {
    double x = start, rate = r;
    int64_t n = steps;
    benchmark::DoNotOptimize(x);
    benchmark::DoNotOptimize(rate);
    benchmark::DoNotOptimize(n);
    benchmark::DoNotOptimize(logistic_plain(x, rate, n));
  });
}

void declare_scan(int64_t n, double latency) {
  bench::Task task{"scan", bench::size_name(n), {double(n) * latency, "one x * a + b a step"}};
  auto floats = bench::random_floats(size_t(n), -1, 1, 1);
  auto x = std::make_shared<std::vector<double>>(floats.begin(), floats.end());
  auto f = cq::jit([](auto initial, auto xs) {
    return cq::scan(
        [](auto carry, auto v) {
          auto next = 0.9 * carry + v;
          return std::pair{next, next};
        },
        initial, xs);
  });
  cq::Array<double> initial = 0.0;
  auto ax = cq::Array<double>::from(std::span<const double>(*x), cq::Shape{n});
  std::vector<double> expected(x->size());
  double last = filter_plain(0.0, x->data(), expected.data(), n);
  auto [carry, ys] = f(initial, ax);
  bench::check("scan: calque, carry", carry.item(), last, 1e-9, 1e-12);
  for (size_t i = 0; i < expected.size(); ++i) bench::check("scan: calque", ys.host()[i], expected[i], 1e-9, 1e-12);
  bench::add(task, "calque", [=] {
    auto result = f(initial, ax);
    benchmark::DoNotOptimize(result);
  });
  auto result = std::make_shared<std::vector<double>>(x->size());
  bench::add(task, "c++", [=] {
    benchmark::DoNotOptimize(filter_plain(0.0, x->data(), result->data(), n));
    benchmark::ClobberMemory();
  });
}

void declare() {
  double latency = bench::chain_latency_f64(), fma = bench::fma_latency_f64();
  for (int64_t steps : bench::sizes({10000})) {
    declare_while(steps, latency);
    declare_scan(steps, fma);
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
