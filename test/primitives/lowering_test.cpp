// Index maps use no more arithmetic than they need.
#include <gtest/gtest.h>

#include "support/direct_lowering.h"
#include "support/samples.h"

namespace calque::test {
namespace {

int divisions_of_reshape(const Shape& from, const std::vector<int64_t>& to) {
  Rng rng(1);
  Graph g;
  const Value x = g.add_input({DType::f32, from});
  const Equation& e = g.append(primitives::get<primitives::Reshape>(), {x}, {{"shape", to}});
  const AnyArray array = sample_array(g.type(x), rng);
  const std::vector<AnyArray> operands{array};
  DirectLowering lowering(g, e, operands);
  lowering.element(0, 0);
  return lowering.divisions();
}

TEST(ReshapeIndexMap, JoinsDimensionsWithoutDivision) {
  EXPECT_EQ(divisions_of_reshape({24}, {2, 3, 4}), 0);
  EXPECT_EQ(divisions_of_reshape({5, 24}, {5, 4, 6}), 0);
}

TEST(ReshapeIndexMap, IgnoresExtentsOfOne) {
  EXPECT_EQ(divisions_of_reshape({1, 6, 1, 5}, {6, 1, 5, 1}), 0);
  EXPECT_EQ(divisions_of_reshape({6}, {1, 6}), 0);
  EXPECT_EQ(divisions_of_reshape({1, 1}, {}), 0);
}

TEST(ReshapeIndexMap, DividesOnlyWhereDimensionsAreSplit) {
  EXPECT_EQ(divisions_of_reshape({2, 3}, {6}), 2);        // one division, one remainder
  EXPECT_EQ(divisions_of_reshape({7, 2, 3}, {7, 6}), 2);  // the 7 passes through
}

TEST(LowerKind, DependsOnTheDTypeWhereFloatsNeedALoop) {
  using primitives::LowerKind;
  const auto& rules = primitives::rules(primitives::id_of<primitives::Rem>);
  EXPECT_EQ(rules.kind(DType::i32), LowerKind::elementwise);
  EXPECT_EQ(rules.kind(DType::f32), LowerKind::function);
}

}  // namespace
}  // namespace calque::test
