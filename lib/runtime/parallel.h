#pragma once
// Work of one kernel spread over threads.
#include <cstdint>

namespace calque::runtime {

/// See codegen::RuntimeTable. A thread that waits here never starts another call on its stack.
void parallel_for(void* context, int64_t count, int64_t grain,
                  void (*body)(void* environment, int64_t begin, int64_t end), void* environment) noexcept;

}  // namespace calque::runtime
