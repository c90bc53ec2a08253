// Schedules of quick code: bodies of loops are emitted once where all orders give the same bits.
#include <string>

#include <gtest/gtest.h>

#include "kernel/schedule_cpu/schedule_cpu.h"
#include "kernel/text/parse.h"

namespace calque::kernel {
namespace {

/// The loops of a kernel of x86-64-v4, as its text has them after the passes.
std::string scheduled(const std::string& body, bool compact, bool strict = false) {
  Kernel kernel =
      std::move(parse_kernels("kernel k(b0: f32[4000], out b1: f32[1000], b2: i32[1000], out b3: i32[1000]) {\n"
                              "  %0: i64 = 0\n  %1: f32 = 0\n  %2: i32 = 0\n  %3: i64 = 16\n  %4: f32 = 3\n" +
                              body + "}\n")
                    .at(0));
  TargetLimits target;
  target.compact = compact;
  target.strict = strict;
  run_cpu_pass(*find_cpu_pass("choose-lanes"), kernel, target);
  run_cpu_pass(*find_cpu_pass("choose-unrolling"), kernel, target);
  std::string loops;
  for_each_loop(kernel.body, [&](const Instruction& i) {
    loops += std::to_string(i.lanes) + " x " + std::to_string(i.unroll) + (i.overlapping_tail ? " overlapping;" : ";");
  });
  return loops;
}

constexpr const char* kCopy =
    "parallel 1000 vectorize (%10: i64) {\n  %11: f32 = load b0[%10]\n  store b1[%10], %11\n}\n";

TEST(CompactSchedule, ShortBodiesAreEmittedOnce) {
  EXPECT_EQ(scheduled(kCopy, false), "16 x 4 overlapping;");
  EXPECT_EQ(scheduled(kCopy, true), "16 x 0 overlapping;");
}

// One accumulator does for maxima; sums keep their order, in which four take turns.
TEST(CompactSchedule, AccumulatorsOfSumsTakeTurns) {
  const auto reduction = [](const std::string& dtype, const char* combiner, const char* initial, const char* buffer) {
    return "%10: " + dtype + " = reduction 1000 vectorize " + combiner + " from " + initial + " (%11: i64) {\n" +
           "  %12: " + dtype + " = load " + buffer + "[%11]\n  yield %12\n}\n";
  };
  const std::string sum = reduction("f32", "add", "%1", "b0") + "store b1[%0], %10\n";
  const std::string largest = reduction("f32", "max", "%1", "b0") + "store b1[%0], %10\n";
  const std::string count = reduction("i32", "add", "%2", "b2") + "store b3[%0], %10\n";
  EXPECT_EQ(scheduled(sum, false), "16 x 4 overlapping;");
  EXPECT_EQ(scheduled(sum, true), "16 x 1 overlapping;");
  EXPECT_EQ(scheduled(largest, true), "16 x 0 overlapping;");
  EXPECT_EQ(scheduled(count, true), "16 x 0 overlapping;");
}

// The last product of one copy of this body is the first one of the next: it is contracted with neither sum.
TEST(CompactSchedule, CopiesThatShareProductsKeepTheirNumber) {
  const std::string body =
      "parallel 1000 vectorize (%10: i64) {\n"
      "  %11: f32 = load b0[%10]\n  %12: i64 = add %10, %3\n  %13: f32 = load b0[%12]\n"
      "  %14: f32 = mul %11, %4\n  %15: f32 = mul %13, %4\n  %16: f32 = sub %14, %15\n  store b1[%10], %16\n}\n";
  EXPECT_EQ(scheduled(body, true), scheduled(body, false));
  EXPECT_EQ(scheduled(body, true, true), "16 x 0 overlapping;");
}

// A loop of a few vectors has no iterations.
TEST(CompactSchedule, LoopsOfFewVectorsAreUnrolled) {
  std::string few = kCopy;
  few.replace(few.find("1000"), 4, "64");
  EXPECT_EQ(scheduled(few, true), "16 x 4;");
}

// Searches run in one vector.
TEST(CompactSchedule, ChainsRunInOneVector) {
  const std::string search =
      "parallel 1000 vectorize (%10: i64) {\n"
      "  %11: i32 = sequential 10 from %2 (%12: i64, %13: i32) {\n"
      "    %14: i64 = convert %13\n    %15: i32 = load b2[%14]\n    yield %15\n  }\n"
      "  store b3[%10], %11\n}\n";
  EXPECT_NE(scheduled(search, false).substr(0, 3), scheduled(search, true).substr(0, 3));
}

}  // namespace
}  // namespace calque::kernel
