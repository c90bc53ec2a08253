#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "mlp/mlp.h"

namespace cq = calque;

namespace {

template <class A>
struct Layer {
  A w, b;
};

template <class A>
struct Network {
  Layer<A> first, second, third;
};

void declare() {
  const double peak = bench::fma_peak_f32();
  double flops = 0;  // forward, and backward with respect to weights and (except in the first layer) inputs
  for (int64_t l = 0; l < kLayers; ++l)
    flops += (l == 0 ? 4.0 : 6.0) * double(kBatch) * double(kWidths[l]) * double(kWidths[l + 1]);
  const bench::Task task{
      "mlp step", std::to_string(kBatch), {flops / peak, "flops / F"}, {flops, 8.0 * double(parameters())}};

  auto values = std::make_shared<std::vector<float>>(bench::random_floats(parameters(), -0.05f, 0.05f, 1));
  auto images = std::make_shared<std::vector<float>>(bench::random_floats(size_t(kBatch * 784), 0, 1, 2));
  auto labels = std::make_shared<std::vector<int32_t>>();
  for (float v : bench::random_floats(size_t(kBatch), 0, 10, 3)) labels->push_back(int32_t(v));
  const std::vector<double> wide(values->begin(), values->end());
  std::vector<double> reference(parameters());
  step_reference(wide.data(), images->data(), labels->data(), reference.data());
  const std::vector<float> expected(reference.begin(), reference.end());
  const bench::Tolerance tolerance{1e-4, 1e-6};

  auto f = cq::jit([](const auto& network, auto x, auto wanted) {
    auto loss = [x, wanted](const auto& net) {
      auto dense = [](auto v, const auto& layer) { return matmul(v, layer.w) + layer.b; };
      auto scores = dense(relu(dense(relu(dense(x, net.first)), net.second)), net.third);
      return -mean(sum(log_softmax(scores, 1) * wanted, {1}));
    };
    auto g = cq::grad(loss)(network);
    auto moved = [](const auto& layer, const auto& by) {
      return Layer{layer.w - kRate * by.w, layer.b - kRate * by.b};
    };
    return Network{moved(network.first, g.first), moved(network.second, g.second), moved(network.third, g.third)};
  });
  int64_t at = 0;
  auto layer = [&](int64_t l) {
    const int64_t in = kWidths[l], out = kWidths[l + 1];
    const float* from = values->data() + at;
    at += (in + 1) * out;
    return Layer<cq::Array<float>>{cq::Array<float>::from(std::span(from, size_t(in * out)), cq::Shape{in, out}),
                                   cq::Array<float>::from(std::span(from + in * out, size_t(out)), cq::Shape{out})};
  };
  Network<cq::Array<float>> network;
  network.first = layer(0);
  network.second = layer(1);
  network.third = layer(2);
  std::vector<float> one_hot(size_t(kBatch * 10));
  for (int64_t i = 0; i < kBatch; ++i) one_hot[size_t(i * 10 + (*labels)[size_t(i)])] = 1;
  auto ax = cq::Array<float>::from(std::span<const float>(*images), cq::Shape{kBatch, 784});
  auto aw = cq::Array<float>::from(std::span<const float>(one_hot), cq::Shape{kBatch, 10});
  const Network<cq::Array<float>> got = f(network, ax, aw);
  std::vector<float> all;
  for (const auto* l : {&got.first, &got.second, &got.third})
    for (const auto* a : {&l->w, &l->b}) all.insert(all.end(), a->host().begin(), a->host().end());
  bench::check("mlp: calque", std::span<const float>(all), std::span<const float>(expected), tolerance.rtol,
               tolerance.atol);
  bench::add_ours(task, [=] { return f(network, ax, aw); });
#if CALQUE_BENCH_OPENBLAS
  bench::add_rival(task, "c++ with openblas", expected, tolerance,
                   [=](float* out) { step_openblas(values->data(), images->data(), labels->data(), out); });
#else
  bench::skip(task, "c++ with openblas", "not installed");
#endif
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
