// Branches of C++ on data: which calls run the lambda and compile, and what they return.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "branches/branches.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

TEST(FollowedBranches, CompileASideWhenACallTakesIt) {
  int runs = 0;
  const auto f = jit(
      [&](auto x) {
        ++runs;
        const auto n = sqrt(dot(x, x));
        if (n > 1.0) return x / n;
        return x;
      },
      following());
  EXPECT_TRUE(array_equal(f(D{3, 0}), D{1, 0}));
  EXPECT_TRUE(array_equal(f(D{0, 2}), D{0, 1}));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f.branch_info(D{1, 1}).open_exits, 1u);
  EXPECT_TRUE(array_equal(f(D{0.5, 0}), D{0.5, 0}));
  EXPECT_EQ(runs, 2);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(array_equal(f(D{0.0, 0.25 * i}), D{0.0, std::min(1.0, 0.25 * i)}));
  }
  EXPECT_EQ(runs, 2);
  const BranchInfo info = f.branch_info(D{1, 1});
  EXPECT_EQ(info.traces, 2u);
  EXPECT_EQ(info.compilations, 2u);
  EXPECT_EQ(info.open_exits, 0u);
  EXPECT_EQ(f.cache_info().misses, 1u);
}

TEST(FollowedBranches, OfAFunctionWithoutQuestionsAreNone) {
  const auto f = jit([](auto x) { return x + 1.0; }, following());
  EXPECT_EQ(f(1.0).item(), 2);
  EXPECT_EQ(f(2.0).item(), 3);
  EXPECT_EQ(f.branch_info(1.0).traces, 0u);
}

TEST(FollowedBranches, NestAndReturnEarly) {
  const auto f = jit(
      [](auto x) {
        if (x > 10.0) return x * 2.0;
        auto y = x + 1.0;
        if (x > 0.0) {
          if (y > 5.0) y = y * 3.0;
        } else {
          y = -y;
        }
        return y * y;
      },
      following());
  const auto plain = [](double x) {
    if (x > 10) return x * 2;
    double y = x + 1;
    if (x > 0) {
      if (y > 5) y = y * 3;
    } else {
      y = -y;
    }
    return y * y;
  };
  for (const double x : {20.0, 10.0, 7.0, 4.0, 3.0, 0.0, -1.0, -20.0, 30.0, 5.0}) EXPECT_EQ(f(x).item(), plain(x)) << x;
  EXPECT_TRUE(std::isnan(f(std::nan("")).item()));
  EXPECT_LE(f.branch_info(1.0).compilations, 5u);
}

TEST(FollowedBranches, InARowAreJoined) {
  const auto f = jit(
      [](auto x) {
        auto y = x * 0.0;
        for (int i = 0; i < 10; ++i) {
          const auto t = x * double(1 << i);
          if (t - floor(t) >= 0.5) {
            y = y * 2.0 + 1.0;
          } else {
            y = y * 3.0;
          }
        }
        return y;
      },
      following());
  const auto plain = [](double x) {
    double y = 0;
    for (int i = 0; i < 10; ++i) {
      const double t = x * double(1 << i);
      y = t - std::floor(t) >= 0.5 ? y * 2 + 1 : y * 3;
    }
    return y;
  };
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < 10'000; ++i) {
    const double x = uniform(random);
    ASSERT_EQ(f(x).item(), plain(x)) << x;
  }
  const BranchInfo info = f.branch_info(0.0);
  EXPECT_LE(info.compilations, 12u);
  EXPECT_LE(info.replays, 1024u);
  EXPECT_EQ(info.open_exits, 0u);
}

TEST(FollowedBranches, OfALoopThatDataEnds) {
  const auto root = jit(
      [](auto a) {
        auto x = a;
        for (int i = 0; i < 50 && abs(x * x - a) > 1e-12 * a; ++i) x = 0.5 * (x + a / x);
        return x;
      },
      following());
  for (const double a : {2.0, 9.0, 2.0, 1e6, 0.25, 2.5, 1e-3}) EXPECT_NEAR(root(a).item(), std::sqrt(a), 1e-9 * a) << a;
}

