// Evaluation of lib/math on plain numbers.
#include "math/evaluate.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "primitives/registry.h"
#include "reference/evaluate.h"

namespace calque::math::test {
namespace {

constexpr int64_t kPoints = 6000;

// Without fused multiply-add, products are split into parts, which must not overflow.
TEST(Forms, RemaindersOfLargeNumbersAreExact) {
  std::mt19937_64 engine(7);
  std::vector<double> x, y;
  while (x.size() < kPoints) {
    const auto mantissa = [&] { return 1 + static_cast<double>(engine() >> 12) * 0x1p-52; };
    const int exponent = 980 + static_cast<int>(engine() % 44);
    x.push_back(std::ldexp(mantissa(), exponent));
    y.push_back(std::ldexp(mantissa(), exponent - static_cast<int>(engine() % 60)));
  }
  const std::vector<AnyArray> inputs{AnyArray::from(std::span<const double>(x), Shape{kPoints}),
                                     AnyArray::from(std::span<const double>(y), Shape{kPoints})};
  for (const bool fused : {true, false}) {
    const AnyArray got =
        reference::evaluate_primitive(*find_primitive("rem"), inputs, {}, {}, {.forms = MathForms{.fused = fused}})[0];
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(got.data_as<double>()[i], std::fmod(x[i], y[i])) << x[i] << " rem " << y[i] << ", fused " << fused;
  }
}

TEST(Forms, LeaveEstimatedRootsToTheCodeGenerator) {
  const auto rsqrt = primitives::id_of<primitives::Rsqrt>;
  EXPECT_FALSE(can_evaluate(rsqrt, DType::f32, {.estimates = true}));
  EXPECT_FALSE(can_evaluate(rsqrt, DType::bf16, {.estimates = true}));
  EXPECT_TRUE(can_evaluate(rsqrt, DType::f64, {.estimates = true}));
  EXPECT_TRUE(can_evaluate(rsqrt, DType::f32, {}));
  EXPECT_FALSE(can_evaluate(primitives::id_of<primitives::Add>, DType::f32, {}));
}

}  // namespace
}  // namespace calque::math::test
