#pragma once
// Work of one kernel spread over threads.
#include <cstdint>

namespace calque::runtime {

/// See codegen::RuntimeTable. A thread that waits here never starts another call on its stack; cancelling the caller's
/// own tasks does not cancel these.
void parallel_for(void* context, int64_t count, int64_t grain,
                  void (*body)(void* environment, int64_t begin, int64_t end), void* environment) noexcept;

/// How many threads work on one kernel at most: CALQUE_NUM_THREADS, else all that oneTBB has.
int num_threads();
int32_t num_threads(void* context) noexcept;

}  // namespace calque::runtime
