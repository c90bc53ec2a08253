// Loops that write elements of what they carry, on the simulator against the CPU: it checks races and bounds.
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using testing::ContainsRegex;
using testing::Not;
using F = Array<float>;
using I = Array<int32_t>;

F numbers(const Shape& shape) { return reshape(F::arange(shape.num_elements()), shape) * 0.125f; }

/// A loop on the simulator and on the CPU: `update` of x with the indices k % rows and 3 k % columns.
template <class Update>
void compare(const std::string& what, const Update& update) {
  const auto f = jit([update](auto x) {
    return fori_loop(0, 7, [update](auto k, auto y) { return update(y, k % 5, k * 3 % 6); }, x);
  });
  const F x = numbers({5, 6, 40});
  const F got = f(x.to(gpu_sim()));
  EXPECT_EQ(got.device(), gpu_sim()) << what;
  EXPECT_TRUE(array_equal(got.to(cpu()), f(x))) << what;
}

TEST(DeviceUpdates, OfStridedParts) {
  compare("every second", [](auto x, auto i, auto) { return x.set(i, range(1, 6, 2), 1.5f); });
  compare("sums", [](auto x, auto, auto j) { return x.add(range(0, 5, 2), j, 2.5f); });
  compare("backwards",
          [](auto x, auto i, auto) { return x.set(i, range(none, none, -2), range(0, 40, 3), numbers({3, 14})); });
  compare("two strides",
          [](auto x, auto i, auto) { return x.add(range(0, none, 3), range(none, none, -3), i % 4, numbers({2, 2})); });
  compare("newaxis", [](auto x, auto, auto j) {
    return x.set(range(1, none, 3), newaxis, j, range(-1, 0, -2), numbers({2, 1, 20}));
  });
  compare("strides alone", [](auto x, auto, auto) { return x.set(range(0, 4, 3), range(5, 0, -4), 4.5f); });
  compare("parts", [](auto x, auto i, auto j) { return x.set(i, range(1, 5), j, 1.5f).add(range(1, -1), j, 0.5f); });
}

TEST(DeviceUpdates, ThatReadTheArray) {
  compare("the element before", [](auto x, auto i, auto j) { return x.set(i, j, 3, x.at(i, j, 2) + 1.0f); });
  compare("its row's sum", [](auto x, auto i, auto j) { return x.add(i, j, 1, 0.125f * sum(x.at(i, j))); });
  compare("the row before", [](auto x, auto i, auto j) { return x.set(i, j, all, x.at(i, (j + 1) % 6) * 0.5f); });
  compare("what is written", [](auto x, auto i, auto) { return x.set(i, all, all, x[i] * 0.5f + 1.0f); });
  compare("most of it", [](auto x, auto, auto) {
    const auto part = range(0, 4);
    return x.set(part, all, all, x.at(part) * 0.5f + 0.25f);
  });
  compare("exchanged rows", [](auto x, auto i, auto) {
    const auto a = x[i], b = x[(i + 1) % 5];
    return x.set(i, b).set((i + 1) % 5, a);
  });
}

// Whole numbers, whose products are exact in any order.
TEST(DeviceUpdates, OfProducts) {
  for (const int64_t n : {9, 33, 96, 130}) {
    const auto f = jit([n](auto x, auto l, auto r) {
      const auto rest = range(n / 4, none), columns = range(1, n - 1);
      const auto y = x.set(rest, columns, x.at(rest, columns) - matmul(l.at(rest), r.at(all, columns)));
      const auto z = y.set(columns, rest, 2.0f * matmul(l.at(columns), r.at(all, rest)));
      return fori_loop(0, 2, [=](auto, auto a) { return a.add(rest, rest, -matmul(l.at(rest), r.at(all, rest))); }, z);
    });
    const auto whole = [](const Shape& shape) { return reshape(F::arange(shape.num_elements()), shape) % 7.0f - 3.0f; };
    for (const int64_t k : {1, 8, 300}) {
      const F x = whole({n, n}), l = whole({n, k}), r = whole({k, n});
      EXPECT_TRUE(array_equal(f(x.to(gpu_sim()), l.to(gpu_sim()), r.to(gpu_sim())).to(cpu()), f(x, l, r)))
          << n << " and " << k;
    }
  }
}

TEST(DeviceUpdates, InBranches) {
  compare("cond", [](auto x, auto i, auto j) {
    return cond(
        x.at(i, j, 0) > 20.0f, [=](auto y) { return y.set(i, j, all, 1.0f).add(0, j, range(0, 40, 2), 2.0f); },
        [](auto y) { return y; }, x);
  });
  compare("switch_", [](auto x, auto i, auto j) {
    return switch_(i,
                   std::tuple{[](auto y) { return y; }, [=](auto y) { return y.set(all, j, 1, 0.5f); },
                              [=](auto y) { return y.add(2, range(0, 6, 3), j, -1.0f); }},
                   x);
  });
}

