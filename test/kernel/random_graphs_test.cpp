// The compiler against the oracle: random graphs, strict mode, bit for bit.
#include <cstdlib>

#include <gtest/gtest.h>

#include "support/native.h"
#include "support/random_graph.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

/// Reductions whose order the code generator chooses are left to their own tests.
RandomGraphOptions strict_options() {
  RandomGraphOptions o;
  o.reassociated = false;
  // The sign of a NaN is nobody's promise; these two would show it.
  o.exclude = {"bitcast", "copysign"};
  return o;
}

class StrictMode : public testing::TestWithParam<int> {};

TEST_P(StrictMode, EqualsTheReferenceOnRandomGraphs) {
  constexpr uint64_t kBlock = 100;
  const uint64_t first = static_cast<uint64_t>(GetParam()) * kBlock;
  for (uint64_t seed = first; seed < first + kBlock; ++seed) {
    const Graph g = random_graph(seed, strict_options());
    std::string d;
    try {
      d = compare_strictly(g, random_inputs(g, seed));
    } catch (const Error& e) {
      d = std::string("threw ") + e.what() + "\n" + print(g);
    }
    ASSERT_EQ(d, "") << "seed " << seed;
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers look at the compiler; what it generates is the same as in the other builds.
INSTANTIATE_TEST_SUITE_P(Seeds, StrictMode, testing::Range(0, 8));
#else
INSTANTIATE_TEST_SUITE_P(Seeds, StrictMode, testing::Range(0, 50));
#endif

}  // namespace
}  // namespace calque::test
