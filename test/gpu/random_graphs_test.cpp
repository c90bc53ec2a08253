// The simulated GPU against the CPU, whose results are the reference's: random graphs in strict mode, bit for bit.
// Every launch runs under the simulator's checks, so a race or an access out of bounds fails too.
#include <gtest/gtest.h>

#include "support/native.h"
#include "support/random_graph.h"
#include "support/sanitizers.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

// Reductions whose order the code generator chooses are left to their own tests; the sign of a NaN is nobody's promise.
RandomGraphOptions exact_options() {
  RandomGraphOptions o;
  o.reassociated = false;
  o.exclude = {"bitcast", "copysign"};
  return o;
}

void compare(uint64_t first, uint64_t count, const RandomGraphOptions& options, const kernel::GpuLimits& limits) {
  codegen::CodegenOptions strict;
  strict.strict = true;
  codegen::DeviceOptions device;
  device.strict = true;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Graph g = random_graph(seed, options);
    const auto inputs = random_inputs(g, seed);
    std::string d;
    try {
      const auto want = run_native(g, inputs, strict);
      const auto got = run_simulated(g, inputs, limits, device);
      for (size_t o = 0; o < want.size() && d.empty(); ++o) d = difference(got[o], want[o]);
    } catch (const Error& e) {
      d = std::string("threw ") + e.what();
    }
    ASSERT_EQ(d, "") << "seed " << seed << "\n" << print(g);
  }
}

class SimulatedGraphs : public testing::TestWithParam<int> {};

// The seeds of the CPU's tests.
TEST_P(SimulatedGraphs, EqualTheReference) {
  constexpr uint64_t kBlock = 40;
  compare(static_cast<uint64_t>(GetParam()) * kBlock, kBlock, exact_options(), kernel::GpuLimits{});
}

TEST_P(SimulatedGraphs, EqualTheReferenceUnderTinyLimits) {
  constexpr uint64_t kBlock = 40;
  compare(static_cast<uint64_t>(GetParam()) * kBlock, kBlock, exact_options(), tiny_limits());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulatedGraphs, testing::Range(0, kAddressSanitizer ? 1 : 5));

TEST(SimulatedLargeGraphs, EqualTheReference) {
  RandomGraphOptions o = exact_options();
  o.max_elements = 60000;
  o.max_equations = 12;
  o.max_depth = 1;
  compare(700000, kAddressSanitizer ? 3 : 30, o, kernel::GpuLimits{});
}

}  // namespace
}  // namespace calque::test
