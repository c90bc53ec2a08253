// Updates outside of loops, several in one body, and updates before inner loops are written into the array itself.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using testing::HasSubstr;
using testing::Not;
using D = Array<double>;

/// The steps of the program.
template <class F, class... X>
std::string steps_of(const F& f, const X&... x) {
  const std::string plan = f.lower(x...).plan().str();
  const size_t begin = plan.find("steps {");
  return plan.substr(begin, plan.find("\n}", begin) - begin);
}
template <class F, class... X>
std::string loop_of(const F& f, const X&... x) {
  const std::string steps = steps_of(f, x...);
  return steps.substr(std::min(steps.find("repeat"), steps.size()));
}
size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
/// No kernel runs over more elements than `most` in all its loops together.
void expect_loops_up_to(const std::string& plan, int64_t most) {
  for (size_t kernel = plan.find("kernel "); kernel != std::string::npos;) {
    const size_t next = plan.find("kernel ", kernel + 1);
    const std::string text = plan.substr(kernel, next - kernel);
    if (text.find("origin copy") == std::string::npos) {
      int64_t elements = 1;
      for (size_t at = text.find("parallel "); at != std::string::npos; at = text.find("parallel ", at + 1))
        elements *= std::stoll(text.substr(at + 9));
      EXPECT_LE(elements, most) << text;
    }
    kernel = next;
  }
}
D numbers(int64_t rows, int64_t columns) { return reshape(D::arange(rows * columns), {rows, columns}) * 0.125; }

constexpr int64_t kRows = 40, kColumns = 100;
const auto kRecurrence = [](auto x) {
  for (int64_t i = 1; i < kRows; ++i) x = x.set(i, all, x[i - 1] * 0.5 + x[i]);
  return x;
};
D recurrence() {
  std::vector<double> want(kRows * kColumns);
  for (int64_t k = 0; k < kRows * kColumns; ++k)
    want[k] = static_cast<double>(k) * 0.125 + (k < kColumns ? 0 : want[k - kColumns] * 0.5);
  return D::from(std::span<const double>(want), {kRows, kColumns});
}

TEST(InPlace, ChainsOfRowsCopyTheArrayOnce) {
  const auto f = jit(kRecurrence);
  const D x = numbers(kRows, kColumns);
  const std::string plan = f.lower(x).plan().str();
  EXPECT_EQ(count(steps_of(f, x), "copy"), 1u) << plan;
  expect_loops_up_to(plan, kColumns);
  EXPECT_TRUE(allclose(f(x), recurrence(), 1e-14, 1e-14));
  EXPECT_TRUE(array_equal(x, numbers(kRows, kColumns)));
}

TEST(InPlace, ChainsOnDonatedArraysCopyNothing) {
  const auto f = jit(kRecurrence, {.donate = {0}});
  EXPECT_THAT(steps_of(f, numbers(kRows, kColumns)), Not(HasSubstr("copy")));
  expect_loops_up_to(f.lower(numbers(kRows, kColumns)).plan().str(), kColumns);
  EXPECT_TRUE(allclose(f(numbers(kRows, kColumns)), recurrence(), 1e-14, 1e-14));
  // One update alone, too.
  const auto one = jit([](auto x) { return x.set(3, all, x[1]); }, {.donate = {0}});
  EXPECT_THAT(steps_of(one, numbers(kRows, kColumns)), Not(HasSubstr("copy")));
  expect_loops_up_to(one.lower(numbers(kRows, kColumns)).plan().str(), kColumns);
  const D got = one(numbers(kRows, kColumns)), x = numbers(kRows, kColumns);
  EXPECT_TRUE(array_equal(got[3], x[1]));
  EXPECT_TRUE(array_equal(got[4], x[4]));
}

TEST(InPlace, ChainsOfElementsAndScatters) {
  const auto f = jit(
      [](auto x, auto at) {
        for (int64_t i = 1; i < kRows; ++i) x = x.set(i, 0, x.at(i - 1, 0) * 0.5 + x.at(i, 0));
        for (int k = 0; k < 3; ++k) x = x.add(at, all, x[0] * 0.5).set(at + 1, 5, 1.5);
        return x;
      },
      {.donate = {0}});
  const Array<int> at = {7, 3};
  const std::string plan = f.lower(numbers(kRows, kColumns), at).plan().str();
  EXPECT_THAT(steps_of(f, numbers(kRows, kColumns), at), Not(HasSubstr("copy")));
  expect_loops_up_to(plan, 2 * kColumns);
  D want = numbers(kRows, kColumns);
  for (int64_t i = 1; i < kRows; ++i) want = want.set(i, 0, want(i - 1, 0) * 0.5 + want(i, 0));
  for (int k = 0; k < 3; ++k)
    for (const int64_t i : {7, 3}) {
      want = want.add(i, all, want[0] * 0.5);
      if (i == 3)
        for (const int64_t j : {8, 4}) want = want.set(j, 5, 1.5);
    }
  EXPECT_TRUE(allclose(f(numbers(kRows, kColumns), at), want, 1e-13, 1e-13));
}

