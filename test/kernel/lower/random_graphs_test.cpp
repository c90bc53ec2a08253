// The compiler against the reference: random graphs, strict mode, bit for bit.
#include <cstdlib>

#include <gtest/gtest.h>

#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

/// Reductions whose order the code generator chooses have separate tests.
RandomGraphOptions strict_options() {
  RandomGraphOptions o;
  o.reassociated = false;
  // The sign of a NaN is unspecified; these two would expose it.
  o.exclude = {"bitcast", "copysign", "signbit"};
  return o;
}

class StrictMode : public testing::TestWithParam<int> {};

void compare_seeds(uint64_t first, uint64_t count, const RandomGraphOptions& options) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Graph g = random_graph(seed, options);
    std::string d;
    try {
      d = compare_strictly(g, random_inputs(g, seed));
    } catch (const Error& e) {
      d = std::string("threw ") + e.what() + "\n" + print(g);
    }
    ASSERT_EQ(d, "") << "seed " << seed;
  }
}

// Loops in loops that write elements of what they carry, and read it before and after.
TEST(StrictModeOfNestedLoops, EqualsTheReferenceOnRandomGraphs) {
  RandomGraphOptions options = strict_options();
  options.max_depth = 3;
  options.max_equations = 14;
  options.max_rank = 2;
  options.max_elements = 24;
  options.math = false;
  options.dtypes = {DType::i32, DType::f32};
  const char *const many = std::getenv("CALQUE_TEST_NESTED_LOOPS"), *const first =
                                                                        std::getenv("CALQUE_TEST_FIRST_SEED");
  compare_seeds(first != nullptr ? std::strtoull(first, nullptr, 10) : 800000,
                many != nullptr     ? std::strtoull(many, nullptr, 10)
                : kAddressSanitizer ? 40
                                    : 400,
                options);
}

RandomGraphOptions complex_options() {
  RandomGraphOptions o = strict_options();
  o.dtypes = {DType::bool_, DType::i32, DType::f32, DType::f64, DType::c64, DType::c128, DType::c64, DType::c128};
  return o;
}

TEST(StrictModeOfComplexNumbers, EqualsTheReferenceOnRandomGraphs) {
  compare_seeds(900000, kAddressSanitizer ? 60 : 600, complex_options());
}

TEST(StrictModeOfComplexNumbers, EqualsTheReferenceOnLargeArrays) {
  RandomGraphOptions options = complex_options();
  options.max_equations = 12;
  options.max_elements = 60000;
  options.max_depth = 1;
  compare_seeds(910000, kAddressSanitizer ? 5 : 60, options);
}

TEST_P(StrictMode, EqualsTheReferenceOnRandomGraphs) {
  constexpr uint64_t kBlock = 100;
  compare_seeds(static_cast<uint64_t>(GetParam()) * kBlock, kBlock, strict_options());
}

// Arrays beyond the thresholds of plans and schedules: blocks, chunks for threads, materialized sums.
TEST(StrictModeOfLargeArrays, EqualsTheReferenceOnRandomGraphs) {
  RandomGraphOptions options = strict_options();
  options.max_equations = 12;
  options.max_elements = 60000;
  options.max_depth = 1;
  compare_seeds(700000, kAddressSanitizer ? 10 : 120, options);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers check the compiler; generated code is the same as in the other builds.
INSTANTIATE_TEST_SUITE_P(Seeds, StrictMode, testing::Range(0, 4));
#else
INSTANTIATE_TEST_SUITE_P(Seeds, StrictMode, testing::Range(0, 50));
#endif

}  // namespace
}  // namespace calque::test
