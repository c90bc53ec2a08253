#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/recycler.h"
#include "layernorm/layernorm.h"

namespace cq = calque;

namespace {

auto layernorm = [](auto x, auto gain, auto bias) {
  const auto centred = x - mean(x, {1}, cq::keepdims);
  return centred / sqrt(mean(centred * centred, {1}, cq::keepdims) + kEpsilon) * gain + bias;
};

void declare() {
  const double bandwidth = bench::memory_bandwidth();
  const size_t rows = 16384, columns = 1024, n = rows * columns;
  const cq::Shape shape{int64_t(rows), int64_t(columns)};
  auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 3, 1));
  auto dy = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 2));
  auto gain = std::make_shared<std::vector<float>>(bench::random_floats(columns, 0.5, 2, 3));
  auto bias = std::make_shared<std::vector<float>>(bench::random_floats(columns, -1, 1, 4));
  auto array = [](const auto& v, const cq::Shape& s) { return cq::Array<float>::from(std::span<const float>(*v), s); };
  auto ax = array(x, shape), ady = array(dy, shape);
  auto ag = array(gain, {int64_t(columns)}), ab = array(bias, {int64_t(columns)});

  const bench::Task forward{"layernorm", "16384x1024", {8.0 * double(n) / bandwidth, "8n/B"}};
  auto f = cq::jit(layernorm);
  std::vector<float> y(n);
  layernorm_plain(x->data(), gain->data(), bias->data(), y.data(), rows, columns);
  bench::check("layernorm: calque", f(ax, ag, ab).host(), y, 1e-4, 1e-4);
  bench::add(forward, "calque", [=] {
    auto result = f(ax, ag, ab);
    benchmark::DoNotOptimize(result);
  });
  bench::add(forward, "c++ -ffast-math", [=] {
    auto result = bench::recycler().get(n);
    layernorm_plain(x->data(), gain->data(), bias->data(), result.get(), rows, columns);
    benchmark::DoNotOptimize(result.get());
  });

  // Forward: x is read and y written; backward: x and dy are read and dx written.
  const bench::Task both{"layernorm and gradient", "16384x1024", {20.0 * double(n) / bandwidth, "20n/B"}};
  auto g = cq::jit([](auto v, auto a, auto b, auto d) {
    auto [value, pullback] = cq::vjp(layernorm, v, a, b);
    return std::pair{value, pullback(d)};
  });
  std::vector<float> dx(n), dgain(columns), dbias(columns);
  layernorm_backward(x->data(), gain->data(), dy->data(), dx.data(), dgain.data(), dbias.data(), rows, columns);
  auto [value, gradients] = g(ax, ag, ab, ady);
  bench::check("layernorm and gradient: calque", std::get<0>(gradients).host(), dx, 1e-3, 1e-3);
  bench::check("layernorm and gradient: calque", std::get<1>(gradients).host(), dgain, 1e-2, 1e-2);
  bench::add(both, "calque", [=] {
    auto result = g(ax, ag, ab, ady);
    benchmark::DoNotOptimize(result);
  });
  bench::add(both, "c++ -ffast-math", [=] {
    auto result = bench::recycler().get(n), derivative = bench::recycler().get(n);
    std::vector<float> of_gain(columns), of_bias(columns);
    layernorm_plain(x->data(), gain->data(), bias->data(), result.get(), rows, columns);
    layernorm_backward(x->data(), gain->data(), dy->data(), derivative.get(), of_gain.data(), of_bias.data(), rows,
                       columns);
    benchmark::DoNotOptimize(derivative.get());
  });
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
