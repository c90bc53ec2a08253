#pragma once
// Distributes the work of one kernel over threads.
#include <cstdint>

namespace calque::runtime {

/// See codegen::RuntimeTable. A thread that waits here does not start other oneTBB tasks on its stack; cancelling the
/// caller's task group does not cancel these tasks.
void parallel_for(void* context, int64_t count, int64_t grain,
                  void (*body)(void* environment, int64_t begin, int64_t end), void* environment) noexcept;

/// The maximum number of threads that work on one kernel: CALQUE_NUM_THREADS, by default oneTBB's concurrency.
int num_threads();
int32_t num_threads(void* context) noexcept;

}  // namespace calque::runtime
