// Branches of C++ that follow the data (branches::trace), against the same function by cond, where and while_loop, and
// against C++ on numbers. Calls of all paths come before what is timed, but for the cases "first call".
#include <cstdlib>
#include <memory>
#include <tuple>

#include <Eigen/Cholesky>
#include <calque/calque.h>
#include <calque/eigen.h>

#include "branches/plain.h"
#include "common/harness.h"

namespace cq = calque;

namespace {

using D = cq::Array<double>;
using Numbers = std::shared_ptr<std::vector<double>>;

const cq::JitOptions kFollowing{.branches = cq::branches::trace};

Numbers numbers(int64_t n, double low, double high, uint64_t seed) {
  return std::make_shared<std::vector<double>>(bench::random_doubles(size_t(n), low, high, seed));
}

const auto kLimited = [](auto x) {
  const auto n = sqrt(dot(x, x));
  if (n > 1.0) return x / n;
  return x;
};
const auto kLimitedByCond = [](auto x) {
  const auto n = sqrt(dot(x, x));
  return cq::cond(n > 1.0, [](auto v, auto s) { return v / s; }, [](auto v, auto) { return v; }, x, n);
};
const auto kLimitedByWhere = [](auto x) {
  const auto n = sqrt(dot(x, x));
  return where(n > 1.0, x / n, x);
};

/// Both sides in turn.
void declare_two_branches(int64_t n) {
  bench::Task task{"two branches", std::to_string(n), {}};
  const Numbers far = numbers(n, 1, 2, 1), near = numbers(n, -0.1, 0.1, 2);
  const D a = D::from(*far), b = D::from(*near);
  std::vector<double> expected(far->size());
  const auto declare = [&](const char* variant, auto f) {
    for (const auto& [array, plain] : {std::pair{a, far}, std::pair{b, near}}) {
      limited_plain(plain->data(), expected.data(), n);
      bench::check(std::string("two branches: ") + variant, f(array).host(), expected, 1e-12, 1e-300);
    }
    bench::add(task, variant, [=, turn = false]() mutable {
      turn = !turn;
      auto result = f(turn ? a : b);
      benchmark::DoNotOptimize(result);
    });
  };
  declare("calque", cq::jit(kLimited, kFollowing));
  declare("calque cond", cq::jit(kLimitedByCond));
  declare("calque where", cq::jit(kLimitedByWhere));
  bench::add(task, "c++", [=, turn = false]() mutable {
    turn = !turn;
    std::unique_ptr<double[]> result(new double[size_t(n)]);
    limited_plain((turn ? far : near)->data(), result.get(), n);
    benchmark::DoNotOptimize(result.get());
  });
}

/// Tracing and compiling.
void declare_first_calls(int64_t n) {
  const D a = D::from(*numbers(n, 1, 2, 1)), b = D::from(*numbers(n, -0.1, 0.1, 2));
  bench::Task task{"two branches, first calls", std::to_string(n), {}};
  const auto declare = [&](const char* variant, auto make) {
    bench::add(task, variant, [=, count = 0.0]() mutable {
      const auto f = make(count += 1);
      auto one = f(a);
      auto two = f(b);
      benchmark::DoNotOptimize(one);
      benchmark::DoNotOptimize(two);
    });
  };
  // A bound of its own for each call, so that no cache has the code.
  declare("calque", [](double count) {
    return cq::jit(
        [bound = 1.0 - 1e-9 * count](auto x) {
          const auto s = sqrt(dot(x, x));
          if (s > bound) return x / s;
          return x;
        },
        kFollowing);
  });
  declare("calque cond", [](double count) {
    return cq::jit([bound = 1.0 + 1e-9 * count](auto x) {
      const auto s = sqrt(dot(x, x));
      return cq::cond(s > bound, [](auto v, auto w) { return v / w; }, [](auto v, auto) { return v; }, x, s);
    });
  });
}

constexpr int kIfs = 10;
const auto kZigzag = [](auto x) {
  for (int i = 0; i < kIfs; ++i) {
    if (x > 1.0) {
      x = 0.5 * x;
    } else {
      x = 3.0 * x + 0.1;
    }
  }
  return x;
};
const auto kZigzagByCond = [](auto x) {
  for (int i = 0; i < kIfs; ++i) {
    x = cq::cond(x > 1.0, [](auto v) { return 0.5 * v; }, [](auto v) { return 3.0 * v + 0.1; }, x);
  }
  return x;
};
const auto kZigzagByWhere = [](auto x) {
  for (int i = 0; i < kIfs; ++i) x = where(x > 1.0, 0.5 * x, 3.0 * x + 0.1);
  return x;
};

void declare_ifs_in_a_row() {
  bench::Task task{"ifs in a row", std::to_string(kIfs), {}};
  constexpr size_t kCalls = 1024;
  const Numbers starts = numbers(kCalls, 0, 4, 3);
  std::vector<D> arrays;
  for (const double x : *starts) arrays.emplace_back(x);
  const auto declare = [&](const char* variant, auto f) {
    for (size_t i = 0; i < kCalls; ++i) {
      bench::check(std::string("ifs in a row: ") + variant, f(arrays[i]).item(), zigzag_plain((*starts)[i], kIfs),
                   1e-12);
    }
    bench::add(task, variant, [=, i = size_t{0}]() mutable {
      auto result = f(arrays[i++ % kCalls]);
      benchmark::DoNotOptimize(result);
    });
  };
  const auto following = cq::jit(kZigzag, kFollowing);
  declare("calque", following);
  declare("calque cond", cq::jit(kZigzagByCond));
  declare("calque where", cq::jit(kZigzagByWhere));
  bench::add(task, "c++",
             [=, i = size_t{0}]() mutable { benchmark::DoNotOptimize(zigzag_plain((*starts)[i++ % kCalls], kIfs)); });
  const cq::BranchInfo info = following.branch_info(1.0);
  bench::record("ifs in a row: compilations", double(info.compilations), "");
  bench::record("ifs in a row: replays", double(info.replays), "");
}

const auto kRoot = [](auto a) {
  auto x = a;
  for (int i = 0; i < 50 && abs(x * x - a) > 1e-12 * a; ++i) x = 0.5 * (x + a / x);
  return x;
};
const auto kRootByLoop = [](auto a) {
  const auto again = [a](auto s) {
    auto [x, i] = s;
    return (abs(x * x - a) > 1e-12 * a) & (i < 50);
  };
  const auto step = [a](auto s) {
    auto [x, i] = s;
    return std::tuple{0.5 * (x + a / x), i + 1};
  };
  return std::get<0>(cq::while_loop(again, step, std::tuple{a, 0}));
};

void declare_newton() {
  bench::Task task{"newton", "1", {}};
  // Of few counts of steps.
  constexpr size_t kCalls = 256;
  const Numbers squares = numbers(kCalls, 2, 20, 4);
  std::vector<D> arrays;
  for (const double a : *squares) arrays.emplace_back(a);
  const auto declare = [&](const char* variant, auto f) {
    for (int twice = 0; twice < 2; ++twice) {
      for (size_t i = 0; i < kCalls; ++i) {
        bench::check(std::string("newton: ") + variant, f(arrays[i]).item(), root_plain((*squares)[i]), 1e-12);
      }
    }
    bench::add(task, variant, [=, i = size_t{0}]() mutable {
      auto result = f(arrays[i++ % kCalls]);
      benchmark::DoNotOptimize(result);
    });
  };
  declare("calque", cq::jit(kRoot, kFollowing));
  declare("calque while_loop", cq::jit(kRootByLoop));
  bench::add(task, "c++",
             [=, i = size_t{0}]() mutable { benchmark::DoNotOptimize(root_plain((*squares)[i++ % kCalls])); });
}

const auto kSums = [](auto k, auto x) { return cumsum(x[cq::range(0, int(k))], 0); };

/// Results of shapes of their own: by one value, and by four in turn, which are four functions.
void declare_values(int64_t n) {
  bench::Task task{"int(k)", std::to_string(n), {}};
  const Numbers x = numbers(n, -1, 1, 5);
  const D array = D::from(*x);
  std::vector<double> expected(x->size());
  std::vector<cq::Array<int>> values;
  for (int i = 1; i <= 4; ++i) values.emplace_back(int(n) * i / 4);
  const auto f = cq::jit(kSums, kFollowing);
  const auto by_argument = cq::jit([](int k, auto v) { return cumsum(v[cq::range(0, k)], 0); });
  for (const auto& k : values) {
    sums_plain(x->data(), expected.data(), k.item());
    const std::span<const double> first(expected.data(), size_t(k.item()));
    bench::check("int(k): calque", f(k, array).host(), first, 1e-12, 1e-12);
    bench::check("int(k): static_arg", by_argument(cq::static_arg(k.item()), array).host(), first, 1e-12, 1e-12);
  }
  const cq::Array<int> one = values.front();
  bench::add(task, "calque", [=] {
    auto result = f(one, array);
    benchmark::DoNotOptimize(result);
  });
  bench::add(task, "calque four in turn", [=, i = size_t{0}]() mutable {
    auto result = f(values[i++ % 4], array);
    benchmark::DoNotOptimize(result);
  });
  bench::add(task, "calque static_arg", [=, k = int(n) / 4] {
    auto result = by_argument(cq::static_arg(k), array);
    benchmark::DoNotOptimize(result);
  });
  bench::add(task, "c++", [=] {
    std::unique_ptr<double[]> result(new double[size_t(n) / 4]);
    sums_plain(x->data(), result.get(), n / 4);
    benchmark::DoNotOptimize(result.get());
  });
}

/// Eigen's algorithm on tracers, which pivots: `ldlt().solve` of 6 unknowns.
void declare_ldlt() {
  using Matrix = cq::Matrix<double, 6, 6>;
  using Vector = cq::Vector<double, 6>;
  bench::Task task{"ldlt", "6", {}};
  Eigen::Matrix<double, 6, 6> root, a;
  Eigen::Matrix<double, 6, 1> b, expected;
  const Numbers random = numbers(42, -1, 1, 6);
  std::copy_n(random->begin(), 36, root.data());
  std::copy_n(random->begin() + 36, 6, b.data());
  a = root * root.transpose() + Eigen::Matrix<double, 6, 6>::Identity();
  solve_eigen(a.data(), b.data(), expected.data());
  const auto f =
      cq::jit([](const Matrix& m, const Vector& v) -> Vector { return m.ldlt().solve(v).normalized(); }, kFollowing);
  const auto plain = cq::jit([](const Matrix& m, const Vector& v) -> Vector {
    const Vector x = m.ldlt().solve(v);
    return x / sqrt(x.dot(x));
  });
  const Eigen::Matrix<double, 6, 1> got = f(a, b), unit = expected.normalized();
  bench::check("ldlt: calque", std::span<const double>(got.data(), 6), std::span<const double>(unit.data(), 6), 1e-10,
               1e-12);
  bench::add(task, "calque", [=] {
    auto result = f(a, b);
    benchmark::DoNotOptimize(result);
  });
  bench::add(task, "calque without branches", [=] {
    auto result = plain(a, b);
    benchmark::DoNotOptimize(result);
  });
  bench::add(task, "eigen", [=]() mutable {
    Eigen::Matrix<double, 6, 1> x;
    solve_eigen(a.data(), b.data(), x.data());
    x.normalize();
    benchmark::DoNotOptimize(x);
  });
}

void declare() {
  setenv("CALQUE_CACHE_DIR", "off", 1);  // first calls are timed, and would fill the folder
  for (const int64_t n : bench::sizes({16})) {
    declare_two_branches(n);
    declare_first_calls(n);
    declare_values(n);
  }
  declare_ifs_in_a_row();
  declare_newton();
  declare_ldlt();
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
