// checkpoint trades memory for work: the region is recomputed for derivatives, and only its operands are kept until
// then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/lower/build.h"
#include "primitives/list.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/stages.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/partial_eval.h"
#include "transform/autodiff/vjp.h"
#include "transform/simplify/simplify.h"

namespace calque::transform {
namespace {

using namespace primitives;
using Arrays = std::vector<AnyArray>;

const Type kLayer{DType::f32, {64, 64}};

/// tanh(w h), `count` times.
Value layers(Graph& g, Value w, Value h, int count) {
  const std::vector<int64_t> none, first{0}, second{1};
  for (int i = 0; i < count; ++i) {
    h = g.append(get<DotGeneral>(), {w, h},
                 {{"lhs_batch", none}, {"lhs_contract", second}, {"rhs_batch", none}, {"rhs_contract", first}})
            .result();
    h = g.append(get<Tanh>(), {h}).result();
  }
  return h;
}

Graph segment(int count) {
  Graph g;
  const Value w = g.add_input(Type(kLayer)), h = g.add_input(Type(kLayer));
  g.set_outputs({layers(g, w, h, count)});
  return g;
}

/// `segments` segments of `count` layers, each checkpointed or not.
Graph network(int segments, int count, bool checkpointed) {
  Graph g;
  const Value w = g.add_input(Type(kLayer));
  Value h = g.add_input(Type(kLayer));
  for (int i = 0; i < segments; ++i) {
    h = checkpointed ? g.append(get<Checkpoint>(), {w, h}, {}, {segment(count)}).result() : layers(g, w, h, count);
  }
  g.set_outputs({h});
  return g;
}

int64_t workspace_of(const Graph& g) { return test::stages::build_program(simplify(g)).workspace_bytes; }

/// Equations of that primitive, in sub-graphs too.
size_t count(const Graph& g, std::string_view name) {
  size_t n = 0;
  for (const Equation& e : g.equations()) {
    n += e.primitive() == name ? 1 : 0;
    for (const Graph& sub : e.subgraphs()) n += count(sub, name);
  }
  return n;
}

TEST(Checkpoint, LowersTheWorkspaceOfDerivatives) {
  const Graph plain = vjp(network(6, 4, false), {false, true});
  const Graph kept = vjp(network(6, 4, true), {false, true});
  const int64_t layer = 64 * 64 * 4;
  EXPECT_GE(workspace_of(plain), 22 * layer);
  EXPECT_LE(workspace_of(kept), workspace_of(plain) / 2);
  EXPECT_EQ(count(simplify(plain), "dot_general"), 2U * 24U);
  EXPECT_EQ(count(simplify(kept), "dot_general"), 3U * 24U);
}

TEST(Checkpoint, KeepsOperandsAlone) {
  const Graph pushed = jvp(network(1, 4, true), {true, true});
  const PartialEval s = partial_eval(pushed, {false, false, true, true});
  EXPECT_LE(s.num_residuals, 2U) << s.known;
  const Graph without = jvp(network(1, 4, false), {true, true});
  EXPECT_GE(partial_eval(without, {false, false, true, true}).num_residuals, 4U);
}

TEST(Checkpoint, ChangesNoResult) {
  const Graph plain = vjp(network(3, 2, false), {true, true}), kept = vjp(network(3, 2, true), {true, true});
  test::Rng rng(1);
  const Arrays x = test::uniform(plain.input_types(), rng, -0.2, 0.2);
  const Arrays want = reference::evaluate(plain, x);
  EXPECT_EQ(test::far_apart(reference::evaluate(kept, x), want, 1e-6, 1e-7), "");
  EXPECT_EQ(test::far_apart(test::run_native(kept, x), want, 1e-4, 1e-5), "");
}

/// A scan with a checkpointed body keeps only its carries; without checkpoint it keeps the residuals inside each step.
TEST(Checkpoint, OfAScansBodyLowersWhatItKeepsOfSteps) {
  const auto loop = [](bool checkpointed) {
    Graph g;
    const Value w = g.add_input(Type(kLayer)), h = g.add_input(Type(kLayer));
    Graph body = checkpointed ? network(1, 4, true) : segment(4);
    const Equation& e = g.append(get<Scan>(), {w, h},
                                 {{"carry", int64_t{1}},
                                  {"consts", int64_t{1}},
                                  {"length", int64_t{10}},
                                  {"reverse", false},
                                  {"unroll", int64_t{1}}},
                                 {std::move(body)});
    g.set_outputs({e.result()});
    return g;
  };
  const int64_t plain = workspace_of(vjp(loop(false), {true, true}));
  const int64_t kept = workspace_of(vjp(loop(true), {true, true}));
  EXPECT_LE(kept, plain / 2);
}

/// Recomputed values are not merged with those computed before.
TEST(Checkpoint, IsNotUndoneBySimplification) {
  const Graph g = parse(R"(calque 1
graph (%x: f32[100]) {
  %y = checkpoint %x {
    (%0: f32[100]) { %1 = sin %0  %2 = exp %1  return %2 }
  }
  return %y
})");
  const Graph pulled = simplify(vjp(g, {true}));
  EXPECT_EQ(count(pulled, "exp"), 2U) << pulled;
  EXPECT_EQ(count(pulled, "sin"), 2U) << pulled;
}

}  // namespace
}  // namespace calque::transform
