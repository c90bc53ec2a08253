// Graphs of defined bits: the evaluator and compiled code agree bit for bit outside of strict mode.
#include "transform/simplify/defined_bits.h"

#include <gtest/gtest.h>

#include "support/native.h"
#include "support/op_table.h"
#include "support/random/random_graph.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using namespace primitives;

math::MathForms forms() { return codegen::math_forms(codegen::CodegenOptions{}); }

/// "" when both have the same bits.
std::string difference(const Graph& graph, const std::vector<AnyArray>& inputs) {
  const std::vector<AnyArray> evaluated = reference::evaluate(graph, inputs, {.forms = forms()});
  const std::vector<AnyArray> compiled = test::run_native(simplify(graph, InlineScope::all, forms()), inputs);
  for (size_t i = 0; i < evaluated.size(); ++i)
    if (const std::string d = test::difference(compiled[i], evaluated[i]); !d.empty()) return d + "\n" + print(graph);
  return "";
}

TEST(DefinedBits, EveryPrimitiveIsEvaluatedAsItIsCompiled) {
  test::CaseSample sample(31);
  size_t tested = 0;
  test::for_each_op_case(1, [&](const test::OpRow& row, const test::OpRequest&, const test::OpCase& c) {
    // The sign of a NaN is unspecified.
    for (const PrimitiveId shown : {id_of<Copysign>, id_of<Signbit>, id_of<Bitcast>})
      if (row.id == shown) return;
    if (!sample.takes(row)) return;
    const Graph graph = test::graph_of(row, c);
    if (!has_defined_bits(graph, forms())) return;
    ++tested;
    EXPECT_EQ(difference(graph, c.operands), "");
  });
  EXPECT_GT(tested, 200u);
}

TEST(DefinedBits, RandomGraphsAreEvaluatedAsTheyAreCompiled) {
  test::RandomGraphOptions options;
  options.dtypes = {DType::bool_, DType::i32, DType::u32, DType::i64, DType::f32, DType::f64};
  options.max_equations = 8;
  options.max_depth = 0;
  options.exclude = {"bitcast", "copysign", "signbit"};
  size_t tested = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const Graph graph = test::random_graph(seed, options);
    if (!has_defined_bits(graph, forms())) continue;
    ++tested;
    ASSERT_EQ(difference(graph, test::random_inputs(graph, seed)), "") << "seed " << seed;
  }
  EXPECT_GT(tested, 150u);
}

bool defined(const char* inputs, const char* body) {
  return has_defined_bits(parse(std::string("calque 1\ngraph f(") + inputs + ") {\n" + body + "\n}\n"), forms());
}

TEST(DefinedBits, WhatCodeGenerationRoundsTogetherHasNone) {
  const char* const x = "%0: f32[3]";
  EXPECT_TRUE(defined(x, "%1 = mul %0 %0 return %1"));
  EXPECT_TRUE(defined(x, "%1 = mul %0 %0 %2 = div %1 %0 return %2"));
  EXPECT_FALSE(defined(x, "%1 = mul %0 %0 %2 = add %1 %0 return %2"));
  EXPECT_FALSE(defined(x, "%1 = strong_mul %0 %0 %2 = sub %0 %1 return %2"));
  EXPECT_TRUE(defined(x, "%1 = mul[exact=true] %0 %0 %2 = add %1 %0 return %2"));
  EXPECT_TRUE(defined(x, "%1 = mul %0 %0 %2 = add[exact=true] %1 %0 return %2"));
  EXPECT_FALSE(defined(x, "%1 = mul[exact=false] %0 %0 %2 = add[exact=false] %1 %0 return %2"));
  EXPECT_TRUE(defined("%0: i32[3]", "%1 = mul %0 %0 %2 = add %1 %0 return %2"));
  EXPECT_FALSE(defined("%0: f16[3]", "%1 = mul %0 %0 return %1"));
  EXPECT_FALSE(defined("%0: bf16[3]", "%1 = neg %0 return %1"));
  EXPECT_FALSE(defined("%0: c64[3]", "%1 = neg %0 return %1"));
}

TEST(DefinedBits, WhatTheScheduleOrdersHasNone) {
  EXPECT_FALSE(defined("%0: f32[3]", "%1 = reduce_sum[axes=[0]] %0 return %1"));
  EXPECT_FALSE(defined("%0: f64[3]", "%1 = cumsum[axis=0,reverse=false] %0 return %1"));
  EXPECT_TRUE(defined("%0: i64[3]", "%1 = reduce_sum[axes=[0]] %0 return %1"));
  EXPECT_TRUE(defined("%0: f32[3]", "%1 = reduce_max[axes=[0]] %0 return %1"));
}

TEST(DefinedBits, EffectsAndSubgraphsHaveNone) {
  Graph effect;
  const Value x = effect.add_input({DType::f32, Shape{}});
  effect.append(get<DebugPrint>(), {x}, {{"format", std::string("{}")}});
  effect.set_outputs({x});
  EXPECT_FALSE(has_defined_bits(effect, forms()));

  Graph inner;
  inner.set_outputs({inner.add_input({DType::f32, Shape{}})});
  Graph outer;
  const Equation& call =
      outer.append(get<Call>(), {outer.add_input({DType::f32, Shape{}})}, {{"name", std::string("f")}}, {inner});
  outer.set_outputs({call.result()});
  EXPECT_FALSE(has_defined_bits(outer, forms()));
}

}  // namespace
}  // namespace calque::transform
