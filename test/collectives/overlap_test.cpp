// Collectives that run while kernels do: what is started and completed where, and what the values are.
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "collectives/late_group.h"

namespace calque::test {
namespace {

using D = Array<double>;
using testing::HasSubstr;
using testing::Not;

template <class F, class... X>
std::string explained(const F& f, const X&... x) {
  std::ostringstream out;
  out << f.explain(x...);
  return out.str();
}

D ramp(int64_t n) { return sin(D::arange(n) * 0.01); }

TEST(Overlap, IndependentWorkRunsBeforeTheCompletion) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  const auto f = jit([&](auto x, auto y) {
    const auto total = communicate(group, Collective::all_reduce, x);
    return std::pair{total * 2.0, sum(exp(sin(y)))};
  });
  const D x = ramp(10000), y = ramp(100000);
  const auto [doubled, other] = f(x, y);
  EXPECT_EQ(late->calls, "start finish ");
  EXPECT_EQ(unlike(doubled, D(x * 2.0)), "");
  EXPECT_NEAR(other.item(), sum(exp(sin(y))).item(), 1e-6);
  EXPECT_THAT(explained(f, x, y), HasSubstr("overlapped: all_reduce of f64[10000] (overlap_test.cpp:"));
}

TEST(Overlap, WhatFollowsTheFirstUseMovesBeforeIt) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  const auto f = jit([&](auto x, auto y) {
    const auto total = communicate(group, Collective::all_reduce, x);
    const auto used = sum(total * total);
    const auto apart = cumsum(exp(y), 0);
    return std::pair{used, apart};
  });
  const D x = ramp(10000), y = ramp(100000);
  const auto [used, apart] = f(x, y);
  EXPECT_EQ(late->calls, "start finish ");
  EXPECT_NEAR(used.item(), sum(x * x).item(), 1e-9);
  EXPECT_TRUE(allclose(apart, D(cumsum(exp(y), 0))));
}

TEST(Overlap, CallsThatEverythingNeedsAreMadeAtOnce) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  const auto f = jit([&](auto x) { return exp(communicate(group, Collective::all_reduce, x)) + 1.0; });
  const D x = ramp(100000);
  EXPECT_TRUE(allclose(f(x), D(exp(x) + 1.0)));
  EXPECT_EQ(late->calls, "run ");
  const std::string text = explained(f, x);
  EXPECT_THAT(text, HasSubstr("not overlapped: all_reduce of f64[100000] (overlap_test.cpp:"));
  EXPECT_THAT(text, HasSubstr("needs its result or its operand's memory"));
}

TEST(Overlap, SmallMessagesAreNotWorthAThread) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  const auto f = jit(
      [&](auto x, auto y) { return std::pair{communicate(group, Collective::all_reduce, x) * 2.0, sum(exp(sin(y)))}; });
  f(D{1, 2}, ramp(100000));
  EXPECT_EQ(late->calls, "run ");
}

/// The edge of a part travels while the step is computed, and counts in the next one.
TEST(Overlap, HalosInLoops) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  const auto steps = [&](auto u, auto exchange) {
    const auto step = [&](auto, auto state) {
      const auto [v, edge] = state;
      const auto received = exchange(v[0] * 0.5);
      const auto next = sin(v) * 0.9 + 0.1 * cos(v + edge);
      return std::tuple{next, received};
    };
    return std::get<0>(fori_loop(0, 5, step, std::tuple{u, u[1]}));
  };
  const auto with = jit([&](auto u) {
    return steps(u, [&](auto row) { return communicate(group, Collective::send_receive, row, ReduceOp::sum, 0, 0); });
  });
  const auto without = jit([&](auto u) { return steps(u, [](auto row) { return row * 1.0; }); });
  const D u = ramp(64 * 1000).reshape({64, 1000});
  EXPECT_TRUE(allclose(with(u), without(u), 1e-13, 1e-13));
  EXPECT_EQ(late->calls, "start finish start finish start finish start finish start finish ");
}