TEST(InPlace, SeveralUpdatesInOneBody) {
  const auto body = [](auto i, auto x) {
    return x.set(i, all, x[i] * 2.0).set(0, all, x[i + 1]).add(all, i, x.at(2, i));
  };
  const auto f = jit([body](auto x) { return fori_loop(0, 9, body, x); });
  const D x = numbers(kRows, kColumns);
  EXPECT_THAT(loop_of(f, x), Not(HasSubstr("copy")));
  EXPECT_EQ(count(f.lower(x).plan().str(), ": f64[40,100]"), 2u);  // input and output
  D want = x;
  for (int64_t i = 0; i < 9; ++i) want = body(i, want);
  EXPECT_TRUE(allclose(f(x), want, 1e-13, 1e-13));
}

// Of exchanged rows those that are read later are copied, not the array.
TEST(InPlace, ExchangedRows) {
  const auto body = [](auto i, auto x) {
    const auto a = x[i], b = x[i + 3];
    return x.set(i, b).set(i + 3, a);
  };
  const auto f = jit([body](auto x) { return fori_loop(0, 20, body, x); });
  const D x = numbers(kRows, kColumns);
  EXPECT_THAT(loop_of(f, x), Not(HasSubstr("copy")));
  EXPECT_EQ(count(f.lower(x).plan().str(), ": f64[40,100]"), 2u);
  D want = x;
  for (int64_t i = 0; i < 20; ++i) want = body(i, want);
  EXPECT_TRUE(array_equal(f(x), want));
}

TEST(InPlace, UpdatesBeforeAndAfterInnerLoops) {
  const auto body = [](auto i, auto x) {
    x = x.set(i, all, x[i] * 0.5);
    x = fori_loop(0, i, [](auto j, auto y) { return y.add(j, j, y.at(j, j + 1)); }, x);
    return x.set(i, 0, 1.0);
  };
  const auto f = jit([body](auto x) { return fori_loop(0, 9, body, x); });
  const D x = numbers(kRows, kColumns);
  EXPECT_EQ(count(f.lower(x).plan().str(), ": f64[40,100]"), 2u) << f.lower(x).plan().str();
  D want = x;
  for (int64_t i = 0; i < 9; ++i) {
    want = want.set(i, all, want[i] * 0.5);
    for (int64_t j = 0; j < i; ++j) want = want.add(j, j, want(j, j + 1));
    want = want.set(i, 0, 1.0);
  }
  EXPECT_TRUE(allclose(f(x), want, 1e-13, 1e-13));
}

// Two reductions over one array are one loop, as in a kernel that stores the quotient without an update.
TEST(InPlace, QuotientsOfReductionsAreOnePass) {
  const auto bin = [](auto i, auto x, auto y) {
    const auto lower = cast<double>(i) * 0.25;
    const auto mask = (lower <= x) & (x < lower + 0.25);
    return sum(where(mask, y, 0.0)) / sum(cast<double>(mask));
  };
  const auto f = jit([bin](auto x, auto y) {
    return fori_loop(0, 4, [=](auto i, auto r) { return r.set(i, bin(i, x, y)); }, zeros<double>({4}));
  });
  const auto rows = jit([](auto a, auto r) {
    return fori_loop(0, 4, [=](auto i, auto s) { return s.set(i, all, sum(a * a, 1) / sum(a, 1)); }, r);
  });
  const D x = D::linspace(0, 1, 1001), y = D::arange(1001);
  EXPECT_EQ(count(f.lower(x, y).plan().str(), "= reduction"), 1u) << f.lower(x, y).plan().str();
  std::vector<double> want(4);
  for (int i = 0; i < 4; ++i) {
    double total = 0, n = 0;
    for (int64_t k = 0; k < 1001; ++k)
      if (i * 0.25 <= x(k) && x(k) < i * 0.25 + 0.25) {
        total += y(k);
        ++n;
      }
    want[static_cast<size_t>(i)] = total / n;
  }
  EXPECT_TRUE(allclose(f(x, y), D::from(std::span<const double>(want), {4}), 1e-13, 1e-13));
  const D a = numbers(kRows, kColumns), got = rows(a, D::zeros({4, kRows}));
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(allclose(got[i], sum(a * a, 1) / sum(a, 1), 1e-13, 1e-13));
}

