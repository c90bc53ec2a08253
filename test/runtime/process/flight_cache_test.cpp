// The bounded cache with single flight: threads that miss on one key at the same time make its value once.
#include "runtime/process/flight_cache.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace calque::runtime {
namespace {

using Table = FlightCache<std::string, int>;
using Evicted = std::vector<Table::Pointer>;

std::shared_ptr<const int> get(Table& table, const std::string& key, int value, bool* made = nullptr) {
  bool m = false;
  Evicted evicted;
  auto result =
      table.get(key, std::hash<std::string>{}(key), [&] { return std::make_shared<const int>(value); }, m, evicted);
  if (made) *made = m;
  return result;
}

TEST(FlightCache, FindsWhatItMade) {
  Table table(4);
  bool made = false;
  EXPECT_EQ(*get(table, "a", 1, &made), 1);
  EXPECT_TRUE(made);
  EXPECT_EQ(*get(table, "a", 2, &made), 1);
  EXPECT_FALSE(made);
  EXPECT_EQ(table.size(), 1u);
}

TEST(FlightCache, KeysOfOneHashAreToldApart) {
  Table table(4);
  bool made = false;
  Evicted evicted;
  const auto with = [&](const std::string& key, int value) {
    return *table.get(key, 7, [&] { return std::make_shared<const int>(value); }, made, evicted);
  };
  EXPECT_EQ(with("a", 1), 1);
  EXPECT_EQ(with("b", 2), 2);
  EXPECT_EQ(with("a", 3), 1);
  EXPECT_EQ(with("b", 4), 2);
}

TEST(FlightCache, DropsWhatWasUsedLongestAgo) {
  Table table(2);
  get(table, "a", 1);
  get(table, "b", 2);
  get(table, "a", 0);  // now b is the least recently used
  bool made = false;
  Evicted evicted;
  table.get(
      std::string("c"), std::hash<std::string>{}("c"), [] { return std::make_shared<const int>(3); }, made, evicted);
  ASSERT_EQ(evicted.size(), 1u);
  EXPECT_EQ(*evicted[0], 2);
  EXPECT_EQ(table.size(), 2u);
  get(table, "a", 0, &made);
  EXPECT_FALSE(made);
  get(table, "b", 9, &made);
  EXPECT_TRUE(made);
}

TEST(FlightCache, MakerThatThrowsLeavesNothing) {
  Table table(2);
  bool made = false;
  Evicted evicted;
  const auto fail = []() -> Table::Pointer { throw 5; };
  EXPECT_THROW(table.get(std::string("a"), 1, fail, made, evicted), int);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(*get(table, "a", 1), 1);
}

TEST(FlightCache, ThreadThatAsksForWhatItMakesIsToldSo) {
  Table table(2);
  bool made = false;
  Evicted evicted;
  EXPECT_THROW(table.get(
                   std::string("a"), 1,
                   [&] {
                     bool m = false;
                     Evicted e;
                     return table.get(std::string("a"), 1, [] { return std::make_shared<const int>(1); }, m, e);
                   },
                   made, evicted),
               RecursiveFlight);
}

TEST(FlightCache, ConcurrentMissesMakeOnce) {
  constexpr int kThreads = 16;
  Table table(64);
  for (int round = 0; round < 20; ++round) {
    const std::string key = std::to_string(round);
    std::atomic<int> makes{0}, makers{0};
    std::barrier start(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        bool made = false;
        Evicted evicted;
        const auto value = table.get(
            key, std::hash<std::string>{}(key),
            [&] {
              ++makes;
              std::this_thread::sleep_for(std::chrono::milliseconds(1));  // let the others arrive
              return std::make_shared<const int>(round);
            },
            made, evicted);
        makers += made;
        EXPECT_EQ(*value, round);
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(makes, 1);
    EXPECT_EQ(makers, 1);
  }
}

TEST(FlightCache, WaitersTryForThemselvesWhenTheMakerFails) {
  constexpr int kThreads = 8;
  Table table(4);
  std::atomic<int> attempts{0}, failures{0};
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      bool made = false;
      Evicted evicted;
      try {
        const auto value = table.get(
            std::string("a"), 1,
            [&]() -> Table::Pointer {
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
              if (++attempts <= 3) throw 1;
              return std::make_shared<const int>(4);
            },
            made, evicted);
        EXPECT_EQ(*value, 4);
      } catch (int) {
        ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(attempts, 4);
}

TEST(FlightCache, ValueClearedWhileItIsMadeIsNotKept) {
  Table table(4);
  bool made = false;
  Evicted evicted;
  const auto value = table.get(
      std::string("a"), 1,
      [&] {
        table.clear();
        return std::make_shared<const int>(1);
      },
      made, evicted);
  EXPECT_EQ(*value, 1);
  EXPECT_EQ(table.size(), 0u);
}

TEST(FlightCache, ThreadsThatWaitForEachOtherAreTold) {
  constexpr int kThreads = 3;
  for (int round = 0; round < 20; ++round) {
    Table tables[kThreads] = {Table(8), Table(8), Table(8)};
    std::atomic<int> told{0}, made_all{0};
    std::barrier all_make(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        bool made = false, arrived = false;
        Evicted evicted;
        const auto make = [&] {
          if (!arrived) all_make.arrive_and_wait();
          arrived = true;
          bool m = false;
          Evicted e;
          // The value that the next thread makes, which in turn needs the value of the thread after it.
          return tables[(t + 1) % kThreads].get(
              std::string("a"), 1, [] { return std::make_shared<const int>(7); }, m, e);
        };
        try {
          made_all += *tables[t].get(std::string("a"), 1, make, made, evicted) == 7;
        } catch (const RecursiveFlight&) {
          ++told;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_GE(told, 1);
    EXPECT_EQ(told + made_all, kThreads);
  }
}

TEST(FlightCache, WaitingOneBehindTheOtherIsNoCircle) {
  Table table(64);
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  // Each value needs the previous one; threads request them from both ends.
  const std::function<int(int)> value = [&](int i) -> int {
    bool made = false;
    Evicted evicted;
    return *table.get(
        std::to_string(i), static_cast<uint64_t>(i),
        [&] {
          std::this_thread::yield();
          return std::make_shared<const int>(i == 0 ? 1 : value(i - 1));
        },
        made, evicted);
  };
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) sum += value(t % 2 == 0 ? i : 39 - i);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 8 * 40);
}

}  // namespace
}  // namespace calque::runtime
