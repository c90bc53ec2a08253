// The pool: free blocks are reused for requests of their size class, and the cache is bounded.
#include "runtime/memory/array_pool.h"

#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "ir/environment.h"
#include "runtime/memory/workspace.h"
#include "runtime/process/environment.h"
#include "runtime/process/parallel.h"
#include "support/paths.h"

namespace calque {
namespace {

TEST(Pool, AlignsEveryBlock) {
  runtime::install_pool();
  for (size_t bytes : {size_t{1}, size_t{63}, size_t{1000}, size_t{5000}, size_t{2} << 20, (size_t{9} << 20) + 5}) {
    const auto storage = detail::Storage::allocate(bytes);
    if (!runtime::environment().guard) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(storage.data()) % 64, 0u);
    }
    std::memset(storage.data(), 1, bytes);
  }
}

TEST(Pool, LargeBlocksAreCachedAndTrimmed) {
  runtime::install_pool();
  if (runtime::environment().guard) GTEST_SKIP() << "guarded buffers are separate mappings";
  runtime::trim_pool();
  const size_t before = runtime::cached_bytes();
  const void* first = nullptr;
  {
    const auto storage = detail::Storage::allocate(size_t{8} << 20);
    first = storage.data();
  }
  if (runtime::cached_bytes() == before) GTEST_SKIP() << "this build has no pool";
  EXPECT_GE(runtime::cached_bytes(), size_t{8} << 20);
  EXPECT_EQ(detail::Storage::allocate(size_t{8} << 20).data(), first);
  runtime::trim_pool();
  EXPECT_EQ(runtime::cached_bytes(), 0u);
}

TEST(Pool, ServesThreadsThatEnd) {
  runtime::install_pool();
  std::vector<Array<float>> arrays;
  for (int round = 0; round < 4; ++round) {
    std::thread([&] {
      for (int i = 1; i < 200; ++i) arrays.push_back(Array<float>::full({i}, 1.0f));
      arrays.resize(arrays.size() / 2);
    }).join();
  }
  for (const auto& a : arrays) EXPECT_EQ(a(0), 1);
}

TEST(Workspace, InsideAnotherIsItsOwn) {
  const runtime::Workspace outer(1000);
  std::memset(outer.data(), 1, 1000);
  {
    const runtime::Workspace inner(1000);
    EXPECT_NE(inner.data(), outer.data());
    std::memset(inner.data(), 2, 1000);
  }
  EXPECT_EQ(static_cast<const char*>(outer.data())[999], 1);
  if (!runtime::environment().guard) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(outer.data()) % 64, 0u);
  }
}

TEST(Workspace, OfNoBytesIsNothing) { EXPECT_EQ(runtime::Workspace(0).data(), nullptr); }

TEST(ThreadMemory, GrowsIsCachedAndIsAligned) {
  runtime::ThreadMemory memory;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{5000}, size_t{40} << 20, size_t{64}}) {
    auto* data = static_cast<char*>(memory.get(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, 1, bytes);
    EXPECT_EQ(memory.get(bytes), data);
  }
  memory.clear();
}

TEST(ThreadMemoryDeathTest, EndsAtAGuardPage) {
  if (!runtime::environment().guard) GTEST_SKIP() << "buffers are not guarded";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        runtime::ThreadMemory memory;
        static_cast<volatile char*>(memory.get(640))[640] = 1;
      },
      "");
}

/// Limits thread memory for a scope.
struct LargestThreadMemory {
  explicit LargestThreadMemory(size_t bytes) { runtime::largest_thread_memory = bytes; }
  ~LargestThreadMemory() { runtime::largest_thread_memory = SIZE_MAX; }
};

TEST(ThreadMemory, WithoutItAProductEndsInAnErrorOfTheCall) {
  if (runtime::environment().reference_backend || runtime::environment().disable_jit)
    GTEST_SKIP() << "the reference evaluator needs none";
  using F = Array<float>;
  const F a = F::ones({600, 600});
  const int threads = runtime::environment().num_threads;
  for (const int n : {1, 2, 0}) {
    runtime::mutable_environment().num_threads = n;
    // A new thread has no memory yet.
    std::thread([&] {
      const auto product = jit([](auto x, auto y) { return matmul(x, y) + 1.0f; }, {.name = "product"});
      const std::string where = where_text(Location(__FILE__, __LINE__ - 1));
      product.lower(a, a).compile();
      {
        const LargestThreadMemory limit(0);
        EXPECT_THAT([&] { product(a, a); },
                    testing::ThrowsMessage<DeviceError>(testing::AllOf(
                        testing::StartsWith("product: the host is out of memory, "),
                        testing::HasSubstr("bytes of memory of a thread asked for"), testing::EndsWith(where))));
      }
      EXPECT_EQ(product(a, a)(599, 599), 601);
    }).join();
  }
  runtime::mutable_environment().num_threads = threads;
}

TEST(ParallelFor, CoversTheRangeOnceInChunksOfTheGrain) {
  struct Seen {
    std::vector<std::atomic<int>> counts = std::vector<std::atomic<int>>(1003);
    std::atomic<int> wrong{0};
  } seen;
  runtime::parallel_for(
      nullptr, 1003, 64,
      [](void* environment, int64_t begin, int64_t end) {
        auto& s = *static_cast<Seen*>(environment);
        if (begin % 64 != 0 || end - begin > 64) ++s.wrong;
        for (int64_t i = begin; i < end; ++i) ++s.counts[static_cast<size_t>(i)];
      },
      &seen);
  EXPECT_EQ(seen.wrong, 0);
  for (const auto& count : seen.counts) EXPECT_EQ(count, 1);
}

TEST(Environment, EveryVariableIsInTheTableOnce) {
  std::map<std::string_view, int> names;
  for (const EnvironmentVariable& v : kEnvironmentTable) {
    EXPECT_TRUE(v.name.starts_with("CALQUE_")) << v.name;
    EXPECT_EQ(++names[v.name], 1) << v.name;
    EXPECT_FALSE(v.values.empty() || v.otherwise.empty() || v.meaning.empty()) << v.name;
  }
}

/// The columns of each row of a Markdown table whose first column is a variable.
std::vector<std::vector<std::string>> documented_variables() {
  std::ifstream in(test::source_file("docs/environment.md"));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| `CALQUE_")) continue;
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t begin = 2; begin < line.size();) {
      const size_t end = line.find(" |", begin);
      row.push_back(line.substr(begin, end - begin));
      begin = end == line.npos ? line.size() : end + 3;
    }
  }
  return rows;
}

TEST(Environment, TheDocumentedTableIsTheLibrarys) {
  const auto rows = documented_variables();
  ASSERT_EQ(rows.size(), std::size(kEnvironmentTable));
  for (size_t i = 0; i < rows.size(); ++i) {
    const EnvironmentVariable& v = kEnvironmentTable[i];
    ASSERT_EQ(rows[i].size(), 4u) << v.name;
    EXPECT_EQ(rows[i][0], "`" + std::string(v.name) + "`");
    EXPECT_EQ(rows[i][2], v.otherwise) << v.name;
  }
}

}  // namespace
}  // namespace calque
