// Solves, Cholesky factors and inverses of many small matrices, and the same and QR of single large ones. Every result
// is checked by what defines it. Rivals of large matrices are column-major: what they factor is the transpose.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <type_traits>

#include <calque/calque.h>

#include "common/harness.h"
#include "common/probes.h"
#include "common/variants.h"
#include "linalg/linalg.h"

namespace cq = calque;

namespace {

template <class T>
using Numbers = std::shared_ptr<std::vector<T>>;

template <class T>
Numbers<T> random_numbers(int64_t count, uint64_t seed) {
  if constexpr (std::is_same_v<T, float>)
    return std::make_shared<std::vector<T>>(bench::random_floats(size_t(count), -1, 1, seed));
  else
    return std::make_shared<std::vector<T>>(bench::random_doubles(size_t(count), -1, 1, seed));
}

/// Symmetric and positive definite, by a dominant diagonal.
template <class T>
Numbers<T> definite(int64_t count, int64_t n) {
  auto a = random_numbers<T>(count * n * n, 3);
  for (int64_t m = 0; m < count; ++m) {
    T* const rows = a->data() + m * n * n;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) rows[j * n + i] = rows[i * n + j];
      rows[i * n + i] += T(n);
    }
  }
  return a;
}

template <class T>
cq::Array<T> wrapped(const Numbers<T>& x, const cq::Shape& shape) {
  return cq::Array<T>::wrap(x->data(), shape, [x](T*) {});
}

/// A matrix, or its transpose.
template <class T>
struct View {
  const T* data;
  int64_t rows, columns;
  bool transposed = false;
  double at(int64_t i, int64_t j) const { return double(transposed ? data[j * rows + i] : data[i * columns + j]); }
};

struct Product {
  std::vector<double> value, magnitude;  // of rows, and of rows of magnitudes
};

template <class T>
Product times(const View<T>& a, const std::vector<double>& x, const std::vector<double>& magnitude) {
  Product out{std::vector<double>(size_t(a.rows)), std::vector<double>(size_t(a.rows))};
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) {
      out.value[size_t(i)] += a.at(i, j) * x[size_t(j)];
      out.magnitude[size_t(i)] += std::abs(a.at(i, j)) * magnitude[size_t(j)];
    }
  return out;
}

