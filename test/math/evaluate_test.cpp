// Functions on numbers have the bits of their expansions on graphs, in every form.
#include "math/evaluate.h"

#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "calque/ir/graph.h"

#include "math/expand.h"
#include "points.h"
#include "primitives/registry.h"
#include "reference/evaluate.h"
#include "support/native.h"

namespace calque::math::test {
namespace {

using calque::test::difference;

constexpr int64_t kPoints = 6000;

template <class T>
AnyArray points_of(uint64_t seed) {
  const std::vector<double> hard = hard_points<double>();
  PointSource<double> source(seed);
  std::mt19937_64 engine(seed);
  std::vector<T> points;
  while (points.size() < kPoints)
    points.push_back(static_cast<T>(engine() % 2 == 0 ? hard[engine() % hard.size()] : source.next()));
  return AnyArray::from(std::span<const T>(points), Shape{kPoints});
}

Graph graph_of(const Primitive& primitive, const Type& type) {
  Graph g;
  ValueList operands;
  for (int i = 0; i < primitive.min_operands; ++i) operands.push_back(g.add_input(type));
  g.set_outputs({g.append(primitive, operands).result()});
  return g;
}

template <class T>
void expect_bits_of_expansions(const MathForms& forms) {
  int seen = 0;
  for (size_t id = 0; id < num_primitives(); ++id) {
    if (!can_evaluate(static_cast<PrimitiveId>(id), dtype_of<T>, forms)) continue;
    ++seen;
    const Primitive& function = primitive(static_cast<PrimitiveId>(id));
    std::vector<AnyArray> inputs;
    for (int i = 0; i < function.min_operands; ++i) inputs.push_back(points_of<T>(static_cast<uint64_t>(i) + 1));
    const Graph g = graph_of(function, inputs[0].type());
    const AnyArray want = reference::evaluate(expand(g, forms), inputs)[0];
    const AnyArray got = reference::evaluate(g, inputs, {.forms = forms})[0];
    EXPECT_EQ(difference(got, want), "") << function.name << " of " << name(dtype_of<T>);
  }
  EXPECT_GT(seen, 30);
}

class Forms : public testing::TestWithParam<int> {};

TEST_P(Forms, OnNumbersHaveTheBitsOfExpansions) {
  const MathForms forms{.fused = (GetParam() & 1) != 0, .estimates = false, .fast_math = (GetParam() & 2) != 0};
  expect_bits_of_expansions<float>(forms);
  expect_bits_of_expansions<double>(forms);
  expect_bits_of_expansions<float16>(forms);
  expect_bits_of_expansions<bfloat16>(forms);
}

INSTANTIATE_TEST_SUITE_P(OfMath, Forms, testing::Range(0, 4));

// Without fused multiply-add, products are split in parts, which must not overflow.
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
