#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <vector>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "complex/complex.h"

namespace cq = calque;

namespace {

template <class T>
using Numbers = std::shared_ptr<std::vector<T>>;

template <class C>
Numbers<C> random_complex(int64_t n, uint64_t seed) {
  using R = typename C::value_type;
  const auto parts = bench::random_doubles(size_t(2 * n), -1, 1, seed);
  auto z = std::make_shared<std::vector<C>>(size_t(n));
  for (size_t i = 0; i < size_t(n); ++i) (*z)[i] = C(R(parts[2 * i]), R(parts[2 * i + 1]));
  return z;
}

template <class T>
cq::Array<T> wrapped(const Numbers<T>& x, const cq::Shape& shape) {
  return cq::Array<T>::wrap(x->data(), shape, [x](T*) {});
}

/// Real and imaginary parts in turn.
std::span<const float> parts(const std::vector<Complex64>& z) {
  return {reinterpret_cast<const float*>(z.data()), 2 * z.size()};
}

void check(const std::string& what, const Complex64* got, const std::vector<Complex64>& expected, double atol) {
  bench::check(what, {reinterpret_cast<const float*>(got), 2 * expected.size()}, parts(expected), 0, atol);
}

// ---- x y + z

void declare_multiply_add(int64_t n) {
  const bench::Task task{"complex x y + z", bench::size_name(n), {}, {8.0 * double(n), 32.0 * double(n)}};
  const auto x = random_complex<Complex64>(n, 1), y = random_complex<Complex64>(n, 2),
             z = random_complex<Complex64>(n, 3);
  std::vector<Complex64> expected(static_cast<size_t>(n));
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = Complex64(Complex128((*x)[i]) * Complex128((*y)[i]) + Complex128((*z)[i]));
  constexpr double kRounding = 4e-7;

  auto f = cq::jit([](auto a, auto b, auto c) { return a * b + c; });
  const cq::Shape shape{n};
  const auto ax = wrapped(x, shape), ay = wrapped(y, shape), az = wrapped(z, shape);
  check(task.name + ": calque", f(ax, ay, az).host().data(), expected, kRounding);
  bench::add_ours(task, [=] { return f(ax, ay, az); });

  const auto result = std::make_shared<std::vector<Complex64>>(size_t(n));
  const auto rival = [&](const char* name, MultiplyAdd run) {
    run(x->data(), y->data(), z->data(), result->data(), size_t(n));
    check(task.name + ": " + name, result->data(), expected, kRounding);
    bench::add(task, name, [=] {
      run(x->data(), y->data(), z->data(), result->data(), size_t(n));
      benchmark::ClobberMemory();
    });
  };
  rival("std::complex -O3", multiply_add_plain);
  rival("std::complex -ffast-math", multiply_add_fast_math);

  const auto planar = [&](const Numbers<Complex64>& from) {
    auto to = std::make_shared<std::vector<float>>(size_t(2 * n));
    for (size_t i = 0; i < size_t(n); ++i) {
      (*to)[i] = (*from)[i].real();
      (*to)[size_t(n) + i] = (*from)[i].imag();
    }
    return to;
  };
  const auto px = planar(x), py = planar(y), pz = planar(z);
  const auto wanted = planar(std::make_shared<std::vector<Complex64>>(expected));
  bench::add_rival<float>(task, "planar intrinsics", *wanted, {0, kRounding},
                          [=](float* to) { multiply_add_planar(px->data(), py->data(), pz->data(), to, size_t(n)); });
}

// ---- products of matrices

template <class C>
void declare_product(const std::string& name, double peak, int64_t n) {
  using R = typename C::value_type;
  const double flops = 8.0 * double(n) * double(n) * double(n);
  const bench::Task task{
      name, std::to_string(n), {flops / peak, "8 n^3 / F"}, {flops, 3.0 * double(n * n) * sizeof(C)}};
  const auto a = random_complex<C>(n * n, 1), b = random_complex<C>(n * n, 2);
  const auto c = std::make_shared<std::vector<C>>(size_t(n * n));
  // Some rows, in f64: all would take longer than the benchmark.
  const int64_t rows[] = {0, n / 3, n - 1};
  const auto check_rows = [=](const std::string& what, const C* got) {
    for (const int64_t i : rows)
      for (int64_t j = 0; j < n; ++j) {
        Complex128 sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += Complex128((*a)[size_t(i * n + k)]) * Complex128((*b)[size_t(k * n + j)]);
        const double atol = 2 * double(n) * double(std::numeric_limits<R>::epsilon());
        bench::check(what, double(got[i * n + j].real()), sum.real(), 0, atol);
        bench::check(what, double(got[i * n + j].imag()), sum.imag(), 0, atol);
      }
  };
  auto f = cq::jit([](auto x, auto y) { return matmul(x, y); });
  const cq::Shape square{n, n};
  const auto ax = wrapped(a, square), ay = wrapped(b, square);
  check_rows(name + ": calque", f(ax, ay).host().data());
  bench::add_ours(task, [=] { return f(ax, ay); });
#if CALQUE_BENCH_OPENBLAS
  const auto product = complex_product_openblas<C>(n);
  product(a->data(), b->data(), c->data());
  check_rows(name + ": openblas", c->data());
  bench::add(task, "openblas", [=] {
    product(a->data(), b->data(), c->data());
    benchmark::ClobberMemory();
  });
#else
  bench::skip(task, "openblas", "not installed");
#endif
}

// ---- the Mandelbrot set

/// Pixels at the border of the set are chaotic: variants must agree on all but a hundredth of the pixels.
void check_counts(const std::string& what, const int32_t* got, const std::vector<int32_t>& expected) {
  size_t different = 0;
  for (size_t i = 0; i < expected.size(); ++i) different += got[i] != expected[i];
  if (double(different) <= 0.01 * double(expected.size())) return;
  std::cerr << what << ": " << different << " of " << expected.size() << " pixels differ; nothing is timed\n";
  std::exit(EXIT_FAILURE);
}

void declare_mandelbrot(int64_t side, double peak) {
  const auto c = std::make_shared<std::vector<Complex64>>(size_t(side * side));
  for (int64_t row = 0; row < side; ++row)
    for (int64_t column = 0; column < side; ++column)
      (*c)[size_t(row * side + column)] =
          Complex64(-2.0f + 2.5f * float(column) / float(side), -1.25f + 2.5f * float(row) / float(side));
  std::vector<int32_t> expected(c->size());
  mandelbrot_plain(c->data(), expected.data(), expected.size());
  const double steps = std::accumulate(expected.begin(), expected.end(), 0.0);
  const bench::Task task{"complex mandelbrot",
                         std::to_string(side),
                         {8 * steps / peak, "8 flops a step / F"},
                         {8 * steps, 12.0 * double(c->size())}};
  auto f = cq::jit([](auto at) {
    auto [z, counts] = cq::while_loop(
        [](auto s) {
          auto [w, k] = s;
          return (real(w) * real(w) + imag(w) * imag(w) <= 4.0f) & (k < kMandelbrotSteps);
        },
        [at](auto s) {
          auto [w, k] = s;
          return std::tuple{w * w + at, k + 1};
        },
        std::tuple{cq::zeros<Complex64>(at.shape()), cq::zeros<int32_t>(at.shape())});
    return counts;
  });
  const auto points = wrapped(c, cq::Shape{side, side});
  check_counts("mandelbrot: calque", f(points).host().data(), expected);
  bench::add_ours(task, [=] { return f(points); });
  // The same with real numbers, as in the case mandelbrot.
  auto planar = cq::jit([](auto at) {
    auto cr = real(at), ci = imag(at);
    auto [x, y, counts] = cq::while_loop(
        [](auto s) {
          auto [u, v, k] = s;
          return (u * u + v * v <= 4.0f) & (k < kMandelbrotSteps);
        },
        [cr, ci](auto s) {
          auto [u, v, k] = s;
          return std::tuple{u * u - v * v + cr, 2.0f * u * v + ci, k + 1};
        },
        std::tuple{cq::zeros<float>(at.shape()), cq::zeros<float>(at.shape()), cq::zeros<int32_t>(at.shape())});
    return counts;
  });
  bench::add_ours(task, [=] { return planar(points); }, "calque of parts");
  const auto counts = std::make_shared<std::vector<int32_t>>(c->size());
  const auto rival = [&](const char* name, void (*run)(const Complex64*, int32_t*, size_t)) {
    run(c->data(), counts->data(), c->size());
    check_counts(name, counts->data(), expected);
    bench::add(task, name, [=] {
      run(c->data(), counts->data(), c->size());
      benchmark::ClobberMemory();
    });
  };
  rival("std::complex -O3", mandelbrot_plain);
  rival("std::complex -ffast-math", mandelbrot_fast_math);
}

// ---- a spectral sum

void declare_spectral_sum(int64_t n) {
  constexpr int64_t kTerms = 64;
  const bench::Task task{"spectral sum", bench::size_name(n), {}};
  const auto a = random_complex<Complex64>(kTerms, 1);
  const auto w = std::make_shared<std::vector<float>>(bench::random_floats(kTerms, 0, 10, 2));
  const auto t = std::make_shared<std::vector<float>>(bench::random_floats(size_t(n), 0, 10, 3));
  std::vector<Complex64> expected(static_cast<size_t>(n));
  for (size_t i = 0; i < expected.size(); ++i) {
    Complex128 sum = 0;
    for (size_t k = 0; k < size_t(kTerms); ++k)
      sum += Complex128((*a)[k]) * std::exp(Complex128(0, double((*w)[k] * (*t)[i])));
    expected[i] = Complex64(sum);
  }
  constexpr double kRounding = 1e-4;
  auto f = cq::jit([](auto amplitudes, auto frequencies, auto times) {
    auto phase = times.at(cq::all, cq::newaxis) * frequencies;
    return sum(amplitudes * exp(Complex64(0, 1) * phase), 1);
  });
  const auto aa = wrapped(a, cq::Shape{kTerms});
  const auto aw = wrapped(w, cq::Shape{kTerms});
  const auto at = wrapped(t, cq::Shape{n});
  check(task.name + ": calque", f(aa, aw, at).host().data(), expected, kRounding);
  bench::add_ours(task, [=] { return f(aa, aw, at); });
  const auto sums = std::make_shared<std::vector<Complex64>>(size_t(n));
  const auto rival = [&](const char* name, auto run) {
    run(a->data(), w->data(), size_t(kTerms), t->data(), sums->data(), size_t(n));
    check(task.name + ": " + name, sums->data(), expected, kRounding);
    bench::add(task, name, [=] {
      run(a->data(), w->data(), size_t(kTerms), t->data(), sums->data(), size_t(n));
      benchmark::ClobberMemory();
    });
  };
  rival("std::complex -O3", spectral_sum_plain);
  rival("std::complex -ffast-math", spectral_sum_fast_math);
}

void declare() {
  const double f32 = bench::fma_peak_f32(), f64 = bench::fma_peak_f64();
  // The sizes are those of x y + z; with less than a thousand numbers the others are small too.
  const std::vector<int64_t>& sizes = bench::sizes({4096, 10000000});
  const bool is_short = sizes.front() < 1000;
  for (const int64_t n : sizes) declare_multiply_add(n);
  declare_product<Complex64>("complex matmul c64", f32, is_short ? 48 : 1024);
  declare_product<Complex128>("complex matmul c128", f64, is_short ? 48 : 1024);
  declare_mandelbrot(is_short ? 128 : 1000, f32);
  declare_spectral_sum(is_short ? 1000 : 100000);
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
