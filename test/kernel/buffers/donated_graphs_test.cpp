// Donation does not change results: random graphs with and without donated inputs.
#include <gtest/gtest.h>

#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

TEST(DonatedInputs, ChangeNoBitOfRandomGraphs) {
  RandomGraphOptions options;
  options.exclude = {"bitcast", "copysign", "signbit"};
  codegen::CodegenOptions strict;
  strict.strict = true;
  const uint64_t graphs = kAddressSanitizer || kThreadSanitizer ? 60 : 400;
  size_t taken = 0;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    const Graph g = random_graph(seed, options);
    const std::vector<AnyArray> inputs = random_inputs(g, seed);
    const std::vector<AnyArray> want = run_native(g, inputs, strict), got = run_donating(g, inputs, taken, strict);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(difference(got[i], want[i]), "") << "output " << i << " of seed " << seed << "\n" << g;
  }
  EXPECT_GT(taken, graphs / 5);
}

}  // namespace
}  // namespace calque::test
