// Schedules for a GPU keep what a program computes. Run on the CPU, which does not regard who runs which iterations,
// the launches must give the reference's results; limits far below a real device's make small graphs take every way.
#include <sstream>

#include <gtest/gtest.h>

#include "kernel/gpu/schedule.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/random_graph.h"
#include "support/sanitizers.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

void compare(uint64_t first, uint64_t count, const RandomGraphOptions& options, const kernel::GpuLimits& limits) {
  codegen::CodegenOptions strict;
  strict.strict = true;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Graph g = random_graph(seed, options);
    const auto inputs = random_inputs(g, seed);
    std::string d;
    try {
      const auto want = run_native(g, inputs, strict);
      const auto got = run_scheduled(g, inputs, limits, strict);
      for (size_t o = 0; o < want.size() && d.empty(); ++o) d = difference(got[o], want[o]);
    } catch (const Error& e) {
      d = std::string("threw ") + e.what();
    }
    ASSERT_EQ(d, "") << "seed " << seed << "\n" << print(g);
  }
}

RandomGraphOptions exact_options() {
  RandomGraphOptions o;
  o.reassociated = false;
  o.exclude = {"bitcast", "copysign"};
  return o;
}

TEST(GpuSchedule, KeepsRandomGraphs) { compare(1000, kAddressSanitizer ? 30 : 200, exact_options(), tiny_limits()); }

TEST(GpuSchedule, KeepsRandomGraphsUnderTheLimitsOfADevice) {
  RandomGraphOptions o = exact_options();
  o.max_elements = 60000;
  o.max_equations = 12;
  o.max_depth = 1;
  compare(5000, kAddressSanitizer ? 5 : 30, o, kernel::GpuLimits{});
}

}  // namespace
}  // namespace calque::test
