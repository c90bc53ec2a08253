// Properties of every primitive, derived from the op table.
#include "support/op_table.h"

#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/direct_lowering.h"

namespace calque::test {
namespace {

std::string describe(const Graph& graph, const OpCase& c) {
  std::ostringstream out;
  out << graph << "\n";
  for (const AnyArray& a : c.operands) out << a << "\n";
  return out.str();
}

TEST(OpTable, HasOneRowForEachPrimitive) {
  std::set<PrimitiveId> ids;
  for (const OpRow& row : op_table()) ids.insert(row.id);
  EXPECT_EQ(ids.size(), num_primitives());
  EXPECT_EQ(op_table().size(), num_primitives());
}

TEST(OpTable, EvaluationGivesTheInferredTypes) {
  int count = 0;
  for_each_op_case(2, [&](const OpRow& row, const OpRequest&, const OpCase& c) {
    if (row.primitive().has_effect) return;
    const Graph g = graph_of(row, c);
    const auto results = reference::evaluate(g, c.operands);
    ASSERT_EQ(results.size(), g.outputs().size());
    for (size_t i = 0; i < results.size(); ++i) {
      ASSERT_FALSE(results[i].empty()) << describe(g, c);
      ASSERT_EQ(results[i].type(), g.type(g.outputs()[i])) << describe(g, c);
      ASSERT_GE(results[i].storage().bytes(), results[i].bytes()) << describe(g, c);
    }
    ++count;
  });
  EXPECT_GT(count, 5000);
}

TEST(OpTable, GraphsVerifyAndReadBackFromTheirText) {
  for_each_op_case(1, [&](const OpRow& row, const OpRequest&, const OpCase& c) {
    const Graph g = graph_of(row, c);
    ASSERT_NO_THROW(g.verify()) << describe(g, c);
    if (row.id == primitives::id_of<primitives::HostCall>) return;  // host functions have no text form
    if (c.attributes.has("group")) return;                          // neither have groups
    ASSERT_EQ(parse(print(g)), g) << describe(g, c);
  });
}

TEST(OpTable, DTypesOutsideARowAreRefused) {
  for (const OpRow& row : op_table()) {
    Rng rng(7);
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (primitives::contains(row.dtypes, dtype)) continue;
      const auto c = row.make({dtype, {2, 3}, Domain::moderate}, rng);
      ASSERT_TRUE(c.has_value());
      EXPECT_THROW(graph_of(row, *c), DTypeError) << row.primitive().name << " of " << name(dtype);
    }
  }
}

TEST(OpTable, LoweredElementsEqualTheEvaluation) {
  int count = 0;
  for_each_op_case(2, [&](const OpRow& row, const OpRequest& request, const OpCase& c) {
    if (primitives::rules(row.id).lower == nullptr) return;
    const Graph g = graph_of(row, c);
    const Equation& e = g.equations().front();
    const AnyArray whole = reference::evaluate(g, c.operands)[0];
    DirectLowering lowering(g, e, c.operands);
    for (int64_t i = 0; i < whole.size(); ++i) {
      const AnyArray element = lowering.element(0, i);
      AnyArray want = AnyArray::uninitialized({whole.dtype(), {}});
      const size_t width = size_of(whole.dtype());
      std::memcpy(want.mutable_data(), static_cast<const char*>(whole.data()) + static_cast<size_t>(i) * width, width);
      ASSERT_TRUE(same_numbers(element, want)) << "element " << i << " is " << element << " and not " << want << "\n"
                                               << describe(g, c) << to_string(request.shape);
    }
    ++count;
  });
  EXPECT_GT(count, 3000);
}

TEST(OpTable, KindsAndIndexMapsAgree) {
  using primitives::LowerKind;
  for (const OpRow& row : op_table()) {
    const primitives::Rules& rules = primitives::rules(row.id);
    for (int d = 0; d < kDTypeCount; ++d) {
      const LowerKind kind = rules.kind(static_cast<DType>(d));
      if (kind == LowerKind::mapped || kind == LowerKind::elementwise) {
        EXPECT_NE(rules.lower, nullptr) << row.primitive().name;
      }
    }
    EXPECT_FALSE(row.primitive().doc.empty()) << row.primitive().name;
    EXPECT_EQ(find_primitive(row.primitive().name), &row.primitive());
  }
}

}  // namespace
}  // namespace calque::test
