#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "heat/heat.h"

namespace cq = calque;

namespace {

void declare_grid(int64_t n, int64_t steps, double bandwidth, const std::string& where) {
  const size_t cells = size_t(n * n);
  const double bytes = 8.0 * double(cells) * double(steps);
  const bench::Task task{
      "heat", std::to_string(n), {bytes / bandwidth, "8 n^2 / " + where + " a step"}, {6.0 / 8.0 * bytes, bytes}};
  auto u = std::make_shared<std::vector<float>>(bench::random_floats(cells, 0, 1, 1));
  for (size_t i = 0; i < size_t(n); ++i)
    (*u)[i] = (*u)[i * size_t(n)] = (*u)[(i + 1) * size_t(n) - 1] = (*u)[cells - 1 - i] = 0;
  auto spare = std::make_shared<std::vector<float>>(cells);
  std::vector<float> expected(cells);
  heat_plain(u->data(), expected.data(), spare->data(), n, steps);
  const bench::Tolerance tolerance{1e-4, 1e-6};

  auto f = cq::jit([n, steps](auto initial) {
    return cq::fori_loop(
        0, steps,
        [n](auto, auto v) {
          const auto inner = cq::range(1, n - 1), before = cq::range(0, n - 2), after = cq::range(2, n);
          auto c = v.at(inner, inner);
          auto sum = v.at(before, inner) + v.at(after, inner) + v.at(inner, before) + v.at(inner, after);
          return pad(c + kConductivity * (sum - 4.0f * c), 0.0f, {1, 1}, {1, 1});
        },
        initial);
  });
  auto au = cq::Array<float>::wrap(u->data(), cq::Shape{n, n}, [u](float*) {});
  bench::check("heat: calque", f(au).host(), expected, tolerance.rtol, tolerance.atol);
  bench::add_ours(task, [=] { return f(au); });
  const auto rival = [&](const std::string& name, auto* run) {
    bench::add_rival(task, name, expected, tolerance,
                     [=](float* out) { run(u->data(), out, spare->data(), n, steps); });
  };
  rival("c++", heat_plain);
  rival("c++ two steps at a time", heat_two_steps);
}

void declare() {
  const double bandwidth = bench::memory_bandwidth();
  for (int64_t n : bench::sizes({1024, 4096})) declare_grid(n, n <= 1024 ? 200 : 20, bandwidth, "B");
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
