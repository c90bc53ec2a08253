// Donation does not change results: random graphs with and without donated inputs.
#include <gtest/gtest.h>

#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

/// The number of inputs whose memory was reused.
size_t compare(RandomGraphOptions options, uint64_t graphs) {
  options.exclude = {"bitcast", "copysign", "signbit"};
  codegen::CodegenOptions strict;
  strict.strict = true;
  size_t taken = 0;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    const Graph g = random_graph(seed, options);
    const std::vector<AnyArray> inputs = random_inputs(g, seed);
    const std::vector<AnyArray> want = run_native(g, inputs, strict), got = run_donating(g, inputs, taken, strict);
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(difference(got[i], want[i]), "") << "output " << i << " of seed " << seed << "\n" << g;
      if (testing::Test::HasFailure()) return taken;
    }
  }
  return taken;
}

const bool kSanitized = kAddressSanitizer || kThreadSanitizer;

TEST(DonatedInputs, ChangeNoBitOfRandomGraphs) {
  const uint64_t graphs = kSanitized ? 60 : 400;
  EXPECT_GT(compare({}, graphs), graphs / 5);
}

// The elements of a pair are read and written in one iteration, in any order.
TEST(DonatedInputs, ChangeNoBitOfRandomComplexGraphs) {
  RandomGraphOptions options;
  options.max_equations = 12;
  options.max_depth = 1;
  options.dtypes = {DType::c64, DType::c128, DType::c64, DType::f32};
  const uint64_t graphs = kSanitized ? 60 : 600;
  EXPECT_GT(compare(options, graphs), graphs / 5);
}

}  // namespace
}  // namespace calque::test
