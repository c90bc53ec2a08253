// Casts round where they stand: a product that was cast is not fused into a sum, whatever InstCombine makes of it.
#include <cstdlib>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/cpu_levels.h"
#include "support/native.h"
#include "support/random/random_casts.h"
#include "support/sanitizers.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

const uint64_t kSeeds = kAddressSanitizer || kThreadSanitizer ? 40 : 400;

/// CALQUE_TEST_SEEDS: as many.
uint64_t num_seeds(uint64_t usual) {
  if (const char* text = std::getenv("CALQUE_TEST_SEEDS")) return std::strtoull(text, nullptr, 10);
  return usual;
}

template <class Run>
void expect_bits_of_reference(uint64_t seeds, const Run& run) {
  uint64_t wrong = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Graph g = random_casts(seed);
    const std::vector<AnyArray> inputs = full_significands(g, seed);
    const std::vector<AnyArray> want = reference::evaluate(g, inputs, kStrictReference);
    const std::vector<AnyArray> got = run(g, inputs);
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string d = difference(got[i], want[i]);
      if (d.empty()) continue;
      EXPECT_EQ(d, "") << "output " << i << " of seed " << seed << "\n" << g;
      ++wrong;
      break;
    }
    if (wrong == 5) break;
  }
}

class RoundingCasts : public testing::TestWithParam<std::string> {};

TEST_P(RoundingCasts, KeepTheirBitsInDefaultMode) {
  codegen::CodegenOptions options;
  options.target.cpu = GetParam();
  expect_bits_of_reference(num_seeds(kSeeds),
                           [&](const Graph& g, const auto& inputs) { return run_native(g, inputs, options); });
}

INSTANTIATE_TEST_SUITE_P(Cpus, RoundingCasts, testing::ValuesIn(cpu_levels()), [](const auto& level) {
  std::string name = level.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

TEST(RoundingCastsOnTheSimulator, KeepTheirBitsInDefaultMode) {
  expect_bits_of_reference(num_seeds(kSeeds / 2),
                           [](const Graph& g, const auto& inputs) { return run_simulated(g, inputs, tiny_limits()); });
}

}  // namespace
}  // namespace calque::test