/// The rounding that a backward stable algorithm may leave in each element.
template <class T>
void check_residual(const std::string& what, const Product& got, const std::vector<double>& expected) {
  const double n = double(expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    bench::check(what, got.value[i], expected[i], 0,
                 16 * n * double(std::numeric_limits<T>::epsilon()) * (got.magnitude[i] + 1));
}

/// a x = b, for all columns of x and b or, of many, about eight.
template <class T>
void check_solution(const std::string& what, const View<T>& a, const View<T>& x, const View<T>& b) {
  for (int64_t c = 0; c < x.columns; c += std::max<int64_t>(1, x.columns / 8)) {
    std::vector<double> column(size_t(a.rows)), magnitude(column), expected(column);
    for (int64_t i = 0; i < a.rows; ++i) {
      column[size_t(i)] = x.at(i, c), magnitude[size_t(i)] = std::abs(x.at(i, c));
      expected[size_t(i)] = b.at(i, c);
    }
    check_residual<T>(what, times(a, column, magnitude), expected);
  }
}

/// left right = expected, seen through a product with a vector.
template <class T>
void check_product(const std::string& what, const View<T>& left, const View<T>& right, const View<T>& expected) {
  const std::vector<double> x = bench::random_doubles(size_t(right.columns), -1, 1, 9);
  std::vector<double> ones(x.size(), 1);
  const Product inner = times(right, x, ones);
  check_residual<T>(what, times(left, inner.value, inner.magnitude), times(expected, x, ones).value);
}

template <class T>
void check_factor(const std::string& what, const View<T>& l, const View<T>& a) {
  for (int64_t i = 0; i < l.rows; ++i)
    for (int64_t j = i + 1; j < l.columns; ++j) bench::check(what + " above the diagonal", l.at(i, j), 0, 0);
  const View<T> transposed{l.data, l.columns, l.rows, !l.transposed};
  check_product(what, l, transposed, a);
}

template <class T>
void check_qr(const std::string& what, const View<T>& q, const View<T>& r, const View<T>& a) {
  std::vector<T> identity(size_t(a.rows * a.rows));
  for (int64_t i = 0; i < a.rows; ++i) identity[size_t(i * a.rows + i)] = T(1);
  check_product(what, q, r, a);
  check_product(what + " orthogonality", View<T>{q.data, q.columns, q.rows, !q.transposed}, q,
                View<T>{identity.data(), a.rows, a.rows});
  for (int64_t i = 1; i < r.rows; ++i)
    for (int64_t j = 0; j < i; ++j) bench::check(what + " below the diagonal", r.at(i, j), 0, 0);
}

/// Adds a rival whose first call fills x and y, which `check` accepts or ends the program.
template <class T, class Check>
void add_run(const bench::Task& task, const std::string& variant, const Run<T>& run, const Numbers<T>& a,
             const Numbers<T>& b, int64_t x_size, int64_t y_size, Check check) {
  auto x = std::make_shared<std::vector<T>>(size_t(x_size)), y = std::make_shared<std::vector<T>>(size_t(y_size));
  run(a->data(), b ? b->data() : nullptr, x->data(), y->data());
  check(task.name + " " + task.size + ": " + variant, x->data(), y->data());
  bench::add(task, variant, [=] {
    run(a->data(), b ? b->data() : nullptr, x->data(), y->data());
    benchmark::DoNotOptimize(x->data());
    benchmark::ClobberMemory();
  });
}

constexpr const char* kNoFactors = "its LU does not exchange rows, and it has no Cholesky factors";

template <class T>
std::string named(const std::string& what) {
  return what + (std::is_same_v<T, float> ? " f32" : " f64");
}

template <class T>
bench::Floor traffic(double numbers, double bandwidth) {
  return {numbers * sizeof(T) / bandwidth, "bytes / B"};
}

// ---- batches

constexpr int64_t kBatch = 100000;

template <class T>
void solve_small(double bandwidth) {
  const int64_t n = 8;
  const double numbers = double(kBatch * n * (n + 2));
  const bench::Task task{named<T>("batched solve"), "8", traffic<T>(numbers, bandwidth), {}};
  auto a = random_numbers<T>(kBatch * n * n, 1), b = random_numbers<T>(kBatch * n, 2);
  const auto check = [=](const std::string& what, const T* x, const T*) {
    for (int64_t i = 0; i < kBatch; ++i)
      check_solution<T>(what, {a->data() + i * n * n, n, n}, {x + i * n, n, 1}, {b->data() + i * n, n, 1});
  };
  auto f = cq::jit([](auto m, auto v) { return cq::linalg::solve(m, v); });
  auto am = wrapped(a, {kBatch, n, n}), bm = wrapped(b, {kBatch, n, 1});
  check(task.name + ": calque", f(am, bm).host().data(), nullptr);
  bench::add_ours(task, [=] { return f(am, bm); });
  add_run<T>(task, "c++", solve_plain<T>(kBatch), a, b, kBatch * n, 0, check);
  add_run<T>(task, "eigen", solve_eigen_fixed<T>(kBatch), a, b, kBatch * n, 0, check);
  bench::skip(task, "libxsmm", kNoFactors);
}

template <class T>
void cholesky_small(int64_t n, double bandwidth) {
  const int64_t count = n < 32 ? kBatch : kBatch / 10;
  const bench::Task task{
      named<T>("batched cholesky"), std::to_string(n), traffic<T>(2.0 * double(count * n * n), bandwidth), {}};
  auto a = definite<T>(count, n);
  const auto check = [=](const std::string& what, const T* l, const T*) {
    for (int64_t i = 0; i < count; ++i) check_factor<T>(what, {l + i * n * n, n, n}, {a->data() + i * n * n, n, n});
  };
  auto f = cq::jit([](auto m) { return cq::linalg::cholesky(m); });
  auto am = wrapped(a, {count, n, n});
  check(task.name + ": calque", f(am).host().data(), nullptr);
  bench::add_ours(task, [=] { return f(am); });
  add_run<T>(task, "c++", cholesky_plain<T>(count, n), a, nullptr, count * n * n, 0, check);
  add_run<T>(task, "eigen", cholesky_eigen_fixed<T>(count, n), a, nullptr, count * n * n, 0, check);
  bench::skip(task, "libxsmm", kNoFactors);
}

template <class T>
void inverse_small(double bandwidth) {
  const int64_t n = 6;
  const bench::Task task{named<T>("batched inverse"), "6", traffic<T>(2.0 * double(kBatch * n * n), bandwidth), {}};
  auto a = random_numbers<T>(kBatch * n * n, 1);
  std::vector<T> identity(size_t(n * n));
  for (int64_t i = 0; i < n; ++i) identity[size_t(i * n + i)] = T(1);
  const auto check = [=](const std::string& what, const T* x, const T*) {
    for (int64_t i = 0; i < kBatch; ++i)
      check_solution<T>(what, {a->data() + i * n * n, n, n}, {x + i * n * n, n, n}, {identity.data(), n, n});
  };
  auto f = cq::jit([](auto m) { return cq::linalg::inv(m); });
  auto am = wrapped(a, {kBatch, n, n});
  check(task.name + ": calque", f(am).host().data(), nullptr);
  bench::add_ours(task, [=] { return f(am); });
  add_run<T>(task, "c++", inverse_plain<T>(kBatch), a, nullptr, kBatch * n * n, 0, check);
  add_run<T>(task, "eigen", inverse_eigen_fixed<T>(kBatch), a, nullptr, kBatch * n * n, 0, check);
  bench::skip(task, "libxsmm", kNoFactors);
}

// ---- large matrices

/// Operations per second of our product of two matrices of n rows, the best of half a second.
template <class T>
double product_rate(int64_t n) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
  auto f = cq::jit([](auto x, auto y) { return matmul(x, y); });
  const auto x = wrapped(random_numbers<T>(n * n, 1), {n, n}), y = wrapped(random_numbers<T>(n * n, 2), {n, n});
  (void)f(x, y).host();
  cq::wait_for_compilation();
  double best = 1e30;
  const auto start = Clock::now();
  do {
    const auto before = Clock::now();
    (void)f(x, y).host();
    best = std::min(best, seconds(Clock::now() - before));
  } while (seconds(Clock::now() - start) < 0.5);
  const double rate = 2.0 * double(n) * double(n) * double(n) / best;
  bench::record(named<T>("product") + " " + std::to_string(n), rate * 1e-9, "GFLOP/s");
  return rate;
}

