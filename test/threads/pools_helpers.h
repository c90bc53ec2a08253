#pragma once
// oneTBB as called by a user of the library, compiled without ThreadSanitizer, which cannot observe its
// synchronization.
#include <functional>

namespace calque::test {

/// body(0) ... body(count - 1) as iterations of a parallel loop.
void parallel_loop(int count, const std::function<void(int)>& body);

/// Runs `body` in `count` tasks of one task group, each of which first cancels the group, and waits.
void run_in_cancelled_group(int count, const std::function<void()>& body);

}  // namespace calque::test
