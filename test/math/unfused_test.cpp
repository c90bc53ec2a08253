// Functions for targets without fused multiply-add, which emulate it with pairs.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "calque/ir/graph.h"

#include "reference/evaluate.h"

namespace calque::math::test {
namespace {

double evaluate(const char* text, std::initializer_list<double> arguments) {
  std::vector<AnyArray> inputs;
  for (const double x : arguments) inputs.push_back(AnyArray::full(Shape{}, x));
  const reference::Options unfused{.forms = MathForms{.fused = false}};
  return reference::evaluate(parse(text), inputs, unfused)[0].data_as<double>()[0];
}

constexpr double kMax = std::numeric_limits<double>::max();

TEST(Unfused, PowersOfOneAreOneHoweverLargeTheExponent) {
  const char* const pow = "calque 1\ngraph f(%x: f64[], %y: f64[]) {\n  %z = pow %x %y\n  return %z\n}\n";
  for (const double x : {1.0, -1.0})
    for (const double y : {0x1p996, 0x1p997, -0x1p1000, kMax}) EXPECT_EQ(evaluate(pow, {x, y}), 1.0) << x << ' ' << y;
  EXPECT_EQ(evaluate(pow, {2.0, 10.0}), 1024.0);
}

TEST(Unfused, ReciprocalRootsReachTheLargestNumbers) {
  const char* const rsqrt = "calque 1\ngraph f(%x: f64[]) {\n  %z = rsqrt %x\n  return %z\n}\n";
  for (const double x : {1e300, 1.7e308, std::nextafter(kMax, 0.0), kMax, 1e-300, 5e-324})
    EXPECT_NEAR(evaluate(rsqrt, {x}) * std::sqrt(x), 1.0, 1e-15) << x;
}

}  // namespace
}  // namespace calque::math::test
