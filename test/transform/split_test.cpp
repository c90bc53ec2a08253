// Partial evaluation preserves results, whichever inputs are unknown. For derivatives, the unknown graph is linear in
// the unknown inputs, and its transpose satisfies the inner product identity.
#include <sstream>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/control_programs.h"
#include "support/random/random_graph.h"
#include "support/same_arrays.h"
#include "support/samples.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/partial_eval.h"
#include "transform/autodiff/transpose.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using Arrays = std::vector<AnyArray>;
using namespace calque::test;

Arrays concatenated(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string describe(const Graph& g, const PartialEval& s) {
  std::ostringstream out;
  out << "\n" << g << "became\n" << s.known << "and\n" << s.unknown;
  return out.str();
}

/// The results of running the known and the unknown graph in sequence.
Arrays composed(const PartialEval& s, const std::vector<bool>& unknown, const Arrays& x) {
  std::vector<bool> known = unknown;
  known.flip();
  const Arrays first = reference::evaluate(s.known, select(x, known));
  const auto residuals = first.end() - static_cast<std::ptrdiff_t>(s.num_residuals);
  const Arrays second = reference::evaluate(s.unknown, concatenated({residuals, first.end()}, select(x, unknown)));
  Arrays all;
  size_t from_first = 0, from_second = 0;
  for (const bool late : s.unknown_outputs) all.push_back(late ? second[from_second++] : first[from_first++]);
  EXPECT_EQ(from_first + s.num_residuals, first.size());
  EXPECT_EQ(from_second, second.size());
  return all;
}

void expect_same(const Graph& g, const std::vector<bool>& unknown, const Arrays& x) {
  PartialEval s;
  ASSERT_NO_THROW(s = partial_eval(g, unknown)) << g;
  ASSERT_NO_THROW(s.known.verify("partial_eval")) << describe(g, s);
  ASSERT_NO_THROW(s.unknown.verify("partial_eval")) << describe(g, s);
  ASSERT_EQ(s.unknown_outputs.size(), g.outputs().size());
  ASSERT_EQ(difference(composed(s, unknown, x), reference::evaluate(g, x)), "") << describe(g, s);
}

TEST(PartialEval, OfRandomGraphsComputesTheSame) {
  RandomGraphOptions options;
  options.max_equations = 25;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const Graph g = random_graph(seed, options);
    Rng rng(seed);
    std::vector<bool> unknown(g.inputs().size());
    for (size_t i = 0; i < unknown.size(); ++i) unknown[i] = rng.chance(50);
    expect_same(simplify(g, InlineScope::calls), unknown, random_inputs(g, seed));
    if (testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

TEST(PartialEval, OfControlFlowComputesTheSame) {
  for (const ControlProgram& p : control_programs()) {
    const Graph g = simplify(parse("calque 1\n" + std::string(p.text)), InlineScope::calls);
    Rng rng(3);
    for (int repeat = 0; repeat < 8; ++repeat) {
      Arrays x;
      std::vector<bool> unknown;
      for (const Type& t : g.input_types()) {
        x.push_back(is_inexact(t.dtype) ? uniform(t, rng) : sample_array(t, rng, Domain::index));
        unknown.push_back(rng.chance(50));
      }
      expect_same(g, unknown, x);
      if (testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << p.name;
        return;
      }
    }
  }
}

TEST(PartialEval, ComputesKnownValuesInTheKnownGraph) {
  const Graph g = parse(R"(calque 1
graph (%x: f64[3], %t: f64[3]) {
  %a = sin %x
  %b = cos %x
  %c = mul %t %b
  return %a, %c
})");
  const PartialEval s = partial_eval(g, {false, true});
  EXPECT_EQ(s.unknown_outputs, (std::vector<bool>{false, true}));
  ASSERT_EQ(s.unknown.num_equations(), 1U);
  EXPECT_EQ(s.unknown.equations().front().primitive(), "mul");
  EXPECT_EQ(s.num_residuals, 1U);
  EXPECT_EQ(s.known.num_equations(), 2U);
}

/// Expensive values are kept, chains of rematerializable equations are recomputed.
TEST(PartialEval, KeepsExpensiveValuesAndRecomputesOthers) {
  const Graph g = parse(R"(calque 1
graph (%x: f64[1000], %t: f64[1000]) {
  %e = exp %x
  %a = add %e 1.0:f64[1000]
  %b = mul %a 2.0:f64[1000]
  %c = sub %b %e
  %r = mul %t %a
  %s = mul %t %b
  %u = mul %t %c
  return %r, %s, %u
})");
  const PartialEval s = partial_eval(g, {false, true});
  EXPECT_EQ(s.num_residuals, 1U) << describe(g, s);
  EXPECT_EQ(s.known.num_equations(), 1U) << describe(g, s);
}

/// The inner product identity for the unknown graph of a derivative and its transpose.
TEST(PartialEval, OfDerivativesIsLinearAndTransposes) {
  for (const ControlProgram& p : control_programs()) {
    if (!p.reverse) continue;
    const Graph g = simplify(parse("calque 1\n" + std::string(p.text)), InlineScope::calls);
    const Graph pushed = jvp(g, inexact_inputs(g));
    std::vector<bool> unknown(pushed.inputs().size(), true);
    std::fill_n(unknown.begin(), g.inputs().size(), false);
    const PartialEval s = partial_eval(pushed, unknown);
    Rng rng(5);
    Arrays x;
    for (const Type& t : g.input_types()) {
      x.push_back(is_inexact(t.dtype) ? uniform(t, rng) : sample_array(t, rng, Domain::index));
    }
    const Arrays first = reference::evaluate(s.known, x);
    const Arrays residuals(first.end() - static_cast<std::ptrdiff_t>(s.num_residuals), first.end());
    const Arrays t = select(uniform(g.input_types(), rng), inexact_inputs(g));
    const Arrays ct = uniform(s.unknown.output_types(), rng);
    const Graph backward = transpose(s.unknown, s.num_residuals);
    ASSERT_NO_THROW(backward.verify("transpose")) << p.name << describe(pushed, s) << backward;
    const Arrays forward = reference::evaluate(s.unknown, concatenated(residuals, t));
    const Arrays back = reference::evaluate(backward, concatenated(residuals, ct));
    const double a = pairing(ct, forward), b = pairing(back, t);
    EXPECT_NEAR(a, b, 1e-12 * (pairing_size(ct, forward) + pairing_size(back, t)))
        << p.name << describe(pushed, s) << backward;
  }
}

/// Straight-line code of any length: no deep recursion, linear time.
TEST(PartialEval, TakesLongGraphs) {
  Graph g;
  const Value w = g.add_input({DType::f64, {}});
  Value v = g.add_input({DType::f64, {}});
  for (int i = 0; i < 100'000; ++i) v = g.append(*::calque::find_primitive(i % 2 ? "mul" : "add"), {v, w}).result();
  g.set_outputs({v});
  const Graph pushed = jvp(g, {true, true});
  EXPECT_LT(pushed.num_equations(), 500'000U);
  const PartialEval s = partial_eval(pushed, {false, false, true, true});
  EXPECT_NO_THROW(s.known.verify());
  EXPECT_NO_THROW(transpose(s.unknown, s.num_residuals).verify());
}

}  // namespace
}  // namespace calque::transform
