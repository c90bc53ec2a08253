// Random numbers that are stored, and normal numbers that are only summed, which needs no memory. Rivals draw other
// numbers, except the hand-written Threefry, whose bits are ours.
#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/recycler.h"
#include "common/variants.h"
#include "random/random.h"

namespace cq = calque;

namespace {

template <class T>
void check_mean(const char* what, std::span<const T> x, double mean) {
  double sum = 0;
  for (const T v : x) sum += double(v);
  bench::check(what, sum / double(x.size()), mean, 0, 10 / std::sqrt(double(x.size())));
}

template <class T>
void rival(const bench::Task& task, const char* name, size_t n, double mean, void (*run)(T*, size_t)) {
  auto result = std::make_shared<std::vector<T>>(n);
  run(result->data(), n);
  check_mean<T>(name, *result, mean);
  bench::add(task, name, [=] {
    run(result->data(), n);
    benchmark::DoNotOptimize(result->data());
    benchmark::ClobberMemory();
  });
}

void declare() {
  const auto key = cq::random::key(0x0123456789abcdef);
  for (const int64_t size : bench::sizes({10000000})) {
    const auto n = size_t(size);
    const std::string name = bench::size_name(size);

    const bench::Task uniform{"uniform f32", name, {}};
    const auto draw = cq::jit([size](auto k) { return cq::random::uniform<float>(k, {size}); });
    const cq::Array<float> ours = draw(key);
    bench::add_ours(uniform, [=] { return draw(key); });
    const std::vector<float> expected(ours.host().begin(), ours.host().end());
    bench::add_rival<float>(uniform, "c++ vectors", expected, {},
                            [n](float* out) { uniform_threefry(0x01234567, 0x89abcdef, out, n); });
    rival<float>(uniform, "mt19937", n, 0.5, uniform_mersenne);

    const bench::Task doubles{"uniform f64", name, {}};
    const auto draw64 = cq::jit([size](auto k) { return cq::random::uniform<double>(k, {size}); });
    check_mean<double>("uniform f64: calque", draw64(key).host(), 0.5);
    bench::add_ours(doubles, [=] { return draw64(key); });
    rival<double>(doubles, "mt19937_64", n, 0.5, uniform_mersenne);

    const bench::Task normal{"normal f32", name, {}};
    const auto gauss = cq::jit([size](auto k) { return cq::random::normal<float>(k, {size}); });
    check_mean<float>("normal f32: calque", gauss(key).host(), 0);
    bench::add_ours(normal, [=] { return gauss(key); });
    rival<float>(normal, "mt19937", n, 0, normal_mersenne);

    const bench::Task normal64{"normal f64", name, {}};
    const auto gauss64 = cq::jit([size](auto k) { return cq::random::normal<double>(k, {size}); });
    check_mean<double>("normal f64: calque", gauss64(key).host(), 0);
    bench::add_ours(normal64, [=] { return gauss64(key); });
    rival<double>(normal64, "mt19937_64", n, 0, normal_mersenne);

    const bench::Task total{"sum of normal f32", name, {}};
    const auto summed = cq::jit([size](auto k) { return sum(cq::random::normal<float>(k, {size})); });
    bench::check("sum of normal f32: calque", summed(key).item() / double(size), 0, 0, 10 / std::sqrt(double(size)));
    bench::add_ours(total, [=] { return summed(key); });
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
