// Functions that follow their data, called by many threads while their paths are found; recursion; fork().
#include <atomic>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "branches/branches.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

template <class Body>
void on_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& t : threads) t.join();
}

/// Five bits of x decide: 32 paths, joined.
constexpr auto by_bits = [](auto x) {
  auto y = x * 0.0;
  for (int i = 0; i < 5; ++i) {
    const auto t = x * double(1 << i);
    if (t - floor(t) >= 0.5) {
      y = y * 2.0 + 1.0;
    } else {
      y = y * 3.0;
    }
  }
  return y;
};
double plain_by_bits(double x) {
  double y = 0;
  for (int i = 0; i < 5; ++i) {
    const double t = x * double(1 << i);
    y = t - std::floor(t) >= 0.5 ? y * 2 + 1 : y * 3;
  }
  return y;
}

TEST(ThreadsOfBranches, ExtendOneTree) {
  for (const TraceLimits limits : {TraceLimits{}, TraceLimits{.traces = 3}}) {
    const auto f = jit([](auto x) { return by_bits(x); }, following(limits));
    f.clear_cache();
    std::atomic<int> wrong{0};
    on_threads(64, [&](int t) {
      for (int k = 0; k < 64; ++k) {
        const double x = ((k * 7 + t * 13) % 64) / 64.0;
        wrong += f(x).item() != plain_by_bits(x);
      }
    });
    EXPECT_EQ(wrong, 0);
  }
}

TEST(ThreadsOfBranches, ClearItMeanwhile) {
  const auto f = jit(
      [](auto k, auto x) {
        if (x > 0.5) return x[newaxis][range(0, int(k))];
        return (x * 2.0)[newaxis][range(0, int(k))];
      },
      following());
  std::atomic<int> wrong{0};
  on_threads(16, [&](int t) {
    for (int k = 0; k < 40; ++k) {
      const double x = (k % 4) / 4.0;
      const int n = (k + t) % 2;
      const D y = f(n, x);
      wrong += y.size() != n || (n == 1 && y.item() != (x > 0.5 ? x : 2 * x));
      if (t == 0 && k % 8 == 7) f.clear_cache();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadsOfBranches, ThrowWhileTheyExplore) {
  struct Failure {};
  const auto f = jit(
      [](auto x) {
        if (x < 0.0) throw Failure{};
        if (x > 1.0) return x * 2.0;
        return x;
      },
      following());
  std::atomic<int> wrong{0};
  on_threads(32, [&](int t) {
    for (int k = 0; k < 20; ++k) {
      const double x = (k + t) % 3 - 0.5;
      try {
        wrong += f(x).item() != (x > 1 ? 2 * x : x) || x < 0;
      } catch (const Failure&) {
        wrong += x >= 0;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadsOfBranches, CallThemselvesOnData) {
  std::function<D(const D&)> self;
  const auto f = jit(
      [&](auto x) {
        if (x > 0.0) {
          (void)self(D(1.0));
          return x;
        }
        return -x;
      },
      following());
  self = [&](const D& x) { return f(x); };
  EXPECT_THAT(message_of<CompileError>([&] { (void)f(2.0); }), HasSubstr("calls itself on data"));
  EXPECT_EQ(f(-2.0).item(), 2);
  EXPECT_THAT(message_of<CompileError>([&] { (void)f(2.0); }), HasSubstr("calls itself on data"));
  EXPECT_EQ(f(-3.0).item(), 3);
}

TEST(ThreadsOfBranches, CallEachOther) {
  std::function<D(const D&)> of_g;
  const auto f = jit(
      [&](auto x) {
        if (x > 1.0) return x + Tracer<double>(of_g(D(0.5)));
        return x;
      },
      following());
  const auto g = jit(
      [&](auto x) {
        if (x > 1.0) return x + Tracer<double>(f(D(0.5)));
        return x;
      },
      following());
  of_g = [&](const D& x) { return g(x); };
  std::atomic<int> wrong{0};
  on_threads(16, [&](int t) {
    for (int k = 0; k < 10; ++k) {
      const double x = k % 2 == 0 ? 0.5 : 2;
      const double expected = x > 1 ? x + 0.5 : x;
      try {
        wrong += (t % 2 == 0 ? f(x) : g(x)).item() != expected;
      } catch (const CompileError&) {
        // Two threads that wait for each other: one is told.
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(f(2.0).item(), 2.5);
  EXPECT_EQ(g(2.0).item(), 2.5);
}

TEST(ForksOfBranches, OfAnotherThreadLeaveNoTurn) {
  std::atomic<bool> inside{false}, forked{false};
  const auto f = jit(
      [&](auto x) {
        if (x > 0.0) {
          if (x > 5.0) {
            inside = true;
            while (!forked) std::this_thread::yield();
          }
          return x * 2.0;
        }
        return x;
      },
      following());
  EXPECT_EQ(f(-1.0).item(), -1);
  std::thread other([&] { EXPECT_EQ(f(6.0).item(), 12); });
  while (!inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(f(1.0).item() == 2 && f(2.0).item() == 4 && f(-3.0).item() == -3 ? 0 : 1);
  }
  forked = true;
  other.join();
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(f(1.0).item(), 2);
}

}  // namespace
}  // namespace calque::test
