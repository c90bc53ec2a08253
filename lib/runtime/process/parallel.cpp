// Chunks begin at multiples of the grain. How many consecutive chunks a thread takes at once does not affect results.
//
// A child of fork() does not have oneTBB's threads, and finds its locks as these and others held them. If the parent
// has used oneTBB, the child therefore never calls it: its chunks run on the calling thread.
#include "runtime/process/parallel.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include "ir/fork.h"
#include "runtime/process/environment.h"
#include "runtime/process/happens_before.h"

namespace calque::runtime {

namespace {

constinit std::atomic<bool> uses_threads{false};    ///< this process, or one that it was forked from
constinit std::atomic<bool> has_no_threads{false};  ///< forked from one that did

/// Whether oneTBB may be called, which is then going to be.
bool may_use_threads() {
  if (has_no_threads.load(std::memory_order_relaxed)) return false;
  if (!uses_threads.load(std::memory_order_relaxed)) [[unlikely]] {
    static constinit ForkHooks hooks{.in_child = [] { has_no_threads.store(true, std::memory_order_relaxed); }};
    const NoFork whole;
    if (!uses_threads.exchange(true)) at_fork(hooks);
  }
  return true;
}

using Body = void (*)(void* environment, int64_t begin, int64_t end);

void run_chunks(int64_t count, int64_t grain, Body body, void* environment) {
  // Static: a local variable would have to be published to the other threads first.
  static char started, finished;
  publish(started);
  tbb::this_task_arena::isolate([&] {
    tbb::task_group_context context(tbb::task_group_context::isolated);
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, (count + grain - 1) / grain),
        [&](const tbb::blocked_range<int64_t>& range) {
          observe(started);
          body(environment, range.begin() * grain, std::min(count, range.end() * grain));
          publish(finished);
        },
        tbb::auto_partitioner{}, context);
  });
  observe(finished);
}

// constinit, not a function-local static: ThreadSanitizer does not instrument this file and would miss the guard.
constinit std::mutex arenas_mutex;
static_assert(std::is_trivially_destructible_v<std::mutex>, "calls may still run while the program ends");

/// The arena with that many threads. Never destroyed: calls may still run while the program ends.
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

}  // namespace

void parallel_for(void*, int64_t count, int64_t grain, Body body, void* record) noexcept {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int threads = environment().num_threads;
  if (count <= grain || threads == 1 || !may_use_threads()) return body(record, 0, count);
  if (threads == 0) return run_chunks(count, grain, body, record);
  // If the arena is full, another caller's thread runs the chunks of this one while this one waits.
  static char entered, left;
  publish(entered);
  arena(threads).execute([&] {
    observe(entered);
    run_chunks(count, grain, body, record);
    publish(left);
  });
  observe(left);
}

int32_t num_threads(void*) noexcept { return num_threads(); }

int num_threads() {
  const int threads = environment().num_threads;
  return threads > 0 ? threads : may_use_threads() ? tbb::this_task_arena::max_concurrency() : 1;
}

}  // namespace calque::runtime
