// Carries that take the values of each other, in cycles and chains, take turns in the same memory.
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using D = Array<double>;
template <size_t N>
using Arrays = std::array<D, N>;

constexpr int64_t kRows = 12, kColumns = 20;

template <size_t N>
Arrays<N> initial() {
  Arrays<N> a;
  for (size_t i = 0; i < N; ++i)
    a[i] = reshape(D::arange(kRows * kColumns), {kRows, kColumns}) * 0.125 + static_cast<double>(1000 * i);
  return a;
}

/// The steps from the first loop on.
std::string loops_of(const std::string& plan) {
  const size_t begin = plan.find("steps {"), end = plan.find("\n}", begin);
  const std::string steps = plan.substr(begin, end - begin);
  return steps.substr(std::min(std::min(steps.find("repeat"), steps.find("while")), steps.size()));
}

/// Of the counters of loops the initial value is stored.
auto CopiesNoArray() { return Not(ContainsRegex("copy[#0-9]*[(][^)]*,")); }

template <size_t N>
void expect_equal(const Arrays<N>& got, const Arrays<N>& want, const std::string& what) {
  for (size_t i = 0; i < N; ++i) EXPECT_TRUE(allclose(got[i], want[i], 1e-12, 1e-12)) << what << ", array " << i;
}

/// `times` times n iterations, and in each of `times` before and after them `around`.
template <size_t N, class Body, class Around>
Arrays<N> reference(const Body& body, const Around& around, int n, int times) {
  Arrays<N> s = initial<N>();
  for (int t = 0; t < times; ++t) {
    s = around(t, s);
    for (int k = 0; k < n; ++k) s = body(k, s);
    s = around(t + 1, s);
  }
  return s;
}

/// Runs n iterations of a body: n known and not, in a loop, and between others that write rows.
template <size_t N, class Body>
void expect_turns(const Body& body, bool is_cycle = true) {
  const auto same = [](auto, auto s) { return s; };
  const auto rows = [](auto i, auto s) {
    s[0] = s[0].set(i, all, s[0][i + 2] * 0.5);
    s[N - 1] = s[N - 1].set(all, i, 2.5);
    return s;
  };
  for (int n = 0; n < 10; ++n) {
    const std::string what = std::to_string(n) + " iterations";
    const auto loop = [=](auto s) { return fori_loop(0, n, body, s); };
    const auto alone = jit([=](const std::array<Tracer<double>, N>& s) { return loop(s); });
    const auto counted =
        jit([=](const std::array<Tracer<double>, N>& s, auto last) { return fori_loop(0, last, body, s); });
    const auto nested = jit([=](const std::array<Tracer<double>, N>& s) {
      return fori_loop(0, 3, [=](auto, auto t) { return loop(t); }, s);
    });
    const auto between = jit([=](const std::array<Tracer<double>, N>& s) {
      return fori_loop(0, 3, [=](auto i, auto t) { return rows(i + 1, loop(rows(i, t))); }, s);
    });
    const auto in_while = jit([=](const std::array<Tracer<double>, N>& s, auto last) {
      return fori_loop(0, last, [=](auto i, auto t) { return rows(i + 1, loop(rows(i, t))); }, s);
    });
    const auto while_in = jit([=](const std::array<Tracer<double>, N>& s, auto last) {
      return fori_loop(0, 3, [=](auto i, auto t) { return rows(i + 1, fori_loop(0, last, body, rows(i, t))); }, s);
    });
    const Arrays<N> x = initial<N>();
    const Arrays<N> once = reference<N>(body, same, n, 1), thrice = reference<N>(body, rows, n, 3);
    expect_equal<N>(alone(x), once, what);
    expect_equal<N>(counted(x, n), once, what + ", not known");
    expect_equal<N>(nested(x), reference<N>(body, same, n, 3), what + ", nested");
    expect_equal<N>(between(x), thrice, what + " between updates");
    expect_equal<N>(in_while(x, 3), thrice, what + " in a loop of unknown length");
    expect_equal<N>(while_in(x, n), thrice, what + ", not known, between updates");
    if (is_cycle && N <= 3) {
      EXPECT_THAT(while_in.lower(x, n).plan().str(), Not(ContainsRegex("copy [^\n]*\n *while"))) << what;
    }
    if (n < 3) continue;
    EXPECT_THAT(loops_of(alone.lower(x).plan().str()), CopiesNoArray()) << what;
    if (!is_cycle) continue;
    EXPECT_THAT(loops_of(nested.lower(x).plan().str()), CopiesNoArray()) << what;
    EXPECT_THAT(loops_of(between.lower(x).plan().str()), CopiesNoArray()) << what;
  }
}

