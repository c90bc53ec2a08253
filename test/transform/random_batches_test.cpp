// Batches of random graphs of every dtype, with corner values: bit for bit, evaluated and compiled.
// CALQUE_TEST_SEEDS is the number of graphs.
#include <cstdlib>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/same_arrays.h"
#include "support/sanitizers.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"
#include "transform/batch/vmap.h"

namespace calque::test {
namespace {

using Arrays = std::vector<AnyArray>;
using Axes = std::vector<BatchAxis>;

uint64_t num_seeds(uint64_t usual) {
  if (const char* text = std::getenv("CALQUE_TEST_SEEDS")) return std::strtoull(text, nullptr, 10);
  return kAddressSanitizer || kThreadSanitizer ? usual / 8 : usual;
}

RandomGraphOptions options() {
  RandomGraphOptions o;
  o.max_equations = 24;
  o.max_rank = 3;
  o.max_elements = 60;
  return o;
}

struct Batch {
  Graph graph;
  Axes in_axes, out_axes;
  int64_t size;
};

/// Batches a graph that has inputs along axes chosen by the seed.
Batch batch(const Graph& g, uint64_t seed) {
  Rng rng(seed);
  Axes in_axes, out_axes;
  const size_t certain = rng.below(g.inputs().size());
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    const int rank = g.shape(g.inputs()[i]).rank();
    in_axes.push_back(i == certain || rng.chance(50) ? BatchAxis(rng.between(0, rank)) : BatchAxis());
  }
  for (const Value v : g.outputs()) out_axes.emplace_back(rng.between(0, g.shape(v).rank()));
  const int64_t size = rng.between(1, 4);
  Graph batched = transform::vmap(g, in_axes, size, out_axes);
  batched.verify("vmap");
  return {std::move(batched), in_axes, out_axes, size};
}

TEST(RandomBatches, EqualLoopsToTheBit) {
  RandomGraphOptions all = options();
  all.dtypes.insert(all.dtypes.end(), {DType::c64, DType::c128});
  int batches = 0;
  for (uint64_t seed = 0, end = num_seeds(3000); seed < end; ++seed) {
    const Graph g = random_graph(seed, all);
    if (g.inputs().empty()) continue;
    const Batch b = batch(g, seed);
    const Arrays x = random_inputs(b.graph, seed);
    const Arrays want = looped(g, x, b.in_axes, b.size, b.out_axes);
    ASSERT_EQ(difference(reference::evaluate(b.graph, x), want), "")
        << "seed " << seed << ", in_axes " << axes_text(b.in_axes) << ", out_axes " << axes_text(b.out_axes) << "\n"
        << g << "became\n"
        << b.graph;
    ++batches;
  }
  EXPECT_GT(batches, static_cast<int>(num_seeds(3000) * 2 / 3));
}

TEST(RandomBatches, HaveDerivativesThatVerify) {
  RandomGraphOptions all = options();
  all.dtypes.insert(all.dtypes.end(), {DType::c64, DType::c128});
  all.exclude = {"custom_jvp", "custom_vjp", "nextafter", "zeta", "while"};
  for (uint64_t seed = 0, end = num_seeds(1500); seed < end; ++seed) {
    const Graph g = random_graph(seed, all);
    if (g.inputs().empty()) continue;
    const Graph batched = batch(g, seed).graph;
    for (const Graph& of : {g, batched}) {
      ASSERT_NO_THROW(transform::jvp(of, inexact_inputs(of)).verify("jvp")) << "seed " << seed << "\n" << of;
      ASSERT_NO_THROW(transform::vjp(of, inexact_inputs(of)).verify("vjp")) << "seed " << seed << "\n" << of;
    }
  }
}

/// Compares differentiation after and before batching, for a graph whose inputs are all batched along axis 0.
void expect_same_order(const Graph& g, uint64_t seed, Graph (*mode)(const Graph&, const std::vector<bool>&)) {
  const int64_t size = 3;
  const auto vmapped = [&](const Graph& of) {
    return transform::vmap(of, Axes(of.inputs().size(), BatchAxis(0)), size, Axes(of.outputs().size(), BatchAxis(0)));
  };
  const Graph after = mode(vmapped(g), inexact_inputs(g)), before = vmapped(mode(g, inexact_inputs(g)));
  after.verify("after");
  before.verify("before");
  ASSERT_EQ(after.input_types(), before.input_types());
  const Arrays x = random_inputs(after, seed, false);
  const Arrays want = reference::evaluate(before, x), got = reference::evaluate(after, x);
  // A branch that an example does not take may be infinite there.
  if (!all_finite(want) || !all_finite(got)) return;
  ASSERT_EQ(far_apart(got, want, 1e-9, 1e-10 * (1 + largest(want))), "") << "seed " << seed << "\n"
                                                                         << g << "became\n"
                                                                         << after << "and\n"
                                                                         << before;
}

TEST(RandomBatches, MayBeDifferentiatedBeforeOrAfter) {
  RandomGraphOptions both = options();
  both.dtypes = {DType::f64, DType::f64, DType::f64, DType::c128, DType::i32, DType::bool_};
  both.corners = false;
  both.exclude = {"custom_jvp", "custom_vjp", "nextafter", "zeta"};
  for (uint64_t seed = 0, end = num_seeds(2000); seed < end; ++seed) {
    const Graph forward = random_graph(seed, both);
    if (forward.inputs().empty()) continue;
    expect_same_order(forward, seed, &transform::jvp);
    both.exclude.emplace_back("while");
    const Graph reverse = random_graph(seed, both);
    both.exclude.pop_back();
    if (!reverse.inputs().empty()) expect_same_order(reverse, seed, &transform::vjp);
    if (HasFatalFailure()) return;
  }
}

TEST(RandomBatches, CompiledStrictlyEqualTheReference) {
  RandomGraphOptions strict = options();
  strict.reassociated = false;
  // The sign of a NaN is unspecified; these two would expose it.
  strict.exclude = {"bitcast", "copysign", "signbit"};
  for (uint64_t seed = 0, end = num_seeds(250); seed < end; ++seed) {
    const Graph g = random_graph(seed, strict);
    if (g.inputs().empty()) continue;
    const Batch b = batch(g, seed);
    std::string wrong;
    try {
      wrong = compare_strictly(b.graph, random_inputs(b.graph, seed));
    } catch (const Error& e) {
      wrong = std::string("threw ") + e.what() + "\n" + print(b.graph);
    }
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace calque::test
