// Device code against the CPU's: random graphs on the simulator in strict mode, bit-identical, and their PTX through
// the assembler. Limits far below a real device's make small graphs take every path.
#include <gtest/gtest.h>

#include "support/native.h"
#include "support/ptxas.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/simulated.h"
#include "support/stages.h"

namespace calque::test {
namespace {

RandomGraphOptions exact_options() {
  RandomGraphOptions o;
  o.reassociated = false;
  // The sign of a NaN is unspecified; these two would expose it.
  o.exclude = {"bitcast", "copysign", "signbit"};
  return o;
}

void compare(uint64_t first, uint64_t count, const RandomGraphOptions& options, const kernel::GpuLimits& limits) {
  codegen::CodegenOptions native;
  native.strict = true;
  codegen::DeviceOptions device;
  device.strict = true;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Graph g = random_graph(seed, options);
    const auto inputs = random_inputs(g, seed);
    std::string d;
    try {
      const auto want = run_native(g, inputs, native);
      const auto got = run_simulated(g, inputs, limits, device);
      for (size_t o = 0; o < want.size() && d.empty(); ++o) d = difference(got[o], want[o]);
    } catch (const Error& e) {
      d = std::string("threw ") + e.what();
    }
    EXPECT_EQ(d, "") << "seed " << seed << "\n" << print(g);
    if (testing::Test::HasFailure()) return;
  }
}

class SimulatedGraphs : public testing::TestWithParam<int> {};

TEST_P(SimulatedGraphs, EqualTheCpu) {
  constexpr uint64_t kBlock = 50;
  compare(static_cast<uint64_t>(GetParam()) * kBlock, kBlock, exact_options(), tiny_limits());
}

TEST(SimulatedGraphsOfLargeArrays, EqualTheCpu) {
  RandomGraphOptions o = exact_options();
  o.max_elements = 60000;
  o.max_equations = 12;
  o.max_depth = 1;
  compare(5000, kAddressSanitizer ? 3 : 20, o, kernel::GpuLimits{});
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulatedGraphs, testing::Range(0, kAddressSanitizer ? 1 : 6));

TEST(AssembledGraphs, AreAccepted) {
  if (!find_ptxas()) GTEST_SKIP() << kNoPtxas;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const char* const arch = seed % 2 == 0 ? "sm_80" : "sm_90a";
    const Graph g = random_graph(seed, exact_options());
    codegen::DeviceOptions options;
    options.arch = arch;
    const std::string ptx = test::stages::ptx(program_for_gpu(g, tiny_limits()), options);
    const Assembled assembled = assemble(ptx, arch);
    EXPECT_TRUE(assembled.accepted) << "seed " << seed << "\n" << assembled.messages << print(g);
  }
}

}  // namespace
}  // namespace calque::test