TEST(FollowedBranches, OfIntegersGiveResultsOfTheirOwnShapes) {
  const auto f = jit(
      [](auto k, auto x) {
        const int n = int((k + 3) / 4 * 4);
        return x[range(0, n)] * 2.0;
      },
      following());
  const D x = D{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const int k : {1, 2, 5, 12, 3, 4, 9, 8, 6}) {
    const int n = (k + 3) / 4 * 4;
    EXPECT_TRUE(array_equal(f(k, x), x[range(0, n)] * 2.0)) << k;
  }
  EXPECT_EQ(f.branch_info(1, x).traces, 3u);
  const auto chosen = jit(
      [](auto k, auto x) {
        switch (int(k)) {
          case 0:
            return x + 1.0;
          case 1:
            return x * 2.0;
          default:
            return -x;
        }
      },
      following());
  for (const int k : {0, 1, 5, 1, 0, 7, 5}) {
    EXPECT_EQ(chosen(k, 3.0).item(), k == 0 ? 4 : k == 1 ? 6 : -3) << k;
  }
}

TEST(FollowedBranches, BeyondTheLimitsAreEvaluated) {
  int runs = 0;
  const auto f = jit(
      [&](auto k, auto x) {
        ++runs;
        return x * double(int(k));
      },
      following({.values = 2}));
  for (int k = 0; k < 6; ++k) EXPECT_EQ(f(k, 2.0).item(), 2 * k);
  EXPECT_EQ(f.branch_info(0, 2.0).traces, 2u);
  EXPECT_EQ(runs, 6);
  EXPECT_EQ(f(1, 5.0).item(), 5);
  EXPECT_EQ(runs, 6);
}

TEST(FollowedBranches, OfUnmodifiedTemplates) {
  const auto sorted = jit(
      [](auto x) {
        std::array<Tracer<double>, 4> a{x[0], x[1], x[2], x[3]};
        std::sort(a.begin(), a.end());
        return stack({a[0], a[1], a[2], a[3]}, 0);
      },
      following());
  std::array<double, 4> order{1, 2, 3, 4};
  do {
    EXPECT_TRUE(array_equal(sorted(D::from(std::vector<double>(order.begin(), order.end()))), D{1, 2, 3, 4}));
  } while (std::ranges::next_permutation(order).found);
  const auto limited =
      jit([](auto x, auto y) { return std::clamp(std::max(x, y), x * 0.0, x * 0.0 + 4.0); }, following());
  EXPECT_EQ(limited(1.0, 2.0).item(), 2);
  EXPECT_EQ(limited(9.0, 2.0).item(), 4);
  EXPECT_EQ(limited(-9.0, -2.0).item(), 0);
}

TEST(FollowedBranches, ThrowEachTime) {
  struct Diverged {};
  const auto f = jit(
      [](auto x) {
        if (any(isnan(x))) throw Diverged{};
        return sum(x);
      },
      following());
  const D bad{1, std::nan("")};
  EXPECT_THROW((void)f(bad), Diverged);
  EXPECT_EQ(f(D{1, 2}).item(), 3);
  EXPECT_THROW((void)f(bad), Diverged);
  EXPECT_THROW((void)f(bad), Diverged);
  EXPECT_EQ(f(D{3, 2}).item(), 5);
}

TEST(FollowedBranches, OfChangedCapturesAreAnError) {
  double factor = 2;
  const auto f = jit(
      [&](auto x) {
        auto y = x * factor;
        if (y > 1.0) return y;
        return -y;
      },
      following());
  EXPECT_EQ(f(2.0).item(), 4);
  factor = 3;
  EXPECT_THAT(message_of<Error>([&] { (void)f(0.1); }), HasSubstr("captured values must not change (calls_test.cpp:"));
}

}  // namespace
}  // namespace calque::test
