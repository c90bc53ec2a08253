// Pieces are cut by count and grain alone, never by how many threads there are.
#include "runtime/parallel.h"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#ifdef CALQUE_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace calque::runtime {

namespace {

/// What oneTBB orders, told to ThreadSanitizer, which does not see into it (this file is not instrumented, since parts
/// of oneTBB are inlined here; what `body` calls is): everything before `publish` comes before
/// what follows a later `observe` of the same place.
void publish([[maybe_unused]] char& place) {
#ifdef CALQUE_THREAD_SANITIZER
  __tsan_release(&place);
#endif
}
void observe([[maybe_unused]] char& place) {
#ifdef CALQUE_THREAD_SANITIZER
  __tsan_acquire(&place);
#endif
}

}  // namespace

void parallel_for(void*, int64_t count, int64_t grain, void (*body)(void* environment, int64_t begin, int64_t end),
                  void* environment) noexcept {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain) {
    body(environment, 0, count);
    return;
  }
  // Static: the places themselves are handed over through nothing that would have to be observed first.
  static char started, finished;
  publish(started);
  tbb::this_task_arena::isolate([&] {
    const int64_t pieces = (count + grain - 1) / grain;
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, pieces),
        [&](const tbb::blocked_range<int64_t>& range) {
          observe(started);
          for (int64_t piece = range.begin(); piece < range.end(); ++piece) {
            body(environment, piece * grain, std::min(count, (piece + 1) * grain));
          }
          publish(finished);
        },
        tbb::auto_partitioner{});
  });
  observe(finished);
}

}  // namespace calque::runtime
