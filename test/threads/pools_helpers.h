#pragma once
// oneTBB as a user of the library calls it, compiled without ThreadSanitizer (which does not see how it orders things).
#include <functional>

namespace calque::test {

/// body(0) ... body(count - 1) as iterations of a parallel loop.
void parallel_loop(int count, const std::function<void(int)>& body);

/// Runs `body` in `count` tasks of one group, each of which cancels the group first, and waits.
void run_in_cancelled_group(int count, const std::function<void()>& body);

}  // namespace calque::test
