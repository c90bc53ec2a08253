// Sorts of random numbers, indices that sort, the greatest elements, many short rows, and what is made by sorting:
// quantiles, distinct elements, histograms.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // the buffer of std::stable_sort
#endif
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/variants.h"
#include "sort/sort.h"

namespace cq = calque;

namespace {

template <class T>
std::vector<T> numbers(size_t n) {
  if constexpr (std::is_same_v<T, float>) {
    return bench::random_floats(n, -1, 1, 1);
  } else if constexpr (std::is_same_v<T, double>) {
    return bench::random_doubles(n, -1, 1, 1);
  } else {
    std::vector<T> x(n);
    std::ranges::generate(x, std::mt19937_64(1));
    return x;
  }
}

template <class T>
cq::Array<T> wrapped(const std::shared_ptr<std::vector<T>>& x, cq::Shape shape) {
  return cq::Array<T>::wrap(x->data(), std::move(shape), [x](T*) {});
}

/// Of any type, every element the same.
template <class Got, class T>
void check_same(const std::string& what, const Got& got, const std::vector<T>& expected) {
  bench::check(what + ": elements", double(got.size()), double(expected.size()), 0);
  int64_t differing = 0;
  for (size_t i = 0; i < expected.size(); ++i) differing += got[i] != expected[i];
  bench::check(what + ": elements that differ", double(differing), 0, 0);
}

/// Indices in rows of n that sort x: each row's are distinct and their elements those of the sorted row.
template <class T>
void check_order(const std::string& what, std::span<const int32_t> order, const std::vector<T>& x,
                 const std::vector<T>& sorted, size_t n) {
  std::vector<T> elements(x.size());
  std::vector<bool> seen(x.size());
  int64_t repeated = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t from = i / n * n + size_t(order[i]);
    elements[i] = x[from];
    repeated += seen[from];
    seen[from] = true;
  }
  bench::check(what + ": indices that occur twice", double(repeated), 0, 0);
  check_same(what, elements, sorted);
}

/// A rival that changes its copy of x; the copy is part of the time, as an unchanged argument is of ours.
template <class T, class Run>
void add_on_copy(const bench::Task& task, const std::string& name, const std::shared_ptr<std::vector<T>>& x,
                 const std::vector<T>& expected, Run run) {
  std::vector<T> to = *x;
  run(to);
  check_same(task.name + ": " + name, to, expected);
  bench::add(task, name, [x, run, to = std::move(to)]() mutable {
    to = *x;
    run(to);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  });
}

/// Rows of n.
template <class T>
void sorts(const std::string& suffix, int64_t rows, int64_t n, const std::string& size) {
  const auto x = std::make_shared<std::vector<T>>(numbers<T>(size_t(rows * n)));
  const cq::Array<T> array = wrapped(x, {rows, n});
  const auto each_row = [n](auto& v, auto sort) {
    for (auto row = v.begin(); row != v.end(); row += n) sort(row, row + n);
  };
  const auto std_sort = [=](auto& v) { each_row(v, [](auto first, auto last) { std::sort(first, last); }); };
  std::vector<T> expected = *x;
  std_sort(expected);

  const bench::Task task{"sort " + suffix, size};
  const auto sorted = cq::jit([](auto v) { return sort(v); });
  check_same(task.name + ": calque", sorted(array).host(), expected);
  bench::add_ours(task, [=] { return sorted(array); });
  add_on_copy(task, "std::sort", x, expected, std_sort);
  add_on_copy(task, "std::stable_sort", x, expected,
              [=](auto& v) { each_row(v, [](auto first, auto last) { std::stable_sort(first, last); }); });
#if CALQUE_BENCH_VQSORT
  add_on_copy(task, "vqsort", x, expected,
              [=](auto& v) { each_row(v, [n](auto first, auto) { sort_vqsort(&*first, size_t(n)); }); });
#else
  bench::skip(task, "vqsort", "not installed");
#endif

  const bench::Task order{"argsort " + suffix, size};
  const auto ordered = cq::jit([](auto v) { return argsort(v); });
  check_order(order.name + ": calque", ordered(array).host(), *x, expected, size_t(n));
  bench::add_ours(order, [=] { return ordered(array); });
  const auto stable = [=](std::vector<int32_t>& to) {
    for (size_t row = 0; row < to.size(); row += size_t(n)) {
      const auto first = to.begin() + std::ptrdiff_t(row), last = first + n;
      std::iota(first, last, 0);
      std::stable_sort(first, last, [key = x->data() + row](int32_t a, int32_t b) { return key[a] < key[b]; });
    }
  };
  std::vector<int32_t> to(x->size());
  stable(to);
  check_order(order.name + ": std::stable_sort", to, *x, expected, size_t(n));
  bench::add(order, "std::stable_sort", [stable, to]() mutable {
    stable(to);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  });
}