TEST(InPlace, UpdatesAroundAndInBranches) {
  const auto body = [](auto i, auto x) {
    x = x.set(i, all, x[i] * 0.5);
    x = cond(x.at(i, i) > 1.0, [i](auto y) { return y.set(i, i, 1.0).add(0, i, 2.0); }, [](auto y) { return y; }, x);
    return x.set(i, 2, 1.5);
  };
  const auto f = jit([body](auto x) { return fori_loop(0, 9, body, x); });
  const D x = numbers(kRows, kColumns);
  EXPECT_EQ(count(f.lower(x).plan().str(), ": f64[40,100]"), 2u) << f.lower(x).plan().str();
  D want = x;
  for (int64_t i = 0; i < 9; ++i) {
    want = want.set(i, all, want[i] * 0.5);
    if (want(i, i) > 1.0) want = want.set(i, i, 1.0).add(0, i, 2.0);
    want = want.set(i, 2, 1.5);
  }
  EXPECT_TRUE(allclose(f(x), want, 1e-13, 1e-13));
}

/// The results of a loop over a pair of arrays, by number of iterations, counted and not.
template <class Body>
void expect_no_copies(const Body& body, size_t buffers) {
  const D x = numbers(kRows, kColumns), y = 10.0 - numbers(kRows, kColumns);
  for (int n = 0; n < 5; ++n) {
    const auto f = jit([=](auto a, auto b) { return fori_loop(0, n, body, std::tuple{a, b}); });
    const auto g = jit([=](auto a, auto b, auto last) { return fori_loop(0, last, body, std::tuple{a, b}); });
    const auto inner = [=](auto, auto s) { return fori_loop(0, n, body, s); };
    const auto h = jit([=](auto a, auto b) { return fori_loop(0, 3, inner, std::tuple{a, b}); });
    std::tuple<D, D> want{x, y}, thrice;
    for (int k = 0; k < 3 * n; ++k) {
      if (k == n) thrice = want;
      want = body(k % n, want);
    }
    const std::tuple<D, D> once = n == 0 ? std::tuple{x, y} : thrice;
    for (const std::tuple<D, D>& got : {f(x, y), g(x, y, n)}) {
      EXPECT_TRUE(allclose(std::get<0>(got), std::get<0>(once), 1e-12, 1e-12)) << n;
      EXPECT_TRUE(allclose(std::get<1>(got), std::get<1>(once), 1e-12, 1e-12)) << n;
    }
    const std::tuple<D, D> nested = h(x, y);
    EXPECT_TRUE(allclose(std::get<0>(nested), std::get<0>(want), 1e-12, 1e-12)) << n;
    EXPECT_TRUE(allclose(std::get<1>(nested), std::get<1>(want), 1e-12, 1e-12)) << n;
    if (n < 3) continue;
    EXPECT_THAT(loop_of(f, x, y), Not(HasSubstr("copy"))) << f.lower(x, y).plan().str();
    EXPECT_EQ(count(f.lower(x, y).plan().str(), ": f64[40,100]"), buffers) << f.lower(x, y).plan().str();
  }
}

