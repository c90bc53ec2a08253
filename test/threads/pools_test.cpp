// Calls from the caller's threads and task pools, and from host functions inside a call.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "runtime/memory/workspace.h"
#include "runtime/process/environment.h"
#include "runtime/process/parallel.h"
#include "threads/pools_helpers.h"

namespace calque {
namespace {

using F = Array<float>;
constexpr int64_t kLarge = 1 << 20;

/// Large enough to be split.
float expected(float x) { return static_cast<float>(kLarge) * (2 * x); }
F large(float x) { return F::full({kLarge}, x); }

class NumThreads : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { runtime::mutable_environment().num_threads = GetParam(); }
  void TearDown() override { runtime::mutable_environment().num_threads = saved_; }

 private:
  int saved_ = runtime::environment().num_threads;
};

TEST_P(NumThreads, CallsFromThreads) {
  const auto f = jit([](auto x) { return sum(x + x); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) EXPECT_EQ(f(large(static_cast<float>(t))).item(), expected(static_cast<float>(t)));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(NumThreads, CallsFromTheCallersParallelLoop) {
  const auto f = jit([](auto x) { return sum(x + x); });
  const F x = large(1);
  std::atomic<int> right{0};
  // A thread that waits inside a call must not start another iteration of this loop on its stack.
  thread_local int inside = 0;
  std::atomic<int> nested{0};
  test::parallel_loop(40, [&](int) {
    if (inside++ != 0) ++nested;
    right += f(x).item() == expected(1);
    --inside;
  });
  EXPECT_EQ(right, 40);
  EXPECT_EQ(nested, 0);
}

TEST_P(NumThreads, CancellingTheCallersTasksLeavesCallsWhole) {
  const auto f = jit([](auto x) { return sum(x + x); });
  const F x = large(3);
  std::atomic<int> wrong{0};
  test::run_in_cancelled_group(8, [&] {
    if (f(x).item() != expected(3)) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(NumThreads, CallsInsideHostFunctions) {
  const auto inner = jit([](auto x) { return sum(x + x); });
  const auto outer = jit([&](auto x) {
    return host_call([&](const F& y) { return F::full({}, inner(y).item()); }, spec<float>({}), x * 1.0f) + sum(x);
  });
  EXPECT_EQ(outer(large(2)).item(), expected(2) + 2 * static_cast<float>(kLarge));
}

TEST_P(NumThreads, ChunksCoverTheRangeOnce) {
  for (const int64_t count : {1, 2, 7, 64, 1000})
    for (const int64_t grain : {1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      struct Environment {
        std::vector<std::atomic<int>>& seen;
        int64_t grain;
      } environment{seen, grain};
      runtime::parallel_for(
          nullptr, count, grain,
          [](void* e, int64_t begin, int64_t end) {
            auto& [cells, step] = *static_cast<Environment*>(e);
            EXPECT_EQ(begin % step, 0);
            for (int64_t i = begin; i < end; ++i) ++cells[static_cast<size_t>(i)];
          },
          &environment);
      for (const auto& cell : seen) EXPECT_EQ(cell, 1);
    }
}

TEST_P(NumThreads, LoopsAfterEachOtherCoverTheirRangesOnce) {
  std::atomic<int> wrong{0};
  const auto call = [&](unsigned seed) {
    for (int i = 0; i < 500; ++i) {
      seed = seed * 1664525u + 1013904223u;
      std::vector<int> seen(1 + (seed >> 16) % 700);
      const int64_t grain = 1 + (seed >> 8) % 9;
      runtime::parallel_for(
          nullptr, static_cast<int64_t>(seen.size()), grain,
          [](void* cells, int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) ++(*static_cast<std::vector<int>*>(cells))[static_cast<size_t>(k)];
          },
          &seen);
      for (const int times : seen) wrong += times != 1;
      // Worker threads leave meanwhile.
      if (i % 100 == 99) std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) threads.emplace_back(call, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Counts, NumThreads, testing::Values(0, 1, 2, 5));

TEST(Scratch, GrowsAndIsAligned) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{5000}, int64_t{40} << 20, int64_t{64}}) {
    auto* memory = static_cast<char*>(runtime::scratch(nullptr, bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    for (int64_t i = 0; i < bytes; i += 4096) memory[i] = 1;
    if (bytes > 0) memory[bytes - 1] = 1;
  }
}

}  // namespace
}  // namespace calque
