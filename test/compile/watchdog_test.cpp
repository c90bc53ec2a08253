// What takes too long to compile is reported, at doubling intervals, without a thread that stays.
#include "compile/watchdog.h"

#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sanitizers.h"

namespace calque::runtime {
namespace {

using std::chrono::milliseconds;
using testing::IsEmpty;

constexpr auto kLimit = milliseconds(20);

/// What was reported.
struct Reports {
  std::mutex mutex;
  std::vector<std::pair<std::string, Watchdog::Duration>> all;

  std::vector<Watchdog::Duration> of(const std::string& what) {
    const std::lock_guard lock(mutex);
    std::vector<Watchdog::Duration> out;
    for (const auto& [name, elapsed] : all)
      if (name == what) out.push_back(elapsed);
    return out;
  }
};

Reports& reports() {
  static Reports one;
  return one;
}

void record(const std::string& what, Watchdog::Duration elapsed) {
  const std::lock_guard lock(reports().mutex);
  reports().all.emplace_back(what, elapsed);
}

/// Waits for up to 10 s.
template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(2));
  return condition();
}

TEST(Watchdog, ReportsAtDoublingIntervals) {
  Watchdog watchdog(kLimit, &record);
  const auto slow = watchdog.begin("slow");
  EXPECT_TRUE(eventually([] { return reports().of("slow").size() >= 3; }));
  watchdog.end(slow);
  const auto elapsed = reports().of("slow");
  for (size_t i = 0; i < elapsed.size(); ++i) EXPECT_GE(elapsed[i], kLimit * (1 << i)) << i;
}

TEST(Watchdog, ReportsEachOfSeveral) {
  Watchdog watchdog(kLimit, &record);
  const auto first = watchdog.begin("first");
  const auto second = watchdog.begin("second");
  EXPECT_TRUE(eventually([] { return !reports().of("second").empty(); }));
  watchdog.end(second);
  const size_t before = reports().of("second").size();
  EXPECT_TRUE(eventually([&] { return reports().of("first").size() > 2; }));
  watchdog.end(first);
  EXPECT_LE(reports().of("second").size(), before + 1);  // one may have been on its way
}

TEST(Watchdog, IsSilentAboutWhatEnds) {
  Watchdog watchdog(std::chrono::hours(1), &record);
  EXPECT_FALSE(watchdog.has_thread());
  for (int i = 0; i < 100; ++i) watchdog.end(watchdog.begin("quick"));
  EXPECT_TRUE(watchdog.has_thread());
  EXPECT_THAT(reports().of("quick"), IsEmpty());
}

TEST(Watchdog, HasNoThreadWithoutWork) {
  Watchdog watchdog(kLimit, &record);
  watchdog.end(watchdog.begin("short"));
  EXPECT_TRUE(eventually([&] { return !watchdog.has_thread(); }));
  const auto again = watchdog.begin("again");
  EXPECT_TRUE(eventually([] { return !reports().of("again").empty(); }));
  watchdog.end(again);
}

TEST(Watchdog, IsSharedByThreads) {
  Watchdog watchdog(kLimit, &record);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) watchdog.end(watchdog.begin("shared"));
    });
  for (std::thread& thread : threads) thread.join();
}

// The child has neither the watchdog's thread nor the work of other threads, and ends by itself.
TEST(Watchdog, GoesOnInTheChildOfAFork) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "starts threads after a fork of several";
  Watchdog watchdog(kLimit, &record);
  const auto mine = watchdog.begin("mine");
  Watchdog::Ticket other = 0;
  std::thread thread([&] { other = watchdog.begin("other"); });
  thread.join();
  EXPECT_TRUE(eventually([] { return !reports().of("other").empty(); }));
  const pid_t child = fork();
  if (child == 0) {
    watchdog.after_fork_in_child();
    const size_t before = reports().of("mine").size(), others = reports().of("other").size();
    watchdog.end(watchdog.begin("in the child"));
    const bool reported = eventually([&] { return reports().of("mine").size() > before; });
    watchdog.end(mine);
    const bool ended = eventually([&] { return !watchdog.has_thread(); });
    _exit(reported && ended && reports().of("other").size() == others ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  watchdog.end(mine);
  watchdog.end(other);
}

}  // namespace
}  // namespace calque::runtime
