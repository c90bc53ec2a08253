// Pieces are cut by count and grain alone, never by how many threads there are.
#include "runtime/parallel.h"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace calque::runtime {

void parallel_for(void*, int64_t count, int64_t grain, void (*body)(void* environment, int64_t begin, int64_t end),
                  void* environment) noexcept {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain) {
    body(environment, 0, count);
    return;
  }
  tbb::this_task_arena::isolate([&] {
    const int64_t pieces = (count + grain - 1) / grain;
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, pieces),
        [&](const tbb::blocked_range<int64_t>& range) {
          for (int64_t piece = range.begin(); piece < range.end(); ++piece) {
            body(environment, piece * grain, std::min(count, (piece + 1) * grain));
          }
        },
        tbb::auto_partitioner{});
  });
}

}  // namespace calque::runtime
