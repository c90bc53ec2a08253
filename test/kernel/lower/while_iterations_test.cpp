// Bounds on the iterations of while loops, and what they make of the estimated time of a program.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "kernel/ir/work.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::kernel {
namespace {

/// A loop over a number %0 and an array %1: `condition` defines %4, which must hold together with %3, that of the
/// array, and `step` the next number, %2.
Program loop(const std::string& dtype, const std::string& start, const std::string& condition, const std::string& step,
             const std::string& together = "and") {
  const std::string number = dtype + "[]";
  const std::string text =
      "calque 1\ngraph (%0: f32[3]) {\n  %1: " + number + ", %2: f32[3] = while[body_consts=0, cond_consts=0] " +
      start + ":" + number + " %0 {\n    condition(%0: " + number +
      ", %1: f32[3]) {\n"
      "      %2: f32[] = reduce_sum[axes=[0]] %1\n"
      "      %3: bool[] = gt %2 1:f32[]\n"
      "      %4: bool[] = " +
      condition + "\n      %5: bool[] = " + together + " %3 %4\n      return %5\n    }\n    body(%0: " + number +
      ", %1: f32[3]) {\n      %2: " + number + " = " + step +
      "\n      %3: f32[3] = mul %1 0.5:f32[3]\n      return %2, %3\n    }\n  }\n  return %2\n}\n";
  return test::stages::build_program(transform::simplify(parse(text)));
}

/// Of the one loop of the program.
int64_t bound(const Program& p) {
  std::optional<int64_t> found;
  for (const Step& s : p.steps) {
    if (s.kind != StepKind::while_) continue;
    EXPECT_FALSE(found);
    found = s.most_iterations;
  }
  EXPECT_TRUE(found);
  return found.value_or(-2);
}

TEST(WhileIterations, OfACounterThatAConstantBounds) {
  EXPECT_EQ(bound(loop("i32", "0", "lt %0 100:i32[]", "add %0 1:i32[]")), 100);
  EXPECT_EQ(bound(loop("i32", "0", "le %0 100:i32[]", "add 1:i32[] %0")), 101);
  EXPECT_EQ(bound(loop("i64", "5", "gt 100:i64[] %0", "add %0 10:i64[]")), 10);
  EXPECT_EQ(bound(loop("i32", "9", "ge %0 0:i32[]", "sub %0 3:i32[]")), 4);
  EXPECT_EQ(bound(loop("i32", "9", "le 0:i32[] %0", "add %0 -3:i32[]")), 4);
  EXPECT_EQ(bound(loop("i32", "7", "lt %0 7:i32[]", "add %0 1:i32[]")), 0);
}

TEST(WhileIterations, OfANumberThatIsMultiplied) {
  EXPECT_EQ(bound(loop("f32", "1", "gt %0 9.313226e-10:f32[]", "mul 0.5:f32[] %0")), 30);
  EXPECT_EQ(bound(loop("f32", "1", "gt %0 0:f32[]", "mul %0 0.5:f32[]")), 150);
  EXPECT_EQ(bound(loop("f32", "0.1", "lt %0 1000000:f32[]", "mul %0 10:f32[]")), 7);
  EXPECT_EQ(bound(loop("f64", "0", "lt %0 1:f64[]", "add %0 0.25:f64[]")), 4);
}

TEST(WhileIterations, AreUnknownWhereNothingBoundsThem) {
  // One of two conditions suffices.
  EXPECT_EQ(bound(loop("i32", "0", "lt %0 100:i32[]", "add %0 1:i32[]", "or")), -1);
  // The number goes away from its bound, or may pass it.
  EXPECT_EQ(bound(loop("i32", "0", "gt %0 -1:i32[]", "add %0 1:i32[]")), -1);
  EXPECT_EQ(bound(loop("i32", "0", "lt %0 100:i32[]", "sub %0 1:i32[]")), -1);
  EXPECT_EQ(bound(loop("i32", "0", "ne %0 100:i32[]", "add %0 3:i32[]")), -1);
  // It stays what it is, from the beginning or where what is added is below its rounding.
  EXPECT_EQ(bound(loop("f32", "0", "lt %0 100:f32[]", "mul %0 2:f32[]")), -1);
  EXPECT_EQ(bound(loop("f32", "1", "lt %0 100:f32[]", "add %0 1e-09:f32[]")), -1);
  // It is another function of itself, or hardly changes.
  EXPECT_EQ(bound(loop("i32", "1", "lt %0 100:i32[]", "add %0 %0")), -1);
  EXPECT_EQ(bound(loop("f64", "1", "gt %0 0.5:f64[]", "mul %0 0.999999:f64[]")), -1);
}

TEST(ExecutedInstructions, CountTheIterationsThatALoopMayHave) {
  const double few = executed_instructions(loop("i32", "0", "lt %0 10:i32[]", "add %0 1:i32[]"));
  const double many = executed_instructions(loop("i32", "0", "lt %0 1000:i32[]", "add %0 1:i32[]"));
  const double unknown = executed_instructions(loop("i32", "0", "ne %0 1000:i32[]", "add %0 1:i32[]"));
  EXPECT_GT(many, 50 * few);
  EXPECT_LT(many, 200 * few);
  EXPECT_GT(unknown, 50 * many);
}

}  // namespace
}  // namespace calque::kernel