/// Of random numbers, or of ascending ones: each is then greater than all before it. Ours also finds the indices.
void greatest(int64_t size, int64_t k, bool ascending = false) {
  const auto x = std::make_shared<std::vector<float>>(numbers<float>(size_t(size)));
  if (ascending) std::ranges::sort(*x);
  std::vector<float> expected(static_cast<size_t>(k));
  std::ranges::partial_sort_copy(*x, expected, std::greater<>());
  const bench::Task task{"top " + std::to_string(k) + (ascending ? " ascending" : ""), bench::size_name(size)};
  const auto array = wrapped(x, {size});
  const auto f = cq::jit([k](auto v) { return top_k(v, k); });
  const auto [values, indices] = f(array);
  check_same(task.name + ": calque", values.host(), expected);
  check_same(task.name + ": calque", take(array, indices, 0).host(), expected);
  bench::add_ours(task, [=] { return f(array); });
  bench::add(task, "std::partial_sort_copy", [x, to = expected]() mutable {
    std::ranges::partial_sort_copy(*x, to, std::greater<>());
    benchmark::DoNotOptimize(to.data());
  });
  bench::add(task, "std::nth_element", [x, k, to = *x]() mutable {
    to = *x;
    std::ranges::nth_element(to, to.begin() + k, std::greater<>());
    std::ranges::sort(to.begin(), to.begin() + k, std::greater<>());
    benchmark::DoNotOptimize(to.data());
  });
}

constexpr std::array kAt{0.01, 0.5, 0.99};

/// The quantiles, ascending, each between two neighbours in order; a selection leaves smaller elements before.
void quantiles_by_selection(std::vector<float>& v, float* to) {
  auto from = v.begin();
  for (const double at : kAt) {
    const double position = at * double(v.size() - 1), below = std::floor(position);
    const auto low = v.begin() + std::ptrdiff_t(below);
    std::nth_element(from, low, v.end());
    const float high = *std::min_element(low + 1, v.end());
    *to++ = float(*low + (position - below) * (double(high) - *low));
    from = low;
  }
}

void quantiles(int64_t size) {
  const auto x = std::make_shared<std::vector<float>>(numbers<float>(size_t(size)));
  const auto copy = std::make_shared<std::vector<float>>(*x);
  std::vector<float> expected;
  std::ranges::sort(*copy);
  for (const double at : kAt) {
    const double position = at * double(size - 1);
    const auto below = size_t(position);
    const double low = (*copy)[below], high = (*copy)[below + 1];
    expected.push_back(float(low + (position - double(below)) * (high - low)));
  }
  const bench::Task task{"quantile of 3", bench::size_name(size)};
  const auto array = wrapped(x, {size});
  const auto f = cq::jit([](auto v) { return quantile(v, cq::Array<double>({kAt[0], kAt[1], kAt[2]})); });
  bench::check(task.name + ": calque", f(array).host(), expected, 1e-6);
  bench::add_ours(task, [=] { return f(array); });
  bench::add_rival<float>(task, "std::nth_element", expected, {1e-6, 0}, [x, copy](float* to) {
    *copy = *x;
    quantiles_by_selection(*copy, to);
  });
}

/// Integers, of which each occurs about ten times.
void distinct(int64_t size) {
  const auto x = std::make_shared<std::vector<int32_t>>(size_t(size));
  std::ranges::generate(*x,
                        [draw = std::mt19937(1), of = uint32_t(size / 10)]() mutable { return int32_t(draw() % of); });
  const auto by_sort = [](std::vector<int32_t>& v) {
    std::ranges::sort(v);
    v.erase(std::unique(v.begin(), v.end()), v.end());
  };
  std::vector<int32_t> expected = *x;
  by_sort(expected);
  const bench::Task task{"unique i32", bench::size_name(size)};
  const auto array = wrapped(x, {size});
  const auto f = cq::jit([n = int64_t(expected.size())](auto v) { return unique(v, {.size = n}); });
  check_same(task.name + ": calque", f(array).host(), expected);
  bench::add_ours(task, [=] { return f(array); });
  add_on_copy(task, "std::sort", x, expected, by_sort);
}

void histograms(int64_t size) {
  constexpr int kBins = 100;
  const auto x = std::make_shared<std::vector<float>>(numbers<float>(size_t(size)));
  const auto f = cq::jit([](auto v) { return std::get<0>(histogram(v, {.bins = kBins, .range = {{-1.0, 1.0}}})); });
  const bench::Task task{"histogram", bench::size_name(size)};
  const auto array = wrapped(x, {size});
  // Exactly by the edges; the loop's rounding moves those next to an edge.
  std::vector<int32_t> expected(kBins), to(kBins);
  const auto edges = std::get<1>(histogram(array, {.bins = kBins, .range = {{-1.0, 1.0}}})).host();
  for (const float v : *x) ++expected[size_t(std::upper_bound(edges.begin(), edges.end(), v) - edges.begin() - 1)];
  check_same(task.name + ": calque", f(array).host(), expected);
  bench::add_ours(task, [=] { return f(array); });
  histogram_plain(x->data(), x->size(), to.data(), kBins);
  for (size_t i = 0; i < to.size(); ++i) bench::check(task.name + ": c++ loop", to[i], expected[i], 1e-3, 2);
  bench::add(task, "c++ loop", [x, to]() mutable {
    histogram_plain(x->data(), x->size(), to.data(), kBins);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  });
}

void declare() {
  for (const int64_t size : bench::sizes({10000, 1000000, 10000000})) {
    sorts<float>("f32", 1, size, bench::size_name(size));
    sorts<double>("f64", 1, size, bench::size_name(size));
    sorts<uint64_t>("u64", 1, size, bench::size_name(size));
  }
  greatest(1000000, 1);
  greatest(1000000, 100);
  greatest(1000000, 100, true);
  greatest(1000000, 10000);
  greatest(10000, 10);
  for (const int64_t n : {8, 32, 64}) sorts<float>("rows of " + std::to_string(n), 100000, n, "10^5");
  quantiles(1000000);
  distinct(1000000);
  histograms(1000000);
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
