#include "threads/pools_helpers.h"

#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include "runtime/process/happens_before.h"

namespace calque::test {

void parallel_loop(int count, const std::function<void(int)>& body) {
  static char started, finished;
  runtime::publish(started);
  tbb::parallel_for(0, count, [&](int i) {
    runtime::observe(started);
    body(i);
    runtime::publish(finished);
  });
  runtime::observe(finished);
}

void run_in_cancelled_group(int count, const std::function<void()>& body) {
  static char started, finished;
  runtime::publish(started);
  tbb::task_group group;
  for (int i = 0; i < count; ++i)
    group.run([&] {
      group.cancel();
      runtime::observe(started);
      body();
      runtime::publish(finished);
    });
  group.wait();
  runtime::observe(finished);
}

}  // namespace calque::test
