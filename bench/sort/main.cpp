// Sorts of random f32 and f64, indices that sort, the greatest elements, and many short rows.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // the buffer of std::stable_sort
#endif
#include <algorithm>
#include <memory>
#include <numeric>

#include <calque/calque.h>

#include "common/harness.h"

namespace cq = calque;

namespace {

template <class T>
std::vector<T> numbers(size_t n) {
  if constexpr (std::is_same_v<T, float>) {
    return bench::random_floats(n, -1, 1, 1);
  } else {
    return bench::random_doubles(n, -1, 1, 1);
  }
}

template <class T>
cq::Array<T> wrapped(const std::shared_ptr<std::vector<T>>& x, cq::Shape shape) {
  return cq::Array<T>::wrap(x->data(), std::move(shape), [x](T*) {});
}

/// A call of ours, checked against the elements in order.
template <class T, class F>
void ours(const bench::Task& task, F f, const cq::Array<T>& x, const std::vector<T>& expected) {
  bench::check(task.name + ": calque", f(x).host(), expected, 0);
  bench::add(task, "calque", [f, x] {
    auto result = f(x);
    benchmark::DoNotOptimize(result);
  });
}

template <class T>
void sorts(const std::string& name, int64_t size) {
  const auto n = static_cast<size_t>(size);
  const auto x = std::make_shared<std::vector<T>>(numbers<T>(n));
  std::vector<T> expected = *x;
  std::ranges::sort(expected);
  const bench::Task task{"sort " + name, bench::size_name(size)};
  ours(task, cq::jit([](auto v) { return sort(v); }), wrapped(x, {size}), expected);
  const auto rival = [&](const char* of, auto run) {
    bench::add(task, of, [x, run, to = std::vector<T>(x->size())]() mutable {
      to = *x;
      run(to);
      benchmark::DoNotOptimize(to.data());
      benchmark::ClobberMemory();
    });
  };
  rival("std::sort", [](auto& v) { std::sort(v.begin(), v.end()); });
  rival("std::stable_sort", [](auto& v) { std::stable_sort(v.begin(), v.end()); });

  const bench::Task order{"argsort " + name, bench::size_name(size)};
  ours(order, cq::jit([](auto v) { return take_along_axis(v, argsort(v), 0); }), wrapped(x, {size}), expected);
  bench::add(order, "std::stable_sort", [x, to = std::vector<int32_t>(n)]() mutable {
    std::iota(to.begin(), to.end(), 0);
    std::stable_sort(to.begin(), to.end(),
                     [&](int32_t a, int32_t b) { return (*x)[static_cast<size_t>(a)] < (*x)[static_cast<size_t>(b)]; });
    benchmark::DoNotOptimize(to.data());
  });
}

/// Of random numbers, or of ascending ones: each is then greater than all before it.
void greatest(int64_t size, int64_t k, bool ascending = false) {
  const auto n = static_cast<size_t>(size);
  const auto x = std::make_shared<std::vector<float>>(numbers<float>(n));
  if (ascending) std::ranges::sort(*x);
  std::vector<float> expected(static_cast<size_t>(k));
  std::ranges::partial_sort_copy(*x, expected, std::greater<>());
  const bench::Task task{"top " + std::to_string(k) + (ascending ? " ascending" : ""), bench::size_name(size)};
  ours(task, cq::jit([k](auto v) { return std::get<0>(top_k(v, k)); }), wrapped(x, {size}), expected);
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

void short_rows(int64_t rows, int64_t n) {
  const auto x = std::make_shared<std::vector<float>>(numbers<float>(static_cast<size_t>(rows * n)));
  const auto sort_all = [n](std::vector<float>& v) {
    for (auto row = v.begin(); row != v.end(); row += n) std::sort(row, row + n);
  };
  std::vector<float> expected = *x;
  sort_all(expected);
  const bench::Task task{"sort rows of " + std::to_string(n), bench::size_name(rows)};
  ours(task, cq::jit([](auto v) { return sort(v); }), wrapped(x, {rows, n}), expected);
  bench::add(task, "std::sort", [x, sort_all, to = expected]() mutable {
    to = *x;
    sort_all(to);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  });

  const bench::Task order{"argsort rows of " + std::to_string(n), bench::size_name(rows)};
  ours(order, cq::jit([](auto v) { return take_along_axis(v, argsort(v), 1); }), wrapped(x, {rows, n}), expected);
  bench::add(order, "std::stable_sort", [x, n, to = std::vector<int32_t>(x->size())]() mutable {
    for (size_t row = 0; row < to.size(); row += static_cast<size_t>(n)) {
      const auto first = to.begin() + static_cast<std::ptrdiff_t>(row), last = first + n;
      std::iota(first, last, 0);
      std::stable_sort(first, last, [key = x->data() + row](int32_t a, int32_t b) { return key[a] < key[b]; });
    }
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  });
}

void declare() {
  for (const int64_t size : bench::sizes({10000, 1000000, 10000000})) {
    sorts<float>("f32", size);
    sorts<double>("f64", size);
  }
  greatest(1000000, 1);
  greatest(1000000, 100);
  greatest(1000000, 100, true);
  greatest(1000000, 10000);
  greatest(10000, 10);
  short_rows(100000, 8);
  short_rows(100000, 32);
  short_rows(100000, 64);
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
