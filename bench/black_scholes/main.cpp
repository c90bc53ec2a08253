#include <algorithm>
#include <cmath>
#include <memory>

#include <calque/calque.h>

#include "black_scholes/black_scholes.h"
#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"

namespace cq = calque;

namespace {

constexpr double kRate = 0.03;

/// Cycles per element at 8 f64 lanes: of its transcendental functions, each at the best known speed (case 3), and of
/// its two dozen arithmetic operations.
constexpr double kCycles = 2.5 + 2 * 1.9 + 2 * 3.5 + 4.0;

void declare() {
  const double bandwidth = bench::memory_bandwidth(), clock = bench::clock_rate();
  for (int64_t size : bench::sizes({1000000})) {
    const size_t n = size_t(size);
    const double bytes = 80.0 * double(n);
    const bench::Task task{"black_scholes",
                           bench::size_name(size),
                           {std::max(bytes / bandwidth, kCycles * double(n) / clock), "max(80n/B, cycles)"},
                           {0, bytes}};
    auto column = [&](double low, double high, uint64_t seed) {
      return std::make_shared<std::vector<double>>(bench::random_doubles(n, low, high, seed));
    };
    auto spot = column(80, 120, 1), strike = column(80, 120, 2), time = column(0.1, 2, 3),
         volatility = column(0.1, 0.5, 4);
    const auto columns = [n](double* out) {
      return Greeks{out, out + n, out + 2 * n, out + 3 * n, out + 4 * n, out + 5 * n};
    };
    const auto options = [=] {
      return Options{spot->data(), strike->data(), time->data(), volatility->data(), kRate, n};
    };
    std::vector<double> expected(6 * n);
    greeks_plain(options(), columns(expected.data()));

    auto f = cq::jit([](auto s, auto k, auto t, auto v, auto r) {
      auto price = [](auto s1, auto k1, auto t1, auto v1, auto r1) {
        auto normal = [](auto x) { return 0.5 * erfc(-x * std::sqrt(0.5)); };
        auto deviation = v1 * sqrt(t1);
        auto d1 = (log(s1 / k1) + (r1 + 0.5 * v1 * v1) * t1) / deviation;
        return s1 * normal(d1) - k1 * exp(-r1 * t1) * normal(d1 - deviation);
      };
      auto each = [](auto g) { return cq::vmap(g, {.in_axes = {0, 0, 0, 0, cq::none}}); };
      auto [value, greeks] = each(cq::value_and_grad(price, cq::argnums<0, 2, 3, 4>))(s, k, t, v, r);
      auto [delta, theta, vega, rho] = greeks;
      return std::tuple{value, delta, each(cq::grad(cq::grad(price)))(s, k, t, v, r), theta, vega, rho};
    });
    auto array = [&](const auto& values) {
      return cq::Array<double>::wrap(values->data(), cq::Shape{size}, [values](double*) {});
    };
    auto as = array(spot), ak = array(strike), at = array(time), av = array(volatility);
    cq::Array<double> rate = kRate;
    const auto check = [&](const std::string& what, size_t which, std::span<const double> got) {
      bench::check("black_scholes: " + what, got, std::span(expected).subspan(which * n, n), 1e-8, 1e-9);
    };
    std::apply(
        [&](const auto&... g) {
          size_t i = 0;
          (check("calque", i++, g.host()), ...);
        },
        f(as, ak, at, av, rate));
    bench::add_ours(task, [=] { return f(as, ak, at, av, rate); });

    const auto rival = [&](const std::string& name, void (*run)(const Options&, const Greeks&)) {
      bench::add_rival(task, name, expected, {1e-8, 1e-9}, [=](double* out) { run(options(), columns(out)); });
    };
    rival("c++", greeks_plain);
    rival("c++ -ffast-math", greeks_fast_math);
#if CALQUE_BENCH_SLEEF
    rival("sleef", greeks_sleef);
#else
    bench::skip(task, "sleef", "not installed");
#endif
  }
#if CALQUE_BENCH_SLEEF
  bench::version("SLEEF", sleef_version());
#endif
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