/// The arrays of a loop whose body exchanges them.
template <size_t N, class Body>
void compare_rotations(const Body& body, bool copies_nothing = true) {
  std::array<F, N> x, on_sim;
  for (size_t i = 0; i < N; ++i) {
    x[i] = numbers({6, 70}) + static_cast<float>(100 * i);
    on_sim[i] = x[i].to(gpu_sim());
  }
  for (int n = 0; n < 6; ++n) {
    const auto f = jit([=](const std::array<Tracer<float>, N>& s) { return fori_loop(0, n, body, s); });
    const auto counted =
        jit([=](const std::array<Tracer<float>, N>& s, auto last) { return fori_loop(0, last, body, s); });
    const auto nested = jit([=](const std::array<Tracer<float>, N>& s) {
      return fori_loop(0, 3, [=](auto, auto t) { return fori_loop(0, n, body, t); }, s);
    });
    std::array<F, N> want = x, thrice;
    for (int k = 0; k < 3 * n; ++k) {
      if (k == n) thrice = want;
      want = body(k % n, want);
    }
    const std::array<F, N> once = n == 0 ? x : thrice;
    const std::array<F, N> a = f(on_sim), b = counted(on_sim, n), c = nested(on_sim);
    for (size_t i = 0; i < N; ++i) {
      EXPECT_EQ(a[i].device(), gpu_sim());
      EXPECT_TRUE(array_equal(a[i].to(cpu()), once[i])) << n << " iterations, array " << i;
      EXPECT_TRUE(array_equal(b[i].to(cpu()), once[i])) << n << " iterations, not known, array " << i;
      EXPECT_TRUE(array_equal(c[i].to(cpu()), want[i])) << n << " iterations in 3, array " << i;
    }
    if (n < 3 || !copies_nothing) continue;
    const std::string plan = nested.lower(on_sim).plan().str();
    const size_t begin = plan.find("repeat");
    EXPECT_THAT(plan.substr(begin, plan.find("\n}", begin) - begin), Not(ContainsRegex("copy[#0-9]*[(][^)]*,")));
  }
}

TEST(DeviceUpdates, OfArraysThatAreExchanged) {
  compare_rotations<2>([](auto i, auto s) {
    auto [a, b] = s;
    return decltype(s){b, a.set(i, all, a[(i + 1) % 6] * 0.5f)};
  });
  compare_rotations<3>([](auto i, auto s) {
    auto [a, b, c] = s;
    return decltype(s){b.add(i, 0, 1.0f), c, a.set(all, i, 0.5f)};
  });
  compare_rotations<3>([](auto, auto s) {
    auto [a, b, c] = s;
    return decltype(s){b, c, a * 0.5f + b * 0.25f - c * 0.125f};
  });
  compare_rotations<3>(
      [](auto, auto s) {
        auto [a, b, c] = s;
        return decltype(s){b, c, flip(a, 1) * 0.5f + c * 0.25f};
      },
      false);
}

// Of several updates of one element the last wins; what says which it is has only the elements that are updated.
TEST(DeviceUpdates, ByIndexArraysTheLastWins) {
  for (const int64_t rows : {10, 5000}) {
    const auto f = jit([](auto x, auto at, auto v) { return x.set(at, v); });
    const auto windows = jit([](auto x, auto at, auto v) { return x.set(at, range(1, 4), v); });
    const auto loop = jit([](auto x, auto at, auto v) {
      return fori_loop(0, 3, [=](auto k, auto y) { return y.set((at + k) % 7, v + cast<float>(k)); }, x);
    });
    const I at = {3, 1, 3, -1, 1, 20000, 3};
    const F x = numbers({rows}), v = {1, 2, 3, 4, 5, 6, 7}, wide = numbers({rows, 6}), of_windows = numbers({7, 3});
    const F sim = x.to(gpu_sim()), wide_sim = wide.to(gpu_sim());
    for (int k = 0; k < 3; ++k) {
      EXPECT_TRUE(array_equal(f(sim, at.to(gpu_sim()), v.to(gpu_sim())).to(cpu()), f(x, at, v))) << rows;
      EXPECT_TRUE(array_equal(windows(wide_sim, at.to(gpu_sim()), of_windows.to(gpu_sim())).to(cpu()),
                              windows(wide, at, of_windows)))
          << rows;
      EXPECT_TRUE(array_equal(loop(sim, at.to(gpu_sim()), v.to(gpu_sim())).to(cpu()), loop(x, at, v))) << rows;
    }
  }
}

}  // namespace
}  // namespace calque
