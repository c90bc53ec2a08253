// oneTBB lends the threads; what they do is a Team's. Pieces begin at multiples of the grain; how many of them a thread
// takes at once shows in nothing that they compute.
#include "runtime/parallel.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include "runtime/environment.h"
#include "runtime/happens_before.h"
#include "runtime/team.h"

namespace calque::runtime {

namespace {

// A constant, not made by the first call: ThreadSanitizer, which does not see this file, would not see that either.
constinit std::mutex arenas_mutex;
static_assert(std::is_trivially_destructible_v<std::mutex>, "calls may still run while the program ends");

/// The arena of that many threads. Never destroyed: calls may still run while the program ends.
tbb::task_arena& arena(int threads) {
  const std::lock_guard lock(arenas_mutex);
  static auto& arenas = *new std::map<int, std::unique_ptr<tbb::task_arena>>;
  static std::unique_ptr<tbb::global_control>& more = *new std::unique_ptr<tbb::global_control>;
  static int most = tbb::info::default_concurrency();
  auto& found = arenas[threads];
  if (!found) {
    if (threads > most) {
      more.reset();
      most = threads;
      more = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                   static_cast<size_t>(threads));
    }
    found = std::make_unique<tbb::task_arena>(threads);
  }
  return *found;
}

// Static: the places themselves are handed over through nothing that would have to be observed first.
char summoned;

/// Helpers are tasks of the arena in which the caller is, or of the one for CALQUE_NUM_THREADS.
void summon(Team& team, int helpers) noexcept {
  const auto help = [&team] {
    observe(summoned);
    team.help();
  };
  publish(summoned);
  int missing = helpers;
  try {
    const int threads = environment().num_threads;
    for (; missing > 0; --missing) {
      if (threads == 0) {
        tbb::this_task_arena::enqueue(help);
      } else {
        arena(threads).enqueue(help);
      }
    }
  } catch (...) {
    team.excuse(missing);
  }
}

/// Teams that belong to no thread. Never destroyed: helpers may still look for work while the program ends.
constinit std::mutex teams_mutex;
std::vector<Team*>& idle_teams() {
  static auto& teams = *new std::vector<Team*>;
  return teams;
}

/// The calling thread's team, which goes to another thread when this one ends.
Team* own_team() {
  static constinit thread_local Team* team = nullptr;
  struct Return {
    ~Return() {
      const std::lock_guard lock(teams_mutex);
      if (team != nullptr) idle_teams().push_back(std::exchange(team, nullptr));
    }
  };
  if (team == nullptr) {
    static thread_local const Return at_exit;
    static_cast<void>(at_exit);
    const std::lock_guard lock(teams_mutex);
    if (auto& idle = idle_teams(); !idle.empty()) {
      team = idle.back();
      idle.pop_back();
    } else {
      team = new Team;
    }
  }
  return team;
}

}  // namespace

void parallel_for(void*, int64_t count, int64_t grain, Team::Body body, void* record) noexcept {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int threads = num_threads();
  if (count <= grain || threads == 1) return body(record, 0, count);
  Team& team = *own_team();
  if (team.busy()) return body(record, 0, count);
  team.run(count, grain, threads, body, record, &summon);
}

int32_t num_threads(void*) noexcept { return num_threads(); }

int num_threads() {
  const int threads = environment().num_threads;
  return threads > 0 ? threads : tbb::this_task_arena::max_concurrency();
}

}  // namespace calque::runtime
