#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "dispatch/dispatch.h"

namespace cq = calque;

namespace {

void declare_arrays() {
  for (int64_t size : bench::sizes({16})) {
    size_t n = size_t(size);
    auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 1));
    auto y = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 2));
    auto expected = small_plain(x->data(), y->data(), n);
    bench::Task task{"call", std::to_string(size), {}};

    auto f = cq::jit([](auto u, auto v) { return u * v + u; });
    auto ax = cq::Array<float>::from(std::span<const float>(*x), cq::Shape{size});
    auto ay = cq::Array<float>::from(std::span<const float>(*y), cq::Shape{size});
    bench::check("call: calque", f(ax, ay).host(), {expected.get(), n}, 1e-6, 1e-7);
    bench::add(task, "calque", [=] {
      auto result = f(ax, ay);
      benchmark::DoNotOptimize(result);
    });
    auto compiled = f.lower(ax, ay).compile();
    bench::add(task, "calque compiled", [=] {
      auto result = compiled(ax, ay);
      benchmark::DoNotOptimize(result);
    });
    bench::add(task, "c++ new", [=] {
      auto result = small_plain(x->data(), y->data(), n);
      benchmark::DoNotOptimize(result.get());
    });
  }
}

/// A call whose kernel costs about as much as the call.
void declare_scaled_sums() {
  for (int64_t size : bench::sizes({1000})) {
    size_t n = size_t(size);
    auto x = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 1));
    auto y = std::make_shared<std::vector<float>>(bench::random_floats(n, -1, 1, 2));
    auto pool = std::make_shared<Pool>(n);
    bench::Task task{"call a x + y", std::to_string(size), {}};

    auto f = cq::jit([](auto a, auto u, auto v) { return a * u + v; });
    auto ax = cq::Array<float>::from(std::span<const float>(*x), cq::Shape{size});
    auto ay = cq::Array<float>::from(std::span<const float>(*y), cq::Shape{size});
    float* expected = scaled_sum_pooled(*pool, 3, x->data(), y->data());
    bench::check("call a x + y: calque", f(3.0f, ax, ay).host(), {expected, n}, 1e-6, 1e-7);
    pool->release(expected);
    bench::add(task, "calque", [=] {
      auto result = f(3.0f, ax, ay);
      benchmark::DoNotOptimize(result);
    });
    bench::add(task, "c++ pooled", [=] {
      float* result = scaled_sum_pooled(*pool, 3, x->data(), y->data());
      benchmark::DoNotOptimize(result);
      pool->release(result);
    });
  }
}

void declare_scalars() {
  bench::Task task{"scalar call", "1", {}};
  cq::Function<double(double, double)> compiled =
      cq::compile<double(double, double)>([](auto u, auto v) { return u * v + u; });
  bench::check("scalar call: calque", compiled(3.0, 0.5), 4.5, 1e-15);
  // Each call depends on the previous one.
  auto chained = [&](const char* name, auto f) {
    bench::add(task, name, [f, x = 1.0]() mutable {
      x = f(x, -0.5) + 1.0;
      benchmark::DoNotOptimize(x);
    });
  };
  chained("calque", compiled);
  Scalar pointer = scalar_pointer();
  benchmark::DoNotOptimize(pointer);
  chained("function pointer", pointer);
  chained("std::function", scalar_function());
}

void declare() {
  declare_arrays();
  declare_scaled_sums();
  declare_scalars();
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