// More than half of an array is written in place if its value reads no other elements than those that it replaces.
TEST(InPlace, MostOfAnArray) {
  const auto part = range(5, none), columns = range(0, kColumns - 1);
  const auto f = jit(
      [=](auto x, auto y) {
        const auto old = x.at(part, columns);
        return x.set(part, columns, old * 0.5 + sqrt(abs(old)) + y);
      },
      {.donate = {0}});
  const D y = numbers(kRows - 5, kColumns - 1);
  EXPECT_THAT(steps_of(f, numbers(kRows, kColumns), y), Not(HasSubstr("copy")));
  EXPECT_EQ(count(steps_of(f, numbers(kRows, kColumns), y), "call"), 1u);
  expect_loops_up_to(f.lower(numbers(kRows, kColumns), y).plan().str(), (kRows - 5) * (kColumns - 1));
  const D x = numbers(kRows, kColumns), got = f(numbers(kRows, kColumns), y);
  ASSERT_EQ(got.shape(), x.shape());
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) {
      const double old = x(i, j);
      const bool inside = i >= 5 && j < kColumns - 1;
      EXPECT_DOUBLE_EQ(got(i, j), inside ? old * 0.5 + std::sqrt(old) + y(i - 5, j) : old);
    }
  // Of other elements it is computed before.
  const auto shifted = jit(
      [=](auto x) {
        const auto rest = range(1, none), first = range(0, -1);
        return x.set(rest, all, x.at(rest) * 0.5 + x.at(first));
      },
      {.donate = {0}});
  const D next = shifted(numbers(kRows, kColumns));
  for (int64_t i = 1; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) EXPECT_EQ(next(i, j), x(i, j) * 0.5 + x(i - 1, j));
  const auto backwards = jit([=](auto x) { return x.set(part, all, flip(x.at(part), 0) + 1.0); }, {.donate = {0}});
  const D flipped = backwards(numbers(kRows, kColumns));
  for (int64_t i = 5; i < kRows; ++i) EXPECT_EQ(flipped(i, 7), x(kRows + 4 - i, 7) + 1.0);
}

// What is subtracted is a product: its kernel writes to the array.
TEST(InPlace, ProductsAreStoredInTheArray) {
  constexpr int64_t kSize = 96;
  const auto update = [](auto a, int64_t from) {
    const auto rest = range(from, none);
    const auto l = sqrt(abs(a.at(rest, range(0, 8))) + 1.0);
    return a.set(rest, rest, a.at(rest, rest) - matmul(l, l.T()));
  };
  const auto f = jit([=](auto a) { return update(update(update(a, 10), 20), 30); }, {.donate = {0}});
  const auto matrix = [] { return reshape(D::arange(kSize * kSize), {kSize, kSize}) * 1e-3; };
  const std::string plan = f.lower(matrix()).plan().str();
  EXPECT_THAT(steps_of(f, matrix()), Not(HasSubstr("copy")));
  for (const int64_t n : {86, 76, 66}) {
    const std::string extent = std::to_string(n);
    EXPECT_EQ(count(plan, "f64[" + extent + "," + extent + "]"), 0u) << steps_of(f, matrix());
  }
  std::vector<double> want(kSize * kSize);
  for (size_t k = 0; k < want.size(); ++k) want[k] = static_cast<double>(k) * 1e-3;
  for (const int64_t from : {10, 20, 30}) {
    const std::vector<double> old = want;
    for (int64_t i = from; i < kSize; ++i)
      for (int64_t j = from; j < kSize; ++j)
        for (int64_t k = 0; k < 8; ++k)
          want[i * kSize + j] -= std::sqrt((std::abs(old[i * kSize + k]) + 1) * (std::abs(old[j * kSize + k]) + 1));
  }
  EXPECT_TRUE(allclose(f(matrix()), D::from(std::span<const double>(want), {kSize, kSize}), 1e-12, 1e-12));
  // In a loop too.
  const auto loop = jit([=](auto a) { return fori_loop(0, 3, [=](auto, auto b) { return update(b, 10); }, a); });
  EXPECT_THAT(loop_of(loop, matrix()), Not(HasSubstr("copy")));
  EXPECT_EQ(count(loop.lower(matrix()).plan().str(), "f64[86,86]"), 0u) << loop_of(loop, matrix());
  const auto once = jit([=](auto a) { return update(a, 10); });
  EXPECT_TRUE(allclose(loop(matrix()), once(once(once(matrix()))), 1e-12, 1e-12));
}

TEST(InPlace, SwappedCarriesSwapMemory) {
  expect_no_copies(
      [](auto i, auto s) {
        const auto [a, b] = s;
        return std::tuple{b, a.set(i, all, a[i + 1] * 0.5)};
      },
      4);
  expect_no_copies(
      [](auto i, auto s) {
        const auto [a, b] = s;
        return std::tuple{b.add(i, 0, 1.0).set(all, i, 0.5), a.set(i, i, 2.0)};
      },
      4);
}

