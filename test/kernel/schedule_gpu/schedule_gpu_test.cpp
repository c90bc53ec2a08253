// GPU schedules preserve the results of a program. On the CPU, which ignores the parallel mapping, the launches must
// give the reference's results; limits far below a real device's make small graphs cover every path.
#include "kernel/schedule_gpu/schedule_gpu.h"

#include <sstream>

#include <calque/calque.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/random/random_graph.h"
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
  o.exclude = {"bitcast", "copysign", "signbit"};
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

template <class F, class... X>
kernel::Program scheduled(const kernel::GpuLimits& limits, const F& f, const X&... x) {
  return program_for_gpu(jit(f).trace(x...), limits);
}

std::string text(const kernel::Program& program) {
  std::ostringstream out;
  out << program;
  return out.str();
}

TEST(GpuSchedule, CountsLaunches) {
  const auto launches = [](const auto& f, const auto&... x) {
    return scheduled(kernel::GpuLimits{}, f, x...).kernels.size();
  };
  const auto flat = spec<float>({1 << 20}), rows = spec<float>({4096, 1024});
  EXPECT_EQ(launches([](auto x) { return x * 2.0f + 1.0f; }, flat), 1);
  EXPECT_EQ(launches([](auto x) { return sum(x); }, flat), 2) << "chunks over the grid, then their sum";
  EXPECT_EQ(launches([](auto x) { return sum(x); }, spec<float>({1000})), 1);
  EXPECT_EQ(launches([](auto x) { return cumsum(x, 0); }, flat), 3)
      << "chunks, the prefixes of the chunks, the chunks again";
  EXPECT_EQ(launches([](auto x) { return softmax(x, 1); }, rows), 1) << "a row stays with its thread group";
  EXPECT_EQ(launches([](auto x) { return layer_norm(x, 1); }, rows), 1);
  EXPECT_EQ(launches([](auto x) { return softmax(x, 1); }, spec<float>({64, 1 << 18})), 5)
      << "few long rows: chunks of the maxima, the maxima, chunks of the sums, the sums, the division";
  EXPECT_EQ(launches([](auto x) { return sum(x, {0}); }, rows), 2) << "chunks of columns fill the device";
  EXPECT_EQ(launches([](auto x) { return matmul(x, x.T()); }, rows), 1);
}

TEST(GpuSchedule, CombinesAtomicallyUnlessTheOrderMatters) {
  const auto add = [](auto x, auto i, auto u) { return scatter_add(x, i, u); };
  const auto x = spec<float>({1000, 8});
  const auto i = spec<int32_t>({5000});
  const auto u = spec<float>({5000, 8});
  kernel::GpuLimits limits;
  EXPECT_THAT(text(scheduled(limits, add, x, i, u)), testing::HasSubstr("combine by add"));
  limits.deterministic = true;
  EXPECT_THAT(text(scheduled(limits, add, x, i, u)), testing::Not(testing::HasSubstr("combine by")));
  EXPECT_THAT(text(scheduled(limits, add, spec<int64_t>({1000, 8}), i, spec<int64_t>({5000, 8}))),
              testing::HasSubstr("combine by add"))
      << "sums of integers do not depend on their order";
  EXPECT_THAT(text(scheduled(kernel::GpuLimits{}, add, x, spec<int32_t>({int64_t{1} << 32}),
                             spec<float>({int64_t{1} << 32, 8}))),
              testing::HasSubstr("combine by add"))
      << "however many updates there are";
  // Of several replacements the last one stays: for each element the update with the greatest number wins.
  const auto set = [](auto a, auto at, auto v) { return a.set(at, v); };
  EXPECT_THAT(text(scheduled(limits, set, x, i, u)), testing::HasSubstr("combine by max"));
}

TEST(GpuSchedule, CountsTheBytesOfALaunch) {
  const kernel::Program program = scheduled(kernel::GpuLimits{}, [](auto x) { return sum(x); }, spec<float>({1 << 20}));
  ASSERT_EQ(program.kernels.size(), 2);
  EXPECT_EQ(program.kernels[0].bytes_read, 4 << 20);
  EXPECT_GT(program.kernels[0].bytes_written, 0);
  EXPECT_LT(program.kernels[1].bytes_read, 1 << 16);
}

}  // namespace
}  // namespace calque::test
