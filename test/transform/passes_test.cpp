// Properties of every pass on random graphs: the result verifies, has the same signature and computes the same bits.
#include "transform/simplify/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/random/random_graph.h"
#include "support/same_arrays.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using test::RandomGraphOptions;

class EveryPass : public testing::TestWithParam<const Pass*> {};

void expect_same_results(const Graph& before, const Graph& after, uint64_t seed) {
  after.verify("the pass");
  ASSERT_EQ(after.input_types(), before.input_types());
  ASSERT_EQ(after.output_types(), before.output_types());
  const auto inputs = test::random_inputs(before, seed);
  const std::string d = test::difference(reference::evaluate(before, inputs), reference::evaluate(after, inputs));
  ASSERT_EQ(d, "") << "seed " << seed << "\n" << before << "\nbecame\n" << after;
}

TEST_P(EveryPass, KeepsResultsToTheBit) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Graph before = test::random_graph(seed);
    expect_same_results(before, GetParam()->run(before), seed);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryPass, IsDoneAfterOneRun) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph once = GetParam()->run(test::random_graph(seed));
    const Graph twice = GetParam()->run(once);
    ASSERT_EQ(once, twice) << "seed " << seed << "\n" << once << "\nbecame\n" << twice;
  }
}

TEST_P(EveryPass, KeepsEffectsInOrder) {
  const std::function<void(const Graph&, std::vector<std::string>&)> formats = [&](const Graph& g,
                                                                                   std::vector<std::string>& out) {
    for (const Equation& e : g.equations()) {
      if (e.primitive() == "debug_print") out.push_back(e.attributes().get<std::string>("format"));
      for (const Graph& sub : e.subgraphs()) formats(sub, out);
    }
  };
  const Graph g = parse(
      "calque 1\n"
      "graph (%0: f32[], %1: bool[]) {\n"
      "  debug_print[format=\"a {}\"] %0\n"
      "  %2 = call[name=\"f\"] %0 { (%0: f32[]) { debug_print[format=\"b {}\"] %0 return %0 } }\n"
      "  %3 = call[name=\"f\"] %0 { (%0: f32[]) { debug_print[format=\"b {}\"] %0 return %0 } }\n"
      "  debug_print[format=\"c {}\"] %0\n"
      "  debug_print[format=\"c {}\"] %0\n"
      "  return %0\n"
      "}\n");
  std::vector<std::string> out;
  formats(run_pass(*GetParam(), g), out);
  EXPECT_EQ(out, (std::vector<std::string>{"a {}", "b {}", "b {}", "c {}", "c {}"}));
}

TEST_P(EveryPass, TakesDeepGraphs) {
  Graph g;
  Value v = g.add_input({DType::f32, {}});
  for (int i = 0; i < 100'000; ++i) v = g.append(*::calque::find_primitive(i % 2 ? "neg" : "floor"), {v}).result();
  g.set_outputs({v});
  EXPECT_NO_THROW(GetParam()->run(g).verify());
}

std::vector<const Pass*> pointers() {
  std::vector<const Pass*> all;
  for (const Pass& p : passes()) all.push_back(&p);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Passes, EveryPass, testing::ValuesIn(pointers()),
                         [](const auto& info) { return std::string(info.param->info.name); });

TEST(Passes, AreFoundByName) {
  EXPECT_EQ(find_pass("dce").info.name, "dce");
  try {
    find_pass("fuse");
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_STREQ(
        e.what(),
        "passes: there is no pass fuse, expected one of inline, fold, algebra, cse, dce, simplify, canonicalize");
  }
}

TEST(Simplify, ForDifferentiationKeepsCustomRules) {
  RandomGraphOptions options;
  options.max_equations = 30;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph before = test::random_graph(seed, options);
    const Graph after = simplify(before, InlineScope::calls);
    expect_same_results(before, after, seed);
    if (HasFatalFailure()) return;
  }
  const Graph g = parse(
      "calque 1\n"
      "graph (%0: f32[]) {\n"
      "  %1 = checkpoint %0 { (%0: f32[]) { %1 = neg %0 return %1 } }\n"
      "  %2 = stop_gradient %1\n"
      "  %3 = call[name=\"f\"] %2 { (%0: f32[]) { %1 = abs %0 return %1 } }\n"
      "  return %3\n"
      "}\n");
  const auto names = [](const Graph& graph) {
    std::vector<std::string> out;
    for (const Equation& e : graph.equations()) out.push_back(e.primitive());
    return out;
  };
  EXPECT_THAT(names(simplify(g, InlineScope::calls)), testing::ElementsAre("checkpoint", "stop_gradient", "abs"));
  EXPECT_THAT(names(simplify(g)), testing::ElementsAre("abs"));
}

}  // namespace
}  // namespace calque::transform