TEST(InPlace, UpdatesByNumbersOfSwappedCarriesWriteTheRow) {
  const auto f = jit([](auto x, auto y) {
    return fori_loop(
        0, 5,
        [](auto, auto s) {
          const auto [a, b] = s;
          return std::tuple{b, a.set(3, all, a[1] * 0.5)};
        },
        std::tuple{x, y});
  });
  const D x = numbers(kRows, kColumns), y = x + 1.0;
  expect_loops_up_to(f.lower(x, y).plan().str(), kColumns);
  const auto [a, b] = f(x, y);
  EXPECT_TRUE(array_equal(a, y.set(3, all, y[1] * 0.5)));
  EXPECT_TRUE(array_equal(b, x.set(3, all, x[1] * 0.5)));
}

TEST(InPlace, CarriesThatMoveOnAreComputedInTheMemoryOfTheLast) {
  expect_no_copies(
      [](auto, auto s) {
        const auto [a, b] = s;
        return std::tuple{b, a * 0.5 + b + sum(a, 0) * 0.01};
      },
      4);
  // Elements that are read elsewhere afterwards are not overwritten.
  const auto body = [](auto, auto s) {
    const auto [a, b] = s;
    return std::tuple{b, flip(a, 0) * 0.5 + b};
  };
  const auto f = jit([=](auto a, auto b) { return fori_loop(0, 3, body, std::tuple{a, b}); });
  const D x = numbers(kRows, kColumns);
  std::tuple<D, D> want{x, x * 2.0};
  for (int k = 0; k < 3; ++k) want = body(k, want);
  EXPECT_TRUE(allclose(std::get<1>(f(x, x * 2.0)), std::get<1>(want), 1e-13, 1e-13));
}

// What is read later is what was there before, whatever the order in which equations are computed.
TEST(InPlace, OldValuesAreReadBefore) {
  const auto f = jit([](auto x) {
    return fori_loop(
        0, 3,
        [](auto i, auto s) {
          auto [a, total] = s;
          const auto changed = a.set(i, all, 0.0).set(i + 1, all, a[i]);
          return std::tuple{changed, total + sum(a[i]) + sum(changed[i + 1]) + sum(a)};
        },
        std::tuple{x, 0.0});
  });
  const D x = numbers(kRows, kColumns);
  D want = x;
  double total = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const D before = want;
    want = before.set(i, all, 0.0).set(i + 1, all, before[i]);
    total += 2 * sum(before[i]).item() + sum(before).item();
  }
  const auto [got, sums] = f(x);
  EXPECT_TRUE(array_equal(got, want));
  EXPECT_DOUBLE_EQ(sums.item(), total);
  // Not by an effect that comes later.
  std::vector<double> seen;
  const auto look = [&seen](const Array<double>& v) {
    seen.push_back(v(2, 0));
    return Array<double>(v(2, 0));
  };
  const auto g = jit(
      [&look](auto v) {
        const auto changed = v.set(2, all, 7.0).set(Tracer<int>(3), all, 8.0);
        const auto first = host_call(look, spec<double>({}), changed);
        const auto second = host_call(look, spec<double>({}), v);
        return std::tuple{changed, first, second};
      },
      {.donate = {0}});
  const auto [changed, first, second] = g(numbers(kRows, kColumns));
  EXPECT_EQ(first.item(), 7.0);
  EXPECT_EQ(second.item(), x(2, 0));
  EXPECT_EQ(seen, (std::vector<double>{7.0, x(2, 0)}));
}

/// Conds within one another, each with three results.
struct Nested {
  using T = Tracer<double>;
  std::tuple<T, T, T> operator()(const T& a, const T& b, const T& c) const {
    if (depth == 0) return {c, a, b};
    const auto other = [](auto x, auto y, auto z) { return std::tuple{x * 2.0, z, y}; };
    return cond(a > double(depth), Nested{depth - 1}, other, a + 0.5, b, c);
  }
  int depth;
};

TEST(InPlace, WhatNestedBranchesOverwriteIsFoundOnce) {
  // Time that grows by a factor with each level would be years.
  const auto f = jit(Nested{60});
  const auto [a, b, c] = f(58.75, 2.0, 3.0);
  EXPECT_EQ(a.item(), 118.5);
  EXPECT_EQ(b.item(), 3.0);
  EXPECT_EQ(c.item(), 2.0);
  const auto [d, e, g] = f(100.0, 2.0, 3.0);
  EXPECT_EQ(d.item(), 3.0);
  EXPECT_EQ(e.item(), 130.0);
  EXPECT_EQ(g.item(), 2.0);
}

}  // namespace
}  // namespace calque