TEST(RotatedCarries, SwapOfTwo) {
  expect_turns<2>([](auto i, auto s) {
    auto [a, b] = s;
    return decltype(s){b, a.set(i, all, a[i + 1] * 0.5)};
  });
}
TEST(RotatedCarries, CycleOfThree) {
  expect_turns<3>([](auto i, auto s) {
    auto [a, b, c] = s;
    return decltype(s){b.add(i, 0, 1.0), c, a.set(i, all, a[i + 1] * 0.5)};
  });
}
TEST(RotatedCarries, CycleOfFourTheOtherWay) {
  expect_turns<4>([](auto i, auto s) {
    auto [a, b, c, d] = s;
    return decltype(s){d.set(all, i, 0.5), a, b, c};
  });
}
TEST(RotatedCarries, TwoCyclesAndOneThatStays) {
  expect_turns<5>([](auto i, auto s) {
    auto [a, b, c, d, e] = s;
    return decltype(s){c, a.set(i, i, 0.5), b, d.add(i, all, b[0]), e * 0.5 + d};
  });
}
// Histories: the new value is computed in the memory of the oldest.
TEST(RotatedCarries, Histories) {
  expect_turns<3>([](auto, auto s) {
    auto [a, b, c] = s;
    return decltype(s){b, c, a * 0.5 + b * 0.25 - c * 0.125};
  });
  expect_turns<4>([](auto i, auto s) {
    auto [a, b, c, d] = s;
    return decltype(s){a * 0.25 + b * 0.5, a, b, c.set(i, 0, 1.5)};
  });
}
// Elements of the oldest are read elsewhere: in the memory of a spare array.
TEST(RotatedCarries, HistoriesThatReadOtherElements) {
  expect_turns<3>(
      [](auto, auto s) {
        auto [a, b, c] = s;
        return decltype(s){b, c, flip(a, 0) * 0.5 + c * 0.25};
      },
      false);
  expect_turns<2>(
      [](auto, auto s) {
        auto [a, b] = s;
        return decltype(s){b, flip(a, 1) * 0.5 + flip(b, 0) * 0.25};
      },
      false);
}
TEST(RotatedCarries, OneThatIsTwo) {
  const auto body = [](auto i, auto s) {
    auto [a, b, c] = s;
    return decltype(s){b, a, a.set(i, all, 0.5)};
  };
  for (int n = 0; n < 6; ++n) {
    const auto f = jit([=](const std::array<Tracer<double>, 3>& s) { return fori_loop(0, n, body, s); });
    Arrays<3> want = initial<3>();
    for (int k = 0; k < n; ++k) want = body(k, want);
    expect_equal<3>(f(initial<3>()), want, std::to_string(n));
  }
}
// More than take turns are copied.
TEST(RotatedCarries, CycleOfTen) {
  const auto body = [](auto i, auto s) {
    const auto first = s[0];
    for (size_t k = 0; k + 1 < s.size(); ++k) s[k] = s[k + 1];
    s.back() = first.set(i, all, 0.5);
    return s;
  };
  for (int n : {1, 2, 3, 9, 10, 11}) {
    const auto f = jit([=](const std::array<Tracer<double>, 10>& s) { return fori_loop(0, n, body, s); });
    Arrays<10> want = initial<10>();
    for (int k = 0; k < n; ++k) want = body(k, want);
    expect_equal<10>(f(initial<10>()), want, std::to_string(n));
    if (n > 2) {
      EXPECT_THAT(f.explain(initial<10>()), HasSubstr("too many carries take the value of each other"));
    }
  }
}

// A loop in a loop in a loop, each of which exchanges others.
TEST(RotatedCarries, InLoopsInLoops) {
  const auto inner = [](auto i, auto s) {
    auto [a, b, c] = s;
    return decltype(s){b, a.add(i, 1, 0.5), c};
  };
  const auto middle = [](auto i, auto s) {
    auto [a, b, c] = s;
    return decltype(s){c.set(all, i, 1.5), a, b};
  };
  const auto outer = [](auto i, auto s) {
    auto [a, b, c] = s;
    return decltype(s){a, c, b.set(i, all, b[i + 1])};
  };
  for (int n = 1; n < 4; ++n)
    for (int m = 1; m < 5; ++m) {
      const auto f = jit([=](const std::array<Tracer<double>, 3>& s) {
        return fori_loop(
            0, 5,
            [=](auto i, auto t) {
              const auto u = fori_loop(0, m, [=](auto j, auto v) { return middle(j, fori_loop(0, n, inner, v)); }, t);
              return outer(i, u);
            },
            s);
      });
      Arrays<3> want = initial<3>();
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < m; ++j) {
          for (int k = 0; k < n; ++k) want = inner(k, want);
          want = middle(j, want);
        }
        want = outer(i, want);
      }
      expect_equal<3>(f(initial<3>()), want, std::to_string(n) + ", " + std::to_string(m));
      if (n > 2 && m > 2) {
        EXPECT_THAT(loops_of(f.lower(initial<3>()).plan().str()), CopiesNoArray());
      }
    }
}

TEST(RotatedCarries, InBranches) {
  const auto body = [](auto i, auto s) {
    auto [a, b, c] = s;
    return decltype(s){c, a.set(i, all, 0.5), b};
  };
  for (int n = 1; n < 5; ++n) {
    const auto f = jit([=](const std::array<Tracer<double>, 3>& s) {
      return fori_loop(
          0, 4,
          [=](auto i, auto t) {
            return cond(
                i % 2 == 0, [=](auto v) { return fori_loop(0, n, body, v); },
                [=](auto v) { return decltype(v){v[1], v[0], v[2].add(0, 0, 1.0)}; }, t);
          },
          s);
    });
    Arrays<3> want = initial<3>();
    for (int i = 0; i < 4; ++i) {
      if (i % 2 == 0) {
        for (int k = 0; k < n; ++k) want = body(k, want);
      } else {
        want = {want[1], want[0], want[2].add(0, 0, 1.0)};
      }
    }
    expect_equal<3>(f(initial<3>()), want, std::to_string(n));
  }
}

}  // namespace
}  // namespace calque