template <class T>
bench::Task large(const std::string& what, int64_t n, double flops, const std::string& formula, double rate) {
  return {named<T>(what), std::to_string(n), {flops / rate, formula + " / G"}, {flops, 0}};
}

#if CALQUE_BENCH_OPENBLAS
constexpr bool kOpenBlas = true;
#else
constexpr bool kOpenBlas = false;
#endif

/// The rivals of a task; `openblas` makes a run where the library is there.
template <class T, class OpenBlas, class Check>
void add_large(const bench::Task& task, const Run<T>& eigen, OpenBlas openblas, const Numbers<T>& a,
               const Numbers<T>& b, int64_t x_size, int64_t y_size, Check check) {
  add_run<T>(task, "eigen", eigen, a, b, x_size, y_size, check);
  if constexpr (kOpenBlas)
    add_run<T>(task, "openblas", openblas(std::type_identity<T>{}), a, b, x_size, y_size, check);
  else
    bench::skip(task, "openblas", "not installed");
}

template <class T>
void cholesky_large(int64_t n, double rate) {
  const double cube = double(n) * double(n) * double(n);
  const bench::Task task = large<T>("cholesky", n, cube / 3, "n^3 / 3", rate);
  auto a = definite<T>(1, n);
  const View<T> matrix{a->data(), n, n};
  auto f = cq::jit([](auto m) { return cq::linalg::cholesky(m); });
  auto am = wrapped(a, {n, n});
  check_factor<T>(task.name + ": calque", {f(am).host().data(), n, n}, matrix);
  bench::add_ours(task, [=] { return f(am); });
  add_large<T>(
      task, cholesky_eigen<T>(n), [n](auto type) { return cholesky_openblas<typename decltype(type)::type>(n); }, a,
      nullptr, n * n, 0,
      [=](const std::string& what, const T* l, const T*) { check_factor<T>(what, {l, n, n, true}, matrix); });
}

