// Tiers: large programs run quickly made code until a background thread has optimized them.
#include <atomic>
#include <memory>
#include <sstream>
#include <thread>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "calque/calque.h"

#include "runtime/process/environment.h"
#include "support/environment.h"

namespace calque {
namespace {

using D = Array<double>;
using testing::HasSubstr;

/// A long dependent chain, which loop passes leave alone: `factor` makes the graph a new one, and
/// below 1 keeps the values finite.
auto chain(double factor, int length = 3000) {
  return [factor, length](auto x) {
    auto y = x, z = x;
    for (int i = 0; i < length; ++i) {
      y = y * factor + z;
      z = z - y * 0.25;
    }
    return y + z;
  };
}

template <class F>
std::string explained(const F& f, const D& x) {
  std::ostringstream out;
  out << f.explain(x);
  return out.str();
}

bool same_bits(const D& a, const D& b) { return array_equal(a, b); }

const D input = D::full({3}, 1.5);
/// With one thread, and for sanitized code, nothing is optimized in the background.
class Tiers : public testing::Test {
 protected:
  Tiers() {
    runtime::mutable_environment().num_threads = 2;
    runtime::mutable_environment().sanitize = false;
  }

 private:
  const test::RestoredEnvironment restored_;
};

TEST_F(Tiers, LargeProgramsAreOptimizedInTheBackground) {
  const auto best = jit(chain(0.125), {.tier = tier::best});
  const auto f = jit(chain(0.125));
  const D wanted = best(input);
  EXPECT_THAT(explained(best, input), HasSubstr("tier: best\n"));
  EXPECT_EQ(best.cache_info().awaiting_optimization, 0u);
  EXPECT_THAT(explained(f, input), HasSubstr("tier: automatic\n"));
  EXPECT_TRUE(same_bits(f(input), wanted));
  wait_for_compilation();
  EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
  EXPECT_THAT(explained(f, input), HasSubstr("tier: automatic; optimized in the background\n"));
  EXPECT_TRUE(same_bits(f(input), wanted));
}

TEST_F(Tiers, CallsRunTheOptimizedCodeAsSoonAsItIsThere) {
  const auto f = jit(chain(0.375));
  const D wanted = f(input);
  for (int i = 0; i < 100'000 && f.cache_info().awaiting_optimization != 0; ++i)
    EXPECT_TRUE(same_bits(f(input), wanted));
  EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
}

TEST_F(Tiers, SmallProgramsAreOptimizedAtOnce) {
  const auto f = jit([](auto x) { return x * 2.0 + 1.0; });
  f(input);
  EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
  EXPECT_THAT(explained(f, input), HasSubstr("tier: automatic; optimized at once\n"));
}

TEST_F(Tiers, ProgramsThatRunShortlyAreOptimizedInTheBackground) {
  const auto f = jit(chain(0.5625, 200));
  const D wanted = jit(chain(0.5625, 200), {.tier = tier::best})(input);
  EXPECT_TRUE(same_bits(f(input), wanted));
  wait_for_compilation();
  EXPECT_THAT(explained(f, input), HasSubstr("tier: automatic; optimized in the background\n"));
  EXPECT_TRUE(same_bits(f(input), wanted));
}

TEST_F(Tiers, ProgramsThatRunLongAreOptimizedAtOnce) {
  const D large = D::full({500'000}, 1.5);
  const auto f = jit(chain(0.5625, 200));
  f(large);
  EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
  EXPECT_THAT(explained(f, large), HasSubstr("tier: automatic; optimized at once\n"));
  // While loops may run long.
  const auto until = jit([](auto x) {
    return while_loop([](auto y) { return sum(y) > 1e-3; }, [](auto y) { return chain(0.0625, 100)(y) * 0.125; }, x);
  });
  until(input);
  EXPECT_THAT(explained(until, input), HasSubstr("tier: automatic; optimized at once\n"));
}

TEST_F(Tiers, LoopsOfFewIterationsAreOptimizedInTheBackground) {
  const auto f = jit([](auto x) {
    const auto goes_on = [](auto s) { return (std::get<0>(s) < 20) & (sum(std::get<1>(s)) > 1e-3); };
    const auto step = [](auto s) { return std::tuple{std::get<0>(s) + 1, chain(0.0625, 100)(std::get<1>(s)) * 0.125}; };
    return std::get<1>(while_loop(goes_on, step, std::tuple{Tracer<int32_t>(0), x}));
  });
  const D got = f(input);
  wait_for_compilation();
  EXPECT_THAT(explained(f, input), HasSubstr("tier: automatic; optimized in the background\n"));
  EXPECT_TRUE(same_bits(f(input), got));
  // Of the solvers too.
  const auto solved = jit([](auto a) { return root([](auto y, auto b) { return y * y * y + y - b; }, 0.0 * a, a); });
  const D solution = solved(input);
  wait_for_compilation();
  EXPECT_THAT(explained(solved, input), HasSubstr("tier: automatic; optimized in the background\n"));
  EXPECT_TRUE(same_bits(solved(input), solution));
  const auto least = jit(
      [](auto a) { return minimize_newton([](auto y, auto b) { return sum(square(square(y) - b)); }, 0.5 * a, a); });
  const D minimum = least(input);
  wait_for_compilation();
  EXPECT_THAT(explained(least, input), HasSubstr("tier: automatic; optimized in the background\n"));
  EXPECT_TRUE(same_bits(least(input), minimum));
}

TEST_F(Tiers, QuickCodeStays) {
  const auto f = jit(chain(0.625), {.tier = tier::quick});
  const D got = f(input);
  EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
  EXPECT_THAT(explained(f, input), HasSubstr("tier: quick\n"));
  EXPECT_TRUE(same_bits(got, jit(chain(0.625), {.tier = tier::best})(input)));
}

TEST_F(Tiers, FunctionsThatCallBackAreOptimizedAtOnce) {
  // The background thread must not own what the callback captures.
  const auto shared = std::make_shared<int>(1);
  {
    const auto f = jit([shared](auto x) {
      return host_call([shared](const D& v) { return v; }, spec<double>({3}), chain(0.9375)(x));
    });
    f(input);
    EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
  }
  wait_for_compilation();
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(Tiers, FastMathIsOptimizedAtOnce) {
  const auto f = jit(chain(0.875), {.fast_math = true});
  f(input);
  EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
}

TEST_F(Tiers, TheEnvironmentChoosesForFunctionsThatDoNot) {
  runtime::mutable_environment().tier = tier::best;
  const auto f = jit(chain(0.6875));
  f(input);
  EXPECT_EQ(f.cache_info().awaiting_optimization, 0u);
  EXPECT_THAT(explained(f, input), HasSubstr("tier: best\n"));
  runtime::mutable_environment().tier = tier::automatic;
}

TEST_F(Tiers, AFunctionThatIsGoneIsNotOptimized) {
  for (int i = 0; i < 3; ++i) {
    const auto f = jit(chain(0.3125 + i / 64.0));
    f(input);
    f.clear_cache();
  }
  wait_for_compilation();
}

TEST_F(Tiers, ThreadsCallWhileTheCodeIsReplaced) {
  const auto f = jit(chain(0.4375));
  const D wanted = jit(chain(0.4375), {.tier = tier::best})(input);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      f(input);
      for (int i = 0; i < 1000 || f.cache_info().awaiting_optimization != 0; ++i) wrong += !same_bits(f(input), wanted);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Tiers, WaitingWithoutPendingCompilationsReturns) {
  wait_for_compilation();
  wait_for_compilation();
}

}  // namespace
}  // namespace calque
