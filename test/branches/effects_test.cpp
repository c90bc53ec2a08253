// Effects of functions that follow their data: each happens once in a call, in order, whatever the call has to run.
#include "branches/branches.h"

namespace calque::test {
namespace {

/// A number as it is printed.
std::string text(double x) { return std::to_string(static_cast<int>(x)) + ".0"; }

/// What is written to standard output.
template <class F>
std::string printed(const F& f) {
  testing::internal::CaptureStdout();
  try {
    f();
  } catch (...) {
    (void)testing::internal::GetCapturedStdout();
    throw;
  }
  return testing::internal::GetCapturedStdout();
}

/// Twice in a row on each of these: the first call of a path and a warm one.
const std::vector<double> kOrder{1, 1, -1, -1, 20, 20, 1, -1, 20, -20, -20, 1};

TEST(EffectsOfBranches, ArePrintedOnceAndInOrder) {
  for (const TraceLimits limits : {TraceLimits{}, TraceLimits{.traces = 1}, TraceLimits{.questions = 1}}) {
    const auto f = jit(
        [](auto x) {
          debug_print("a {}", x);
          debug_print("b {}", x * 2.0);
          if (x > 0.0) {
            debug_print("positive");
            debug_print("still");
            x = x + 1.0;
          }
          debug_print("c {}", x);
          if (abs(x) > 10.0) {
            debug_print("big");
            return x;
          }
          debug_print("d");
          return -x;
        },
        following(limits));
    for (const double x : kOrder) {
      const double y = x > 0 ? x + 1 : x;
      const std::string expected = "a " + text(x) + "\nb " + text(2 * x) + "\n" + (x > 0 ? "positive\nstill\n" : "") +
                                   "c " + text(y) + "\n" + (std::abs(y) > 10 ? "big\n" : "d\n");
      EXPECT_EQ(printed([&] { EXPECT_EQ(f(x).item(), std::abs(y) > 10 ? y : -y); }), expected) << x;
    }
  }
}

TEST(EffectsOfBranches, HostFunctionsAreCalledOnce) {
  for (const TraceLimits limits : {TraceLimits{}, TraceLimits{.traces = 1}, TraceLimits{.questions = 1}}) {
    std::string calls;
    const auto f = jit(
        [&](auto x) {
          debug_print("before");
          const auto y = host_call(
              [&](const D& v) {
                calls += "f";
                std::cout << "f\n";
                return v + 1.0;
              },
              spec<double>({}), x);
          debug_print("between");
          if (y > 0.0) {
            const auto z = host_call(
                [&](const D& v) {
                  calls += "g";
                  std::cout << "g\n";
                  return v * 2.0;
                },
                spec<double>({}), y);
            if (z > 10.0) {
              debug_print("big");
              return z;
            }
            return -z;
          }
          debug_print("negative");
          return y;
        },
        following(limits));
    for (const double x : kOrder) {
      calls.clear();
      const double y = x + 1;
      const std::string expected = y > 0 ? "fg" : "f";
      const std::string lines =
          std::string("before\nf\nbetween\n") + (y > 0 ? y * 2 > 10 ? "g\nbig\n" : "g\n" : "negative\n");
      EXPECT_EQ(printed([&] { EXPECT_EQ(f(x).item(), y <= 0 ? y : y * 2 > 10 ? y * 2 : -y * 2) << x; }), lines) << x;
      EXPECT_EQ(calls, expected) << x;
    }
  }
}

TEST(EffectsOfBranches, InLoopsHappenOncePerIteration) {
  int calls = 0;
  const auto f = jit(
      [&](auto x) {
        auto y = fori_loop(
            0, 3,
            [&](auto i, auto v) {
              debug_print("i {}", i);
              return host_call(
                  [&](const D& w) {
                    ++calls;
                    return w + 1.0;
                  },
                  spec<double>({}), v);
            },
            x);
        if (y > 10.0) {
          debug_print("big");
          return y;
        }
        y = while_loop([](auto v) { return v < 10.0; },
                       [&](auto v) {
                         debug_print("w {}", v);
                         return v * 2.0;
                       },
                       y);
        if (y > 12.0) return -y;
        return y;
      },
      following());
  for (const double x : {0.0, 0.0, 9.0, 9.0, 2.0, 2.0, 0.0, 9.0}) {
    calls = 0;
    double y = x + 3;
    std::string expected = "i 0\ni 1\ni 2\n";
    if (y > 10) expected += "big\n";
    const bool big = y > 10;
    while (y < 10) {
      expected += "w " + text(y) + "\n";
      y *= 2;
    }
    EXPECT_EQ(printed([&] { EXPECT_EQ(f(x).item(), !big && y > 12 ? -y : y); }), expected) << x;
    EXPECT_EQ(calls, 3);
  }
}

TEST(EffectsOfBranches, OfHostFunctionsThatThrow) {
  struct Failure {};
  int calls = 0;
  const auto f = jit(
      [&](auto x) {
        debug_print("before");
        auto y = x;
        if (x > 0.0) y = x * 2.0;
        debug_print("then");
        y = host_call(
            [&](const D& v) {
              ++calls;
              if (v.item() > 5) throw Failure{};
              return v;
            },
            spec<double>({}), y);
        if (y < 0.0) return -y;
        return y;
      },
      following());
  for (const double x : {1.0, 4.0, -1.0, 4.0, 6.0, -1.0, 1.0, 4.0}) {
    calls = 0;
    const std::string lines = printed([&] {
      if (x > 2.5) {
        EXPECT_THROW((void)f(x), Failure);
      } else {
        EXPECT_EQ(f(x).item(), x > 0 ? 2 * x : -x);
      }
    });
    EXPECT_EQ(lines, "before\nthen\n") << x;
    EXPECT_EQ(calls, 1) << x;
  }
}

/// A value for which no side is known takes none of those that are.
TEST(EffectsOfBranches, OfTheSidesOfAnInteger) {
  int calls = 0;
  const auto f = jit(
      [&](auto k, auto x) {
        switch (int(k)) {
          case 0:
            debug_print("zero {}", x);
            return host_call(
                [&](const D& v) {
                  ++calls;
                  return v;
                },
                spec<double>({}), x);
          case 1:
            return while_loop([](auto v) { return v != 0.0; }, [](auto v) { return v - 1.0; }, x);
          default:
            debug_print("other");
            return -x;
        }
      },
      following({.values = 4}));
  for (const int k : {1, 0, 2, 0, 3, 4, 1, 0, 4, 5, 5}) {
    calls = 0;
    const double x = k == 1 ? 3 : 0.5;
    EXPECT_EQ(printed([&] { EXPECT_EQ(f(k, x).item(), k == 0   ? x
                                                      : k == 1 ? 0
                                                               : -x); }), k == 0   ? "zero 0.5\n"
                                                                                         : k == 1 ? ""
                                                                                                  : "other\n")
        << k;
    EXPECT_EQ(calls, k == 0);
  }
}

TEST(EffectsOfBranches, BeforeALambdaThatThrows) {
  struct Failure {};
  const auto f = jit(
      [&](auto x) {
        debug_print("asked about {}", x);
        if (x < 0.0) throw Failure{};
        return x;
      },
      following());
  EXPECT_EQ(printed([&] { (void)f(1.0); }), "asked about 1.0\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(printed([&] { EXPECT_THROW((void)f(-1.0), Failure); }), "asked about -1.0\n");
  EXPECT_EQ(printed([&] { (void)f(2.0); }), "asked about 2.0\n");
}

}  // namespace
}  // namespace calque::test