template <class T>
void solve_large(int64_t n, int64_t sides, double rate) {
  const double cube = double(n) * double(n) * double(n), flops = 2 * cube / 3 + 2.0 * double(n * n) * double(sides);
  const bench::Task task = large<T>(sides == 1 ? "solve" : "solve n sides", n, flops, "(2 n^3 / 3 + 2 n^2 k)", rate);
  auto a = random_numbers<T>(n * n, 1), b = random_numbers<T>(n * sides, 2);
  auto f = cq::jit([](auto m, auto v) { return cq::linalg::solve(m, v); });
  auto am = wrapped(a, {n, n}), bm = wrapped(b, {n, sides});
  check_solution<T>(task.name + ": calque", {a->data(), n, n}, {f(am, bm).host().data(), n, sides},
                    {b->data(), n, sides});
  bench::add_ours(task, [=] { return f(am, bm); });
  add_large<T>(
      task, solve_eigen<T>(n, sides),
      [=](auto type) { return solve_openblas<typename decltype(type)::type>(n, sides); }, a, b, n * sides, 0,
      [=](const std::string& what, const T* x, const T*) {
        check_solution<T>(what, {a->data(), n, n, true}, {x, n, sides, true}, {b->data(), n, sides, true});
      });
}

template <class T>
void qr_large(int64_t n, double rate) {
  const double cube = double(n) * double(n) * double(n);
  const bench::Task task = large<T>("qr", n, 8 * cube / 3, "8 n^3 / 3", rate);
  auto a = random_numbers<T>(n * n, 1);
  auto f = cq::jit([](auto m) { return cq::linalg::qr(m); });
  auto am = wrapped(a, {n, n});
  const auto [q, r] = f(am);
  check_qr<T>(task.name + ": calque", {q.host().data(), n, n}, {r.host().data(), n, n}, {a->data(), n, n});
  bench::add_ours(task, [=] { return f(am); });
  add_large<T>(
      task, qr_eigen<T>(n), [n](auto type) { return qr_openblas<typename decltype(type)::type>(n); }, a, nullptr, n * n,
      n * n,
      [=](const std::string& what, const T* x, const T* y) {
        check_qr<T>(what, {x, n, n, true}, {y, n, n, true}, {a->data(), n, n, true});
      });
}

template <class T>
void declare_large(int64_t n) {
  const double rate = product_rate<T>(n);
  cholesky_large<T>(n, rate);
  solve_large<T>(n, 1, rate);
  solve_large<T>(n, n, rate);
  qr_large<T>(n, rate);
}

void declare_all() {
#if CALQUE_BENCH_OPENBLAS
  bench::version("OpenBLAS", openblas_version());
#endif
  const double bandwidth = bench::memory_bandwidth();
  // 6 to 32 rows are batches, more rows single matrices.
  for (const int64_t n : bench::sizes({6, 8, 16, 32, 64, 512, 2048})) {
    if (n == 6) {
      inverse_small<double>(bandwidth);
    } else if (n == 8) {
      solve_small<float>(bandwidth);
      solve_small<double>(bandwidth);
      cholesky_small<float>(n, bandwidth);
      cholesky_small<double>(n, bandwidth);
    } else if (n < 64) {
      cholesky_small<float>(n, bandwidth);
      cholesky_small<double>(n, bandwidth);
    } else {
      declare_large<double>(n);
      if (n == 512) declare_large<float>(n);
    }
  }
}

}  // namespace

CALQUE_BENCH_MAIN(declare_all)
