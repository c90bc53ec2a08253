// One function, many signatures, sixteen threads: correct results, one trace and one compilation per signature.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "compile/executable.h"

namespace calque {
namespace {

using F = Array<float>;
constexpr int kThreads = 16;

template <class Body>
void on_threads(const Body& body) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      body(t);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Concurrency, ManySignaturesAreTracedOnceEach) {
  constexpr int kSignatures = 12;
  std::atomic<int> traces{0};
  const auto f = jit([&](auto x, auto k) {
    ++traces;
    return sum(x) * k + 1.0f;
  });
  const uint64_t compiled = runtime::num_compilations();
  on_threads([&](int t) {
    for (int i = 0; i < 60; ++i) {
      const int n = (i + t) % kSignatures + 1;
      EXPECT_EQ(f(F::ones({n}), 2.0f).item(), 2.0f * static_cast<float>(n) + 1.0f);
    }
  });
  EXPECT_EQ(traces, kSignatures);
  EXPECT_LE(runtime::num_compilations() - compiled, static_cast<uint64_t>(kSignatures));
  const CacheInfo info = f.cache_info();
  EXPECT_EQ(info.misses, static_cast<uint64_t>(kSignatures));
  EXPECT_EQ(info.hits + info.misses, static_cast<uint64_t>(kThreads * 60));
  EXPECT_EQ(info.entries, static_cast<size_t>(kSignatures));
}

TEST(Concurrency, EqualGraphsOfDifferentFunctionsAreCompiledOnce) {
  const uint64_t compiled = runtime::num_compilations();
  on_threads([&](int t) {
    const auto f = jit([t](auto x) { return x * 1.15625f + static_cast<float>(t - t); });
    EXPECT_EQ(f(F{32})(0), 37);
  });
  EXPECT_EQ(runtime::num_compilations() - compiled, 1u);
}

TEST(Concurrency, ClearingWhileOthersCallIsSafe) {
  const F w = F::full({32}, 3.0f);
  const auto f = jit([w](auto x) { return x * w; });
  std::atomic<int> done{0};
  on_threads([&](int t) {
    if (t == 0) {
      while (done < kThreads - 1) {
        f.clear_cache();
        std::this_thread::yield();
      }
      return;
    }
    for (int i = 0; i < 40; ++i) EXPECT_EQ(f(F::full({32}, static_cast<float>(t)))(31), 3.0f * static_cast<float>(t));
    ++done;
  });
}

TEST(Concurrency, ExceptionsOfSomeThreadsDoNotDisturbOthers) {
  static thread_local bool fail;
  const auto f = jit([](auto x) {
    return host_call(
        [](const F& v) {
          if (fail) throw std::runtime_error("asked for");
          return F(v.item() * 2);
        },
        spec<float>({}), x);
  });
  f(1.0f);
  on_threads([&](int t) {
    fail = t % 2 == 1;
    for (int i = 0; i < 50; ++i) {
      if (fail) {
        EXPECT_THROW(f(static_cast<float>(t)), std::runtime_error);
      } else {
        EXPECT_EQ(f(static_cast<float>(t)).item(), 2.0f * static_cast<float>(t));
      }
    }
  });
}

TEST(Concurrency, OperationsOnArraysRunFromAnyThread) {
  on_threads([&](int t) {
    F x = F::full({7}, static_cast<float>(t));
    for (int i = 0; i < 20; ++i) x = x + 1.0f;
    EXPECT_EQ(x(6), static_cast<float>(t + 20));
  });
}

TEST(Concurrency, ArraysMayDieInOtherThreadsThanTheyWereMadeIn) {
  std::vector<F> made(kThreads * 8);
  on_threads([&](int t) {
    for (int i = 0; i < 8; ++i) {
      made[static_cast<size_t>(t * 8 + i)] = F::full({t * 8 + i + 1}, 1.0f) + 1.0f;
    }
  });
  on_threads([&](int t) {
    for (int i = 0; i < 8; ++i) {
      F& x = made[static_cast<size_t>((t * 8 + i + 5) % (kThreads * 8))];
      EXPECT_EQ(x(0), 2);
      x = F();
    }
  });
}

TEST(Concurrency, FunctionsThatCallEachOtherOnDataAreRefusedAndDoNotHang) {
  // Each thread traces one function, whose lambda calls the other function: a deadlock if not detected.
  std::function<float(float)> first, second;
  std::atomic<int> inside{0};
  const auto wait_for_both = [&] {
    ++inside;
    for (int i = 0; i < 2000 && inside < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const auto f = jit(
      [&](auto x) {
        wait_for_both();
        return x + second(1.0f);
      },
      {.name = "f"});
  const auto g = jit(
      [&](auto x) {
        wait_for_both();
        return x + first(1.0f);
      },
      {.name = "g"});
  first = [&](float x) { return f(x).item(); };
  second = [&](float x) { return g(x).item(); };
  std::atomic<int> refused{0};
  const auto call = [&](const std::function<float(float)>& function) {
    try {
      function(1.0f);
    } catch (const CompileError& e) {
      refused += std::string(e.what()).find("the function calls itself on data") != std::string::npos;
    }
  };
  auto done = std::async(std::launch::async, [&] {
    std::thread a([&] { call(first); }), b([&] { call(second); });
    a.join();
    b.join();
  });
  if (done.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
    ADD_FAILURE() << "the threads wait for each other";
    std::abort();
  }
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace calque