TEST(Overlap, WhatIsReceivedIsAddedToWhatWasComputedMeanwhile) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  const auto steps = [&](auto u, auto exchange) {
    const auto step = [&](auto, auto v) {
      const auto top = exchange(v[63] * 0.5), bottom = exchange(v[0] * 0.25);
      return (sin(v) * 0.9).add(0, top).add(63, 0.1 * bottom);
    };
    return fori_loop(0, 3, step, u);
  };
  const auto with = jit([&](auto u) {
    return steps(u, [&](auto row) { return communicate(group, Collective::send_receive, row, ReduceOp::sum, 0, 0); });
  });
  const auto without = jit([&](auto u) { return steps(u, [](auto row) { return row * 1.0; }); });
  const D u = ramp(64 * 1000).reshape({64, 1000});
  EXPECT_TRUE(allclose(with(u), without(u), 1e-13, 1e-13));
  EXPECT_EQ(late->calls, "start start finish finish start start finish finish start start finish finish ");
  EXPECT_THAT(explained(with, u), Not(HasSubstr("not overlapped")));
}

TEST(Overlap, TwoCallsKeepTheirOrder) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  const auto f = jit([&](auto x, auto y, auto z) {
    const auto a = communicate(group, Collective::all_reduce, x);
    const auto b = communicate(group, Collective::all_reduce, y);
    return std::tuple{a + 1.0, b + 2.0, sum(exp(sin(z)))};
  });
  const D x = ramp(10000), z = ramp(100000);
  const auto [a, b, c] = f(x, D(x * 3.0), z);
  EXPECT_EQ(unlike(a, D(x + 1.0)), "");
  EXPECT_EQ(unlike(b, D(x * 3.0 + 2.0)), "");
  EXPECT_NEAR(c.item(), sum(exp(sin(z))).item(), 1e-6);
  EXPECT_THAT(late->calls, Not(HasSubstr("run")));
}

/// Random programs of calls, updates in loops and independent work, beside the same programs without calls.
TEST(Overlap, RandomPrograms) {
  const auto late = std::make_shared<const Late>();
  const std::shared_ptr<const ProcessGroup> group = late;
  size_t overlapped = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto program = [&](bool communicates) {
      return [&, communicates](auto x, auto y) {
        unsigned state = seed * 2654435761u + 12345u;
        const auto draw = [&](unsigned n) {
          state = state * 1664525u + 1013904223u;
          return (state >> 16) % n;
        };
        std::vector<decltype(x)> values{x, y};
        const auto pick = [&] { return values[draw(static_cast<unsigned>(values.size()))]; };
        for (int i = 0; i < 12; ++i) {
          const auto v = pick(), w = pick();
          switch (draw(6)) {
            case 0:
            case 1:
              values.push_back(communicates ? communicate(group, Collective::all_reduce, v) : v * 1.0);
              break;
            case 2:
              values.push_back(cumsum(v, 0) * 0.01 + w);
              break;
            case 3:
              values.push_back(v.set(range(100, 900), w.at(range(0, 800)) * 0.5));
              break;
            case 4:
              values.push_back(fori_loop(
                  0, 3,
                  [&](auto, auto c) {
                    const auto sent =
                        communicates ? communicate(group, Collective::send_receive, c, ReduceOp::sum, 0, 0) : c;
                    return sin(c + w).set(range(0, 50), sent.at(range(0, 50)));
                  },
                  v));
              break;
            default:
              values.push_back(sin(v) * cos(w));
          }
        }
        return std::tuple{values[values.size() - 1], values[values.size() - 2], values[values.size() - 3]};
      };
    };
    JitOptions options;
    options.strict = true;
    const D x = ramp(5000), y = D(ramp(5000) + 0.3);
    late->calls.clear();
    const auto with = jit(program(true), options)(x, y);
    overlapped += late->calls.find("start") != std::string::npos ? 1 : 0;
    const auto without = jit(program(false), options)(x, y);
    EXPECT_EQ(unlike(std::get<0>(with), std::get<0>(without)), "") << seed;
    EXPECT_EQ(unlike(std::get<1>(with), std::get<1>(without)), "") << seed;
    EXPECT_EQ(unlike(std::get<2>(with), std::get<2>(without)), "") << seed;
  }
  EXPECT_GT(overlapped, 20u);
}

}  // namespace
}  // namespace calque::test
