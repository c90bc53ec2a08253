// The tabular form and the Graphviz output.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/build.h"
#include "support/random/random_graph.h"

namespace calque::test {
namespace {

Graph example() {
  Graph body;
  body.set_name("body \"q\"");
  body.set_outputs({op(body, "neg", {body.add_input(f32({3}))})});
  Graph g;
  const Value x = g.add_input(f32({3}));
  const Value y = add(g, "mul", {x, g.add_literal(make_literal(DType::f32, 2.0), f32({3}))}, {}, {},
                      Location("/src/model.cpp", 12, 3))
                      .result();
  const Value z = add(g, "call", {y}, {{"name", std::string("f")}}, {body}).result();
  g.set_outputs({op(g, "add", {z, g.add_constant(AnyArray::full<float>({3}, 1.0f))})});
  return g;
}

TEST(PrintTabular, OneEquationALineInColumns) {
  std::ostringstream out;
  example().print_tabular(out);
  EXPECT_EQ(out.str(),
            "result  type    primitive  operands      attributes  location\n"
            "%0      f32[3]  (inputs)\n"
            "%1      f32[3]  mul        %0, 2:f32[3]              model.cpp:12\n"
            "%2      f32[3]  call       %1            [name=\"f\"]\n"
            "  %0    f32[3]  (inputs)\n"
            "  %1    f32[3]  neg        %0\n"
            "  %1    f32[3]  (outputs)\n"
            "%3      f32[3]  add        %2, @c0\n"
            "%3      f32[3]  (outputs)\n");
}

TEST(Dot, HasANodeForEachEquationAndEdgesBetweenThem) {
  std::ostringstream out;
  example().to_dot(out);
  const std::string dot = out.str();
  EXPECT_THAT(dot, testing::StartsWith("digraph calque {\n"));
  EXPECT_THAT(dot, testing::HasSubstr("g0_in0 [label=\"%0: f32[3]\", shape=ellipse];"));
  EXPECT_THAT(dot, testing::HasSubstr("g0_e0 [label=\"%1: f32[3] = mul %0 2:f32[3]\"];"));
  EXPECT_THAT(dot, testing::HasSubstr("g0_in0 -> g0_e0;"));
  EXPECT_THAT(dot, testing::HasSubstr("g0_e1 -> g0_e2;"));
  EXPECT_THAT(dot, testing::HasSubstr("label=\"body \\\"q\\\"\";"));
  EXPECT_THAT(dot, testing::HasSubstr("g0_e1 -> g1_anchor [style=dashed];"));
  EXPECT_THAT(dot, testing::HasSubstr("g0_e2 -> g0_out0;"));
}

TEST(Dot, QuotesAndBracesBalanceOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::ostringstream out, table;
    const Graph g = random_graph(seed);
    g.to_dot(out);
    g.print_tabular(table);
    int depth = 0;
    bool quoted = false;
    const std::string dot = out.str();
    for (size_t i = 0; i < dot.size(); ++i) {
      if (quoted && dot[i] == '\\') {
        ++i;
      } else if (dot[i] == '"') {
        quoted = !quoted;
      } else if (!quoted) {
        depth += dot[i] == '{' ? 1 : dot[i] == '}' ? -1 : 0;
      }
    }
    EXPECT_FALSE(quoted);
    EXPECT_EQ(depth, 0) << dot;
    EXPECT_FALSE(table.str().empty());
  }
}

}  // namespace
}  // namespace calque::test
